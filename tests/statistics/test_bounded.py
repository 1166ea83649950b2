"""Intervals of means with two ends: exact where they can be, and true near the ends where usual ones are not."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from proctor.statistics.bounded import FEW, few_hits, mean_bounds, share_bounds, two_outcome_bounds, unseen, within
from proctor.statistics.intervals import mean_interval
from proctor.statistics.two_level import two_level


@pytest.mark.parametrize("count", [1, 2, 5, 20, 164, 2_000])
def test_shares_have_wilsons_interval_but_for_a_few_hits_near_an_end(count):
    for hits in {*range(min(count, 9) + 1), count // 2, *range(max(0, count - 9), count + 1)}:
        low, high = share_bounds(hits, count)
        wilson = proportion_confint(hits, count, method="wilson")
        near = FEW if count >= 2 * FEW else count / 2
        if not 1 <= hits <= near:
            assert low == pytest.approx(wilson[0], abs=1e-9)
        else:
            assert low == pytest.approx(min(wilson[0], scipy.stats.chi2.ppf(0.05, 2 * hits) / 2 / count), abs=1e-9)
        mirrored = share_bounds(count - hits, count)
        assert (low, high) == pytest.approx((1 - mirrored[1], 1 - mirrored[0]), abs=1e-12)


@pytest.mark.parametrize("hits", range(1, FEW + 1))
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_a_few_hits_are_a_poisson_count(hits, level):
    assert few_hits(hits, level) == pytest.approx(scipy.stats.chi2.ppf(1 - level, 2 * hits) / 2, rel=1e-9)


@pytest.mark.parametrize("count", [20, 50, 100, 200, 1_000])
def test_shares_are_held_in_92_of_100_exams_at_least_and_95_on_average(count):
    shares = np.linspace(0.01, 0.99, 197)
    low, high = np.array([share_bounds(hits, count) for hits in range(count + 1)]).T
    chances = scipy.stats.binom.pmf(np.arange(count + 1), count, shares[:, None])
    held = (chances * ((low <= shares[:, None]) & (shares[:, None] <= high))).sum(axis=1)
    assert held.min() >= 0.92
    assert 0.95 <= held.mean() <= 0.968


def test_two_outcomes_are_those_with_the_same_three_moments():
    values = np.repeat([0.2, 0.9], [3, 17])
    around = values - values.mean()
    variance, skew = float((around**2).mean()), float((around**3).mean() / (around**2).mean())
    down, up = two_outcome_bounds(variance, skew, 20, 1.959963984540054)
    low, high = proportion_confint(17, 20, method="wilson")
    assert values.mean() - down == pytest.approx(0.2 + 0.7 * low)
    assert values.mean() + up == pytest.approx(0.2 + 0.7 * high)


def test_unseen_answers_are_those_that_none_of_n_shows_with_that_chance():
    for drawn in (1, 7, 100):
        assert (1 - unseen(drawn)) ** drawn == pytest.approx(0.025)
    part = unseen(54, units=60)  # of a finite exam: (1 - 54/60) to the power of those that are of this kind
    assert (1 - 54 / 60) ** (60 * part) == pytest.approx(0.025)
    assert within(0.9, 1.0, 0.95, 20) == pytest.approx((0.95 * (1 - unseen(20)), 1.0))
    assert within(0.1, 0.95, 0.95, 20)[1] == pytest.approx(0.95 + 0.05 * unseen(20))


KINDS = {
    "skewed": (lambda stream, size: stream.beta(8, 0.1, size), 8 / 8.1),
    "mostly whole": (lambda stream, size: stream.choice([1 / 3, 2 / 3, 1], size, p=[0.02, 0.05, 0.93]), 0.97),
    "rare": (lambda stream, size: stream.choice([0, 0.5, 1], size, p=[0.95, 0.03, 0.02]), 0.035),
    "levels": (lambda stream, size: stream.choice([0, 0.25, 0.5, 0.75, 1], size, p=[0.1, 0.2, 0.3, 0.2, 0.2]), 0.55),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [20, 100])
def test_graded_scores_are_held_within_their_scale(kind, count):
    draw, truth = KINDS[kind]
    stream = np.random.default_rng([count, 7])
    held = []
    for _ in range(800):
        values = draw(stream, count)
        found = mean_interval(values.tolist())
        if found is None:  # all are equal, and say nothing
            continue
        assert 0 <= found.low <= values.mean() <= found.high <= 1
        held.append(found.low <= truth <= found.high)
    assert np.mean(held) >= 0.93 - 0.02  # and the noise of the simulation


@given(st.lists(st.integers(0, 4), min_size=2, max_size=30))
def test_percentages_are_a_hundred_shares_and_mirrored_scores_have_the_mirrored_interval(levels):
    values = [each / 4 for each in levels]
    found = mean_interval(values)
    if found is None:
        assert len(set(values)) == 1
        return
    percent = mean_interval([100 * each for each in values], 100.0)
    assert percent == pytest.approx((100 * found.low, 100 * found.high))
    mirrored = mean_interval([1 - each for each in values])
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-9)


@given(st.lists(st.booleans(), min_size=2, max_size=40))
def test_questions_with_one_answer_and_clusters_of_one_have_the_interval_of_a_share(answers):
    values = [float(each) for each in answers]
    expected = share_bounds(sum(answers), len(answers))
    assert two_level(values).interval() == pytest.approx(expected)
    assert two_level(values, list(range(len(values)))).interval() == pytest.approx(expected)
    assert tuple(mean_interval(values)) == pytest.approx(expected)


def test_scores_without_ends_have_students_interval_and_equal_ones_none():
    values = [3.0, 5.0, 9.5]
    expected = scipy.stats.t.interval(0.95, 2, np.mean(values), scipy.stats.sem(values))
    assert tuple(mean_interval(values)) == pytest.approx(expected, rel=1e-9)
    assert mean_interval([0.37] * 1_000) is None
    assert mean_interval([0.3]) is None
    assert mean_interval([1.0]) == share_bounds(1, 1)


def test_a_mean_of_clusters_is_held_near_the_end():
    stream = np.random.default_rng(5)
    held = []
    for _ in range(400):
        skill = stream.choice([0.7, 1.0], 40, p=[0.1, 0.9])
        values = (stream.random((40, 5)) < skill[:, None]).astype(float)
        low, high = two_level(values.ravel(), np.repeat(np.arange(40), 5).tolist()).interval()
        held.append(low <= 0.97 <= high)
    assert np.mean(held) >= 0.92


def test_error_and_skewness_decide_where_scores_are_not_at_the_ends():
    low, high = mean_bounds(0.9, 0.01, 0.0, 100)
    assert 0.9 - low > 1.98 * 0.01  # what is unseen could lie far below
    assert math.isclose(high - 0.9, 1.9842 * 0.01, rel_tol=0.05)
