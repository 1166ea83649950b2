"""``--output-format``: who writes a run's results beside the run folder's own files."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.errors import PluginError, UsageError, did_you_mean
from proctor.plugins import plugins
from proctor.recipes.exam import Exam
from proctor.running.exporting import Exporter

OWN = ("proctor", "lm-eval", "aisbench")


def exporter(name: str, exams: Sequence[Exam]) -> Exporter:
    """Return what a name stands for; what it cannot write is known before anybody is asked.

    Raises:
        UsageError: There is no such exporter, or an exam is not of the kind that it writes.
        PluginError: An installed package's exporter cannot be used.
    """
    if name == "proctor":
        return lambda run: ()
    if name == "lm-eval":
        from proctor.cli.lm_eval_files import write_lm_eval

        return write_lm_eval
    if name == "aisbench":
        from proctor.cli.aisbench_files import write_aisbench
        from proctor.dialects.aisbench.work_dir import check_configs

        check_configs(exams)
        return write_aisbench
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
