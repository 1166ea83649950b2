"""Corrected scores where a judge is not one judge: ``python benchmarks/judge_cases.py [--runs 2000]``.

A judge whose errors change in the middle of an exam (drift), and one that errs where questions are hard, with four
answers to a question (heterogeneity). Printed is how often the plain interval and the corrected ones, of a score and of
the difference of two models, hold the truth; then which part of the labels it saves to draw them where the judge is
unsure, at equal width; how often the intervals of a judge's report hold; and those of strengths from battles. Ends with
1 where intervals of corrected scores hold the truth in less than 93% and the noise of the simulation.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter

import numpy as np

from proctor.runs.answer_labels import allotted, how_often
from proctor.runs.judge_report import risk_difference
from proctor.statistics.bradley_terry import Battles, strengths
from proctor.statistics.intervals import Bootstrap, mean_interval
from proctor.statistics.krippendorff import alpha_sums
from proctor.statistics.label_correction import corrected_mean, corrected_test

ANSWERS = 1_000
LABELS = 100
HARDNESS = 1.2
"""The standard deviation of how hard questions are, in logits."""
UNSURE = ((0.1, 0.01), (0.3, 0.01), (0.2, 0.05))
"""The share of answers of which a judge is unsure, and its errors on the others."""
GRADED = (0.1, 0.3)
"""Of judges whose scores are the chances to be right: Beta's two parameters; the less, the more often they are sure."""


def logistic(value: np.ndarray) -> np.ndarray:
    """Return the chances of logits."""
    return 1.0 / (1.0 + np.exp(-value))


