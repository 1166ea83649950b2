import math

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from proctor.scoring.aggregations import AGGREGATIONS
from proctor.scoring.answer_values import RowAggregation


def test_scores_in_the_order_in_which_rows_name_them():
    found = RowAggregation(directions={"b": False}).measured([{"b": 1.0}, None, {"a": 2.0, "b": 0.0}])
    assert [(score.name, score.value, score.n, score.higher_is_better) for score in found.scores] == [
        ("b", 0.5, 2, False),
        ("a", 2.0, 1, None),
    ]
    assert found.main == "b"
    assert found.instances == {"b": [1.0, None, 0.0], "a": [None, None, 2.0]}


def test_what_cannot_be_aggregated_is_named_and_the_rest_counts():
    found = RowAggregation({"x": AGGREGATIONS["perplexity"]}).measured([{"x": "text", "y": 1.0}])
    assert list(found.broken) == ["x"]
    assert found.main == "y"
    assert found.instances["x"] == ["text"]


def test_intervals_and_errors():
    share, number = RowAggregation().measured([{"s": 1.0, "n": 3.0}, {"s": 1.0, "n": 5.0}]).scores
    assert (share.stderr, share.high) == (0.0, 1.0)
    assert 0 < share.low < 0.5
    assert number.stderr == pytest.approx(1.0)
    assert (number.low, number.high) == pytest.approx(scipy.stats.t.interval(0.95, 1, 4, 1), rel=1e-9)
    (alone,) = RowAggregation().measured([{"n": 3.0}]).scores
    assert (alone.stderr, alone.low) == (None, None)


values = st.one_of(st.floats(allow_nan=False), st.sampled_from([0, 1, True, -0.0, 0.0, 1.0]))


@given(st.lists(st.one_of(st.none(), st.dictionaries(st.sampled_from("ab"), values))))
def test_columns_hold_each_value_as_it_was(rows):
    found = RowAggregation(dict.fromkeys("ab", AGGREGATIONS["bypass"])).measured(rows)
    for name, column in found.instances.items():
        expected = [None if row is None else row.get(name) for row in rows]
        assert [(type(each), each) for each in column] == [(type(each), each) for each in expected]
        assert [_sign(each) for each in column] == [_sign(each) for each in expected]


def _sign(value):
    return None if value is None else math.copysign(1, value)
