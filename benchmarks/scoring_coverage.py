"""How often 95% intervals hold the truth: 94 to 96% is wanted from 100 instances on.

    python benchmarks/scoring_coverage.py [repetitions]

Data are drawn from known distributions; the truth is the score of the distribution. F1's truth is its value on a
million instances.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from proctor.results.compare import compare
from proctor.scoring.intervals import Bootstrap, Interval, Means, exact, student_t, wilson
from proctor.scoring.metrics.f1 import F1Fast, LabelPair

Drawing = Callable[[np.random.Generator, int], Interval]


def binary(make: Callable[[np.ndarray], Interval], share: float) -> Drawing:
    """Draw a proportion."""
    return lambda generator, size: make((generator.random(size) < share).astype(float))


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


def coverage(draw: Drawing, truth: float, size: int, repetitions: int) -> float:
    """Return the share of intervals that hold the truth."""
    held = 0
    for number in range(repetitions):
        low, high = draw(np.random.default_rng([size, number]), size)
        held += low <= truth <= high
    return held / repetitions


def main() -> None:
    """Print the coverage of each interval."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    table = F1Fast(main_score="f1_macro", averages=["macro"]).reduce(pairs(np.random.default_rng(0), 1_000_000))
    cases: list[tuple[str, Drawing, float]] = [
        ("BCa, share of 0.7", binary(bca, 0.7), 0.7),
        ("Wilson, share of 0.7", binary(lambda x: wilson(int(x.sum()), x.size), 0.7), 0.7),
        ("exact, share of 0.7", binary(lambda x: exact(int(x.sum()), x.size), 0.7), 0.7),
        ("BCa, skewed mean", skewed(bca), 1 / 3),
        ("Student's t, skewed mean", skewed(student_t), 1 / 3),
        ("BCa, macro F1", f1, table["f1_macro"]),
        ("paired t, difference of runs", paired, 0.1),
    ]
    print(f"{'interval':32} {'n=100':>8} {'n=400':>8}    ({repetitions} repetitions)")
    for name, draw, truth in cases:
        started = time.perf_counter()
        shares = [coverage(draw, truth, size, repetitions) for size in (100, 400)]
        print(f"{name:32} {shares[0]:8.1%} {shares[1]:8.1%}    {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
