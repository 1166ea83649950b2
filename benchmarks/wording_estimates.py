"""Do estimates from a part of a grid hold? ``python benchmarks/wording_estimates.py [--runs 40]``.

Five kinds of exams, three kinds of models, a hundred templates and a thousand questions: whole grids are made, 5% of
them are shown to the estimator of ``proctor sweep --budget``, and its medians, quantiles and scores are held against
what the whole grid says. Fewer wordings and questions follow, then the interval that speaks of other wordings and
questions, of lopsided grids too, and that of the difference of two models (``proctor compare``). Ends with 1 where a
median of the 15 large grids is off by more than two points on average and the noise of the simulation, where the
intervals of a quantile hold in less than 88% over all exams and models, or those of wordings, or the one over wordings,
in less than 93%, that of a difference in less than 90%. ``--runs 12`` takes eight minutes of a CPU.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # on matrices this small, threads wait for each other

import numpy as np

from proctor.statistics.part_means import mean_of_part
from proctor.statistics.wording_model import FEW, modelled
from proctor.statistics.wording_spread import QUANTILES

SIZES = ((100, 1_000, 0.05, 0.02), (100, 200, 0.1, 1.0), (20, 300, 0.2, 1.0), (8, 300, 0.3, 1.0))
"""Wordings, questions, the share that is asked, and how far off a median may be on average."""
OVER = (
    (100, 200, 0.1, 1, False), (20, 300, 0.2, 1, False), (8, 300, 0.3, 1, False),
    (50, 200, 0.05, 2, False), (20, 200, 0.1, 2, False), (20, 200, 0.1, 2, True), (20, 200, 0.1, 3, False),
)  # fmt: skip
"""Templates, questions, the share that is asked, levels of a second dimension, whether some cells cannot exist."""
COMPARED = (
    (100, 300, 0.05, 1), (8, 300, 0.3, 1), (50, 300, 0.05, 2), (5, 300, 0.3, 2), (20, 200, 0.1, 3), (20, 200, 0.1, 5),
    (10, 200, 0.1, 10),
)  # fmt: skip
"""Templates, questions, the share that is asked, levels of a second dimension, of two models that are compared."""
Grid = np.ndarray
_Stream = np.random.Generator


def _right(stream: _Stream, chances: Grid) -> Grid:
    return (stream.random(chances.shape) < chances).astype(float)


def _logistic(logits: Grid) -> Grid:
    return 1.0 / (1.0 + np.exp(-logits))


def plain(stream: _Stream, theta: Grid, questions: int) -> Grid:
    """Return an exam of questions that are harder and easier."""
    return _right(stream, _logistic(theta[:, None] - stream.normal(0, 1.5, questions)))


def choices(stream: _Stream, theta: Grid, questions: int) -> Grid:
    """Return an exam of four choices: who knows nothing is right in a quarter, and questions discriminate unequally."""
    slopes = np.exp(stream.normal(0, 0.4, questions))
    return _right(stream, 0.25 + 0.75 * _logistic(slopes * (theta[:, None] - stream.normal(0.5, 1.5, questions))))


def quirky(stream: _Stream, theta: Grid, questions: int) -> Grid:
    """Return an exam where wordings suit some questions and not others."""
    logits = theta[:, None] - stream.normal(0, 1.2, questions) + stream.normal(0, 1, (len(theta), questions))
    return _right(stream, _logistic(logits))


def divided(stream: _Stream, theta: Grid, questions: int) -> Grid:
    """Return an exam of questions that nearly everybody, or nearly nobody, gets right."""
    return _right(stream, _logistic(theta[:, None] - stream.choice([-2.5, 0.5, 2.5], questions)))


def graded(stream: _Stream, theta: Grid, questions: int) -> Grid:
    """Return an exam with points between 0 and 1."""
    chances = _logistic(theta[:, None] - stream.normal(0, 1.2, questions))
    return stream.beta(4 * chances + 0.05, 4 * (1 - chances) + 0.05)


EXAMS: Mapping[str, Callable[[_Stream, Grid, int], Grid]] = {
    each.__name__: each for each in (plain, choices, quirky, divided, graded)
}
MODELS: Mapping[str, Callable[[_Stream, int], Grid]] = {
    "steady": lambda stream, count: 0.5 + stream.normal(0, 0.2, count),
    "moody": lambda stream, count: stream.normal(0, 0.5, 10)[np.arange(count) % 10] + stream.normal(0, 0.3, count),
    "easily lost": lambda stream, count: 0.8 - stream.gamma(1.5, 0.5, count),
}
"""How much a model is helped by each wording: nearly the same by all, by families of ten, some lead it astray."""


def measured(
    wordings: int, questions: int, share: float, runs: int, seed: int = 7
) -> dict[str, dict[str, list[float]]]:
    """Return by exam and model how often intervals held (``of the median`` …), and how far estimates were off."""
    found: dict[str, dict[str, list[float]]] = {}
    for exam, make in EXAMS.items():
        for model, helped in MODELS.items():
            stream, here = np.random.default_rng([seed, len(found)]), found.setdefault(f"{exam}, {model}", {})
            for _ in range(runs):
                grid = make(stream, helped(stream, wordings), questions)
                factors = {"family": [str(each % 10) for each in range(wordings)]} if model == "moody" else {}
                for name, value in _held(grid, stream.random(grid.shape) < share, factors):
                    here.setdefault(name, []).append(value)
    return found


def _held(grid: Grid, asked: Grid, factors: Mapping[str, list[str]]) -> Iterator[tuple[str, float]]:
    said, truth = modelled(np.where(asked, grid, np.nan), factors), grid.mean(axis=1)
    for q in QUANTILES:
        value, low, high = said.quantiles[q]
        true = float(np.quantile(truth, q))
        yield f"{q:g}", low <= true <= high
        yield f"off {q:g}", value - true
    yield (
        "wording",
        float(np.mean([low <= true <= high for (_, low, high), true in zip(said.wordings, truth, strict=True)])),
    )


def over_wordings(
    wordings: int, questions: int, share: float, runs: int, *, levels: int = 1, holes: bool = False, seed: int = 11
) -> tuple[float, float]:
    """Return how often the interval over wordings holds the mean of all wordings and questions that there could be.

    Of lopsided grids, which have so few ``levels`` of another dimension, for these levels; with ``holes`` a third of
    the first level's cells is there. Then how often the interval of these wordings on these questions holds.
    """
    stream, held, here = np.random.default_rng(seed), 0, 0
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    template, level = np.divmod(np.arange(wordings * levels), levels)
    template, level = (each[(not holes) | (level > 0) | (template % 3 == 0)] for each in (template, level))
    for _ in range(runs):
        helped = 0.3 + stream.normal(0, 0.4, levels) * (levels > 1)
        grid = plain(stream, helped[level] + stream.normal(0, 0.4, wordings)[template], questions)
        of_levels = _logistic(helped[:, None] + nodes * math.hypot(0.4, 1.5)) @ weights / weights.sum()
        truth = float(np.bincount(level) @ of_levels) / len(level)  # each weighs as it is asked
        factors = {"template": template.tolist(), "demos": level.tolist()} if levels > 1 else {}
        said = modelled(np.where(stream.random(grid.shape) < share, grid, np.nan), factors)
        held += said.over[1] <= truth <= said.over[2]
        here += said.mean[1] <= grid.mean() <= said.mean[2]
    return held / runs, here / runs


def differences(wordings: int, questions: int, share: float, runs: int, *, levels: int = 1, seed: int = 9) -> float:
    """Return how often the interval of the difference of two models holds that over all wordings and questions.

    Wordings help each model otherwise, and so do questions; of dimensions with few levels it is that under these.
    """
    stream, held = np.random.default_rng(seed), 0
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    template, level = np.divmod(np.arange(wordings * levels), levels)
    factors = {"template": template.tolist(), "demos": level.tolist()}
    for _ in range(runs):
        helped = stream.normal(0, 0.4, (2, levels)) * (levels > 1) + np.array([[0.0], [0.3]])
        theta = helped[:, level] + stream.normal(0, 0.4, (2, wordings))[:, template]
        hard, own = stream.normal(0, 1.5, questions), stream.normal(0, 1.0, questions)
        grids = [
            _right(stream, _logistic(theta[0][:, None] - hard)),
            _right(stream, _logistic(theta[1][:, None] - hard + own)),
        ]
        part = np.where(stream.random(grids[0].shape) < share, grids[1] - grids[0], np.nan)
        spread = [math.hypot(0.4, 1.5), math.hypot(0.4, 1.5, 1.0)]
        if levels >= FEW:  # then they stand for others, too
            helped, spread = np.array([[0.0], [0.3]]), [math.hypot(each, 0.4) for each in spread]
        means = [
            _logistic(own[:, None] + nodes * each) @ weights / weights.sum()
            for own, each in zip(helped, spread, strict=True)
        ]
        found = mean_of_part(part[:, ~np.isnan(part).all(axis=0)], factors)
        held += found.low <= float((means[1] - means[0]).mean()) <= found.high
    return held / runs


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return 1 where an estimate is off or an interval holds too seldom."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    given = parser.parse_args(arguments)
    is_good = True
    for wordings, questions, share, most in SIZES:
        found = measured(wordings, questions, share, given.runs)
        print(f"{wordings} wordings, {questions:,} questions, {share:.0%} asked")
        for name, values in found.items():
            errors = np.abs(values["off 0.5"])
            off, noise = float(errors.mean()), float(errors.std()) / math.sqrt(len(errors))
            shares = "  ".join(f"{q:g}: {np.mean(values[f'{q:g}']):.2f}" for q in QUANTILES)
            mark = " !" if off > most + 2 * noise else ""
            print(f"  {name:22} median off {off:.4f}  held {shares}  wording {np.mean(values['wording']):.3f}{mark}")
            is_good = is_good and not mark
        for name in (*(f"{q:g}" for q in QUANTILES), "wording"):
            held = float(np.mean([value for values in found.values() for value in values[name]]))
            least = 0.93 if name == "wording" else 0.88
            mark = " !" if held < least - 2 * math.sqrt(0.05 * 0.95 / (given.runs * len(found))) else ""
            print(f"  all: {name:8} held {held:.3f}{mark}")
            is_good = is_good and not mark
    for wordings, questions, share, levels, holes in OVER:
        held, here = over_wordings(wordings, questions, share, 5 * given.runs, levels=levels, holes=holes)
        what = f"{wordings} x {levels}{', a third of the first level' * holes} x {questions}, {share:.0%} asked"
        print(f"over wordings, {what}: held {held:.3f}, of these wordings and questions {here:.3f}", flush=True)
        is_good = is_good and held >= 0.93 - 2 * math.sqrt(0.05 * 0.95 / (5 * given.runs))
    for wordings, questions, share, levels in COMPARED:
        held = differences(wordings, questions, share, 25 * given.runs, levels=levels)
        print(f"difference of two models, {wordings} x {levels} x {questions}, {share:.0%} asked: held {held:.3f}")
        is_good = is_good and held >= 0.9 - 2 * math.sqrt(0.05 * 0.95 / (25 * given.runs))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
