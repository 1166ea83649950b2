"""Is a judge worth anything? Its verdicts against those of people, or of a better judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proctor.errors import UsageError
from proctor.scoring.global_metric import ratio
from proctor.scoring.metrics.correlation import spearman
from proctor.statistics.arrays import Floats, Indices
from proctor.statistics.intervals import Bootstrap, Interval, wilson
from proctor.statistics.resampling import Opaque, Sums

_LEAST = 2  # pairs: a correlation, and agreement beyond chance, are not defined for one


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well two judges agree.

    Attributes:
        count: Instances that both judged.
        left_out: Instances that one of them did not.
        share: Share of equal verdicts, with Wilson's interval.
        kappa: Cohen's kappa: agreement beyond chance, 1 at best, 0 for none; NaN where chance explains everything.
        ac1: Gwet's AC1 (2008): agreement beyond chance, too, and one that does not break down where nearly all verdicts
            are equal.
        correlation: Spearman's; NaN where verdicts are not numbers.
    """

    count: int
    left_out: int
    share: float
    share_interval: Interval
    kappa: float
    kappa_interval: Interval
    ac1: float
    ac1_interval: Interval
    correlation: float
    correlation_interval: Interval


def agreement(
    verdicts: Sequence[Any], gold: Sequence[Any], *, level: float = 0.95, resamples: int = 1000, seed: int | None = None
) -> Agreement:
    """Compare the verdicts of a judge with right ones.

    Args:
        verdicts, gold: Verdicts on the same instances, in the same order; ``None`` where there is none.
        level: Confidence level.
        resamples: Bootstrap resamples.
        seed: Seed of the bootstrap; the setting by default.

    Raises:
        UsageError: The lengths differ, or fewer than two instances were judged by both.
    """
    if len(verdicts) != len(gold):
        raise UsageError(f"there are {len(verdicts)} verdicts on {len(gold)} instances")
    pairs = [pair for pair in zip(verdicts, gold, strict=True) if not any(map(_is_missing, pair))]
    if len(pairs) < _LEAST:
        raise UsageError(
            f"only {len(pairs)} instances were judged by both", hint="an agreement needs two instances or more"
        )
    equal = sum(first == second for first, second in pairs)
    bootstrap = Bootstrap(resamples, level, seed=seed, repair=True)
    kappas, gwet = kappa_sums(pairs), ac1_sums(pairs)
    numbers = _numbers(pairs)
    correlation, correlation_interval = math.nan, Interval(math.nan, math.nan)
    if numbers is not None:
        correlation = spearman(*numbers)[0]
        correlation_interval = bootstrap.intervals(_spearmans(numbers))[0]
    return Agreement(
        count=len(pairs),
        left_out=len(verdicts) - len(pairs),
        share=equal / len(pairs),
        share_interval=wilson(equal, len(pairs), level),
        kappa=float(kappas.observed()[0]),
        kappa_interval=bootstrap.intervals(kappas)[0],
        ac1=float(gwet.observed()[0]),
        ac1_interval=bootstrap.intervals(gwet)[0],
        correlation=correlation,
        correlation_interval=correlation_interval,
    )


def kappa_sums(pairs: Sequence[tuple[Hashable, Hashable]]) -> Sums:
    """Return Cohen's kappa (1960) as a function of counts."""
    return _beyond_chance(pairs, lambda one, two: (one * two).sum(axis=1))


def ac1_sums(pairs: Sequence[tuple[Hashable, Hashable]]) -> Sums:
    """Return Gwet's AC1 (2008, "Computing inter-rater reliability …", section 3) as a function of counts."""

    def chance(one: Floats, two: Floats) -> Floats:
        shares, width = (one + two) / 2.0, one.shape[1]
        found: Floats = (shares * (1.0 - shares)).sum(axis=1) / max(width - 1, 1)
        return found

    return _beyond_chance(pairs, chance)


def _beyond_chance(pairs: Sequence[tuple[Hashable, Hashable]], chance_of: Callable[[Floats, Floats], Floats]) -> Sums:
    """Return the agreement beyond what chance explains, given the shares of each verdict on both sides."""
    place = {label: position for position, label in enumerate(dict.fromkeys(each for pair in pairs for each in pair))}
    identity = np.eye(len(place))
    first, second = (identity[[place[label] for label in side]] for side in zip(*pairs, strict=True))
    hits = (first * second).sum(axis=1, keepdims=True)
    width = len(place)

    def beyond(sums: Floats) -> Floats:
        one, two, equal = sums[:, :width], sums[:, width:-1], sums[:, -1]
        total = one.sum(axis=1)
        chance = chance_of(one / total[:, np.newaxis], two / total[:, np.newaxis])
        found: Floats = ratio(equal / total - chance, 1.0 - chance, math.nan)
        return found[np.newaxis, :]

    return Sums(np.concatenate([first, second, hits], axis=1), beyond)


def _spearmans(numbers: tuple[Floats, Floats]) -> Opaque:
    def statistic(rows: Indices) -> list[float]:
        return [spearman(numbers[0][rows], numbers[1][rows])[0]]

    return Opaque(len(numbers[0]), statistic)


def _numbers(pairs: Sequence[tuple[Any, Any]]) -> tuple[Floats, Floats] | None:
    if not all(isinstance(each, (int, float)) for pair in pairs for each in pair):
        return None
    first, second = np.array(pairs, dtype=np.float64).T
    return first, second


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
