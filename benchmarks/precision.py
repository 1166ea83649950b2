"""Does the interval of ``run --precision`` hold the score? ``python benchmarks/precision.py [--runs 200]``.

Two kinds of draws. Uniform: asked until an interval of fixed width is narrow enough, a hundred times as many runs as
``--runs`` says; ``--only sequence`` has the confidence sequence beside it. Adaptive: questions drawn by what twelve
other models' answers say about them. Each of thirteen simulated models is left out in turn and measured by means of the
others; "unlike" answers the opposite of what it did, so that they mislead. ``--only bound`` says what the others'
answers could be worth at most in these worlds.

Printed is how often the interval holds the score, how many questions were asked, and the effective sample: how many
questions drawn uniformly would have the same variance, over those that were asked. Ends with 1 where uniform draws hold
the score in less than 94.5% of the runs and the noise of a simulation, or in more than 96% of all; or adaptive ones in
less than 93% or more than 97% (94 to 96% and noise).
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proctor.statistics.adaptive import AdaptiveMean
from proctor.statistics.fixed_width import FIRST_LOOK, Moments, fixed_width_bounds, next_look
from proctor.statistics.item_models import ItemModel
from proctor.statistics.sequences import ConfidenceSequence, mean_interval

FIRST, GROWTH = 32, 8
"""Rounds of adaptive draws, as of :mod:`proctor.running.draws`."""

GRID_STEP = 1 / 200
"""How far the bounds of a sequence may lie outside of where they would be on a fine grid: it bets against 200 means."""

Table = NDArray[np.float64]


class World(NamedTuple):
    """Simulated models and questions: three factors, and how much questions differ in how easy they are."""

    name: str
    questions: int
    precision: float
    ease: float = 1.0
    spread: float = 3.0
    models: int = 13
    is_unlike: bool = False

    def table(self) -> Table:
        """Return the answers of all models."""
        stream = np.random.default_rng([2026, self.questions, int(10 * self.ease), int(10 * self.spread)])
        easy = stream.normal(self.ease, self.spread, self.questions)
        loadings = stream.normal([1.0, 0.0, 0.0], [0.3, 0.7, 0.7], (self.questions, 3))
        abilities = stream.normal(0.0, [0.9, 0.7, 0.7], (self.models, 3))
        chance = 1.0 / (1.0 + np.exp(-(easy + abilities @ loadings.T)))
        return (stream.random(chance.shape) < chance).astype(np.float64)


WORLDS = (
    World("questions of one kind", 1_319, 0.04, spread=1.6),
    World("questions that differ", 1_319, 0.04),
    World("easy", 1_319, 0.03, ease=4.0),
    World("short", 400, 0.06),
    World("unlike", 1_319, 0.04, is_unlike=True),
)


class Found(NamedTuple):
    """How a run ended."""

    holds: bool
    asked: int
    effective: float


def measured(scores: Table, model: ItemModel | None, precision: float, seed: str) -> Found:
    """Draw until the interval is narrow."""
    total, mean = len(scores), float(scores.mean())
    drawn = AdaptiveMean(total, model, Random(seed).random)
    low, high = 0.0, 1.0
    while drawn.count < total and (high - low) / 2 > precision:
        drawn.take([float(scores[place]) for place in drawn.draw(max(FIRST, drawn.count // GROWTH))])
        _, low, high = drawn.estimate()
    return Found(low - 1e-12 <= mean <= high + 1e-12, drawn.count, 0.0)


def left_out(table: Table, is_unlike: bool) -> Iterator[tuple[Table, ItemModel]]:
    """Yield each model's answers with what the others' say."""
    for place, scores in enumerate(table):
        yield (1.0 - scores if is_unlike else scores), ItemModel.fit(np.delete(table, place, axis=0))


def effective(scores: Table, model: ItemModel, asked: int, runs: int) -> float:
    """Return the effective sample over the questions asked: from the spread of the estimates of many runs."""
    total, found = len(scores), []
    for run in range(runs):
        drawn = AdaptiveMean(total, model, Random(f"effective {run}").random)
        while drawn.count < asked:
            size = min(max(FIRST, drawn.count // GROWTH), asked - drawn.count)
            drawn.take([float(scores[place]) for place in drawn.draw(size)])
        found.append(drawn.estimate()[0])
    errors = float(np.mean((np.asarray(found) - scores.mean()) ** 2))
    spread = float(scores.var())
    return 1.0 / (errors / spread + 1.0 / total) / asked if spread else float("nan")


def adaptive(
    table: Table, precision: float, runs: int, *, is_unlike: bool = False
) -> tuple[float, float, float, float]:
    """Return coverage, questions asked, questions asked uniformly, and the effective sample, over all models."""
    held, asked, plainly, gains = [], [], [], []
    for place, (scores, model) in enumerate(left_out(table, is_unlike)):
        found = [measured(scores, model, precision, f"{place} {run}") for run in range(runs)]
        plain = [measured(scores, None, precision, f"{place} {run}") for run in range(max(runs // 4, 2))]
        held += [each.holds for each in found]
        asked.append(float(np.mean([each.asked for each in found])))
        plainly.append(float(np.mean([each.asked for each in plain])))
        gains.append(effective(scores, model, max(FIRST, len(scores) // 6), max(runs // 2, 20)))
    return float(np.mean(held)), float(np.mean(asked)), float(np.mean(plainly)), float(np.median(gains))


EXAMS = (500.0, 1_319.0, 14_042.0, math.inf)
PRECISIONS = (0.02, 0.03, 0.04, 0.05)
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
GRADED = {
    "five levels": ((0, 0.25, 0.5, 0.75, 1), (0.1, 0.2, 0.3, 0.2, 0.2)),
    "mean of four answers": ((0, 0.25, 0.5, 0.75, 1), (0.05, 0.07, 0.1, 0.18, 0.6)),
    "overlap of words": ((0, 0.02, 0.05, 0.1, 0.3, 0.9), (0.3, 0.3, 0.2, 0.1, 0.07, 0.03)),
    "mostly 0.9, some 1, few 0": ((0, 0.9, 1), (0.05, 0.75, 0.2)),
    "0.9, now and then 0": ((0, 0.9), (0.03, 0.97)),
    "next to nothing, now and then 1": ((0.01, 0.02, 1), (0.5, 0.45, 0.05)),
}


class Many:
    """Many runs at once on an exam with few different scores, each with draws of its own.

    Args:
        values: The scores that there are.
        counts: How many questions have each; of an exam without end, which share.
        total: Questions.
        runs: How many runs.
    """

    def __init__(self, values: Sequence[float], counts: Sequence[float], total: float, runs: int, seed: int) -> None:
        self.values, self.total = np.asarray(values, dtype=np.float64), total
        self.is_finite = math.isfinite(total)
        self.mean = float(np.asarray(counts) @ self.values / (total if self.is_finite else 1.0))
        self._stream = np.random.default_rng(seed)
        self._left = np.tile(np.asarray(counts, dtype=np.float64), (runs, 1))
        self._seen = np.zeros((runs, len(values)))

    def seen(self, runs: NDArray[np.intp]) -> Moments:
        """Return what some runs have seen."""
        counts = self._seen[runs]
        drawn = counts.sum(axis=1)
        mean = counts @ self.values / drawn
        around = self.values[np.newaxis] - mean[:, np.newaxis]
        variance, third = ((counts * around**power).sum(axis=1) / drawn for power in (2, 3))
        is_plain = ~(counts[:, ~np.isin(self.values, (0.0, 1.0))] > 0).any(axis=1)
        return Moments(self.total, drawn, mean, variance, third, is_plain)

    def draw(self, runs: NDArray[np.intp], sizes: NDArray[np.int64]) -> None:
        """Draw more questions for some runs."""
        rest, left = sizes.copy(), self._left[runs].sum(axis=1)
        for column in range(len(self.values)):
            have = self._left[runs, column]
            if column == len(self.values) - 1:
                new = rest
            elif self.is_finite:
                new = self._stream.hypergeometric(have.astype(int), (left - have).astype(int), rest)
            else:
                new = self._stream.binomial(rest, np.minimum(have / left, 1.0))
            self._seen[runs, column] += new
            left, rest = left - have, rest - new
            if self.is_finite:
                self._left[runs, column] -= new

    def run(self, precision: float) -> tuple[float, float]:
        """Ask until the interval is narrow; return how often it holds the mean, and how many questions were asked."""
        going = np.arange(len(self._seen))
        self.draw(going, np.full(len(going), FIRST_LOOK))
        held = np.zeros(len(self._seen), np.bool_)
        while len(going):
            seen = self.seen(going)
            low, high = fixed_width_bounds(seen, precision)
            if self.is_finite:
                known = seen.mean * seen.drawn
                low = np.maximum(low, known / self.total)
                high = np.minimum(high, (known + self.total - seen.drawn) / self.total)
            held[going] = (low <= self.mean + 1e-12) & (self.mean <= high + 1e-12)
            is_left = ((high - low) / 2 > precision) & (seen.drawn < self.total)
            going, size, drawn = going[is_left], next_look(seen, precision)[is_left], seen.drawn[is_left]
            self.draw(going, np.minimum(size, self.total - drawn).astype(np.int64))
        return float(held.mean()), float(self._seen.sum(axis=1).mean())


def fixed(values: Sequence[float], shares: Sequence[float], total: float, precision: float, runs: int) -> Row:
    """Return coverage and questions asked of uniform draws with an interval of fixed width."""
    counts = list(shares)
    if math.isfinite(total):
        counts = [round(share * total) for share in shares]
        counts[int(np.argmax(counts))] += int(total - sum(counts))
    return Many(values, counts, total, runs, 2026).run(precision)


Row = tuple[float, float]


def sequence(share: float, total: int, precision: float, runs: int) -> Row:
    """Return coverage and questions asked with a confidence sequence, which holds at every time."""
    right, held, asked = round(share * total), [], []
    for run in range(runs):
        order = np.random.default_rng([7, run, right]).permutation(total) < right
        found, bounds, count = ConfidenceSequence(total), (0.0, 1.0), 0
        while count < total and (bounds[1] - bounds[0]) / 2 > precision:
            new = order[count : count + max(FIRST, count // GROWTH)]
            for score in new:
                found.add(float(score))
            count += len(new)
            bounds = found.bounds()
            if (bounds[1] - bounds[0]) / 2 <= precision + GRID_STEP:
                bounds = mean_interval([float(score) for score in order[:count]], total)
        held.append(bounds[0] - 1e-12 <= right / total <= bounds[1] + 1e-12)
        asked.append(count)
    return float(np.mean(held)), float(np.mean(asked))


def uniform(runs: int) -> bool:
    """Print coverage and questions of uniform draws; return whether a coverage is below 94.5% by more than chance."""
    noise, is_bad = 3 * math.sqrt(0.05 * 0.95 / runs), False
    print("uniform, right and wrong answers: coverage and questions asked, by share")
    print("questions  points" + "".join(f"{share:>14.2f}" for share in SHARES))
    for total in EXAMS:
        for precision in PRECISIONS:
            found = [fixed((0, 1), (1 - share, share), total, precision, runs) for share in SHARES]
            cells = "".join(f"{held:>8.1%}{asked:>6.0f}" for held, asked in found)
            print(f"{total:>9,.0f}{100 * precision:>8.0f}{cells}", flush=True)
            kept = [each[0] for each in found]
            is_bad |= min(kept) < 0.945 - noise or math.fsum(kept) / len(kept) > 0.96
    print("uniform, graded scores at 1,319 questions and without end: coverage and questions asked, by precision")
    for name, (values, shares) in GRADED.items():
        found = [fixed(values, shares, total, each, runs) for total in (1_319.0, math.inf) for each in PRECISIONS]
        print(f"{name:<34}" + "".join(f"{held:>8.1%}{asked:>6.0f}" for held, asked in found), flush=True)
        is_bad |= min(held for held, _ in found) < 0.945 - noise
    return is_bad


class Foretold:
    """Predictions that stay as they are, whatever a model answers."""

    def __init__(self, chances: Table) -> None:
        self._chances: Table = np.asarray(np.round(np.clip(chances, 0.001, 0.999), 6), dtype=np.float64)

    def predictions(self, places: object, scores: object) -> Table:
        """Return them."""
        del places, scores
        return self._chances


def bound(world: World, models: int, runs: int) -> tuple[float, float, float]:
    """Return what others' answers are worth at most, as effective samples: a bound, ours, and where all is known.

    The bound knows how questions of this world differ and what every model knows, and from the others' answers the
    chance of each answer by Bayes' rule; the last number knows the chances themselves.
    """
    stream = np.random.default_rng([1, models, world.questions, int(10 * world.spread), int(10 * world.ease)])
    new, many = 4, 6_000

    def chances(count: int, abilities: Table) -> Table:
        easy = stream.normal(world.ease, world.spread, count)
        loadings = stream.normal([1.0, 0.0, 0.0], [0.3, 0.7, 0.7], (count, 3))
        found: Table = np.clip(1.0 / (1.0 + np.exp(-(easy + abilities @ loadings.T))), 1e-9, 1 - 1e-9)
        return found

    abilities = stream.normal(0.0, [0.9, 0.7, 0.7], (models + new, 3))
    real, possible = chances(world.questions, abilities), chances(many, abilities)
    table = (stream.random(real.shape) < real).astype(np.float64)
    others = table[:models]
    logs = np.log(possible[:models]).T @ others + np.log1p(-possible[:models]).T @ (1.0 - others)
    weights = np.exp(logs - logs.max(axis=0))
    weights /= weights.sum(axis=0)
    asked, fitted = max(FIRST, world.questions // 6), ItemModel.fit(others)
    rows = []
    for place in range(models, models + new):
        known = (Foretold(weights.T @ possible[place]), fitted, Foretold(real[place]))
        rows.append([effective(table[place], each, asked, runs) for each in known])  # type: ignore[arg-type]
    first, second, third = (float(value) for value in np.mean(rows, axis=0))
    return first, second, third


def main() -> int:
    """Simulate, print tables, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", choices=["uniform", "adaptive", "sequence", "bound"])
    given = parser.parse_args()
    is_bad = given.only in (None, "uniform") and uniform(100 * given.runs)
    if given.only == "sequence":
        print("confidence sequence, 1,319 questions: share, points, coverage, asked")
        for share, precision in itertools.product((0.05, 0.2, 0.5, 0.8, 0.95), (0.02, 0.05)):
            held, asked = sequence(share, 1_319, precision, given.runs)
            print(f"{share:>5.2f}{100 * precision:>4.0f}{held:>10.1%}{asked:>7.0f}", flush=True)
    if given.only == "bound":
        print("effective samples at a sixth of the questions: others' answers at best, ours, every chance known")
        for world, models in itertools.product(WORLDS[:4], (12, 50)):
            worth = bound(world, models, max(given.runs // 4, 2))
            print(f"{world.name:<25}{models:>4} models" + "".join(f"{each:>8.2f}" for each in worth), flush=True)
    if given.only in (None, "adaptive"):
        print("adaptive                 questions  points  coverage  asked  uniformly  effective")
        for world in WORLDS:
            runs = max(given.runs // 4, 2)
            held, asked, plainly, gain = adaptive(world.table(), world.precision, runs, is_unlike=world.is_unlike)
            is_bad |= not 0.93 <= held <= 0.97
            said = f"{world.name:<25}{world.questions:>9,}{100 * world.precision:>8.0f}{held:>10.1%}"
            print(f"{said}{asked:>7.0f}{plainly:>11.0f}{gain:>11.2f}", flush=True)
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
