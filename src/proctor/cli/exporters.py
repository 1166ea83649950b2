"""``--output-format``: who writes a run's results beside the run folder's own files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proctor.cli.error_reporting import say
from proctor.errors import PluginError, UsageError, did_you_mean
from proctor.plugins import plugins
from proctor.recipes.exam import Exam
from proctor.running.exporting import ExportedRun, Exporter

OWN = ("proctor", "lm-eval", "aisbench", "mlflow", "wandb", "trackio")


def exporter(name: str, exams: Sequence[Exam], *, predictions: bool = False) -> Exporter:
    """Return the exporter of a name, checked before anybody is asked.

    Args:
        name: Of the format.
        exams: What is asked.
        predictions: Whether answers to configs are filed as AISBench files them, where no other format is named.

    Raises:
        UsageError: There is no such exporter, or an exam is not of the kind that it writes.
        MissingExtraError: It is a tracker whose package is not installed.
        PluginError: An installed package's exporter cannot be used.
    """
    if name == "proctor" and predictions:
        from proctor.exchange.aisbench_files import are_configs

        name = "aisbench" if are_configs(exams) else name
    if name == "proctor":
        return lambda run: ()
    if name == "lm-eval":
        from proctor.cli.lm_eval_files import write_lm_eval

        return write_lm_eval
    if name == "aisbench":
        from proctor.cli.aisbench_files import write_aisbench
        from proctor.exchange.aisbench_files import check_configs

        check_configs(exams)
        return write_aisbench
    if name in OWN:
        from proctor.exchange.trackers import require

        require(name)
        return lambda run: _sent(name, run)
    plugin = plugins("exporters").get(name)
    if plugin is None:
        known = [*OWN, *plugins("exporters")]
        raise UsageError(
            f"there is no output format '{name}'", hint=did_you_mean(name, known) or f"there are {', '.join(known)}"
        )
    found = plugin.load()
    if not callable(found):
        raise PluginError(f"the exporter '{name}' of {plugin.package} is not a function", why=f"it is {found!r}")
    write: Exporter = found
    return write


def _sent(name: str, run: ExportedRun) -> Sequence[Path]:
    from proctor.exchange.trackers import Destination, sent
    from proctor.exchange.trackers.record import recorded
    from proctor.runs.stored_run import load_run

    if run.result.output is None:
        raise UsageError(f"'{name}' keeps what a run folder holds, and this run writes none")
    with recorded(load_run(run.result.output)) as record:
        place = sent(name, record, Destination())
    for reason in record.left_out:
        say(f"left out: {reason}")
    say(f"kept in {place}")
    return ()