def exam(stream: np.random.Generator, kind: str, more: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the judge's scores, the truths and the questions; the model is the better by ``more`` logits."""
    place = np.arange(ANSWERS)
    if kind == "drift":
        right = stream.random(ANSWERS) < logistic(np.array(0.4 + more))
        first = place < ANSWERS // 2
        hits, passes, questions = np.where(first, 0.95, 0.6), np.where(first, 0.1, 0.5), place
    else:
        questions = place // 4
        hard = stream.normal(0.0, HARDNESS, ANSWERS // 4)[questions]
        right = stream.random(ANSWERS) < logistic(0.4 + more + hard)
        hits, passes = logistic(1.5 - hard), logistic(hard - 1.0)
    return (stream.random(ANSWERS) < np.where(right, hits, passes)).astype(float), right, questions


def truth_of(kind: str, more: float) -> float:
    """Return how many answers of such exams are right."""
    if kind == "drift":
        return float(logistic(np.array(0.4 + more)))
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ logistic(0.4 + more + HARDNESS * nodes) / weights.sum())


def held(stream: np.random.Generator, kind: str) -> Counter[str]:
    """Return which intervals hold the truth in one simulated comparison."""
    found, means = Counter(), []
    for more in (0.0, 0.5):
        scores, right, questions = exam(stream, kind, more)
        labels = np.full(ANSWERS, np.nan)
        drawn = stream.choice(ANSWERS, LABELS, replace=False)
        labels[drawn] = right[drawn]
        means.append(corrected_mean(scores, labels, np.full(ANSWERS, ANSWERS / LABELS), questions))
        plain = mean_interval(scores.tolist(), 1.0)
        truth, bounds = truth_of(kind, more), means[-1].bounds
        found["plain"] += (plain is not None and plain.low <= truth <= plain.high) / 2
        found["corrected"] += (bounds.low <= truth <= bounds.high) / 2
    interval = corrected_test(*means).interval(0.95)
    found["difference"] = interval.low <= truth_of(kind, 0.5) - truth_of(kind, 0.0) <= interval.high
    return found


Case = tuple[float, float] | float


def bounds(stream: np.random.Generator, case: Case, count: int, *, is_active: bool) -> tuple[float, bool]:
    """Return how wide the interval is with labels drawn so, and whether it holds the truth, which is one half."""
    if isinstance(case, tuple):
        is_unsure, side = stream.random(ANSWERS) < case[0], stream.random(ANSWERS) < 0.5
        chance = np.where(is_unsure, 0.5, np.where(side, 1.0 - case[1], case[1]))
        scores = np.where(is_unsure, 0.5, side)
    else:
        scores = chance = stream.beta(case, case, ANSWERS)
    right = stream.random(ANSWERS) < chance
    labels, weights = np.full(ANSWERS, np.nan), np.ones(ANSWERS)
    often = how_often(scores, count) if is_active else np.ones(ANSWERS, np.int64)
    for kind, number in allotted(often, count).items():
        places = np.flatnonzero(often == kind)
        drawn = stream.choice(places, number, replace=False)
        labels[drawn], weights[drawn] = right[drawn], len(places) / number
    found = corrected_mean(scores, labels, weights, np.arange(ANSWERS)).bounds
    return found.high - found.low, found.low <= 0.5 <= found.high


def saved(case: Case, labels: int, runs: int) -> float:
    """Return the share of so many labels that drawing unsure answers more often saves, at equal width."""

    def mean_width(count: int, *, is_active: bool) -> float:
        streams = (np.random.default_rng([7, run]) for run in range(runs))
        return float(np.mean([bounds(stream, case, count, is_active=is_active)[0] for stream in streams]))

    wanted, low, high = mean_width(labels, is_active=False), labels // 4, labels
    while high - low > max(labels // 100, 1):
        middle = (low + high) // 2
        low, high = (low, middle) if mean_width(middle, is_active=True) <= wanted else (middle, high)
    return 1.0 - high / labels


def reported(stream: np.random.Generator) -> Counter[str]:
    """Return whether alpha and the preference for length hold what they are of, over a judge that has one."""
    right, long = stream.random(LABELS) < 0.6, stream.random(LABELS) < 0.5
    chance = np.where(right, 0.75, 0.25) + np.where(long, 0.1, -0.1)
    verdicts = stream.random(LABELS) < chance
    found = risk_difference([(verdicts[own & long], verdicts[own & ~long]) for own in (right, ~right)])
    sums = alpha_sums(np.array([right, verdicts], float), nominal=True)
    interval = Bootstrap(500, 0.95, repair=True).intervals(sums)[0]
    share = 0.6 * 0.75 + 0.4 * 0.25
    apart = (0.6 + share) / 2 * (1 - (0.6 + share) / 2) * 2
    alpha = 1.0 - 0.25 / apart
    return Counter({
        "length": found is not None and found[1] <= 0.2 <= found[2],
        "alpha": interval.low <= alpha <= interval.high,
    })  # fmt: skip


STRENGTHS = np.array([-0.3, 0.0, 0.05, 0.25])


def fought(stream: np.random.Generator) -> Counter[str]:
    """Return which intervals of strengths hold, and whether all places do, in battles of two judges, in both orders."""
    rows = []
    for question in range(200):
        one, two = stream.choice(4, 2, replace=False)
        for judge, keen in enumerate((0.6, 1.4)):
            for first, second in ((one, two), (two, one)):
                d = keen * (STRENGTHS[first] - STRENGTHS[second])
                shares = np.exp([d / 2, -1.0, -d / 2])
                rows.append((first, second, stream.choice([1, 0.5, 0], p=shares / shares.sum()), judge, question))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    found = strengths(Battles(*columns, (columns[2] == 0.5) * 1.0), 4, 2)
    if found is None:
        return Counter({"without end": 1})
    inside = (found.models[:, 1] <= STRENGTHS) & (found.models[:, 2] >= STRENGTHS)
    places = zip((4, 3, 2, 1), found.places, strict=True)
    return Counter({"strengths": inside.mean(), "places": all(low <= rank <= high for rank, (low, high) in places)})


def main() -> int:
    """Simulate, print a line for each case, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=2_000)
    runs = parser.parse_args().runs
    least, is_bad = 0.93 - 2 * math.sqrt(0.05 * 0.95 / runs), False
    for name, one in (
        ("drift", lambda stream: held(stream, "drift")),
        ("heterogeneity", lambda stream: held(stream, "heterogeneity")),
        ("report", reported),
        ("battles", fought),
    ):
        total: Counter[str] = Counter()
        for run in range(runs):
            total.update(one(np.random.default_rng([2026, run])))
        is_bad |= min(total[each] / runs for each in total if each not in ("plain", "without end")) < least
        print(f"{name}: {', '.join(f'{each} {count / runs:.3f}' for each, count in total.items())}", flush=True)
    for case in (*UNSURE, *GRADED):
        for labels in (LABELS, 3 * LABELS):
            inside = [bounds(np.random.default_rng([8, run]), case, labels, is_active=True)[1] for run in range(runs)]
            is_bad |= bool(np.mean(inside) < least)
            told = f"unsure of {case[0]:.0%}, else {case[1]:.0%} errors" if isinstance(case, tuple) else f"Beta({case})"
            share = saved(case, labels, max(runs // 10, 5))
            print(f"{told}, {labels} labels: {share:.0%} saved by the draw; holds {np.mean(inside):.3f}", flush=True)
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
