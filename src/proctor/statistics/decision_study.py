"""A decision study: whether more wordings, more questions or more answers would make a score's error smaller.

Each component of the variance of a mean shrinks with the number of draws that it is averaged over (the decision study
of generalizability theory: Brennan 2001, chapter 1; for language models arXiv 2604.11581).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from proctor.statistics.question_clusters import CLUSTER
from proctor.statistics.variance_components import BY_QUESTION, COMBINATIONS, QUESTION, REST, Components

QUESTIONS: Final = "questions"
ANSWERS: Final = "answers to each"
_MORE: Final = {QUESTIONS: 300, ANSWERS: 1}  # and two more levels of a dimension
_MANY: Final = 100_000  # of anything: what takes more is not advice


class Decision(NamedTuple):
    """So many more of something (a dimension, ``questions``, ``answers to each``), and the mean's standard error then.

    ``halved_by`` is how many there would have to be in all for half the error; ``None`` where no number is enough.
    """

    what: str
    more: int
    error: float
    halved_by: int | None


def decisions_of(found: Components, *, noise: float = 0.0, repeats: int = 1) -> Iterator[Decision]:
    """Yield what could be done, for each dimension, for questions, and for answers where their noise is known.

    ``noise`` is the variance of one of ``repeats`` answers to the same prompt, which is part of the rest.
    """
    counts = {**found.levels, QUESTIONS: found.questions, **({ANSWERS: repeats} if noise > 0 else {})}
    for what, count in counts.items():
        more, single = _MORE.get(what, 2), noise / repeats
        error = _error(found, what, (count + more) / count, single)
        yield Decision(what, more, error, _halved_by(found, what, count, single))


def _error(found: Components, what: str, times: float, noise: float) -> float:
    """Return the standard error of the mean with so many times as many of something."""
    total = 0.0
    for part in found.parts:
        name, variance, smaller = part.name.removesuffix(BY_QUESTION), part.variance, 1.0
        if what == QUESTIONS:
            smaller = times if name in (QUESTION, CLUSTER, REST) or name != part.name else 1.0
        elif what == ANSWERS:
            variance -= min(noise, variance) * (1 - 1 / times) if name == REST else 0.0
        elif name in (what, COMBINATIONS, REST):
            smaller = times
        total += variance / (part.averaged * smaller)
    return math.sqrt(max(total, 0.0))


def _halved_by(found: Components, what: str, count: int, noise: float) -> int | None:
    half, low, high = found.error / 2, 1.0, float(_MANY)
    if half <= 0 or _error(found, what, high, noise) > half:
        return None
    while high - low > 1e-6 * high:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _error(found, what, middle, noise) <= half else (middle, high)
    return math.ceil(high * count * (1 - 2e-6))  # the search ends within 1e-6
