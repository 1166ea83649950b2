"""The exams of a run file."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from proctor.dialects.resolve import resolve_tasks
from proctor.errors import UsageError, did_you_mean
from proctor.recipes.exam import Exam
from proctor.recipes.options import ExamOptions
from proctor.running.spec import RunSpec


def options_of(spec: RunSpec) -> ExamOptions:
    """Return what a run changed about every exam.

    Raises:
        UsageError: An override has a name that no recipe knows.
    """
    given: dict[str, Any] = {"limit": spec.limit, "seed": spec.seed, "num_demos": spec.num_demos, **spec.overrides}
    values = {name: _as_given(value) for name, value in given.items()}
    known = {entry.name for entry in fields(ExamOptions)}
    if unknown := [name for name in values if name not in known]:
        hint = did_you_mean(unknown[0], known) or f"they are {', '.join(sorted(known))}"
        raise UsageError(f"there is no override '{unknown[0]}'", path=f"$.overrides.{unknown[0]}", hint=hint)
    return ExamOptions(**{name: value for name, value in values.items() if value is not None})


def _as_given(value: Any) -> Any:
    """Return a value of a file as options hold it: lists as tuples, within lists, too."""
    return tuple(map(_as_given, value)) if isinstance(value, list) else value


def exams_of_spec(spec: RunSpec) -> list[Exam]:
    """Return the exams that a run sat, as they are now.

    Raises:
        ProctorError: A task is not known any more, or cannot be built.
    """
    return list(resolve_tasks(spec.tasks, options_of(spec)))
