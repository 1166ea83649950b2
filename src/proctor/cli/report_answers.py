"""``proctor report --answers``: the answers of models and prompts side by side, what failed and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proctor.cli.error_reporting import DONE, FAILURES, show
from proctor.cli.model_lists import sentences
from proctor.cli.report_items import write_report
from proctor.cli.run_folders import read_run
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.web.answers_beside import Row, Table, Which

_FORMATS: Final = ("html", "md")
_Told = Sequence[tuple["Table", Sequence[str]]]


def report_answers(folders: Sequence[Path], output: Path | None, form: str | None, which: Which, most: int) -> int:
    """Print the answers of runs side by side, or write them into a file where there is a form; return the exit code.

    Raises:
        UsageError: The format is of scores alone, or no run has samples.
    """
    from proctor.web.answers_beside import answers_page, tables_of

    if form is not None and form not in _FORMATS:
        raise UsageError(f"--answers is not for {form}", hint=f"add --format {'|'.join(_FORMATS)}")
    runs = [read_run(path) for path in folders]
    tables = tables_of(runs, which)
    if not tables:
        raise UsageError("no run has samples of questions", hint="a run with --log-samples writes them when it ends")
    told = [(each, list(sentences(list(each.columns.items()))) if len(each.columns) > 1 else []) for each in tables]
    if form is None:
        show("\n".join(_lines(told, most)))
    else:
        text = answers_page(told, which, most) if form == "html" else "\n".join(_markdown(told, most)) + "\n"
        write_report(output or Path(f"answers.{form}"), text)
    return FAILURES if any(run.state == "damaged" for run in runs) else DONE


def _lines(tables: _Told, most: int) -> Iterator[str]:
    """Yield a question a block, an answer a line."""
    for table, told in tables:
        yield from told
        width = max(map(len, table.columns))
        for number, row in enumerate(table.rows[:most], 1):
            yield f"\n{number}. {row.question}" + (f"   right: {row.references}" if row.references else "")
            for name in table.columns:
                yield f"   {_sign(row, name)} {name.ljust(width)}  {_said(row, name)}"
        yield f"\n{len(table.rows[:most])} of {len(table.rows)} questions shown; {table.total} were asked"


def _markdown(tables: _Told, most: int) -> Iterator[str]:
    from proctor.results.export import markdown_cell, markdown_row

    for table, told in tables:
        yield from (f"{markdown_cell(each)}\n" for each in told)
        yield markdown_row(["question", "right", *table.columns])
        yield "|" + "---|" * (len(table.columns) + 2)
        for row in table.rows[:most]:
            cells = (f"{_sign(row, name)} {_said(row, name)}" for name in table.columns)
            yield markdown_row([row.question, row.references, *cells])
        yield f"\n{len(table.rows[:most])} of {len(table.rows)} questions shown; {table.total} were asked.\n"


def _sign(row: Row, name: str) -> str:
    from proctor.web.verdicts import SIGNS

    return SIGNS[row.answers[name].outcome] or "!" if name in row.answers else " "


def _said(row: Row, name: str) -> str:
    if name not in row.answers:
        return "not asked"
    answer = row.answers[name]
    return (
        answer.text + "".join(f" ({each})" for each in answer.reasons) + "".join(f" [{each}]" for each in answer.notes)
    )
