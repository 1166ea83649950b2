"""``proctor compare``: is the difference between two runs more than chance?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import ProctorCommand
from proctor.cli.error_reporting import say
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.runs.sample_index import SampleIndex


_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("compare", cls=ProctorCommand)
@click.argument("baseline", type=_FOLDER)
@click.argument("others", nargs=-1, required=True, metavar="RUN...", type=_FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON instead of a table.")
def command(baseline: Path, others: tuple[Path, ...], as_json: bool) -> None:
    """Compare runs with a baseline, instance by instance.

    Differences are RUN minus BASELINE, paired by instance, with 95% intervals; p is from McNemar's test where scores
    are 0 or 1 and from a paired t-test otherwise, corrected for the number of comparisons (Holm).
    """
    from proctor.cli.console import console, print_json
    from proctor.runs.compare_runs import compare_with

    first = _index(baseline)
    found = compare_with(first, [_index(path) for path in others])
    rows = [{"run": str(path), **asdict(row)} for path, compared in zip(others, found, strict=True) for row in compared]
    if not rows:
        raise UsageError("the runs share no exam", hint=f"{baseline} has {', '.join(first.exams()) or 'none'}")
    if as_json:
        print_json(rows, indent=2)
        return
    console().print(_table(rows, with_runs=len(others) > 1))
    for row in rows:
        if row["refused"]:
            say(f"warning: {row['task']} is not compared: {row['refused']}")


def _index(path: Path) -> SampleIndex:
    from proctor.runs.sample_index import SampleIndex
    from proctor.runs.stored_run import is_run, load_run

    if not is_run(path):
        raise UsageError(f"{path} is not a run folder", hint="it has neither run.yaml nor results.json")
    run = load_run(path)
    if run.samples is None:
        raise UsageError(f"{path} has no samples.jsonl", hint="a run with --log-samples writes it when it ends")
    index = SampleIndex.of_run(run.samples, run.results)
    index.build()
    return index


def _table(rows: list[dict[str, Any]], *, with_runs: bool) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from proctor.results.summary import UNITS, shown
    from proctor.terminal_text import printable

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    if with_runs:
        table.add_column("run", overflow="fold")
    table.add_column("task", overflow="fold")
    table.add_column("unit")
    for name in ("first", "second", "difference", "95% interval", "p", "p corrected", "better", "worse", "n"):
        table.add_column(name, justify="right")
    for row in rows:
        cells = [shown(row["first"]), shown(row["second"]), _signed(row["difference"])]
        cells += [f"{shown(row['low'])} to {shown(row['high'])}", shown(row["p"]), shown(row["p_corrected"])]
        counts = [str(row["better"]), str(row["worse"]), str(row["n"])]
        names = [printable(row[name]) for name in (["run", "task"] if with_runs else ["task"])]
        names.append(UNITS.get(row["unit"], ""))
        table.add_row(*map(Text, names + cells + counts))
    return table


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.4f}"
