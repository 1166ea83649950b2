"""Do corrected scores hold the truth? ``python benchmarks/judge_correction.py [--runs 2000]``.

Simulated judges of known sensitivity and specificity grade the answers of an exam; a hundred answers have labels.
Printed is how often the plain interval, the corrected one and that of Rogan and Gladen, whose labels are of another
model's answers, hold the true share of right answers. Ends with 1 where a corrected one does in less than 93% and
the noise of the simulation.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

from proctor.statistics.intervals import mean_interval
from proctor.statistics.label_correction import corrected_mean, rogan_gladen

RATES = (0.6, 0.7, 0.8, 0.9, 1.0)
ANSWERS = 1_000
LABELS = 100
TRUTHS = (0.58, 0.85)
OTHERS = 0.5
"""How often the other model is right, whose answers have the labels of Rogan and Gladen."""

Held = dict[str, float]


def simulated(stream: np.random.Generator, truth: float, rates: tuple[float, float], *, graded: bool) -> Held:
    """Return which intervals hold the truth in one exam, and how wide the corrected one is."""

    def judged(right: np.ndarray) -> np.ndarray:
        return np.where(right, stream.random(len(right)) < rates[0], stream.random(len(right)) >= rates[1])

    right = stream.random(ANSWERS) < truth
    scores, labels, weights = judged(right).astype(float), np.full(ANSWERS, np.nan), np.full(ANSWERS, 1.0)
    if graded:  # a judge that says where it is unsure, and labels that go there twice as often
        unsure = (scores != right) | (stream.random(ANSWERS) < 0.1)
        scores = np.where(unsure, 0.5, scores)
        count = round(LABELS * 2 * unsure.sum() / (2 * unsure.sum() + (~unsure).sum()))
        parts = [(unsure, count), (~unsure, LABELS - count)]
    else:
        parts = [(np.ones(ANSWERS, bool), LABELS)]
    for own, count in parts:
        places = np.flatnonzero(own)
        drawn = stream.choice(places, count, replace=False)
        labels[drawn], weights[drawn] = right[drawn], len(places) / count
    found = corrected_mean(scores, labels, weights, np.arange(ANSWERS)).bounds
    plain = mean_interval(scores.tolist(), 1.0)
    held = {
        "plain": plain is not None and plain.low <= truth <= plain.high,
        "corrected": found.low <= truth <= found.high,
    }
    if not graded:
        others = stream.random(LABELS) < OTHERS
        verdicts = judged(others)
        bounds = rogan_gladen(scores.tolist(), verdicts.tolist(), others.tolist())
        held["Rogan-Gladen"] = bounds is None or bounds.low <= truth <= bounds.high
    return {**{name: float(value) for name, value in held.items()}, "width": found.high - found.low}


def main() -> int:
    """Simulate, print a line for each judge, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--rates", type=float, nargs="*", default=RATES)
    given = parser.parse_args()
    noise, is_bad = 2 * math.sqrt(0.05 * 0.95 / given.runs), False
    for truth in TRUTHS:
        for rates in [(one, two) for one in given.rates for two in given.rates]:
            for graded in (False, True):
                total: Held = {}
                for run in range(given.runs):
                    stream = np.random.default_rng(
                        [2026, int(100 * truth), *(int(100 * each) for each in rates), graded, run]
                    )
                    for name, value in simulated(stream, truth, rates, graded=graded).items():
                        total[name] = total.get(name, 0.0) + value / given.runs
                is_bad |= total["corrected"] < 0.93 - noise or total.get("Rogan-Gladen", 1.0) < 0.93 - noise
                judge = f"truth {truth}, sensitivity {rates[0]}, specificity {rates[1]}{', unsure' * graded:<8}"
                print(f"{judge}: {', '.join(f'{name} {value:.3f}' for name, value in total.items())}", flush=True)
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
