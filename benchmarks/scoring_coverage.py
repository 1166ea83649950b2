"""How often 95% intervals hold the truth: 94 to 96% is wanted from 100 instances on.

    python benchmarks/scoring_coverage.py [repetitions]

Data are drawn from known distributions; the truth is the score of the distribution. F1's truth is its value on a
million instances. The coverage for a share is not drawn but summed over all numbers of hits. It goes up and down with
the share, because there are only n + 1 different intervals: beside that of a share of 0.7 there is the mean over shares
from 0.1 to 0.9, which is what "95%" can mean here.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from functools import cache

import numpy as np

from proctor.results.comparison import compare
from proctor.scoring.aggregations import AGGREGATIONS, aggregated, bits_per_byte
from proctor.scoring.answer_reducers import reducer
from proctor.scoring.metrics.f1 import F1Fast, LabelPair
from proctor.scoring.scores import interval_of_mean
from proctor.statistics.bounded import share_bounds
from proctor.statistics.intervals import Bootstrap, Interval, exact, mean_interval, settled, student_t, wilson
from proctor.statistics.resampling import Means
from proctor.statistics.two_level import two_level

MANY = 1_000_000
"""Instances whose F1 is taken for the truth."""

Drawing = Callable[[np.random.Generator, int], Interval]


def settled_of_hits(hits: int, size: int) -> Interval:
    """Return the interval that scores carry: the bootstrap's, and Wilson's for all or no hits."""
    found = settled(bca_of_hits(hits, size), hits / size, lambda: np.repeat([1.0, 0.0], [hits, size - hits]))
    assert found is not None
    return found


@cache
def bca_of_hits(hits: int, size: int) -> Interval:
    """Return the bootstrap interval of a share; that of all or no hits has no width."""
    if hits in (0, size):
        return Interval(hits / size, hits / size)
    return bca(np.random.default_rng(hits).permutation(np.repeat([1.0, 0.0], [hits, size - hits])))


def bca(values: np.ndarray) -> Interval:
    """Return the bootstrap interval of a mean."""
    return Bootstrap(1000).intervals(Means(values))[0]


def skewed(make: Callable[[np.ndarray], Interval]) -> Drawing:
    """Draw a skewed score from 0 to 1 with mean 1/3."""
    return lambda generator, size: make(generator.beta(0.5, 1.0, size))


def f1(generator: np.random.Generator, size: int) -> Interval:
    """Draw labels and return the interval of their macro F1."""
    metric = F1Fast(main_score="f1_macro", averages=["macro"])
    return Bootstrap(1000).intervals(metric.resampler(pairs(generator, size), ["f1_macro"]))[0]


def macro_f1(drawn: list[LabelPair]) -> float:
    """Return the macro F1 of answers."""
    return float(F1Fast(main_score="f1_macro", averages=["macro"]).reduce(drawn)["f1_macro"])


def f1_carried(generator: np.random.Generator, size: int) -> Interval:
    """Return the interval that macro F1 carries in a recipe."""
    drawn = pairs(generator, size)
    metric = F1Fast(main_score="f1_macro", averages=["macro"])
    interval = Bootstrap(1000).intervals(metric.resampler(drawn, ["f1_macro"]))[0]
    return settled(interval, macro_f1(drawn), list, count=size) or interval


def pairs(generator: np.random.Generator, size: int) -> list[LabelPair]:
    """Return predicted and right labels of three classes."""
    gold = generator.choice(3, size, p=[0.5, 0.3, 0.2])
    given = np.where(generator.random(size) < 0.75, gold, generator.integers(0, 3, size))
    return [LabelPair(int(a), int(b)) for a, b in zip(given, gold, strict=True)]


def paired(generator: np.random.Generator, size: int) -> Interval:
    """Draw two runs and return the interval of their difference of 0.1."""
    hardness = generator.random(size)
    one, two = hardness + generator.normal(0, 0.2, size), hardness + 0.1 + generator.normal(0, 0.2, size)
    found = compare(list(one), list(two), test="t")
    return Interval(found.low, found.high)


def carried(values: np.ndarray) -> Interval:
    """Return the interval that the score of a recipe carries: the bootstrap's, widened by what is unseen."""
    mean = float(values.mean())
    found = settled(bca(values), mean, lambda: values, count=len(values))
    return Interval(mean, mean) if found is None else found


