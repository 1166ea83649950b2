"""Quantiles over wordings, worst cases, and which questions flip."""

from __future__ import annotations

import numpy as np
import pytest

from proctor.statistics.wording_spread import flips, most_flipped, spread_of


def test_quantiles_are_those_of_the_scores_with_bands_around_them():
    scores = (np.random.default_rng(1).random((21, 300)) < np.linspace(0.4, 0.8, 21)[:, None]).astype(float)
    found = spread_of(scores)
    means = scores.mean(axis=1)
    for q, (value, low, high) in found.quantiles.items():
        assert value == pytest.approx(np.quantile(means, q))
        assert low <= value <= high
        assert high - low < 0.2
    assert found.worst_of_each[0] == pytest.approx(scores.min(axis=0).mean())
    assert spread_of(scores, higher_is_better=False).worst_of_each[0] == pytest.approx(scores.max(axis=0).mean())


def test_flips_are_the_chance_that_two_wordings_disagree():
    scores = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0.5]])
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
    expected = [np.mean([abs(scores[a, k] - scores[b, k]) for a, b in pairs]) for k in range(3)]
    assert flips(scores) == pytest.approx(expected)
    assert list(most_flipped(scores, 5)) == [2]
