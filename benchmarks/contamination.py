"""Is an unseen order called seen as often as p says? ``python benchmarks/contamination.py [--runs 4000]``.

Likelihoods of orders are drawn: normal, of shards that differ a thousandfold, with heavy tails, with ties. Printed is
how often p is at most 1%, 5% and 20%, then how often a model is found out that likes the published order of each shard
better by a part of the deviation between orders. Ends with 1 where an unseen order is called seen too often.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping

import numpy as np

from proctor.statistics.exchangeability import order_test

SHAPE = (20, 100)
"""Shards and orders."""
_Draw = Callable[[np.random.Generator], np.ndarray]
UNSEEN: Mapping[str, _Draw] = {
    "normal": lambda stream: stream.normal(size=SHAPE),
    "shards of other scales": lambda stream: stream.normal(size=SHAPE) * np.exp(2 * stream.normal(size=(SHAPE[0], 1))),
    "heavy tails": lambda stream: stream.standard_cauchy(SHAPE),
    "ties": lambda stream: stream.integers(0, 3, SHAPE).astype(float),
}


def called_seen(draw: _Draw, liking: float, runs: int, level: float, seed: int = 3) -> float:
    """Return how often p is at most a level where the published order is likelier by so many deviations."""
    stream, found = np.random.default_rng(seed), 0
    for _ in range(runs):
        table = draw(stream)
        table[:, 0] += liking
        found += order_test(table).p <= level
    return found / runs


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return 1 where an unseen order is called seen too often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4_000)
    given = parser.parse_args(arguments)
    is_good = True
    for name, draw in UNSEEN.items():
        shares = {level: called_seen(draw, 0.0, given.runs, level) for level in (0.01, 0.05, 0.2)}
        bad = [p for p, share in shares.items() if share > p + 3 * math.sqrt(p * (1 - p) / given.runs)]
        print(f"unseen, {name:24}", "  ".join(f"p <= {p}: {share:.4f}" for p, share in shares.items()), "!" * len(bad))
        is_good = is_good and not bad
    for liking in (0.2, 0.5, 1.0):
        share = called_seen(UNSEEN["normal"], liking, max(given.runs // 4, 1), 0.05)
        print(f"seen, likelier by {liking} deviations in each shard: found in {share:.3f}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
