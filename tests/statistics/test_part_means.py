"""Means of grids of which a part was asked."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from proctor.statistics.distributions import t_quantile
from proctor.statistics.part_means import mean_of_part


def _part(seed: int, wordings: int = 12, questions: int = 150, share: float = 0.2, spread: float = 0.1) -> np.ndarray:
    stream = np.random.default_rng(seed)
    mean = 0.1 + stream.normal(0, spread, wordings)[:, None] + stream.normal(0, 0.1, questions)
    drawn = stream.random(mean.shape)
    scores = (drawn < 0.25 + mean / 2).astype(float) - (drawn > 0.75 + mean / 2)
    return np.where(stream.random(mean.shape) < share, scores, np.nan)


def test_the_error_is_that_of_two_way_clusters():
    part = _part(3)
    rows, columns = np.nonzero(~np.isnan(part))
    values = part[rows, columns]
    model = OLS(values, np.ones(len(values))).fit()
    both, wordings, questions = (each[0, 0] for each in cov_cluster_2groups(model, rows, columns, use_correction=False))
    cells = wordings + questions - both
    wanted = wordings * 12 / 11 + questions * 150 / 149 - cells
    found = mean_of_part(part, {})
    assert found.mean == pytest.approx(values.mean())
    assert found.error == pytest.approx(wanted**0.5, rel=1e-9)
    assert found.naive_high - found.mean == pytest.approx(t_quantile(0.975, 149) * (questions * 150 / 149) ** 0.5)


@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_intervals_hold_for_other_wordings_and_questions(spread):
    found = [mean_of_part(_part(seed, spread=spread), {}) for seed in range(300)]
    assert 0.92 <= np.mean([each.low <= 0.1 <= each.high for each in found]) <= 0.99
    alone = np.mean([each.naive_low <= 0.1 <= each.naive_high for each in found])
    assert (alone < 0.85) == (spread > 0)


def test_levels_that_wordings_share_make_the_interval_wider():
    part = _part(5)
    part[::6] += 0.5
    levels = {"template": [place % 6 for place in range(12)], "format": ["x"] * 12, "wording": list(range(12))}
    assert mean_of_part(part, levels).error > mean_of_part(part, {}).error
    assert mean_of_part(part, {"format": ["x"] * 12}) == mean_of_part(part, {})


def test_levels_of_which_there_are_few_are_taken_as_they_are():
    part = _part(5)
    part[::2] += 0.5
    assert mean_of_part(part, {"demos": [place % 2 for place in range(12)]}) == mean_of_part(part, {})
