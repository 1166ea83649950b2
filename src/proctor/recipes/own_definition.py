"""Definition of an exam by value where its dialect gives none: a plugin's, or one that a program builds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from proctor.artifacts import Artifact
from proctor.artifacts.held import by_value
from proctor.recipes.fingerprint import Definition
from proctor.recipes.held_code import code_of
from proctor.recipes.metric_code import with_code
from proctor.scoring.grading.grader import ExamGrader
from proctor.scoring.grading.protocols import Grading


class _Described(Protocol):
    @property
    def dialect(self) -> str: ...
    @property
    def source(self) -> Mapping[str, Any]: ...
    @property
    def rows(self) -> object: ...
    @property
    def draw(self) -> object: ...
    @property
    def asker(self) -> object: ...
    @property
    def grader(self) -> object: ...


def own_definition(exam: _Described) -> Definition:
    """Return an exam's definition from its parts: steps and metrics by name and by value.

    The code of its parts, where it is not ours, is held by digest. Of a grader that is not :class:`ExamGrader` nothing
    else can be known, so both layers are made of its code and of what the exam says it was made of.
    """
    code = code_of([exam.rows, exam.draw, exam.asker, exam.grader])
    if not isinstance(exam.grader, ExamGrader):
        known = [exam.dialect, dict(exam.source), type(exam.grader).__qualname__, code_of([exam.grader])]
        return Definition(extraction=known, metrics=with_code(known), held=code)
    gradings = exam.grader.gradings
    readings = code_of([part for each in gradings for part in _readers(each)])
    scorers = code_of([scorer for each in gradings for scorer in each.scorers])
    return Definition(
        extraction=[[_extraction(each) for each in gradings], readings],
        metrics=with_code([[[each.name, [_scorer(one) for one in each.scorers]] for each in gradings], scorers]),
        held={**code, **readings, **scorers},
        scorers=[scorer for each in gradings for scorer in each.scorers],
    )


def _readers(grading: Grading) -> Sequence[object]:
    return grading.read, *((grading.extract,) if callable(grading.extract) else grading.extract)


def _extraction(grading: Grading) -> list[Any]:
    steps = grading.extract
    made = _called(steps) if callable(steps) else [[each.name, by_value(_inner(each))] for each in steps]
    return [grading.name, _called(grading.read), made, dict(grading.spec)]


def _called(function: object) -> str:
    """Return the name of a function, or of the class of an object that is one."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _inner(step: object) -> Any:
    """Return the artifact behind a step, where there is one."""
    function = getattr(step, "function", step)
    return function if isinstance(function, Artifact) else None


def _scorer(scorer: object) -> Any:
    metric = getattr(scorer, "metric", scorer)
    return [
        getattr(scorer, "name", ""),
        by_value(metric) if isinstance(metric, Artifact) else type(metric).__qualname__,
    ]
