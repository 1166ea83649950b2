"""Evaluator classes that run: only when the user trusts code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from typing import Any

from proctor.dialects.aisbench.datasets.trusted import imported
from proctor.errors import Location, ScoringError
from proctor.scoring.evaluators.cases import Cases, Verdict

_CORRECT = ("correct", "is_correct", "cascade_correct")


def evaluator_class(name: str, place: Location | None = None) -> Any:
    """Return the class of a dotted or registered name, or the function that makes one's instance.

    Raises:
        ImportError: There is no such module, no such class in it, or it fails when it is run.
    """
    if callable(found := imported(name, place)):
        return found
    raise ImportError(f"{name} is not a class")


def class_evaluator(
    kind: Any, arguments: Mapping[str, Any], place: Location | None = None
) -> Callable[[Cases], Verdict]:
    """Return an evaluator that asks a class's own ``score``."""

    def judge(cases: Cases) -> Verdict:
        try:
            with chdir("."):  # LawBench's goes to another folder, and fails there
                found = _asked(kind(**arguments), cases)
        except Exception as error:  # whatever foreign code raises becomes one message
            raise ScoringError(
                f"{getattr(kind, '__name__', kind)}.score failed",
                location=place,
                why=f"{type(error).__name__}: {error}",
            ) from error
        return _verdict(found, len(cases.predictions), place)

    return judge


def _asked(instance: Any, cases: Cases) -> Any:
    known = {
        "predictions": list(cases.predictions),
        "references": list(cases.references),
        "test_set": [dict(row) for row in cases.rows],
        "origin_prompt": list(cases.prompts) or [None] * len(cases.predictions),
        **cases.columns,
    }
    wanted = inspect.signature(instance.score).parameters
    return instance.score(**{name: known[name] for name in wanted if name in known})


def _verdict(found: Any, count: int, place: Location | None) -> Verdict:
    if isinstance(found, int | float):
        found = {"score": found}
    if not isinstance(found, Mapping) or "error" in found:
        why = str(found.get("error")) if isinstance(found, Mapping) else f"it gave {type(found).__name__}"
        raise ScoringError("an evaluator gave no scores", location=place, why=why)
    marks = _marks(found.get("details"), count)
    scores = {str(name): value for name, value in found.items() if name != "details"}
    return Verdict(scores, {"correct": [100.0 * mark for mark in marks]} if marks else {}, marks)


def _marks(details: Any, count: int) -> Sequence[bool]:
    listed = list(details.values()) if isinstance(details, Mapping) else details
    if not isinstance(listed, list) or len(listed) != count or not all(isinstance(each, Mapping) for each in listed):
        return ()
    names = [next((name for name in _CORRECT if name in each), None) for each in listed]
    return [bool(each[name]) for each, name in zip(listed, names, strict=True) if name] if all(names) else ()
