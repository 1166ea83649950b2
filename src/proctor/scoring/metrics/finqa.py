"""Programs of arithmetic steps about a table and a text (FinQA, Chen et al. 2021).

A program such as ``subtract(5829, 5735), divide(#0, 5735)`` is read and computed here, step by step; nothing that a
model wrote is run as code.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, ClassVar, NamedTuple

from proctor.errors import ScoringError
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.scores import Unit

_STEP = re.compile(r"\s*(\w+)\(([^()]*),\s*([^()]*)\)\s*(?:,|$)")
_TRIALS = 8  # one would do but for rounding that happens to agree; eight cost nothing beside reading the program
_PLACES = 5  # the results in FinQA's data are rounded so
_ARITHMETIC: Mapping[str, Callable[[float, float], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "exp": operator.pow,
    "greater": operator.gt,
}
_TABLE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "table_max": max,
    "table_min": min,
    "table_sum": sum,
    "table_average": lambda values: sum(values) / len(values),
}


class Step(NamedTuple):
    """One operation with its two arguments, as they are written."""

    name: str
    first: str
    second: str


class FinQAEval(InstanceMetric):
    """Whether a program is equivalent to the right one (``program_re``), and gives the right ``answer``."""

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "program_accuracy"
    prediction_type: object = str
    reduction_map: dict[str, Any] = {"mean": ["program_accuracy", "execution_accuracy"]}
    ci_scores: list[str] | None = ["program_accuracy", "execution_accuracy"]

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of an instance."""
        written = prediction[: prediction.rfind(")") + 1]
        steps = read_program(written)
        right = read_program(task_data["program_re"])
        if not right:
            raise ScoringError("the right program cannot be read", why=str(task_data["program_re"])[:200])
        return {
            "program_accuracy": float(bool(steps) and equivalent(steps, right)),
            "execution_accuracy": float(_agrees(steps, task_data, written, references)),
        }


def _agrees(steps: Sequence[Step], task_data: Mapping[str, Any], written: str, references: Sequence[Any]) -> bool:
    """Whether a program gives the answer; where that is not a number (``9.9%``), whether it is the right one's text."""
    try:
        found = run_program(steps, task_data["table"])
    except (ScoringError, ZeroDivisionError, OverflowError):
        return False
    expected = str(task_data["answer"])
    if isinstance(found, str):
        return found == expected
    try:
        return float(found) == float(expected)
    except ValueError:
        return bool(references) and written.lower().endswith(str(references[0]).lower())


def read_program(text: str) -> list[Step]:
    """Return the steps of a program; none where it cannot be read."""
    steps, position = [], 0
    while position < len(text.rstrip()):
        match = _STEP.match(text, position)
        if match is None:
            return []
        steps.append(Step(*(part.strip() for part in match.groups())))
        position = match.end()
    return steps


def run_program(steps: Sequence[Step], table: Sequence[Sequence[str]]) -> float | str:
    """Return the result of a program, rounded to five places; ``yes`` or ``no`` for a comparison.

    Raises:
        ScoringError: There is no step, a step is unknown, or an argument is not a number.
    """
    if not steps:
        raise ScoringError("the program cannot be read")
    rows = {str(row[0]): row[1:] for row in table}
    results: list[Any] = []
    for step in steps:
        if step.name in _TABLE:
            if step.first not in rows:
                raise ScoringError(f"the table has no row '{step.first}'")
            results.append(
                _TABLE[step.name]([_number(cell.split("(")[0].replace("$", "")) for cell in rows[step.first]])
            )
        elif step.name in _ARITHMETIC:
            arguments = (_argument(each, results) for each in (step.first, step.second))
            results.append(_ARITHMETIC[step.name](*arguments))
        else:
            raise ScoringError(f"there is no operation '{step.name}'")
    last = results[-1]
    if isinstance(last, bool):
        return "yes" if last else "no"
    if isinstance(last, complex) or not math.isfinite(last):
        raise ScoringError("the program gives no number")
    return round(float(last), _PLACES)


def _argument(text: str, results: Sequence[Any]) -> float:
    if re.fullmatch(r"#\d+", text):
        if int(text[1:]) >= len(results):
            raise ScoringError(f"the step {text} comes later")
        return float(results[int(text[1:])])
    return _number(text)


def _number(text: str) -> float:
    text = text.strip().replace(",", "")
    if text.startswith("const_"):
        text = text.removeprefix("const_").replace("m1", "-1")
    try:
        return float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        raise ScoringError(f"'{text}' is not a number") from None


def equivalent(first: Sequence[Step], second: Sequence[Step]) -> bool:
    """Whether two programs are equal for all values of their arguments.

    Arguments are unknowns; programs that agree at random values agree everywhere but with probability zero (Schwartz
    and Zippel). The seed is fixed.
    """
    if not _unknowns(first) <= _unknowns(second):
        return False
    generator = Random(0)
    for _ in range(_TRIALS):
        values = {name: generator.uniform(1.0, 3.0) for name in sorted(_unknowns(second))}
        try:
            one, two = _symbolic(first, values), _symbolic(second, values)
        except (ScoringError, ZeroDivisionError, OverflowError):
            return False
        if one[0] != two[0] or not all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(one[1], two[1], strict=True)):
            return False
    return True


def _unknowns(steps: Sequence[Step]) -> set[str]:
    found = {f"{step.name}({step.first})" for step in steps if step.name in _TABLE}
    arithmetic = [each for step in steps if step.name not in _TABLE for each in (step.first, step.second)]
    return found | {each for each in arithmetic if not each.startswith("#")}


def _symbolic(steps: Sequence[Step], values: Mapping[str, float]) -> tuple[bool, tuple[float, ...]]:
    """Return whether the last step compares, and the value (or both sides of the comparison)."""
    results: list[float] = []
    sides: tuple[float, ...] = ()
    for step in steps:
        if step.name in _TABLE:
            results.append(values[f"{step.name}({step.first})"])
            sides = (results[-1],)
            continue
        if step.name not in _ARITHMETIC:
            raise ScoringError(f"there is no operation '{step.name}'")
        pair = tuple(
            _argument(each, results) if each.startswith("#") else values[each] for each in (step.first, step.second)
        )
        found = _ARITHMETIC[step.name](*pair)
        results.append(float(found.real if isinstance(found, complex) else found))
        sides = pair if step.name == "greater" else (results[-1],)
    return steps[-1].name == "greater", sides
