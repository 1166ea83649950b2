"""What would make the error of a score smaller: more wordings, more questions, more answers to each.

Each component of the variance of a mean shrinks with the number of draws that it is averaged over (the decision study
of generalizability theory: Brennan 2001, chapter 1; for language models arXiv 2604.11581).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from proctor.statistics.variance_components import COMBINATIONS, QUESTION, REST, Components

QUESTIONS: Final = "questions"
ANSWERS: Final = "answers to each"
_MANY: Final = 100_000  # of anything: what takes more is not advice


@dataclass(frozen=True, slots=True)
class Decision:
    """Something that could be done.

    Attributes:
        what: Of what there would be more: a dimension, ``questions``, ``answers to each``.
        more: How many more.
        error: The standard error of the mean with them.
        halved_by: How many there would have to be in all for half the error; ``None`` where no number is enough.
    """

    what: str
    more: int
    error: float
    halved_by: int | None


def decisions_of(found: Components, *, noise: float = 0.0, repeats: int = 1) -> Iterator[Decision]:
    """Yield what could be done, for each dimension, for questions, and for answers where their noise is known.

    Args:
        found: The components.
        noise: The variance of one answer to the same prompt, which is part of the rest.
        repeats: Answers to each prompt.
    """
    study = _Study(found, min(noise / repeats, found.variance_of(REST)))
    counts = {**found.levels, QUESTIONS: found.questions, **({ANSWERS: repeats} if noise > 0 else {})}
    for what, count in counts.items():
        more = _MORE.get(what, _MORE_LEVELS)
        yield Decision(what, more, study.error({what: (count + more) / count}), study.halved_by(what, count))


_MORE: Final[Mapping[str, int]] = {QUESTIONS: 300, ANSWERS: 1}
_MORE_LEVELS: Final = 2


@dataclass(frozen=True, slots=True)
class _Study:
    found: Components
    noise: float

    def error(self, times: Mapping[str, float]) -> float:
        """Return the standard error of the mean with so many times as many of something."""
        questions = times.get(QUESTIONS, 1.0)
        wordings = math.prod(times.get(name, 1.0) for name in self.found.levels)
        total = 0.0
        for part in self.found.parts:
            name, variance = part.name.removesuffix(" by question"), part.variance
            smaller = questions if name in (QUESTION, REST) or name != part.name else 1.0
            smaller *= wordings if name in (REST, COMBINATIONS) else times.get(name, 1.0)
            if name == REST:
                variance += self.noise * (1 / times.get(ANSWERS, 1.0) - 1)
            total += variance / (self.found.averaged[part.name] * smaller)
        return math.sqrt(max(total, 0.0))

    def halved_by(self, what: str, count: int) -> int | None:
        """Return how many of something in all halve the error."""
        half = self.found.error / 2
        if half <= 0 or self.error({what: _MANY}) > half:
            return None
        low, high = 1.0, float(_MANY)
        while high - low > 1e-6 * high:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.error({what: middle}) <= half else (middle, high)
        return math.ceil(high * count * (1 - 1e-9))
