from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import UsageError
from proctor.scoring.judges.judge_agreement import agreement, kappa_sums
from proctor.statistics.intervals import wilson

label = st.sampled_from(["good", "bad", "so so"])


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(label, label), min_size=2, max_size=30))
def test_kappa_equals_scikit_learns(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    if len({each for pair in pairs for each in pair}) < 2:
        assert math.isnan(kappa_sums(pairs).observed()[0])
        return
    first, second = zip(*pairs, strict=True)
    assert kappa_sums(pairs).observed()[0] == pytest.approx(metrics.cohen_kappa_score(first, second), abs=1e-12)


def test_a_judge_is_compared_with_people():
    generator = np.random.default_rng(0)
    gold = [float(each) for each in generator.integers(1, 6, 80)]
    verdicts = [min(5.0, each + float(generator.random() < 0.3)) for each in gold]
    found = agreement([*verdicts, None], [*gold, 3.0])
    assert (found.count, found.left_out) == (80, 1)
    equal = sum(a == b for a, b in zip(verdicts, gold, strict=True))
    assert found.share_interval == wilson(equal, 80)
    for value, interval in ((found.kappa, found.kappa_interval), (found.correlation, found.correlation_interval)):
        assert interval.low < value < interval.high
    assert found.correlation > 0.8


def test_words_have_no_correlation():
    found = agreement(["yes", "no", "yes"], ["yes", "yes", "no"])
    assert math.isnan(found.correlation)
    assert found.share == pytest.approx(1 / 3)


def test_agreement_needs_cases():
    with pytest.raises(UsageError, match="1 verdicts on 2"):
        agreement([1], [1, 2])
    with pytest.raises(UsageError, match="only 1"):
        agreement([1, None], [1, 2])


@pytest.mark.parametrize(
    "first,second,value",
    [
        ("a" * 118 + "a" * 5 + "b" * 2, "a" * 118 + "b" * 5 + "a" * 2, 0.9407763376087177),  # kappa is -0.02 here
        ("aabbccabcabcaaab", "aabbcaabcbbcaacb", 0.7213352685050798),
    ],
)
def test_ac1_equals_truescores(first, second, value):
    found = agreement(list(first), list(second))
    assert found.ac1 == pytest.approx(value, abs=1e-12)
    assert found.ac1_interval.low < value < found.ac1_interval.high