def whole(values: np.ndarray) -> Interval:
    """Return the interval of a mean of rows; that of equal ones has no width here, and counts as missed."""
    mean = float(values.mean())
    return mean_interval(values.tolist()) or Interval(mean, mean)


def levels(chances: dict[float, float]) -> tuple[Drawing, float]:
    """Draw scores with some levels; return their mean, too."""
    values, shares = np.array(list(chances)), np.array(list(chances.values()))
    return lambda generator, size: whole(generator.choice(values, size, p=shares)), float(values @ shares)


def reduced(name: str, right: float, wrong: float) -> tuple[Drawing, float]:
    """Draw eight answers to each question, right with a chance from a beta distribution, and reduce them."""
    rule = reducer(name, 8)
    table = np.array([rule.of([1.0] * hits + [0.0] * (8 - hits), []) for hits in range(9)])

    def draw(generator: np.random.Generator, size: int) -> Interval:
        return Interval(*two_level(table[generator.binomial(8, generator.beta(right, wrong, size))]).interval())

    many = table[np.random.default_rng(1).binomial(8, np.random.default_rng(2).beta(right, wrong, MANY))]
    return draw, float(many.mean())


def ratio(generator: np.random.Generator, size: int) -> Interval:
    """Draw texts of many lengths and return the interval of their bits per byte, which are 2 / log 2."""
    lengths = generator.integers(5, 50, size)
    values = [(-float(generator.gamma(2 * each, 1)), int(each)) for each in lengths]
    found = aggregated("bits_per_byte", bits_per_byte, values, 0)
    return Interval(found.low or 0.0, found.high or 0.0)


def translations(generator: np.random.Generator, size: int) -> list[tuple[str, str]]:
    """Return references and translations, whose words are wrong more often in some texts than in others."""
    found = []
    for _ in range(size):
        words = generator.zipf(1.3, generator.integers(6, 30)) % 5_000
        wrong = generator.random(len(words)) < generator.beta(2, 5)
        said = np.where(wrong, generator.integers(5_000, 9_000, len(words)), words)
        found.append((" ".join(map(str, words)), " ".join(map(str, said))))
    return found


def bleu(generator: np.random.Generator, size: int) -> Interval:
    """Draw translations and return the interval of BLEU of all of them together."""
    found = aggregated("bleu", AGGREGATIONS["bleu"], translations(generator, size), 100)
    return Interval(found.low or 0.0, found.high or 0.0)


def bleu_of_many(size: int) -> float:
    """Return BLEU of many translations."""
    return float(AGGREGATIONS["bleu"](translations(np.random.default_rng(0), size)))


def group(shares: tuple[float, ...], weights: tuple[float, ...]) -> Drawing:
    """Draw a group of exams and return the interval of its mean."""

    def draw(generator: np.random.Generator, size: int) -> Interval:
        hits = generator.binomial(size, shares)
        return Interval(*interval_of_mean(hits / size, [share_bounds(int(each), size) for each in hits], weights))

    return draw


def near_ends(repetitions: int) -> None:
    """Print the coverage of every kind of mean, near the ends of its scale and elsewhere."""
    plain, near = (0.3, 0.5, 0.7, 0.9), (0.9, 0.97, 0.99, 0.99)
    weights = (0.4, 0.3, 0.2, 0.1)
    weighted = [float(np.dot(shares, weights)) for shares in (plain, near)]
    cases: list[tuple[str, Drawing, float]] = [
        ("five levels", *levels({0: 0.1, 0.25: 0.2, 0.5: 0.3, 0.75: 0.2, 1: 0.2})),
        ("F1 of short answers", *levels({0: 0.05, 0.4: 0.05, 2 / 3: 0.1, 1: 0.8})),
        ("nearly all whole", *levels({1 / 3: 0.02, 2 / 3: 0.05, 1: 0.93})),
        ("nearly all nothing", *levels({0: 0.95, 0.5: 0.03, 1: 0.02})),
        ("skewed: beta(8, 0.1)", lambda generator, size: whole(generator.beta(8, 0.1, size)), 8 / 8.1),
        ("the same in a recipe", lambda generator, size: carried(generator.beta(8, 0.1, size)), 8 / 8.1),
        ("pass@4 of 8, near 1", *reduced("pass@4", 3, 0.3)),
        ("pass^2 of 8, near 0", *reduced("pass^2", 0.3, 3)),
        ("pass@4 of 8", *reduced("pass@4", 1, 3)),
        ("bits per byte", ratio, 2 / math.log(2)),
        ("group of four", group(plain, (1.0,) * 4), float(np.mean(plain))),
        ("group of four, near 1", group(near, (1.0,) * 4), float(np.mean(near))),
        ("weighted group", group(plain, weights), weighted[0]),
        ("weighted group, near 1", group(near, weights), weighted[1]),
        ("macro F1 in a recipe", f1_carried, macro_f1(pairs(np.random.default_rng(0), MANY))),
    ]
    sizes = (10, 20, 50, 200, 1_000)
    print(f"{'mean of':32} " + " ".join(f"n={size:<6}" for size in sizes))
    for low, high in ((0.01, 0.1), (0.1, 0.9), (0.9, 0.99)):
        found = [
            shares_covered(lambda *each: Interval(*share_bounds(*each)), n, np.linspace(low, high, 181)) for n in sizes
        ]
        print(f"{f'shares from {low} to {high}':32} " + " ".join(f"{each:<8.1%}" for each in found) + " summed")
    for name, draw, truth in cases:
        found = [coverage(draw, truth, size, repetitions) for size in sizes]
        print(f"{name:32} " + " ".join(f"{each:<8.1%}" for each in found), flush=True)


