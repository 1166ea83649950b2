"""Do intervals over wordings hold? ``python benchmarks/wording_components.py [--runs 1000]``.

Scores of simulated questions under simulated wordings, graded and right or wrong, with and without empty cells.
Printed is for each component how often its interval holds the true variance and how large the estimate is on average,
then how often the interval of the mean holds the true mean, beside the one of questions alone, which holds less often
the more questions there are; how often the bands of quantiles over wordings hold; and how often the best of equal
wordings is called better. Ends with 1 where one of ours holds in less than 93% and the noise of the simulation, or the
best of equal ones is called better in more than 5%.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator

import numpy as np

from proctor.results.comparison import bounded_test
from proctor.statistics.paired_tests import signs_of
from proctor.statistics.question_clusters import CLUSTER
from proctor.statistics.variance_components import COMBINATIONS, QUESTION, REST, components_of
from proctor.statistics.wording_spread import QUANTILES, best_of, spread_of

QUESTIONS = (50, 200, 1_000, 4_000)
DEVIATIONS = {
    "template": 0.04, "demos": 0.03, COMBINATIONS: 0.02, QUESTION: 0.3, "template by question": 0.1,
    "demos by question": 0.08, REST: 0.2,
}  # fmt: skip
EMPTY = (0, 3, 8, 13, 14)
"""Cells of a design with holes."""

CLUSTERED = 0.15
"""The deviation of clusters, which have 1 to 9 questions."""

SPREADS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "nearly equal": lambda stream, count: stream.normal(0, 0.02, count),
    "wide": lambda stream, count: stream.uniform(-0.2, 0.2, count),
    "some lead astray": lambda stream, count: np.where(stream.random(count) < 0.3, -0.2, 0.1),
}
"""How the means of wordings lie around 0.5."""

Case = tuple[str, np.ndarray, dict[str, np.ndarray], dict[str, float], list[int] | None]


def cases(stream: np.random.Generator, questions: int) -> Iterator[Case]:
    """Yield designs: a name, the scores, the levels of each wording, the true variances, clusters of questions."""
    for name, templates, demos, empty, is_binary in (
        ("6 templates", 6, 1, (), False),
        ("20 templates", 20, 1, (), False),
        ("6 templates, right and wrong", 6, 1, (), True),
        ("5 x 4", 5, 4, (), False),
        ("5 x 4, 5 empty", 5, 4, EMPTY, False),
    ):
        t, d = np.repeat(np.arange(templates), demos), np.tile(np.arange(demos), templates)
        sd = {each: value if demos > 1 or "demos" not in each else 0.0 for each, value in DEVIATIONS.items()}
        if demos == 1:
            sd[COMBINATIONS] = 0.0
        y = stream.normal(0, sd["template"], templates)[t][:, None] + stream.normal(0, sd["demos"], demos)[d][:, None]
        y = y + stream.normal(0, sd[COMBINATIONS], (len(t), 1))
        if is_binary:  # chances from 0.1 to 0.9: the rest is what single answers vary by
            chances = 0.5 + y + stream.uniform(-0.3, 0.3, questions)
            y = (stream.random((len(t), questions)) < chances).astype(float) - 0.5
            truth = {"template": sd["template"] ** 2, QUESTION: 0.03}
            truth[REST] = float((chances * (1 - chances)).mean())
        else:
            y = y + stream.normal(0, sd[QUESTION], questions) + stream.normal(0, sd[REST], (len(t), questions))
            y = y + stream.normal(0, sd["template by question"], (templates, questions))[t]
            y = y + stream.normal(0, sd["demos by question"], (demos, questions))[d]
            truth = {each: value**2 for each, value in sd.items()}
            if demos == 1:
                truth[REST] += truth["template by question"]
        kept = np.array([place for place in range(len(t)) if place not in empty])
        levels = {"template": t[kept], **({"demos": d[kept]} if demos > 1 else {})}
        yield name, y[kept], levels, truth, None
        if name == "6 templates":
            keys = np.repeat(np.arange(questions), np.arange(questions) % 9 + 1)[:questions]
            clustered = y + stream.normal(0, CLUSTERED, questions)[keys]
            yield "6 templates, clusters", clustered, levels, {**truth, CLUSTER: CLUSTERED**2}, keys.tolist()


def measured(questions: int, runs: int, seed: int = 7) -> dict[str, dict[str, list[float]]]:
    """Return for each design what held, and the estimates as multiples of the truth."""
    stream = np.random.default_rng(seed)
    found: dict[str, dict[str, list[float]]] = {}
    for _ in range(runs):
        for name, scores, levels, truth, clusters in cases(stream, questions):
            here = found.setdefault(name, {})
            said = components_of(scores, levels, clusters=clusters)
            here.setdefault("mean", []).append(said.low <= 0 <= said.high)
            here.setdefault("questions alone", []).append(said.naive_low <= 0 <= said.naive_high)
            for part in said.parts:
                here.setdefault(part.name, []).append(part.low <= truth[part.name] <= part.high)
                here.setdefault(f"{part.name}, estimate", []).append(part.variance / truth[part.name])
    return found


def called_better(wordings: int, questions: int, runs: int, seed: int = 11) -> float:
    """Return how often the best of equal wordings is called better than some other."""
    stream, wrong = np.random.default_rng(seed), 0
    for _ in range(runs):
        scores = (stream.random((wordings, questions)) < stream.beta(2, 2, questions)).astype(float)
        best = best_of(scores)
        others = (each for place, each in enumerate(scores) if place != best.place)
        tests = (bounded_test(scores[best.place], each, None, 1.0) for each in others)
        wrong += any(signs_of(test, 1 - best.pair_level)[0] for test in tests)
    return wrong / runs


def banded(wordings: int, how: str, runs: int, questions: int = 200, seed: int = 13) -> dict[float, float]:
    """Return how often the band of each quantile holds that of the true means of the wordings."""
    stream, held = np.random.default_rng(seed), dict.fromkeys(QUANTILES, 0.0)
    for _ in range(runs):
        truths = 0.5 + SPREADS[how](stream, wordings)
        chances = truths[:, None] + stream.uniform(-0.25, 0.25, questions)
        found, _ = spread_of((stream.random(chances.shape) < chances).astype(float))
        for q, (_, low, high) in found.items():
            held[q] += (low <= np.quantile(truths, q) <= high) / runs
    return held


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return 1 where an interval holds too seldom."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--equal", type=int, default=2_000, help="simulations of equal wordings")
    given = parser.parse_args(arguments)
    least, is_good = 0.93 - 2 * math.sqrt(0.95 * 0.05 / given.runs), True
    for questions in QUESTIONS:
        for name, held in measured(questions, given.runs).items():
            print(f"{questions:,} questions, {name}")
            for what, values in held.items():
                if what.endswith("estimate"):
                    continue
                share, estimates = float(np.mean(values)), held.get(f"{what}, estimate")
                is_ours = what != "questions alone"
                mark = " !" if is_ours and share < least else ""
                off = "" if estimates is None else f"  estimate {np.mean(estimates):.3f} of the truth"
                print(f"  {what:24} {share:.3f}{off}{mark}")
                is_good = is_good and not mark
    for wordings in (5, 10, 30):
        for how in SPREADS:
            bands = banded(wordings, how, given.runs // 2)
            is_good = is_good and min(bands.values()) >= 0.93 - 2 * math.sqrt(0.05 * 0.95 / (given.runs // 2))
            shares = "  ".join(f"{q:g}: {share:.3f}" for q, share in bands.items())
            print(f"bands of {wordings} wordings, {how}: {shares}", flush=True)
    for wordings, count in ((5, 200), (10, 200), (20, 500)):
        share = called_better(wordings, count, given.equal)
        is_good = is_good and share <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / given.equal)
        print(
            f"{wordings} equal wordings, {count} questions: the best is called better in {share:.2%} of {given.equal:,}"
        )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
