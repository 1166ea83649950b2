"""Compares an exam that two runs share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from proctor.scoring.scores import Unit

FEWEST_PAIRS = 2  # the spread of one difference is not defined
_LARGEST: Final[Mapping[str, float]] = {"share": 1.0, "percent": 100.0}
"""Differences that scores of a unit can have at most."""
_SIGNIFICANT: Final = 0.05  # beside intervals of 95%


@dataclass(frozen=True, slots=True)
class ExamComparison:
    """Second run minus first run, on the instances of one exam that both scored.

    Attributes:
        task: The exam; :attr:`task_second` what the second run calls it.
        n: Instances that both runs scored.
        left_out: Instances that only one run has or scored.
        first, second: Scores over the ``n`` instances; ``None`` where n is 0.
        difference: ``second - first``.
        low, high: Bounds of its 95% interval; ``None`` where n < 2 or nothing says how others would vary.
        p: From :func:`proctor.results.compare`; ``p_corrected`` the same for all comparisons together (Holm).
        test: What p comes from: ``mcnemar`` (exact), ``t``, ``sign``, ``bootstrap`` (of the score itself).
        better, worse: Instances that the second run scored better, and worse; 0 for scores of whole exams.
        detectable: The smallest difference that would be found four times out of five.
        unit: In which unit the scores are; shares where one run has shares and the other percentages.
        refused: Why the runs cannot be compared on this exam, where they cannot.
        metric: Name of the score; :attr:`metric_second` where the second run calls it otherwise.
        alone_first, alone_second: Instances that only one run has.
        higher_is_better: Whether more is better; ``None`` where no run says it.
        notes: What else one should know.
    """

    task: str
    n: int
    left_out: int
    better: int = 0
    worse: int = 0
    first: float | None = None
    second: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    test: str = ""
    detectable: float | None = None
    unit: Unit = "raw"
    refused: str = ""
    metric: str = ""
    task_second: str = ""
    metric_second: str = ""
    alone_first: int = 0
    alone_second: int = 0
    higher_is_better: bool | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_compared(self) -> bool:
        """Whether there is a difference to look at."""
        return not self.refused and self.difference is not None

    @property
    def too_few(self) -> str:
        """The reason why there is no difference where nothing else refuses one; else empty."""
        if self.difference is not None:
            return ""
        few = {0: "no instance was", 1: "only one instance was"}.get(self.n, f"only {self.n} instances were")
        return f"{few} scored by both"

    @property
    def shows_nothing(self) -> bool:
        """Whether even the largest difference that two scores can have would not be found four times out of five."""
        return self.detectable is not None and self.detectable > _LARGEST.get(self.unit, math.inf)

    @property
    def is_worse(self) -> bool | None:
        """Whether the second run is worse by more than chance; ``None`` where that cannot be said."""
        if self.refused or self.difference is None or self.p_corrected is None:
            return None
        direction = self.higher_is_better
        if direction is None:
            direction = True if self.unit != "raw" else None
        if direction is None:
            return None
        return self.p_corrected < _SIGNIFICANT and (self.difference < 0) == direction and self.difference != 0
