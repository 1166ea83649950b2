import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.scoring.scores import Score, interval_of_mean, mean_score
from proctor.statistics.intervals import wilson

SHARES = st.lists(st.tuples(st.integers(0, 20), st.integers(20, 60)), min_size=1, max_size=6)


def wilsons(counts):
    return [(wilson(hits, size).low, wilson(hits, size).high) for hits, size in counts]


@given(SHARES, st.booleans())
def test_the_interval_holds_the_mean_and_stays_within_bounds(counts, by_size):
    values = [hits / size for hits, size in counts]
    weights = [float(size) for _, size in counts] if by_size else None
    low, high = interval_of_mean(values, wilsons(counts), weights)
    mean = float(np.average(values, weights=weights))
    assert -1e-12 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1 + 1e-12


def test_one_score_keeps_its_interval_and_four_halve_it():
    assert interval_of_mean([0.5], [(0.2, 0.9)]) == pytest.approx((0.2, 0.9))
    assert interval_of_mean([0.5] * 4, [(0.3, 0.9)] * 4) == pytest.approx((0.4, 0.7))


def test_weights_count_as_shares():
    low, high = interval_of_mean([0.0, 1.0], [(0.0, 0.1), (0.8, 1.0)], [3.0, 1.0])
    assert (low, high) == pytest.approx((0.25 - 0.05, 0.25 + math.hypot(0.3, 0) / 4))


def test_it_holds_the_truth_as_often_as_it_says():
    generator = np.random.default_rng(7)
    held = 0
    for _ in range(600):
        shares = generator.uniform(0.05, 0.95, 4)
        sizes = generator.integers(20, 80, 4)
        counts = [(int(hits), int(size)) for hits, size in zip(generator.binomial(sizes, shares), sizes, strict=True)]
        low, high = interval_of_mean([hits / size for hits, size in counts], wilsons(counts))
        held += low <= shares.mean() <= high
    assert 0.92 < held / 600 < 0.98


@given(st.lists(st.floats(0, 100), min_size=1, max_size=6))
def test_scores_of_one_unit_are_averaged_to_the_last_bit(values):
    mean = mean_score([Score("accuracy", value, unit="percent") for value in values], "mean")
    assert mean == Score("mean", sum(values) / len(values), unit="percent")
