"""The exams of a run file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from proctor.dialects.resolve import resolve_tasks
from proctor.effects import Author, written_by
from proctor.errors import UsageError, did_you_mean
from proctor.jsonable import jsonable
from proctor.recipes.exam import HELD, Exam
from proctor.recipes.options import ExamOptions
from proctor.running.spec import RunSpec, changes
from proctor.secrets import without_secrets


def options_of(spec: RunSpec) -> ExamOptions:
    """Return what a run changed about every exam.

    Raises:
        UsageError: An override has a name that no recipe knows.
    """
    given: dict[str, Any] = {"limit": spec.limit, "seed": spec.seed, "num_demos": spec.num_demos, **spec.overrides}
    told = without_secrets(spec.model_args)
    given["model_arguments"] = {name: value for name, value in told.items() if name not in _OF_THE_MACHINE}
    values = {name: _as_given(value) for name, value in given.items()}
    known = {entry.name for entry in fields(ExamOptions)}
    if unknown := [name for name in values if name not in known]:
        hint = did_you_mean(unknown[0], known) or f"they are {', '.join(sorted(known))}"
        raise UsageError(f"there is no override '{unknown[0]}'", path=f"$.overrides.{unknown[0]}", hint=hint)
    return ExamOptions(**{name: value for name, value in values.items() if value is not None})


def _as_given(value: Any) -> Any:
    """Return a value of a file as options hold it: lists as tuples, within lists, too."""
    return tuple(map(_as_given, value)) if isinstance(value, list) else value


_OF_THE_MACHINE = ("batch_size", "max_batch_size", "device")
"""Arguments of models that say how it is run, and that no task asks for."""


def exams_of_spec(spec: RunSpec) -> list[Exam]:
    """Return the exams that a run sat, as they are now.

    Raises:
        ProctorError: A task is not known any more, or cannot be built.
    """
    return list(resolve_tasks(spec.tasks, options_of(spec)))


def exam_of_run(spec: RunSpec, name: str) -> Exam:
    """Return an exam that a run sat, by its name, in the form in which it sat it.

    The run may be somebody else's: what its file names is built on the file's behalf, which may read where the user is
    and ask no servers but hubs.

    Raises:
        ProctorError: It is not known any more, cannot be built, or is written otherwise now.
    """
    with written_by(Author("run.yaml", str(Path.cwd()))):
        found = next((exam for exam in exams_of_spec(spec) if exam.name == name), None)
    if found is None:
        raise UsageError(f"the tasks of the run have no exam '{name}' any more")
    forms = [found, *(make() for make in found.variants.values())]
    differences = [_difference(spec.exams.get(name), form) for form in forms]
    if "" not in differences:
        raise UsageError(f"the exam '{name}' is not what it was", why=differences[0].strip(".: "))
    return forms[differences.index("")]


def _difference(known: Any, exam: Exam) -> str:
    """Return in what an exam differs from what a run file holds; empty where it does not, or the file does not say."""
    if not isinstance(known, dict):
        return ""
    now: dict[str, Any] = jsonable(exam.specification())
    if HELD not in known:  # an older Proctor held no artifacts
        now.pop(HELD, None)
    return next(changes(known, now), "")
