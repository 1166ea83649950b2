"""Units of a gate's bets: a question, or all questions of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.running.drawn_questions import in_drawn_order
from proctor.scoring.grading.groups import cluster_key
from proctor.statistics.gates import GateTest
from proctor.statistics.sequences import mean_interval


@dataclass(frozen=True, slots=True)
class Units:
    """The questions of an exam in the order in which they are asked, cut into units.

    Where questions belong together (``clusters``), whole clusters are drawn. A bet is then on what a cluster adds: its
    sum over the size of the largest one, so that it lies between the bounds of a single score, and the threshold for
    the mean of all questions is one for the mean of all clusters.

    Attributes:
        order: Places of the questions.
        sizes: How many of them each unit has, in order.
        by: The field that says which questions belong together; ``None`` where each stands alone.
    """

    order: tuple[int, ...]
    sizes: tuple[int, ...]
    by: str | None = None

    @classmethod
    def of(cls, exam: Exam, questions: Sequence[Question], keys: Sequence[str], seed: int | None) -> Units:
        """Return the units of an exam.

        Args:
            exam: The exam, which says what belongs together.
            questions: Those that are asked.
            keys: Their keys, by content.
            seed: Of the order.
        """
        by = exam.options.clusters or exam.clusters
        if by is None:
            return cls(tuple(in_drawn_order(exam.name, keys, seed)), (1,) * len(keys))
        members: dict[str, list[int]] = {}
        for place in sorted(range(len(keys)), key=keys.__getitem__):
            members.setdefault(_cluster(questions[place], by, keys[place]), []).append(place)
        names = list(members)
        drawn = [members[names[place]] for place in in_drawn_order(exam.name, names, seed)]
        return cls(tuple(place for each in drawn for place in each), tuple(map(len, drawn)), by)

    @property
    def largest(self) -> int:
        """Questions of the largest unit."""
        return max(self.sizes)

    def test(self, threshold: float, margin: float | None, spread: float) -> GateTest:
        """Return the bets on the mean of all questions.

        Args:
            threshold: What the mean has to be at least.
            margin: How far the threshold lies below what is expected.
            spread: Guess of the variance of a single score.
        """
        typical = len(self.order) / (len(self.sizes) * self.largest)
        gap = None if margin is None else margin * typical
        return GateTest(len(self.sizes), threshold, gap, spread * typical / self.largest)

    def after(self, asked: int, wanted: int) -> int:
        """Return how many questions make whole units: as many as are wanted after those that were asked, or more."""
        end = 0
        for size in self.sizes:
            end += size
            if end >= asked + wanted:
                break
        return end - asked

    def ends(self, count: int) -> list[int]:
        """Return after how many questions each unit ends, of those that lie within the first ``count`` questions."""
        found, end = [], 0
        for size in self.sizes:
            end += size
            if end > count:
                break
            found.append(end)
        return found

    def settled(self, test: GateTest, scores: Sequence[float | None], threshold: float) -> None:
        """Settle the bet on a unit whose scores, from 0 to 1, are known; ``None`` where one has none."""
        low = sum(0.0 if score is None else score for score in scores)
        high = sum(1.0 if score is None else score for score in scores)
        due = threshold * len(scores)
        test.add_between(threshold + (low - due) / self.largest, threshold + (high - due) / self.largest)

    def interval(self, scores: Sequence[float | None], level: float) -> tuple[float, float]:
        """Return the interval of the mean of all questions after the scores of some units, each from 0 to 1."""
        if self.by is None:
            return mean_interval(scores, len(self.order), level)
        sums: list[float | None] = []
        begin = 0
        for end in self.ends(len(scores)):
            unit = scores[begin:end]
            known = [score for score in unit if score is not None]
            # about one half, which a unit of any size can lie to either side of
            sums.append(0.5 + (sum(known) - len(unit) / 2) / self.largest if len(known) == len(unit) else None)
            begin = end
        low, high = mean_interval(sums, len(self.sizes), level)
        scale = self.largest * len(self.sizes) / len(self.order)
        return max(0.0, 0.5 + (low - 0.5) * scale), min(1.0, 0.5 + (high - 0.5) * scale)


def _cluster(question: Question, by: str, key: str) -> str:
    """Return the name of a question's cluster; a row that cannot be asked about, or has no key, stands alone."""
    if question.failure is not None:
        return f"?{key}"
    return repr(cluster_key(question.instance, by, key))
