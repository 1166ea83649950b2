"""One score: a number with what it takes to trust it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Unit = Literal["share", "percent", "raw"]
"""``share``: of 1; ``percent``: of 100; ``raw``: neither (a perplexity, a count, a BLEU of its own scale)."""

_OF_ONE: Mapping[Unit, float] = {"share": 1.0, "percent": 0.01}


@dataclass(frozen=True, slots=True)
class Score:
    """A number that a metric made of a set of instances, in the unit that its dialect declares, to the last bit.

    Attributes:
        name: Under which results list it.
        value: The number; NaN where it is undefined. Nearly always a float; some metrics give lists or texts.
        low, high: Bounds of its 95% confidence interval, where there is one.
        n: Instances behind it, where that is not every instance that was scored.
        stderr: Its standard error, where the dialect reports one and it is known.
        unit: In which unit the number is.
        higher_is_better: Whether more is better, where that is known.
        metric: Name of the metric, without the grading's.
        grading: Name of the grading (lm-eval: filter pipeline), where an exam has several.
    """

    name: str
    value: object
    low: float | None = None
    high: float | None = None
    n: int | None = None
    stderr: float | None = None
    unit: Unit = "raw"
    higher_is_better: bool | None = None
    metric: str = ""
    grading: str = ""

    @property
    def number(self) -> float | None:
        """The value where it is a finite number, else ``None``."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value)

    def as_share(self, value: float) -> float | None:
        """Return a value of this score's unit as a share of 1; ``None`` where the unit is raw."""
        factor = _OF_ONE.get(self.unit)
        return None if factor is None else value * factor


def comparable(one: Score, other: Score) -> bool:
    """Return whether two scores may be compared: raw with raw, shares and percents with each other."""
    return (one.unit == "raw") == (other.unit == "raw")
