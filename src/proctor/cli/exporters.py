"""``--output-format``: who writes a run's results beside the run folder's own files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.engines.engine import Engine
from proctor.errors import PluginError, UsageError, did_you_mean
from proctor.plugins import plugins
from proctor.recipes.exam import Exam
from proctor.running.run import RunResult
from proctor.running.spec import RunSpec

OWN = ("proctor", "lm-eval")


@dataclass(frozen=True, slots=True)
class Written:
    """A run that has ended, as exporters get it.

    Attributes:
        result: Its results, grades and folder (``result.output``).
        exams: Its exams.
        engine: Who answered.
        log: The response log; ``None`` for the one in the cache folder.
        spec: What ``run.yaml`` says.
    """

    result: RunResult
    exams: Sequence[Exam]
    engine: Engine
    log: Path | None
    spec: RunSpec


Exporter = Callable[[Written], Iterable[Path]]
"""Writes files of a run and returns their paths."""


def exporter(name: str, exams: Sequence[Exam]) -> Exporter:
    """Return what a name stands for; what it cannot write is known before anybody is asked.

    Raises:
        UsageError: There is no such exporter, or an exam is not of the kind that it writes.
        PluginError: An installed package's exporter cannot be used.
    """
    if name == "proctor":
        return lambda run: ()
    if name == "lm-eval":
        from proctor.cli.lm_eval_files import check_lm_eval, write_lm_eval

        check_lm_eval(exams)
        return write_lm_eval
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
