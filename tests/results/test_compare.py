import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.results.compare import compare_scores, holm, mcnemar

stats = pytest.importorskip("scipy.stats")


@given(st.integers(2, 60), st.integers(0, 10**6))
def test_intervals_and_p_equal_scipy(n, seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random(n).tolist(), rng.random(n).tolist()
    found = compare_scores("exam", first, second)
    expected = stats.ttest_rel(second, first)
    interval = expected.confidence_interval(0.95)
    assert found.difference == pytest.approx(np.mean(second) - np.mean(first), abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_equals_the_binomial_test(better, worse):
    expected = stats.binomtest(better, better + worse, 0.5).pvalue if better + worse else 1.0
    assert mcnemar(better, worse) == pytest.approx(expected, abs=1e-9)


def test_binary_scores_are_tested_by_their_flips():
    found = compare_scores("exam", [1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0])
    assert (found.better, found.worse, found.n) == (1, 3, 5)
    assert found.p == mcnemar(1, 3)


def test_no_difference_and_a_constant_one():
    same = compare_scores("exam", [0.5, 0.25], [0.5, 0.25])
    assert (same.difference, same.low, same.high, same.p) == (0.0, 0.0, 0.0, 1.0)
    shifted = compare_scores("exam", [0.5, 0.25], [0.75, 0.5])
    assert (shifted.difference, shifted.p) == (0.25, 0.0)


def test_too_few_pairs_for_an_interval():
    one = compare_scores("exam", [0.0], [1.0])
    assert (one.n, one.difference, one.low, one.p) == (1, 1.0, None, None)
    none = compare_scores("exam", [], [], left_out=4)
    assert none.n == 0
    assert math.isnan(none.difference)


def test_the_detectable_difference_is_found_four_times_of_five():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2000, 50))
    spread = compare_scores("exam", [0.0] * 50, noise[0].tolist())
    true = spread.detectable * 1.0 / (noise[0].std(ddof=1))
    found = [stats.ttest_1samp(row + true, 0.0).pvalue < 0.05 for row in noise[1:]]
    assert np.mean(found) == pytest.approx(0.8, abs=0.04)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, None]) == pytest.approx([0.03, 0.06, 0.06, None])
    assert holm([0.9, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1))
def test_holm_only_raises_and_keeps_the_order(values):
    corrected = holm(values)
    assert all(after >= before for before, after in zip(values, corrected, strict=True))
    for a in range(len(values)):
        for b in range(len(values)):
            if values[a] < values[b]:
                assert corrected[a] <= corrected[b]
