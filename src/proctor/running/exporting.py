"""A run that has ended, as exporters get it (``--output-format``, entry points of ``proctor.exporters``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.engines.engine import Engine
from proctor.recipes.exam import Exam
from proctor.running.run import RunResult
from proctor.running.spec import RunSpec


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A run that has ended.

    Attributes:
        result: Its results, grades and folder (``result.output``).
        exams: Its exams.
        engine: Who answered.
        log: The response log; ``None`` for the one in the cache folder.
        spec: What ``run.yaml`` says.
        facts: What the engine knew of its model when the run ended (:meth:`~proctor.engines.engine.Engine.facts`).
    """

    result: RunResult
    exams: Sequence[Exam]
    engine: Engine
    log: Path | str | None
    spec: RunSpec
    facts: Mapping[str, Any] = field(default_factory=dict)


Exporter = Callable[[ExportedRun], Iterable[Path]]
"""Writes files of a run and returns their paths."""
