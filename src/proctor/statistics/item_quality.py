"""Quality of single questions by several models' scores: how hard, how telling, whether the gold may be wrong.

Difficulty and discrimination are those of classical test theory: the share of the points that models lose, and the
correlation of a question's scores with the models' means over all other questions (item-rest correlation). A gold that
is wrong shows where the better models agree on another answer: each model's answer weighs the logarithm of how much
more often it gives the right answer than a certain wrong one, as in a vote of judges of known skill (Nitzan and Paroush
1982; Dawid and Skene 1979). Models that share their mistakes make such a vote surer than it is, so its weight ranks
questions for a reader and is not a probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from proctor.lazy import np
from proctor.statistics.arrays import Bools, Floats
from proctor.statistics.distributions import normal_quantile
from proctor.statistics.intervals import Interval, mean_interval

FEWEST_MODELS = 4
"""Models from which on a correlation has an interval: Fisher's z of n has the variance 1 / (n - 3)."""

_RIGHT = 0.5
"""Of the points: an answer with more of them speaks for the gold."""

_SUREST = 0.98
"""Of a model's answers that are right, at most, and one less it at least: one answer never outweighs all others."""

_SAME = 1e-9  # of a spread: rounding


@dataclass(frozen=True, slots=True)
class Discrimination:
    """How a question's scores go with those of all others.

    Attributes:
        value: Item-rest correlation, from -1 to 1.
        low, high: Its interval (Fisher's z).
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rival:
    """An answer that models gave in place of the gold.

    Attributes:
        answer: The answer.
        models: Rows of those that gave it, the best first.
        weight: By how much it outweighs the gold; 0 where it does not.
    """

    answer: str
    models: tuple[int, ...]
    weight: float


def difficulty(scores: Floats, level: float = 0.95) -> tuple[float, Interval]:
    """Return the share of the points that models lose on a question, with its interval.

    Args:
        scores: Of the models that have one, from 0 to 1; at least one.
        level: Confidence level.
    """
    found = mean_interval(scores.tolist(), 1.0, level) or Interval(0.0, 1.0)
    return 1.0 - float(scores.mean()), Interval(1.0 - found.high, 1.0 - found.low)


def rest_means(table: Floats) -> Floats:
    """Return for each model and question the model's mean score over all other questions.

    Args:
        table: A row for each model and a column for each question; NaN where a score is missing.
    """
    known = np.isfinite(table)
    filled = np.where(known, table, 0.0)
    counts = known.sum(axis=1, keepdims=True) - known
    means: Floats = (filled.sum(axis=1, keepdims=True) - filled) / np.maximum(counts, 1)
    return np.where(counts > 0, means, math.nan)


def discriminations(table: Floats) -> list[Discrimination | None]:
    """Return how each question tells better models from worse; ``None`` where four models do not differ in both.

    Args:
        table: Scores as of :func:`rest_means`.
    """
    rest = rest_means(table)
    known = np.isfinite(table) & np.isfinite(rest)
    counts = known.sum(axis=0)
    one, two = (_centred(values, known) for values in (table, rest))
    products, squares = (one * two).sum(axis=0), (one**2).sum(axis=0) * (two**2).sum(axis=0)
    found: list[Discrimination | None] = []
    for count, product, square in zip(counts.tolist(), products.tolist(), squares.tolist(), strict=True):
        if count < FEWEST_MODELS or square <= _SAME**2:
            found.append(None)
            continue
        value = max(-1.0, min(1.0, product / math.sqrt(square)))
        most = 1.0 - 1.0 / count**2  # few models that happen to lie on a line prove no line
        middle = math.atanh(max(-most, min(most, value)))
        margin = normal_quantile(0.975) / math.sqrt(count - FEWEST_MODELS + 1)
        found.append(Discrimination(value, math.tanh(middle - margin), math.tanh(middle + margin)))
    return found


def _centred(values: Floats, known: Bools) -> Floats:
    filled = np.where(known, values, 0.0)
    means = filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, values - means, 0.0)


def rival_of(scores: Floats, skills: Floats, answers: Sequence[str | None]) -> Rival | None:
    """Return the answer that speaks most against a gold; ``None`` where every answer is right or none is known.

    Args:
        scores: Of one question, from 0 to 1, by model; NaN where there is none.
        skills: The models' means over all other questions.
        answers: What they answered; ``None`` where that is not known.
    """
    right = scores > _RIGHT
    wrong = {place: given for place, given in enumerate(answers) if given is not None and scores[place] <= _RIGHT}
    if not wrong:
        return None
    kinds = len(set(wrong.values())) + 1
    sure = np.clip(np.where(np.isfinite(skills), skills, _RIGHT), 1.0 - _SUREST, _SUREST)
    weights = np.maximum(np.log(sure * (kinds - 1) / (1.0 - sure)), 0.0)
    votes: dict[str, float] = {}
    for place, given in wrong.items():
        votes[given] = votes.get(given, 0.0) + float(weights[place])
    answer = max(votes, key=lambda each: (votes[each], each))
    by = sorted((place for place, given in wrong.items() if given == answer), key=lambda place: -sure[place])
    return Rival(answer, tuple(by), max(votes[answer] - float(weights[right].sum()), 0.0))
