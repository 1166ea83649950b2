"""Krippendorff's alpha against the package ``krippendorff`` 0.9.0, and in cases whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.scoring.judges.judge_agreement import agreement
from proctor.statistics.krippendorff import alpha_sums

X = math.nan
RATINGS = [
    [2, 3, 0, 3, 1, 2, 2, 1, 3, X, X, X, X, X, X, X, 0, 0, 0, 3, 0, 2, 3, 0, 1, 1, 1, 3, X, 3],
    [2, 3, 0, 3, 1, X, X, 1, 2, 0, X, 2, 2, 1, 0, 3, 0, 0, 1, X, 0, 3, X, 0, 1, 3, 1, 3, 0, X],
    [X, X, 3, X, 0, X, X, X, 3, 0, 2, 1, 2, 1, 0, X, 0, 0, X, 3, X, 2, 3, X, X, X, X, 3, 0, 3],
    [2, X, 1, 2, X, 0, 3, 0, 1, 3, 3, X, 3, 3, 1, 1, 3, 3, 2, 1, 0, 3, X, 2, X, X, 1, 2, X, X],
]
NOMINAL, INTERVAL = 0.24112149532710292, 0.3793505735951779
"""``krippendorff.alpha(reliability_data=RATINGS, level_of_measurement=…)``."""


def _alpha(ratings, *, nominal):
    return float(alpha_sums(np.array(ratings, np.float64), nominal=nominal).observed()[0])


def test_equals_krippendorff():
    assert _alpha(RATINGS, nominal=True) == pytest.approx(NOMINAL, abs=1e-9)
    assert _alpha(RATINGS, nominal=False) == pytest.approx(INTERVAL, abs=1e-9)


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=12))
def test_equals_the_definition_by_pairs(units):
    values = np.array(units, np.float64).T
    flat = values.ravel()
    for nominal in (True, False):
        distance = (lambda a, b: float(a != b)) if nominal else lambda a, b: (a - b) ** 2
        within = np.mean(
            [distance(a, b) for unit in units for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j]
        )
        between = np.mean([distance(a, b) for i, a in enumerate(flat) for j, b in enumerate(flat) if i != j])
        found = _alpha(values, nominal=nominal)
        assert math.isnan(found) if not between else found == pytest.approx(1 - within / between)


def test_units_with_one_rating_do_not_count_and_equal_ratings_say_nothing():
    assert _alpha([[1, 0, 1], [1, 0, X]], nominal=True) == 1.0
    assert math.isnan(_alpha([[1, 1], [1, 1]], nominal=True))
    assert math.isnan(_alpha([[1, X], [X, 1]], nominal=False))


def test_equals_truescore():
    """``krippendorff_alpha``, ``cohen_kappa`` and ``gwet_ac1`` of truescore 0.7.4."""
    first = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1]
    second = [1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1]
    assert _alpha([first, second], nominal=True) == pytest.approx(0.5357142857142857, abs=1e-9)
    found = agreement(first, second, resamples=100)
    assert found.kappa == pytest.approx(0.523809523809524, abs=1e-9)
    assert found.ac1 == pytest.approx(0.6551724137931035, abs=1e-9)
