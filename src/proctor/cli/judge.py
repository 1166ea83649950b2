"""``proctor judge``: what people have to say of a judge's scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from proctor.cli.commands import SETTINGS, Places, WalledCommand
from proctor.cli.error_reporting import say
from proctor.cli.run_folders import RunFolder, read_run
from proctor.errors import OutputError, UsageError

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group("judge", context_settings=SETTINGS, no_args_is_help=True)
def command() -> None:
    """Let people label answers, so that a judge's scores can be corrected."""


def _written(given: Mapping[str, Any]) -> Places:
    return (), (given["output"],)


@command.command("label", cls=WalledCommand, writes=_written)
@click.argument("run", metavar="RUN", type=RunFolder())
@click.option("--count", default=100, show_default=True, type=click.IntRange(10), help="Answers to label, per exam.")
@click.option("--exam", "exams", multiple=True, help="Of this exam alone; may be repeated.")
@click.option("--seed", type=int, help="Draws other answers.")
@click.option("--output", "-o", default="labels.csv", show_default=True, type=_FILE, help="The table; never replaced.")
def _label(run: Path, count: int, exams: tuple[str, ...], seed: int | None, output: Path) -> None:
    """Write a table of answers for people to label: without the model's name and without the judge's verdicts.

    Fill in the column label: 1 right, 0 wrong, between them what is right in part. Each labeller fills in a copy. Then:
    proctor report RUN --labels labels.csv
    """
    from proctor.results.export import to_csv
    from proctor.runs.answer_labels import COLUMNS, drawn_answers, labelled_exams
    from proctor.safe_files import write_for_user

    if output.exists():
        raise UsageError(f"{output} is there already", hint="it may hold labels: choose another --output")
    stored = read_run(run)
    if unknown := [name for name in exams if name not in stored.results]:
        raise UsageError(f"{run} has no exam {unknown[0]}", hint=f"it has {', '.join(stored.results) or 'none'}")
    rows = drawn_answers(stored, exams or labelled_exams(stored), count, seed)
    try:
        write_for_user(output, to_csv(rows, COLUMNS))
    except OSError as error:
        raise OutputError.unwritable(str(output), error, "another --output") from None
    say(f"{output}: {len(rows)} answers to label; fill in the column label: 1 right, 0 wrong, or a part such as 0.5")
    say(f"then: proctor report {run} --labels {output}")
