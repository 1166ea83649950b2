"""``proctor report --items``: what several models' answers say of the questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proctor.cli.error_reporting import DONE, FAILURES, say, show
from proctor.cli.run_folders import read_run
from proctor.errors import OutputError, UsageError

if TYPE_CHECKING:
    from proctor.runs.exam_items import ExamItems
    from proctor.runs.item_tables import ItemTable

_FORMATS: Final = ("html", "md", "csv")


def report_items(
    folders: Sequence[Path], output: Path | None, form: str | None, most: int, *, as_json: bool = False
) -> int:
    """Print, or write into a file, what the runs say of the questions of their exams; return the exit code.

    Args:
        folders: Run folders, and folders of runs.
        output: The file; by default the terminal.
        form: Its format; by default that of its name.
        most: Questions of a kind that are shown; JSON and CSV have all.
        as_json: Whether JSON is printed.

    Raises:
        UsageError: The format is of scores alone, or no run has samples.
    """
    from proctor.runs.exam_items import items_of
    from proctor.runs.stored_run import find_runs

    if form is not None and form not in _FORMATS:
        raise UsageError(f"--items is not for {form}", hint=f"add --format {'|'.join(_FORMATS)}")
    if as_json and form is not None:
        raise UsageError(
            "--json prints, and a file was asked for", hint="leave out one of them; .csv has every question"
        )
    paths = [path for folder in folders for path in (sorted(find_runs(folder)) or [folder])]
    runs = [read_run(path) for path in dict.fromkeys(paths)]
    found = items_of(runs)
    if not found:
        raise UsageError("no run has samples of questions", hint="a run with --log-samples writes them when it ends")
    if as_json:
        from proctor.cli.json_output import print_json

        print_json([each.record() for each in found], indent=2)
    elif form is None:
        show("\n".join(_lines(found, most)))
    else:
        _write(found, form, output or Path(f"items.{form}"), most)
    return FAILURES if any(run.state == "damaged" for run in runs) else DONE


def _write(found: Sequence[ExamItems], form: str, output: Path, most: int) -> None:
    from proctor.results.export import to_csv
    from proctor.runs.item_tables import COLUMNS, records

    if form == "html":
        from proctor.web.item_pages import item_report

        text = item_report(found, most)
    elif form == "csv":
        text = to_csv([record for each in found for record in records(each)], COLUMNS)
    else:
        text = "\n".join(_markdown(found, most)) + "\n"
    write_report(output, text)


def write_report(output: Path, text: str) -> None:
    """Write a report and say where it is.

    Raises:
        OutputError: It cannot be written there.
    """
    from proctor.safe_files import write_for_user

    try:
        write_for_user(output, text)
    except OSError as error:
        raise OutputError.unwritable(str(output), error, "another --output") from None
    say(f"report: {output}")


def _markdown(found: Sequence[ExamItems], most: int) -> Iterator[str]:
    from proctor.results.export import markdown_cell, markdown_row
    from proctor.runs.item_tables import heading, tables

    for exam in found:
        yield from (f"# {markdown_cell(exam.exam)}", "", markdown_cell(heading(exam)), "")
        yield from (f"> {markdown_cell(note)}\n" for note in exam.notes)
        for table in tables(exam, most):
            yield from (f"## {table.title}", "", markdown_row(table.header), "|" + "---|" * len(table.header))
            yield from map(markdown_row, table.rows)
            yield from ("", *([f"{table.left_out} more.", ""] if table.left_out else []))


# -- what people read -------------------------------------------------------------------------------------------------

_WIDTH: Final = 100
_LEFT_OUT: Final = "-o items.csv has every question"


def _lines(found: Sequence[ExamItems], most: int) -> Iterator[str]:
    from proctor.runs.item_tables import heading, tables

    for exam in found:
        yield from _folded(f"{exam.exam}: {heading(exam)}", "")
        for note in exam.notes:
            yield from _folded(f"note: {note}", "  ")
        for table in tables(exam, most):
            yield from ("", f"  {table.title}")
            yield from _rows(table)
        yield ""
    yield _LEFT_OUT


def _rows(table: ItemTable) -> Iterator[str]:
    for number, question, *values in table.rows:
        yield from _folded(f"{number}: {question}", "    ")
        told = [
            f"{name} {value}" for name, value in zip(table.header[2:], values, strict=True) if value not in ("", "-")
        ]
        yield from _folded("; ".join(told), "      ")
    if table.left_out:
        yield f"    and {table.left_out} more"


def _folded(text: str, indent: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
