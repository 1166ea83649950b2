"""``proctor judge``: what people have to say of a judge's scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from proctor.cli.commands import SETTINGS, Places, WalledCommand
from proctor.cli.error_reporting import say, show
from proctor.cli.run_folders import RunFolder, labels_option, read_run
from proctor.errors import OutputError, UsageError

_TABLE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group("judge", context_settings=SETTINGS, no_args_is_help=True)
def command() -> None:
    """Let people label answers, so that a judge's scores can be corrected, and say how good the judge is."""


def _written(given: Mapping[str, Any]) -> Places:
    """Return the run folder, where labels are kept, or the table."""
    return ([given["run"]], ()) if given["filled"] else ((), (given["output"],))


@command.command("label", cls=WalledCommand, writes=_written)
@click.argument("run", metavar="RUN", type=RunFolder())
@click.option("--count", default=100, show_default=True, type=click.IntRange(10), help="Answers to label, per exam.")
@click.option("--exam", "exams", multiple=True, help="Of this exam alone; may be repeated.")
@click.option("--seed", type=int, help="Draws other answers.")
@click.option("--output", "-o", default="labels.csv", show_default=True, type=_FILE, help="The table; never replaced.")
@click.option("--from", "filled", type=_TABLE, help="Keep the labels of a filled-in table with the run, instead.")
@click.option("--who", metavar="NAME", help="With --from: who labelled.")
def _label(
    run: Path,
    count: int,
    exams: tuple[str, ...],
    seed: int | None,
    output: Path,
    filled: Path | None,
    who: str | None,
) -> None:
    """Write a table of answers for people to label: without the model's name and without the judge's verdicts.

    Fill in the column label: 1 right, 0 wrong, between them what is right in part. Each labeller fills in a copy. Then
    name it (proctor report RUN --labels labels.csv), or keep it: report, compare and plan use the labels that are kept
    with a run, or with one beside it that has the same answers. In proctor view, people label by keyboard.

    \b
    proctor judge label runs/a
    proctor judge label runs/a --from labels.csv --who Ann
    """  # noqa: D301 - click reads the control character
    if filled is not None or who is not None:
        _keep(run, filled, who)
        return
    from proctor.results.export import to_csv
    from proctor.runs.answer_labels import COLUMNS, drawn_answers, labelled_exams
    from proctor.safe_files import write_for_user

    if output.exists():
        raise UsageError(f"{output} is there already", hint="it may hold labels: choose another --output")
    stored = read_run(run)
    if unknown := [name for name in exams if name not in stored.results]:
        raise UsageError(f"{run} has no exam {unknown[0]}", hint=f"it has {', '.join(stored.results) or 'none'}")
    rows, notes = drawn_answers(stored, exams or labelled_exams(stored), count, seed)
    try:
        write_for_user(output, to_csv(rows, COLUMNS))
    except OSError as error:
        raise OutputError.unwritable(str(output), error, "another --output") from None
    for note in notes:
        say(note)
    say(f"{output}: {len(rows)} answers to label; fill in the column label: 1 right, 0 wrong, or a part such as 0.5")
    say(f"then: proctor report {run} --labels {output}, or proctor judge label {run} --from {output} --who NAME")


def _keep(run: Path, filled: Path | None, who: str | None) -> None:
    """Keep the labels of a table with a run.

    Raises:
        UsageError: Nobody is named, something else is asked for, or a label is not of an answer of the run.
    """
    from proctor.runs.answer_labels import answers_of, labelled_exams, read_labels
    from proctor.runs.kept_labels import Label, keep_labels

    context = click.get_current_context()
    if filled is None or who is None:
        raise UsageError("--from and --who go together", hint="--from labels.csv --who NAME keeps what somebody said")
    for name in ("count", "exams", "seed", "output"):
        if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            raise UsageError(f"--{name.rstrip('s')} has no effect with --from", why="nothing is drawn")
    stored, found = read_run(run), read_labels([filled])
    every = [answers_of(stored, exam) for exam in labelled_exams(stored)]
    known = {(draw, key) for each in every for key in each.keys for draw in ("", each.draw)}
    if lost := [key for _, key in found.given.keys() - known]:
        why = f"{len(lost)} of {len(found.given)} labels are not of its answers, such as that of {lost[0]}"
        raise UsageError(f"{filled} has labels of another run", why=why, hint="name the run they were drawn from")
    labels = [
        Label(key, value, who, draw, found.weights[draw, key])
        for (draw, key), given in found.given.items()
        for value in given.values()
    ]
    keep_labels(run, labels)
    say(f"{run}: {len(labels)} labels of {who} are kept; {found.empty} lines had none")


@command.command("report", cls=WalledCommand)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=RunFolder())
@labels_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def _report(runs: tuple[Path, ...], labels: tuple[Path, ...], as_json: bool) -> None:
    """Say how good the judges of runs are: against people, and against themselves.

    With labels: accuracy, kappa, AC1 and Krippendorff's alpha, what longer answers gain, and what a judge makes of its
    own answers. Without: whether the order of two answers changed a verdict, whether two metrics agree, and, of runs
    that share answers, what another judge, or the same one asked again, decides otherwise.
    """
    from dataclasses import asdict

    from proctor.cli.json_output import print_json
    from proctor.cli.report_labels import markdown_tables
    from proctor.jsonable import jsonable
    from proctor.runs.answer_labels import read_labels
    from proctor.runs.judge_report import judge_report, report_tables
    from proctor.runs.kept_labels import kept_labels

    stored = [read_run(path) for path in runs]
    found = judge_report(stored, read_labels(labels) if labels else kept_labels(*(run.path for run in stored)))
    if as_json:
        print_json(jsonable(asdict(found)), indent=2)
        return
    show(
        "\n".join([*markdown_tables(report_tables(found)), "", *(f"- not measured: {each}" for each in found.missing)])
    )
