"""Tests of differences as values: numbers by hand, and that an interval and its p agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.statistics.intervals import Interval
from proctor.statistics.paired_shares import detectable_share, melded_interval, needed_pairs
from proctor.statistics.paired_tests import (
    BoundedTest,
    EqualTest,
    MeanTest,
    ResampledTest,
    SharesTest,
    SignTest,
    signs_of,
)

NAN = math.nan


def same(found, wanted):
    """Whether numbers are the same but for rounding; NaN is NaN."""
    assert found == pytest.approx(wanted, nan_ok=True)


def test_right_and_wrong_answers_are_counted_on_the_scale_of_their_score():
    found, share = SharesTest(9, 3, 40, 100.0), SharesTest(9, 3, 40)
    assert (found.difference, share.difference, found.name) == (15.0, 0.15, "mcnemar")
    assert found.p_value == share.p_value == pytest.approx(2 * sum(math.comb(12, k) for k in range(4)) / 2**12)
    same(tuple(share.interval(0.9)), tuple(melded_interval(9, 3, 40, 0.9)))
    same(tuple(found.interval(0.9)), tuple(100 * each for each in melded_interval(9, 3, 40, 0.9)))
    assert share.detectable(0.9) == detectable_share(0.3, 40, 0.9)
    same(found.detectable(0.9), 100 * detectable_share(0.3, 40, 0.9))
    assert found.needed(0.9) == share.needed(0.9) == needed_pairs(0.15, 0.3, 0.9)
    assert SharesTest(3, 3, 40).needed(0.9) == math.inf


def test_a_mean_difference_has_students_numbers():
    found = MeanTest(2.0, 1.0, 9, 10)
    assert found.name == "t"
    same(found.p_value, 0.0765528)  # twice the tail of t(9) beyond 2
    same(tuple(found.interval(0.95)), (2 - 2.262157, 2 + 2.262157))
    same(found.detectable(0.95), 2.262157 + 0.883404)  # the quantile of 80% beside that of 97.5%
    same(found.needed(0.95), 10 * ((2.262157 + 0.883404) / 2.0) ** 2)
    same(MeanTest(-2.0, 1.0, 9, 10).p_value, 0.0765528)
    same(tuple(MeanTest(0.9, 1.0, 9, 10, 1.0).interval(0.95)), (-1.0, 1.0))
    assert MeanTest(0.9, 1.0, 9, 10, 1.0).detectable(0.95) == math.inf
    same(MeanTest(0.9, 0.1, 9, 10, 1.0).detectable(0.95), 0.3145561)


def test_one_cluster_and_no_spread_say_nothing():
    for unknown in (MeanTest(2.0, 1.0, 0, 10), MeanTest(2.0, 0.0, 9, 10)):
        assert math.isnan(unknown.p_value)
        assert [*map(math.isnan, unknown.interval(0.95))] == [True, True]
        assert signs_of(unknown, 0.95) == (0, 0)
    assert math.isnan(MeanTest(2.0, 1.0, 0, 10).detectable(0.95))
    assert math.isnan(MeanTest(2.0, 1.0, 0, 10).needed(0.95))


def resampled(values, difference=0.5, pairs=100):
    return ResampledTest(difference, np.array(values, dtype=float), pairs)


def test_a_bootstrap_counts_resamples_on_the_other_side_and_itself():
    values = np.arange(-9, 190)  # 199: nine below 0, one at 0
    found = resampled(values)
    assert (found.p_value, found.name) == (2 * 11 / 200, "bootstrap")
    assert resampled(-values[::-1]).p_value == 2 * 11 / 200
    assert resampled([-1, 0, 0, 1]).p_value == 1.0
    assert (resampled([2, 2, 2]).p_value, resampled([0, 0], 0.0).p_value) == (pytest.approx(NAN, nan_ok=True), 1.0)


def test_its_bounds_are_order_statistics_at_which_p_passes_the_level():
    found = resampled(range(1, 200))
    assert found.interval(0.95) == Interval(4.0, 196.0)  # rank 0.05 * 200 / 2 = 5, less one, of either side
    assert found.interval(0.9) == Interval(9.0, 191.0)
    for unknown in (resampled(range(38)), resampled([3.0] * 199)):
        assert [*map(math.isnan, unknown.interval(0.95))] == [True, True]
    assert found.interval(0.98) == Interval(1.0, 199.0)
    assert math.isnan(found.interval(0.99).low)


def test_its_error_is_the_spread_of_resamples():
    found = resampled([0.0, 1.0, 2.0], 1.0, 10)
    plain = MeanTest(1.0, 1.0, 9, 10)
    assert (found.detectable(0.95), found.needed(0.95)) == (plain.detectable(0.95), plain.needed(0.95))
    assert math.isnan(resampled([2.0, 2.0]).detectable(0.95))
    single = resampled([0.0, 1.0, 2.0], 1.0, 1)
    assert single.needed(0.95) == MeanTest(1.0, 1.0, 1, 1).needed(0.95)


def test_equal_differences_are_as_likely_as_coins_and_say_no_more():
    found = SignTest(0.25, 6)
    assert (found.p_value, SignTest(0.0, 6).p_value, found.name) == (0.5**5, 1.0, "sign")
    assert [*map(math.isnan, (*found.interval(0.95), found.detectable(0.95)))] == [True] * 3


def test_on_a_scale_with_ends_they_do():
    found = EqualTest(0.5, 4, 1.0)
    assert (found.name, found.p_value) == ("equal", pytest.approx(2 * (1 / 1.5) ** 4))
    assert EqualTest(-0.5, 4, 1.0).p_value == found.p_value
    assert EqualTest(0.1, 1, 1.0).p_value == 1.0
    share = 1 - 0.025 ** (1 / 4)  # so much may be unseen
    same(tuple(found.interval(0.95)), (0.5 - share * 1.5, 0.5 + share * 0.5))
    same(tuple(EqualTest(50.0, 4, 100.0).interval(0.95)), (50 - share * 150, 50 + share * 50))
    assert math.isnan(found.detectable(0.95))
    assert found.needed(0.95) == 10  # (2 / 3) ** 10 < 0.025 < (2 / 3) ** 9
    assert EqualTest(-50.0, 4, 100.0).needed(0.95) == 10


def test_what_is_missing_counts_against_either_side():
    seen, least, most = MeanTest(2.0, 1.0, 9, 10), MeanTest(1.0, 1.0, 9, 10), MeanTest(4.0, 1.0, 9, 10)
    found = BoundedTest(seen, least, most)
    assert (found.name, found.difference, found.p_value) == ("t", 2.0, least.p_value)
    assert BoundedTest(seen, most, most).p_value == most.p_value
    assert BoundedTest(seen, MeanTest(-9.0, 1.0, 9, 10), MeanTest(-4.0, 1.0, 9, 10)).p_value == most.p_value
    assert BoundedTest(seen, MeanTest(-4.0, 1.0, 9, 10), most).p_value == 1.0
    assert BoundedTest(seen, MeanTest(0.0, 1.0, 9, 10), most).p_value == 1.0
    assert found.interval(0.9) == Interval(least.interval(0.9).low, most.interval(0.9).high)
    assert found.detectable(0.9) == seen.detectable(0.9) + 3.0
    assert found.needed(0.9) == seen.needed(0.9)
    assert (signs_of(found, 0.95), signs_of(most, 0.95)) == ((0, 1), (1, 1))
    assert signs_of(BoundedTest(seen, MeanTest(-4.0, 1.0, 9, 10), seen), 0.95) == (-1, 0)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 12), st.integers(0, 6))
def test_bounds_hold_what_they_bound(won, lost, equal, missing):
    pairs = won + lost + equal
    least, most = SharesTest(won, lost + missing, pairs + missing), SharesTest(won + missing, lost, pairs + missing)
    found = BoundedTest(SharesTest(won, lost, pairs), least, most)
    low, high = found.interval(0.95)
    assert (low > 0 or high < 0) == (found.p_value < 0.05)
    signs = signs_of(found, 0.95)
    assert (signs in ((1, 1), (-1, -1))) == (found.p_value < 0.05)


def test_how_many_pairs_are_needed_is_known_to_each_test():
    mean = MeanTest(0.1, 0.1, 99, 100)
    needed = mean.needed(0.95)
    assert MeanTest(0.1, 0.1 * (100 / needed) ** 0.5, 99, 100).detectable(0.95) == pytest.approx(0.1)
    assert SignTest(0.25, 3).needed(0.95) == 6
    assert SignTest(0.0, 3).needed(0.95) == MeanTest(0.0, 0.1, 9, 10).needed(0.95) == float("inf")


@given(
    st.integers(2, 400), st.sampled_from([-1.0, -0.3, -0.01, 0.0, 0.1, 0.5, 1.0]), st.sampled_from([0.9, 0.95, 0.999])
)
def test_equal_differences_exclude_0_where_p_says_so_and_no_mean_that_is_likely_enough(count, difference, level):
    test = EqualTest(difference, count, 1.0)
    low, high = test.interval(level)
    assert -1.0 <= low <= difference <= high <= 1.0
    if abs(test.p_value - (1 - level)) > 1e-9:
        assert (low > 0 or high < 0) == (test.p_value < 1 - level)
    for share in (0.2, 0.5, 0.9, 0.99, 0.999):
        if share**count > (1 - level) / 2:
            for end in (-1.0, 0.4, 1.0):
                assert low - 1e-9 <= share * difference + (1 - share) * end <= high + 1e-9
    needed = test.needed(level)
    if difference:
        assert EqualTest(difference, int(needed), 1.0).p_value < 1 - level
        assert EqualTest(difference, int(needed) - 1, 1.0).p_value >= (1 - level) * (1 - 1e-9)
    else:
        assert needed == math.inf
