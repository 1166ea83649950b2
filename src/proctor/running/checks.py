"""Checks of all exams of a run, at once, before anybody is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from proctor.engines.engine import Engine
from proctor.errors import ProctorError, UsageError
from proctor.recipes.exam import Exam


def check_exams(exams: Sequence[Exam], engine: Engine) -> None:
    """Refuse a run that cannot end well.

    Each exam is asked for what it knows (options it cannot honour, metrics and text functions that there are not,
    packages and trust that are missing, what the engine lacks), and puts its first instance in words.

    Raises:
        ProctorError: With every problem of every exam. Of the problems' own kind where they share one, so that a
            missing package stays a missing package.
    """
    _check_names(exams)
    errors = [error for exam in exams for error in _errors(exam, engine)]
    if not errors:
        return
    kinds = {type(error) for error in errors}
    kind = kinds.pop() if len(kinds) == 1 else UsageError
    found = {str(each): each for error in errors for each in error.diagnostics}
    raise errors[0] if len(errors) == 1 else kind(list(found.values()))


def _errors(exam: Exam, engine: Engine) -> Iterator[ProctorError]:
    if found := exam.problems(engine):
        yield UsageError(found)
        return
    try:
        exam.begin()
    except ProctorError as error:
        yield error


def _check_names(exams: Sequence[Exam]) -> None:
    if not exams:
        raise UsageError("there is no exam to run")
    if twice := [name for name, count in Counter(exam.name for exam in exams).items() if count > 1]:
        raise UsageError(f"two exams are named '{twice[0]}'", hint="results are filed by name; give each its own")
