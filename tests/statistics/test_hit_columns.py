"""Scores of 0 and 1 are counted, which must give the same numbers as adding them up."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.statistics import resampling
from proctor.statistics.intervals import Bootstrap
from proctor.statistics.resampling import Means

HITS = st.lists(st.sampled_from([0.0, 1.0, float("nan")]), min_size=2, max_size=40)
OTHERS = st.lists(st.sampled_from([0.0, -0.0, 1.0, 0.5]), min_size=2, max_size=40)


@given(HITS | OTHERS, st.sampled_from(["BCa", "percentile", "basic"]))
def test_intervals_are_the_same_to_the_last_bit(column, method):
    bootstrap = Bootstrap(resamples=50, method=method)
    found = bootstrap.intervals(Means(np.array([column])))
    with patch.object(resampling, "_hits", return_value=None):
        expected = bootstrap.intervals(Means(np.array([column])))
    assert [float(each).hex() for each in found[0]] == [float(each).hex() for each in expected[0]]


@pytest.mark.parametrize("column", [[0.0, 0.5], [-0.0, 1.0], [2.0, 1.0]])
def test_other_scores_are_added_up(column):
    assert resampling._hits(np.array(column)) is None


def test_hits_are_where_the_ones_are():
    assert resampling._hits(np.array([0.0, 1.0, 1.0])).tolist() == [False, True, True]
