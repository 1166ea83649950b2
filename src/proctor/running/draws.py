"""How the questions of a sample are drawn, and what is known of the score of all after each round of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from proctor.randomness import random_stream
from proctor.running.drawn_questions import ORDER_SEED
from proctor.running.gate_units import Units
from proctor.statistics.adaptive import AdaptiveMean
from proctor.statistics.item_models import ItemModel
from proctor.statistics.sequences import GRID_STEP, ConfidenceSequence, mean_interval


class Draw(Protocol):
    """Draws questions of one exam, round by round."""

    @property
    def places(self) -> Sequence[int]:
        """Places of the questions that have been answered, in the order in which they were drawn."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The 95% interval of the score of all questions."""

    @property
    def estimate(self) -> float | None:
        """The score of all questions; ``None`` where the mean of the answered ones is it."""

    @property
    def said(self) -> str:
        """How questions are chosen, for people."""

    def next(self, count: int) -> list[int]:
        """Return the places of the next questions; their scores have to be taken before others are drawn."""

    def take(self, scores: Sequence[float | None]) -> None:
        """Take scores of the questions that were drawn last; of a round that was cut short, of its beginning."""


UNIFORMLY = "uniformly at random, without replacement"


class UniformDraw:
    """Every question has the same chance; the interval is a confidence sequence's, which holds at all times.

    Where questions belong together, whole clusters are drawn, and the interval is of their sums.

    Args:
        units: The questions in the order in which they are asked.
        precision: How near the bounds are to be; they are refined when they are nearly there.
    """

    estimate = None

    def __init__(self, units: Units, precision: float) -> None:
        self._units = units
        self._order = list(units.order)
        self._precision = precision
        self._sequence = ConfidenceSequence(len(self._order))
        self._scores: list[float | None] = []
        self.bounds = (0.0, 1.0)
        self.said = UNIFORMLY if units.by is None else f"{UNIFORMLY}, in whole clusters of '{units.by}'"

    @property
    def places(self) -> Sequence[int]:
        """Places of the questions that have been answered, in order."""
        return self._order[: len(self._scores)]

    def next(self, count: int) -> list[int]:
        """Return the places of the next questions."""
        return self._order[len(self._scores) :][: self._units.after(len(self._scores), count)]

    def take(self, scores: Sequence[float | None]) -> None:
        """Take scores of the questions that were drawn last."""
        self._scores += scores
        if self._units.by is not None:
            self._scores = self._scores[: (self._units.ends(len(self._scores)) or [0])[-1]]
            self.bounds = self._units.interval(self._scores, 0.95)
            return
        for score in scores:
            self._sequence.add(score)
        self.bounds = self._sequence.bounds()
        if (self.bounds[1] - self.bounds[0]) / 2 <= self._precision + GRID_STEP:
            self.bounds = mean_interval(self._scores, len(self._order))


class AdaptiveDraw:
    """Questions whose answers are uncertain, by what other models' answers say, have a larger chance.

    Args:
        name: The exam's.
        keys: Its questions, by content.
        seed: Of the draws.
        model: What the other models' answers say.
        models: How many these are.
    """

    def __init__(self, name: str, keys: Sequence[str], seed: int | None, model: ItemModel, models: int) -> None:
        stream = random_stream(f"draws of {name}", ORDER_SEED if seed is None else seed)
        self._order = sorted(range(len(keys)), key=keys.__getitem__)
        self._mean = AdaptiveMean(len(keys), model.of(self._order), stream.random)
        self.bounds = (0.0, 1.0)
        self.estimate: float | None = 0.5
        self.said = (
            f"for what {models} other models' answers say they tell, without replacement, and corrected for that"
        )

    @property
    def places(self) -> Sequence[int]:
        """Places of the questions that have been answered, in the order in which they were drawn."""
        return [self._order[place] for place in self._mean.places]

    def next(self, count: int) -> list[int]:
        """Return the places of the next questions."""
        return [self._order[place] for place in self._mean.draw(count)]

    def take(self, scores: Sequence[float | None]) -> None:
        """Take scores of the questions that were drawn last."""
        self._mean.take(scores)
        self.estimate, low, high = self._mean.estimate()
        self.bounds = (low, high)