def shares_covered(make: Callable[[int, int], Interval], size: int, shares: np.ndarray) -> float:
    """Return the coverage of a share's interval, the mean over some shares; nothing is drawn."""
    hits = np.arange(size + 1)
    low, high = np.array([make(int(count), size) for count in hits]).T
    ways = np.array([math.lgamma(size + 1) - math.lgamma(k + 1) - math.lgamma(size - k + 1) for k in hits])
    chances = np.exp(ways + np.outer(np.log(shares), hits) + np.outer(np.log1p(-shares), size - hits))
    holds = (low <= shares[:, np.newaxis]) & (shares[:, np.newaxis] <= high)
    return float((chances * holds).sum(axis=1).mean())


def coverage(draw: Drawing, truth: float, size: int, repetitions: int) -> float:
    """Return the share of intervals that hold the truth."""
    held = 0
    for number in range(repetitions):
        low, high = draw(np.random.default_rng([size, number]), size)
        held += low <= truth <= high
    return held / repetitions


def main() -> None:
    """Print the coverage of each interval."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    cases: list[tuple[str, Drawing, float]] = [
        ("BCa, skewed mean", skewed(bca), 1 / 3),
        ("Student's t, skewed mean", skewed(student_t), 1 / 3),
        ("BCa, macro F1", f1, macro_f1(pairs(np.random.default_rng(0), MANY))),
        ("paired t, difference of runs", paired, 0.1),
    ]
    print(f"{'interval':32} {'n=100':>8} {'n=400':>8}    ({repetitions} repetitions)")
    grid = np.linspace(0.1, 0.9, 801)
    few = (("BCa alone", bca_of_hits), ("as scores carry it", settled_of_hits), ("Wilson", wilson))
    for name, make in few:
        found = [shares_covered(make, size, np.array([share])) for size, share in ((10, 0.9), (100, 0.99))]
        print(f"{f'{name}, nearly all right':32} {found[0]:8.1%} {found[1]:8.1%}    n=10 of 0.9, n=100 of 0.99; summed")
    for name, make in (("BCa", settled_of_hits), ("Wilson", wilson), ("exact", exact)):
        for where, shares in (("share of 0.7", np.array([0.7])), ("shares from 0.1 to 0.9", grid)):
            found = [shares_covered(make, size, shares) for size in (100, 400)]
            print(f"{f'{name}, {where}':32} {found[0]:8.1%} {found[1]:8.1%}    summed", flush=True)
    for name, draw, truth in cases:
        started = time.perf_counter()
        found = [coverage(draw, truth, size, repetitions) for size in (100, 400)]
        print(f"{name:32} {found[0]:8.1%} {found[1]:8.1%}    {time.perf_counter() - started:.0f} s", flush=True)
    near_ends(max(1, repetitions // 4))
    few = max(1, repetitions // 25)  # a BLEU of 200 texts on a hundred resamples takes a second
    truth = bleu_of_many(max(2_000, 20 * few))
    found = [coverage(bleu, truth, size, few) for size in (20, 50, 200)]
    told = " ".join(f"n={size}: {each:.1%}" for size, each in zip((20, 50, 200), found, strict=True))
    print(f"{'corpus BLEU':32} {told}    ({few} repetitions)")


if __name__ == "__main__":
    main()
