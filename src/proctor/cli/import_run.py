"""``proctor import``: somebody else's record as a run folder, for report, compare, why and the viewer."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.error_reporting import say


@click.command("import", cls=WalledCommand, writes=lambda given: ((given["output"],), ()))
@click.argument("record", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--output", "-o", type=click.Path(path_type=Path, file_okay=False), required=True, help="A new folder.")
def command(record: Path, output: Path) -> None:
    """Write a RECORD of Every Eval Ever (JSON, with its _samples.jsonl beside it) as a run folder.

    Scores, intervals, standard errors and instances come along; report, compare, why and view read the folder.
    """
    from proctor.exchange.imported import import_record

    exams = import_record(record, output)
    say(f"{', '.join(exams)}: run folder {output}")
