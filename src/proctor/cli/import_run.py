"""``proctor import``: somebody else's record as a run folder, for report, compare, why and the viewer."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.error_reporting import say


@click.command("import", cls=WalledCommand, writes=lambda given: ((given["output"],), ()))
@click.argument("record", type=click.Path(path_type=Path, exists=True))
@click.option("--output", "-o", type=click.Path(path_type=Path, file_okay=False), required=True, help="A new folder.")
def command(record: Path, output: Path) -> None:
    """Write a RECORD that another system wrote as a run folder, which report, compare, why and view read.

    Of Every Eval Ever (JSON, with its _samples.jsonl beside it) scores, intervals, standard errors and instances come
    along; of lm-eval's samples_*.jsonl (or their folder), logs of inspect, results of Unitxt, predictions of
    OpenCompass and AISBench, the main score with its instances.
    """
    from proctor.errors import UsageError
    from proctor.exchange.foreign_runs import write_foreign
    from proctor.exchange.imported import import_record
    from proctor.exchange.readers import observed

    read = observed(str(record))
    is_record = read[0].system == "Every Eval Ever"
    if not is_record and output.exists() and any(output.iterdir()):
        raise UsageError(f"the folder {output} is not empty", hint="name a new folder with --output")
    exams = import_record(record, output) if is_record else write_foreign(read, output)
    say(f"{', '.join(exams)}: run folder {output}")
