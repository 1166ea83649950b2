import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import ScoringError
from proctor.scoring.repeats import (
    at_least_one,
    at_least_one_as_product,
    most_frequent,
    score_of_repeats,
)

COUNTS = st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@given(COUNTS)
def test_two_ways_to_the_same_chance(case):
    count, hits, k = case
    assert at_least_one(count, hits, k) == pytest.approx(at_least_one_as_product(count, hits, k), abs=1e-12)


@given(st.lists(st.sampled_from("abc"), min_size=1))
def test_the_first_of_the_most_frequent_wins(values):
    counts = [values.count(each) for each in values]
    assert most_frequent(values) == values[counts.index(max(counts))]


def test_scores_of_repeats():
    right, answers = [False, True, True, False], ["x", "a", "a", "x"]
    assert score_of_repeats("avg", right, answers, 2) == 0.5
    assert score_of_repeats("maj", right, answers, 3) == 1.0
    assert score_of_repeats("maj", right, answers, 4) == 0.0
    assert score_of_repeats("pass", right, answers, 2) == pytest.approx(5 / 6)
    with pytest.raises(ScoringError, match="pass@5 needs 5 answers, and there are 4"):
        score_of_repeats("pass", right, answers, 5)
