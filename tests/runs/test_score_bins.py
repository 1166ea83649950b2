"""Scores in ranges: every instance is in one, and what a range's link finds is what it counts."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from proctor.runs.score_bins import score_bins

COUNTED = st.dictionaries(st.floats(-1e6, 1e6), st.integers(1, 9), min_size=3).map(lambda found: sorted(found.items()))


@given(COUNTED, st.integers(1, 12))
def test_ranges_hold_every_instance_once(counted, most):
    bins = score_bins(counted, most)
    assert sum(each.instances for each in bins) == sum(count for _, count in counted)
    assert (bins[0].low, bins[-1].high) == (counted[0][0], counted[-1][0])
    assert all(one.high < two.low for one, two in pairwise(bins))


def test_tenths():
    bins = score_bins([(0.0, 4), (0.1, 1), (0.95, 2), (1.0, 3)], 10)
    assert [each.instances for each in bins] == [4, 1, 0, 0, 0, 0, 0, 0, 0, 5]
