import math

import numpy as np
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


def interval(metric, values, aggregate):
    (score,) = (
        RowAggregation({metric: AGGREGATIONS[aggregate]}, resamples=2000)
        .measured([{metric: each} for each in values])
        .scores
    )
    return score


def test_every_aggregate_of_rows_has_an_interval_on_its_scale():
    stream = np.random.default_rng(1)
    likelihoods = [(-float(each), 10) for each in stream.gamma(20, 1, 60)]
    golds = stream.random(60) < 0.5
    pairs = [(int(gold), int(gold != (stream.random() < 0.1))) for gold in golds]
    chances = [(int(gold), [0.9, 0.1] if stream.random() < 0.5 else [0.2, 0.8]) for gold in golds]
    for metric, values, aggregate, least, most in (
        ("acc", [1.0] * 59 + [0.5], "mean", 0, 1),
        ("word_perplexity", likelihoods, "weighted_perplexity", 1, math.inf),
        ("bits_per_byte", likelihoods, "bits_per_byte", 0, math.inf),
        ("perplexity", [first for first, _ in likelihoods], "perplexity", 1, math.inf),
        ("f1", pairs, "f1", 0, 1),
        ("mcc", pairs, "matthews_corrcoef", -1, 1),
        ("brier_score", chances, "brier_score", 0, 2),
        ("n", [float(each) for each in stream.normal(5, 2, 60)], "median", -math.inf, math.inf),
    ):
        score = interval(metric, values, aggregate)
        assert least <= score.low < score.value < score.high <= most, metric


def test_a_ratio_has_the_interval_of_its_linearisation():
    stream = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        lengths = stream.integers(5, 50, 50)
        values = [(-float(stream.gamma(2 * size, 1)), int(size)) for size in lengths]  # two nats for each byte
        score = interval("bits_per_byte", values, "bits_per_byte")
        held += score.low <= 2 / math.log(2) <= score.high
    assert 0.92 <= held / 400 <= 0.98
