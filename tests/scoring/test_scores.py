import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.scoring.columns import ABSENT, ConstantColumn, SparseColumn
from proctor.scoring.scores import Score, comparable, in_one_unit, interval_of_mean, mean_score
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


@pytest.mark.parametrize(
    "value, number",
    [(1, 1.0), (0.5, 0.5), (True, None), (math.nan, None), (math.inf, None), ("1", None), ([1.0], None), (None, None)],
)
def test_a_score_has_a_number_where_its_value_is_a_finite_one(value, number):
    assert Score("a", value).number == number


def test_shares_and_percentages_become_shares_and_what_is_raw_does_not():
    share, percent, raw = (
        Score("a", 0.5, 0.25, 0.75, unit="share"),
        Score("b", 50.0, 25.0, None, unit="percent"),
        Score("c", 5.0),
    )
    assert [each.as_share(50.0) for each in (share, percent, raw)] == [50.0, 0.5, None]
    assert [comparable(share, percent), comparable(share, raw), comparable(raw, raw)] == [True, False, True]
    assert in_one_unit([share, percent]) == [share, Score("b", 0.5, 0.25, None, unit="share")]
    assert in_one_unit([percent, percent]) == [percent, percent]
    assert in_one_unit([share, percent, raw]) == [share, percent, raw]
    both = mean_score([share, Score("b", 100.0, 50.0, 100.0, unit="percent")], "mean")
    assert (both.name, both.value, both.unit) == ("mean", 0.75, "share")
    assert (both.low, both.high) == pytest.approx((0.75 - math.hypot(0.25, 0.5) / 2, 0.75 + 0.25 / 2))
    mixed = mean_score([share, raw], "mean")
    assert (mixed.value, mixed.unit, mixed.low, mixed.high) == (2.75, "raw", None, None)


@pytest.mark.parametrize("column", [ConstantColumn("x", 3), SparseColumn({0: "x", 1: "x", 2: "x"}, 3)])
def test_columns_are_cut_and_have_ends_as_lists_have(column):
    assert list(column) == list(column[:]) == ["x"] * 3
    assert (len(column[1:]), list(column[::2]), column[-3], column[2]) == (2, ["x", "x"], "x", "x")
    for place in (3, -4):
        with pytest.raises(IndexError):
            column[place]


def test_an_instance_that_has_no_score_is_told_apart_from_one_without_a_value():
    column = SparseColumn({1: None}, 3)
    assert list(column) == [ABSENT, None, ABSENT]
    assert column[-2] is None
    assert repr(ABSENT) == "ABSENT"
    assert list(SparseColumn({1: 5}, 2, missing=0)) == [0, 5]
