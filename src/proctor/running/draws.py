"""Draws the questions of a sample, and estimates the whole score after each round of answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from proctor.randomness import random_stream
from proctor.running.drawn_questions import ORDER_SEED
from proctor.running.gate_units import Units
from proctor.statistics.adaptive import AdaptiveMean
from proctor.statistics.fixed_width import FIRST_LOOK, FixedWidthMean
from proctor.statistics.item_models import ItemModel


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
        """The way of choosing questions, in words."""

    @property
    def interval(self) -> str:
        """The kind of the interval."""

    def next(self) -> list[int]:
        """Return the places of the next questions; their scores have to be taken before others are drawn."""

    def take(self, scores: Sequence[float | None]) -> None:
        """Take scores of the questions that were drawn last; of a round that was cut short, of its beginning."""

    def stop(self) -> None:
        """Take it that asking ends before the bounds are near enough."""


UNIFORMLY = "uniformly at random, without replacement"


FIXED_WIDTH = "fixed width"
"""Holds at the first look at which it is narrow enough."""

SEQUENCE = "confidence sequence"
"""Holds whenever one stops, and for whatever reason."""

ADAPTIVE = "adaptive"
"""Of a martingale: a normal distribution's, at the first look at which it is narrow enough."""


class UniformDraw:
    """Every question has the same chance, and so has every cluster where questions belong together.

    The interval is that of a run that stops by its width alone. One that is stopped by something else, as a budget
    that ends and may be raised, has a confidence sequence's.

    Args:
        units: The questions in the order in which they are asked.
        precision: How near the bounds are to be.
    """

    estimate = None

    def __init__(self, units: Units, precision: float) -> None:
        self._units = units
        self._order = list(units.order)
        self._mean = FixedWidthMean(len(units.sizes), len(units.order), precision)
        self._scores: list[float | None] = []
        self.bounds = (0.0, 1.0)
        self.interval = FIXED_WIDTH
        self.said = UNIFORMLY if units.by is None else f"{UNIFORMLY}, in whole clusters of '{units.by}'"

    @property
    def places(self) -> Sequence[int]:
        """Places of the questions that have been answered, in order."""
        return self._order[: len(self._scores)]

    def next(self) -> list[int]:
        """Return the places of the next questions."""
        asked = len(self._scores)
        return self._order[asked:][: self._units.after(asked, self._mean.next_look())]

    def take(self, scores: Sequence[float | None]) -> None:
        """Take scores of the questions that were drawn last."""
        begin = len(self._scores)
        found = [*self._scores, *scores]
        ends = [end for end in self._units.ends(len(found)) if end > begin]
        self._mean.add(found[a:b] for a, b in pairwise([begin, *ends]))
        self._scores = found[: ends[-1]] if ends else found[:begin]
        self.bounds = self._mean.bounds()

    def stop(self) -> None:
        """Make the bounds such that hold whatever ended the asking."""
        self.interval = SEQUENCE
        self.bounds = self._units.interval(self._scores, 0.95)


_GROWTH = 8  # rounds of adaptive draws grow to an eighth of what was asked: as much may be asked in vain


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
        self.interval = ADAPTIVE
        self.estimate: float | None = 0.5
        self.said = (
            f"for what {models} other models' answers say they tell, without replacement, and corrected for that"
        )

    @property
    def places(self) -> Sequence[int]:
        """Places of the questions that have been answered, in the order in which they were drawn."""
        return [self._order[place] for place in self._mean.places]

    def next(self) -> list[int]:
        """Return the places of the next questions."""
        size = max(FIRST_LOOK, self._mean.count // _GROWTH)
        return [self._order[place] for place in self._mean.draw(size)]

    def take(self, scores: Sequence[float | None]) -> None:
        """Take scores of the questions that were drawn last."""
        self._mean.take(scores)
        self.estimate, low, high = self._mean.estimate()
        self.bounds = (low, high)

    def stop(self) -> None:
        """Leave the bounds as they are."""
