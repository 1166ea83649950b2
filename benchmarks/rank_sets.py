"""Do the places that ``compare`` gives models hold their ranks? ``python benchmarks/rank_sets.py [--runs 400]``.

Simulated models answer shared questions of very different ease, alone or in texts of four, right or wrong. Their true
scores are equal, or nearly so (a standard deviation of one point), or far apart. Printed is how often all true ranks
lie in their places at once, and how many places are left on average. Ends with 1 where they do in less than 95% of the
runs and the noise of the simulation.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proctor.results.comparison import bounded_test
from proctor.statistics.paired_tests import signs_of
from proctor.statistics.rank_sets import level_of_pairs, places_of

MODELS = (2, 5, 20, 60)
QUESTIONS = (50, 200)
SPREADS = {"equal": 0.0, "nearly equal": 0.06, "apart": 0.8}
"""Of abilities, in logits: 0.06 of them are about one point."""

Table = NDArray[np.float64]


def answers(stream: np.random.Generator, abilities: Table, questions: int, *, in_texts: bool) -> Table:
    """Return right and wrong answers of models with such abilities."""
    ease = stream.normal(0.5, 1.5, questions)
    noise = np.repeat(stream.normal(0.0, 1.0, (len(abilities), questions // 4 + 1)), 4, axis=1)[:, :questions]
    chance = 1 / (1 + np.exp(-(ease + abilities[:, None] + noise * in_texts)))
    return (stream.random(chance.shape) < chance).astype(float)


def places(scores: Table, groups: Sequence[int] | None) -> list[tuple[int, int]]:
    """Return the places as a comparison of these runs gives them."""
    level = level_of_pairs(scores, groups)

    def sign(one: int, two: int) -> int:
        return signs_of(bounded_test(scores[one], scores[two], groups, 1.0), 1.0 - level)[0]

    return places_of(len(scores), sign)


def holds(abilities: Table, found: Sequence[tuple[int, int]]) -> bool:
    """Return whether each true rank lies in its places; equal models share theirs."""
    for ability, (best, worst) in zip(abilities, found, strict=True):
        ahead, behind = int((abilities > ability).sum()), int((abilities < ability).sum())
        if best > 1 + ahead or worst < len(abilities) - behind:
            return False
    return True


def main() -> int:
    """Simulate, print a line for each case, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--models", type=int, nargs="*", default=MODELS)
    parser.add_argument("--spreads", nargs="*", choices=SPREADS, default=list(SPREADS))
    given = parser.parse_args()
    is_bad, least = False, 0.95 - 2 * math.sqrt(0.05 * 0.95 / given.runs)
    for models in given.models:
        for questions in QUESTIONS:
            for name, in_texts in [(each, texts) for each in given.spreads for texts in (False, True)]:
                held, width, spread = 0, 0.0, SPREADS[name]
                groups = [place // 4 for place in range(questions)] if in_texts else None
                for run in range(given.runs):
                    stream = np.random.default_rng([2026, models, questions, int(100 * spread), in_texts, run])
                    abilities = stream.normal(0.0, 1.0, models) * spread
                    found = places(answers(stream, abilities, questions, in_texts=in_texts), groups)
                    held += holds(abilities, found)
                    width += float(np.mean([worst - best + 1 for best, worst in found])) / given.runs
                is_bad |= held / given.runs < least
                said = f"{models:>3} models, {name:<12}, {questions:>4} questions{' in texts' if in_texts else '':<9}"
                print(f"{said}: {held / given.runs:.1%} hold all ranks, {width:.1f} places", flush=True)
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
