"""Noise at two levels: against statsmodels, and how often its intervals hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from proctor.statistics.two_level import clustered_error, two_level

STREAM = np.random.default_rng(7)


def test_variances_are_those_of_a_one_way_layout():
    table = STREAM.random((30, 4))
    found = two_level(table)
    within = ((table - table.mean(axis=1, keepdims=True)) ** 2).sum() / (30 * 3)
    between = 4 * ((table.mean(axis=1) - table.mean()) ** 2).sum() / 29
    assert found.sigma2 == pytest.approx(within, abs=1e-9)
    assert found.omega2 == pytest.approx(max(0.0, (between - within) / 4), abs=1e-9)
    large = two_level(table + STREAM.random((30, 1)) * 5)
    assert large.error**2 == pytest.approx(large.omega2 / 30 + large.sigma2 / 120, abs=1e-12)


def test_one_answer_to_each_question_is_the_plain_standard_error():
    scipy = pytest.importorskip("scipy.stats")
    values = STREAM.random(50)
    found = two_level(values)
    assert found.error == pytest.approx(scipy.sem(values), abs=1e-12)
    assert (found.omega2, found.sigma2, found.k) == (None, None, 1)
    low, high = two_level(values * 10).interval(whole=None)
    expected = scipy.t.interval(0.95, 49, values.mean() * 10, scipy.sem(values) * 10)
    assert (low, high) == pytest.approx(expected, abs=1e-9)


def test_clusters_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    values, clusters = STREAM.random(60), STREAM.integers(0, 9, 60)
    fit = sm.OLS(values, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False, "df_correction": False}
    )
    count = len(set(clusters.tolist()))
    error, found = clustered_error(values, clusters.tolist())
    assert found == count
    assert error == pytest.approx(float(fit.bse[0]) * math.sqrt(count / (count - 1)), abs=1e-9)
    assert two_level(values, clusters.tolist()).error == error


def test_proportions_have_wilsons_interval():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for right in (0, 1, 13, 39, 40):
        values = np.array([1.0] * right + [0.0] * (40 - right))
        low, high = proportion.proportion_confint(right, 40, method="wilson")
        assert two_level(values).interval() == pytest.approx((low, high), abs=0.01)


def test_what_halves_the_interval():
    found = two_level([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]] * 20)
    more = found.repeats_for(found.error / 2)
    assert more is None or found.sigma2 / (80 * more) + found.omega2 / 80 <= found.error**2 / 4
    assert found.questions_for(found.error / 2) == 320
    noisy = two_level(STREAM.permuted(np.tile([0.0, 1.0], (400, 1)), axis=1)[:, :1].repeat(2, axis=1))
    assert noisy.sigma2 == 0
    assert noisy.repeats_for(noisy.error / 2) is None


def test_an_interval_of_equal_answers_has_a_width():
    low, high = two_level(np.ones((20, 3))).interval()
    assert 0.8 < low < high == 1.0
    assert all(map(math.isnan, two_level([[1.0, 1.0]]).interval()))


@pytest.mark.parametrize("k", [1, 2, 4, 8])
@pytest.mark.parametrize("n", [100, 400])
def test_intervals_hold_the_truth_in_95_of_100(n, k):
    stream = np.random.default_rng([n, k])
    held = []
    for share in (0.15, 0.3, 0.5, 0.7, 0.85):
        for _ in range(150):
            skill = stream.beta(2 * share, 2 * (1 - share), n)
            low, high = two_level((stream.random((n, k)) < skill[:, None]).astype(float)).interval()
            held.append(low <= share <= high)
    assert 0.925 <= np.mean(held) <= 0.975


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="no scores"):
        two_level(np.empty((0, 2)))
    with pytest.raises(ValueError, match="2 keys for 3 values"):
        two_level([1.0, 0.0, 1.0], ["a", "b"])


def test_questions_that_are_answered_equally_well_have_an_interval_with_a_width():
    # Means of 0, 0, 1 in another order differ in the last bit, which is not noise of questions.
    found = two_level([[0, 0, 1], [0.1 + 0.2, 0.3, 0.4 - 1e-16], [1 / 3, 1 / 3, 1 / 3]])
    assert found.error == 0.0
    low, high = found.interval()
    assert (low, high) == pytest.approx(two_level([[1 / 3] * 3] * 3).interval())
    assert low < 0.2 < 0.6 < high
    clustered = two_level([[0.0], [1.0], [0.3], [0.7], [0.1 + 0.2], [0.7]], ["a", "a", "b", "b", "c", "c"])
    assert clustered.error == 0.0
    low, high = clustered.interval()
    assert low < 0.3 < 0.7 < high
    tiny = two_level([1e-9, 2e-9, 3e-9])  # small scores are scores
    assert tiny.error == pytest.approx(1e-9 / math.sqrt(3))


def test_equal_scores_without_an_end_have_no_interval():
    for scores in ([3.0, 3.0, 3.0], [-1.0, -1.0]):
        found = two_level(scores)
        assert found.error == 0.0
        assert all(map(math.isnan, found.interval(whole=None)))
    assert all(map(math.isnan, two_level([2.0, 2.0]).interval()))  # beyond the whole
    assert not any(map(math.isnan, two_level([0.0, 0.0]).interval()))
