"""Quantiles over wordings, worst cases, and which questions flip."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from proctor.results.comparison import bounded_test
from proctor.statistics import wording_spread
from proctor.statistics.paired_tests import signs_of
from proctor.statistics.wording_spread import best_of, flips, spread_of


def test_quantiles_are_those_of_the_scores_with_bands_around_them():
    scores = (np.random.default_rng(1).random((21, 300)) < np.linspace(0.4, 0.8, 21)[:, None]).astype(float)
    quantiles, worst_of_each = spread_of(scores)
    means = scores.mean(axis=1)
    for q, (value, low, high) in quantiles.items():
        assert value == pytest.approx(np.quantile(means, q))
        assert low <= value <= high
        assert high - low < 0.2
    assert worst_of_each[0] == pytest.approx(scores.min(axis=0).mean())
    assert spread_of(scores, higher_is_better=False)[1][0] == pytest.approx(scores.max(axis=0).mean())


def test_bands_hold_for_the_highest_of_wordings_that_are_nearly_equal(monkeypatch):
    """The highest of resamples holds that of the truths in three of four."""
    monkeypatch.setattr(wording_spread, "_RESAMPLES", 300)
    stream, held = np.random.default_rng(8), Counter()
    for _ in range(100):
        truths = 0.5 + stream.normal(0, 0.03, 12)
        quantiles, _ = spread_of((stream.random((12, 200)) < truths[:, None]).astype(float))
        held.update(q for q, (_, low, high) in quantiles.items() if low <= np.quantile(truths, q) <= high)
    assert min(held.values()) >= 92


def test_flips_are_the_chance_that_two_wordings_disagree():
    scores = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0.5]])
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
    expected = [np.mean([abs(scores[a, k] - scores[b, k]) for a, b in pairs]) for k in range(3)]
    assert flips(scores) == pytest.approx(expected)


def test_the_best_loses_what_was_luck_and_its_interval_holds():
    stream, runs, held, off = np.random.default_rng(5), 120, 0, []
    truths = np.linspace(0.45, 0.55, 10)
    for _ in range(runs):
        easy = stream.normal(0, 0.25, 200)
        scores = (stream.random((10, 200)) < np.clip(truths[:, None] + easy, 0, 1)).astype(float)
        best = best_of(scores)
        value, low, high = best.corrected
        truth = np.clip(truths[best.place] + easy, 0, 1).mean()
        held += low <= truth <= high
        off.append((value - truth, scores.mean(axis=1).max() - truth))
        assert best.place == scores.mean(axis=1).argmax()
    corrected, observed = np.mean(off, axis=0)
    assert held >= 0.95 * runs
    assert abs(corrected) < 0.5 * observed
    assert best_of(np.ones((3, 5))).corrected == (1.0, 1.0, 1.0)


def test_the_best_of_equal_wordings_is_hardly_ever_called_better():
    """2,000 simulations are in ``benchmarks/wording_components.py``."""
    stream, runs, wrong = np.random.default_rng(6), 100, 0
    for _ in range(runs):
        chances = stream.beta(2, 2, 150)
        scores = (stream.random((8, 150)) < chances).astype(float)
        best = best_of(scores)
        tests = (bounded_test(scores[best.place], each, None, 1.0) for each in np.delete(scores, best.place, axis=0))
        wrong += any(signs_of(test, 1 - best.pair_level)[0] for test in tests)
    assert wrong <= 9
