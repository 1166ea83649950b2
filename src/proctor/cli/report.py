"""``proctor report``: the scores of runs in a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import Places, WalledCommand
from proctor.cli.error_reporting import DONE, FAILURES, say
from proctor.cli.run_folders import RunFolder, over_option, read_run
from proctor.errors import OutputError, UsageError
from proctor.running.sweeps import is_sweep

if TYPE_CHECKING:
    from proctor.runs.answer_labels import Labels
    from proctor.runs.corrected_scores import Corrections
    from proctor.runs.stored_run import StoredRun
    from proctor.web.answers_beside import Which

FORMATS = {"html": ".html", "md": ".md", "csv": ".csv", "parquet": ".parquet", "latex": ".tex"}
_WITH_LABELS = ("html", "md")
PIVOTS = ("md", "csv", "latex")


def _place(output: Path | None, form: str | None, *, pivot: bool) -> tuple[Path, str]:
    """Return the file that is written, and its form."""
    form = form or ("md" if pivot and output is None else _form_of(output))
    return output or Path(f"report{FORMATS[form]}"), form


def _written(given: Mapping[str, Any]) -> Places:
    """Return the file that is written."""
    return (), (_place(given["output"], given["form"], pivot=given["pivot"])[0],)


@click.command("report", cls=WalledCommand, writes=_written)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=RunFolder())
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="The file.  [default: report.html]"
)
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="[default: by the name of the file]")
@click.option(
    "--samples",
    default=20,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Worst instances shown, per exam; with --items and --answers, questions; with --readings, those that change.",
)
@click.option("--pivot", is_flag=True, help="Tasks down, models across: for md, csv and latex.")
@click.option(
    "--items",
    is_flag=True,
    help="The questions instead of the scores: which are hard, which tell models apart, whose gold may be wrong, which "
    "stand twice. On the terminal, or as html, md and csv.",
)
@click.option(
    "--answers",
    type=click.Choice(["all", "flips", "failed", "noted"]),
    help="The answers side by side instead, with what failed and why: of all questions, of those that some answered "
    "right and others did not, of those that somebody did not, or of those with notes. On the terminal, or as html "
    "and md.",
)
@click.option(
    "--readings",
    is_flag=True,
    help="The scores under other readings of the same answers: the first match, the last, only what is clear; and by "
    "what each answer was read. On the terminal.",
)
@click.option(
    "--labels",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What people say of the answers (proctor judge label), a file of each labeller: the scores as corrected, "
    "with intervals that hold for what is true. On the terminal, or with the scores as html and md.",
)
@over_option
@click.option(
    "--json", "as_json", is_flag=True, help="With --items, --readings, --labels or --over: print everything as JSON."
)
def command(  # noqa: C901 - one branch for each report
    *,
    runs: tuple[Path, ...],
    output: Path | None,
    form: str | None,
    samples: int,
    pivot: bool,
    items: bool,
    answers: Which | None,
    readings: bool,
    labels: tuple[Path, ...],
    over: str | None,
    as_json: bool,
) -> int:
    """Write the scores of runs as HTML, Markdown, CSV, Parquet or LaTeX.

    The HTML file needs nothing else and opens from a mail; with several runs it compares each with the first. With
    --items, RUN may also be a folder of runs: the more models answered the same questions, the more can be said. With
    --readings, answers are graded again, without asking anybody.
    """
    given = {
        "--readings": readings, "--items": items, "--answers": answers is not None, "--pivot": pivot,
        "--labels": bool(labels), "--over": over is not None,
    }  # fmt: skip
    _check_alone([name for name, value in given.items() if value], as_json=as_json, to_file=bool(output or form))
    if readings:
        from proctor.cli.report_readings import report_readings

        return report_readings(runs, samples, as_json=as_json)
    if items or answers:
        form = form or (None if output is None else _form_of(output))
        if answers is None:
            from proctor.cli.report_items import report_items

            return report_items(runs, output, form, samples, as_json=as_json)
        from proctor.cli.report_answers import report_answers

        return report_answers(runs, output, form, answers, samples)
    if over or is_sweep(runs[0]):
        from proctor.cli import sweep

        form = form or (None if output is None else _form_of(output))
        about = (
            partial(sweep.report_over_wordings, as_json=as_json) if over else partial(sweep.report_sweep, flips=samples)
        )
        return about(runs, output, form)
    to_terminal = output is None and form is None
    output, form = _place(output, form, pivot=pivot)
    if labels and not to_terminal and form not in _WITH_LABELS:
        raise UsageError(f"--labels is not for {form}", hint="add --format html|md, or --json without a file")
    if pivot and form not in PIVOTS:
        raise UsageError(f"--pivot is not for {form}", hint=f"add --format {'|'.join(PIVOTS)}")
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder {output.parent}", hint="make it first, or choose another --output")
    stored = [read_run(path) for path in runs]
    named = _named(labels)
    found = _corrected(stored, named)
    if found and labels and to_terminal:
        from proctor.cli.report_labels import print_corrections

        return print_corrections(found, as_json=as_json)
    try:
        if pivot:
            _write_pivot(stored, form, output)
        else:
            _write(stored, form, output, samples, found, named)
    except OSError as error:
        raise OutputError.unwritable(str(output), error, "another --output") from None
    say(f"report: {output}")
    if found and not labels:
        has_them = form in _WITH_LABELS and not pivot
        of_them = "it has corrected scores" if has_them else "corrected scores are in reports as html and md"
        say(f"labels of these answers are kept: {of_them}")
    return FAILURES if any(run.state == "damaged" for run in stored) else DONE


def _named(paths: tuple[Path, ...]) -> Labels | None:
    from proctor.runs.answer_labels import read_labels

    return read_labels(paths) if paths else None


def _corrected(runs: list[StoredRun], labels: Labels | None) -> Corrections | None:
    """Return the scores as labels correct them: those that are named, or those that are kept of these answers."""
    from proctor.runs.corrected_scores import corrections_of
    from proctor.runs.kept_labels import kept_labels

    if labels is not None:
        return corrections_of(runs, labels)
    kept = kept_labels(*(run.path for run in runs))
    try:
        found = None if kept is None else corrections_of(runs, kept)
    except UsageError as error:  # most of them are of other runs' answers
        if kept is not None and any(
            path.parent == run.path.resolve() for path in kept.sources.values() for run in runs
        ):
            say(f"the labels that are kept are not used: {error.diagnostics[0].what}")
        return None
    return found


def _check_alone(given: list[str], *, as_json: bool, to_file: bool) -> None:
    """Refuse options that do not go with each other.

    Raises:
        UsageError: Two say what the report is of, or it has no such form.
    """
    if len(given) > 1:
        raise UsageError(f"{given[0]} stands alone", hint=f"leave out {given[1]}")
    if as_json and given not in (["--readings"], ["--items"], ["--labels"], ["--over"]):
        hint = "results.json in the run folder has the scores"
        raise UsageError("--json is for --items, --readings, --labels and --over", hint=hint)
    if as_json and to_file and given in (["--labels"], ["--over"]):
        raise UsageError("--json prints, and a file was asked for", hint="leave out one of them")
    if to_file and given == ["--readings"]:
        raise UsageError("--readings goes to the terminal", hint="--json prints everything as JSON")


def _form_of(output: Path | None) -> str:
    if output is None:
        return "html"
    form = next((form for form, ending in FORMATS.items() if output.suffix.lower() == ending), None)
    if form is None:
        hint = f"name it report.html, or add --format {'|'.join(FORMATS)}"
        raise UsageError(f"the ending of '{output.name}' tells no format", hint=hint)
    return form


def _write(
    runs: list[StoredRun], form: str, output: Path, samples: int, found: Corrections | None, labels: Labels | None
) -> None:
    from proctor.cli.report_labels import corrections_text
    from proctor.results.export import score_records, to_csv, to_markdown, write_parquet
    from proctor.results.latency_tables import latency_markdown
    from proctor.results.summary import score_rows
    from proctor.runs.stored_run import state_notes
    from proctor.safe_files import write_for_user

    if form == "html":
        from proctor.dialects.run_file import exam_of_run
        from proctor.web.report import report_of

        write_for_user(output, report_of(runs, samples, exam_of_run, found, labels))
        return
    listed = [(run.path.name, run.model, list(score_rows(run.results, every_score=True))) for run in runs]
    if form == "md":
        times = {run.path.name: run.run.get("latency") or {} for run in runs}
        states = "".join(
            f"> {_one_line(run.path.name)}: {_one_line(note)}\n\n" for run in runs for note in state_notes(run)
        )
        corrected = corrections_text(found)
        write_for_user(output, states + to_markdown(listed) + corrected + latency_markdown(times))
    elif form == "csv":
        write_for_user(output, to_csv(score_records(listed)))
    elif form == "latex":
        from proctor.results.pivot import scores_latex

        write_for_user(output, scores_latex(listed))
    else:
        write_parquet(score_records(listed), output)


def _one_line(text: str) -> str:
    """Return a text of a run folder as Markdown shows it: on one line, and no markup."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("<", "&lt;").replace("`", "\\`")


def _write_pivot(runs: list[StoredRun], form: str, output: Path) -> None:
    from proctor.results.pivot import PivotRun, pivot_csv, pivot_latex, pivot_markdown, pivot_of
    from proctor.safe_files import write_for_user

    write = {"md": pivot_markdown, "csv": pivot_csv, "latex": pivot_latex}[form]
    write_for_user(output, write(pivot_of([PivotRun(run.path.name, run.model, run.results) for run in runs])))
