"""Compares an exam that two runs share."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Floats
from proctor.statistics.gates import Verdict
from proctor.statistics.paired_tests import PairedTest, signs_of

FEWEST_PAIRS = 2  # the spread of one difference is not defined
ALPHA: Final = 0.05  # beside intervals of 95%
_MOST_NEEDED: Final = 10_000_000
"""Questions: a number beyond them helps nobody."""


class Evidence(NamedTuple):
    """What a comparison is made of.

    Attributes:
        test: The test.
        numbers: The instances that both runs have, by the first one's numbers; none for scores of whole exams.
        first, second: Their scores; NaN where there is none.
        groups: The cluster of each, where there are clusters.
        whole: The score of a right answer, where scores have bounds.
    """

    test: PairedTest
    numbers: NDArray[np.int64] = np.zeros(0, np.int64)
    first: Floats = np.zeros(0)
    second: Floats = np.zeros(0)
    groups: Sequence[Hashable] | None = None
    whole: float | None = None


Decision = Literal["better", "worse", "higher", "lower", "undecided"]


@dataclass(frozen=True, slots=True)
class ExamComparison:
    """Second run minus first run, on the instances of one exam that both scored.

    Attributes:
        task: The exam; :attr:`task_second` what the second run calls it.
        n: Instances that both runs scored.
        left_out: Instances that only one run has or scored.
        first, second: Scores over the ``n`` instances; ``None`` where n is 0.
        difference: ``second - first``.
        low, high: Bounds of its interval, 95% for all comparisons together; ``None`` where nothing says how other
            instances would vary.
        p: Of the test; ``p_corrected`` the same for all comparisons together (Bonferroni): below 0.05 exactly where the
            interval leaves out 0.
        test: What p comes from: ``mcnemar`` (exact), ``t``, ``equal``, ``sign``, ``bootstrap`` (of the score
            itself), ``prediction-powered`` (of scores that labels correct).
        better, worse: Instances that the second run scored better, and worse; 0 for scores of whole exams,
            and for those that labels correct.
        detectable: The smallest difference that would be found four times out of five; infinite where none would.
        unit: In which unit the scores are; shares where one run has shares and the other percentages.
        refused: Why the runs cannot be compared on this exam, where they cannot.
        metric: Name of the score; :attr:`metric_second` where the second run calls it otherwise.
        alone_first, alone_second: Instances that only one run has.
        unanswered: Instances that both have and one of them did not score; p and interval hold whatever they would have
            scored.
        higher_is_better: Whether more is better; ``None`` where no run says it.
        notes: What else one should know.
        signs: Which way the difference is decided (-1, 0, 1) where what is unanswered scored least, and most.
        comparisons: How many hold together.
        needed: About how many more questions like these would decide it; ``None`` where no number would.
        places, baseline_places: The best and the worst place that the second run and the first may hold among several
            runs; ``None`` of two.
        evidence: The test and the scores from which the numbers are.
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
    unanswered: int = 0
    higher_is_better: bool | None = None
    notes: tuple[str, ...] = ()
    signs: tuple[int, int] = (0, 0)
    comparisons: int = 1
    needed: int | None = None
    places: tuple[int, int] | None = None
    baseline_places: tuple[int, int] | None = None
    evidence: Evidence | None = field(default=None, repr=False, compare=False)

    def together_with(self, comparisons: int) -> ExamComparison:
        """Return the comparison with bounds and p that hold for so many together, an error of 5% shared by all."""
        if self.evidence is None:
            return self
        test, level = self.evidence.test, 1.0 - ALPHA / comparisons
        low, high = (None if math.isnan(bound) else bound for bound in test.interval(level))
        p = None if math.isnan(test.p_value) else test.p_value
        more = test.needed(level) - self.n
        return replace(
            self,
            low=low,
            high=high,
            p=p,
            p_corrected=None if p is None else min(1.0, comparisons * p),
            detectable=None if math.isnan(found := test.detectable(level)) else found,
            comparisons=comparisons,
            signs=self.signs if self.hinges_on_whole else signs_of(test, level),
            needed=math.ceil(more) if 0 < more <= _MOST_NEEDED else None,
        )

    def record(self, name: str = "B") -> dict[str, Any]:
        """Return the comparison as JSON-like data, with its decision, its verdict and the sentence about a run."""
        found = asdict(replace(self, evidence=None))
        del found["evidence"], found["signs"]
        found["detectable"] = None if self.shows_nothing else self.detectable
        return {**found, "decision": self.decision, "verdict": self.verdict, "sentence": self.sentence(name)}

    @property
    def hinges_on_whole(self) -> bool:
        """Whether a score of the whole exam has no bounds for what is unanswered."""
        return self.test == "bootstrap" and self.unanswered > 0

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
        return self.detectable is not None and math.isinf(self.detectable)

    @property
    def decision(self) -> Decision:
        """What is decided of the second run: ``higher`` and ``lower`` where nothing says which of them is better."""
        if self.signs[0] != self.signs[1] or not self.signs[0]:
            return "undecided"
        direction = self.direction
        if direction is None:
            return "higher" if self.signs[0] > 0 else "lower"
        return "better" if self.signs[0] == direction else "worse"

    @property
    def verdict(self) -> Verdict:
        """Whether the second run passes as not worse than the first by more than chance, in a gate's words."""
        direction = self.direction
        if not self.is_compared or self.p_corrected is None or direction is None:
            return "undecided"
        if self.decision == "worse":
            return "failed"
        return "undecided" if -direction in self.signs else "passed"

    @property
    def direction(self) -> int | None:
        """1 where more is better, -1 where less is, ``None`` where nothing says it."""
        is_better = self.higher_is_better
        if is_better is None and self.unit != "raw":
            is_better = True
        return None if is_better is None else 1 if is_better else -1

    def sentence(self, name: str = "B") -> str:
        """Return the decision as a sentence."""
        decision = self.decision
        if decision != "undecided":
            known = f"{name} is {decision}"
            return known if decision in ("better", "worse") else f"{known}; no run says whether that is better"
        return f"not decided: {self.why_undecided()}"

    def why_undecided(self) -> str:
        """Return the reason why nothing is decided, and what would."""
        if not self.is_compared:
            return self.refused or self.too_few
        if self.p_corrected is None:
            return "the instances do not say how others would vary"
        if self.signs[0] != self.signs[1]:
            total = self.n if self.hinges_on_whole else self.n + self.unanswered
            return f"{self.unanswered} of {total} instances have no score, and it depends on them"
        if self.test == "mcnemar":
            why = self._flips()
        else:
            why = "the difference is within chance" if self.difference else "the scores do not differ"
        if not self.difference or self.needed is None:
            return why
        return f"{why}, about {_rounded(self.needed)} more questions would decide it"

    def _flips(self) -> str:
        flips = self.better + self.worse
        if not flips:
            return "no answer flipped"
        if self.better == self.worse:
            return f"{self.better} of {flips} flips are for the better"
        are_few = self.comparisons * 2 * 0.5**flips >= ALPHA
        return f"{flips} flip{' is' if flips == 1 else 's are'} too {'few' if are_few else 'even'}"


def _rounded(count: int) -> str:
    """Return a count in two digits: it is an estimate."""
    scale = 10 ** max(len(str(count)) - 2, 0)
    return f"{-(-count // scale) * scale:,}"
