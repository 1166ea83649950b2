"""What comparisons promise, simulated: ``python benchmarks/paired_differences.py [--pairs 200] [--differing 40]``.

- Agreement: in every table of up to so many pairs of which so many differ, the interval leaves out 0 exactly where
  McNemar's exact test has p < 0.05.
- Coverage of that interval over true differences and shares of pairs that differ.
- Power: what ``compare`` and ``plan`` say would be seen, and the questions that ``plan --difference`` asks for, are
  found in 80% of simulated comparisons.

Ends with 1 where an interval contradicts p, coverage is below 95% less the noise of the simulation, or power lies
outside of 78 to 82%.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from proctor.statistics.paired_shares import detectable_share, mcnemar_p, melded_interval, needed_pairs


def contradictions(pairs: int, differing: int) -> Iterator[tuple[int, int, int]]:
    """Yield tables in which interval and p contradict each other; one of two mirrored ones is looked at."""
    for count in range(1, pairs + 1):
        for differ in range(min(count, differing) + 1):
            for lost in range(differ // 2 + 1):
                low, high = melded_interval(differ - lost, lost, count)
                if (low > 0 or high < 0) != (mcnemar_p(differ - lost, lost) < 0.05):
                    yield differ - lost, lost, count


def coverage(pairs: int, difference: float, discordant: float, runs: int) -> float:
    """Return how often the interval holds the true difference."""
    share = max(discordant, abs(difference))
    chances = [(share + difference) / 2, (share - difference) / 2, 1 - share]
    drawn = np.random.default_rng([pairs, int(1000 * share)]).multinomial(pairs, chances, size=runs)
    tables, times = np.unique(drawn, axis=0, return_counts=True)
    bounds = [melded_interval(int(won), int(lost), pairs) for won, lost, _ in tables]
    return float(np.dot(times, [low <= difference <= high for low, high in bounds]) / runs)


def power(pairs: int, difference: float, discordant: float, runs: int) -> float:
    """Return how often McNemar's exact test finds a difference."""
    share = max(discordant, difference)
    chances = np.maximum([(share + difference) / 2, (share - difference) / 2, 1 - share], 0.0)
    drawn = np.random.default_rng([pairs, 7]).multinomial(pairs, chances, size=runs)
    tables, times = np.unique(drawn, axis=0, return_counts=True)
    return float(np.dot(times, [mcnemar_p(int(won), int(lost)) < 0.05 for won, lost, _ in tables]) / runs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every check; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--differing", type=int, default=40)
    parser.add_argument("--runs", type=int, default=20_000)
    given = parser.parse_args(arguments)
    found = list(contradictions(given.pairs, given.differing))
    print(f"tables up to {given.pairs} pairs, {given.differing} differing: {len(found)} contradictions {found[:5]}")
    is_wrong, noise = bool(found), 2 * math.sqrt(0.05 * 0.95 / given.runs)
    for pairs, difference, share in (
        (20, 0.0, 0.1),
        (50, 0.1, 0.2),
        (60, 0.05, 0.05),
        (200, 0.04, 0.12),
        (200, 0, 0.4),
    ):
        held = coverage(pairs, difference, share, given.runs)
        is_wrong |= held < 0.95 - noise
        print(f"coverage: n {pairs}, difference {difference}, {share:.0%} differ: {held:.1%}")
    margin = 0.02 + 3 * math.sqrt(0.16 / given.runs)
    for pairs, differing in ((10, 0), (50, 4), (200, 40), (1_000, 0), (1_000, 200)):
        least = detectable_share(differing / pairs, pairs)
        is_wrong |= abs((seen := power(pairs, least, differing / pairs, given.runs)) - 0.8) > margin
        print(f"power: n {pairs}, {differing} differ, {least:.4f} would be seen: {seen:.1%}")
    for difference, share in ((0.01, 0.1), (0.02, 0.1), (0.05, 0.1), (0.1, 0.1), (0.1, 0.4)):
        asked = needed_pairs(difference, share)
        is_wrong |= abs((seen := power(asked, difference, share, given.runs)) - 0.8) > margin
        print(f"power: plan --difference {difference} --discordant {share}: {asked:,} questions: {seen:.1%}")
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
