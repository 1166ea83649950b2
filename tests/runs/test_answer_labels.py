"""Which answers people are asked to label, and how many of each kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.runs.answer_labels import allotted, how_often, labels_saved


@given(
    st.lists(st.sampled_from([0.0, 0.02, 0.05, 0.2, 0.25, 0.5, 0.9, 1.0]), min_size=20, max_size=300),
    st.integers(10, 400),
)
def test_every_kind_has_answers_with_labels_and_none_is_asked_twice(scores, count):
    often = how_often(np.array(scores), count)
    found = allotted(often, count)
    assert sum(found.values()) == min(count, len(scores))
    for kind, number in found.items():
        assert 2 <= number <= (often == kind).sum()
        assert (often == kind).sum() >= 10


def test_the_less_a_judge_is_sure_the_more_often_an_answer_is_drawn():
    scores = np.repeat([0.0, 1.0, 0.1, 0.9, 0.3, 0.5], 20)
    assert how_often(scores, 100).tolist() == np.repeat([1, 1, 2, 2, 3, 3], 20).tolist()
    assert set(how_often(scores, 59)) == {1}
    rare = np.append(np.zeros(100), [0.5] * 9)
    assert set(how_often(rare, 100)) == {1}


def test_what_a_draw_saves_is_nothing_where_all_are_alike_and_much_where_few_are_unsure():
    assert labels_saved(np.repeat([0.0, 1.0], 500), 100) == pytest.approx(0.0)
    assert labels_saved(np.repeat([0.0, 0.5], [900, 100]), 100) == pytest.approx(0.19, abs=0.01)
