import pytest

from proctor.dialects.aisbench.postprocessors import postprocessor
from proctor.errors import ScoringError

ROW = {"choices": [" A", " B", " C"]}


def test_the_likeliest_choice_is_the_first_of_equals():
    choose = postprocessor({"type": "likeliest_choice"})
    assert choose([0.2, 0.4, 0.4], ROW) == " B"


@pytest.mark.parametrize("answer, row", [([0.5, 0.5], ROW), ([1.0], {})])
def test_what_is_not_a_probability_for_each_choice_is_refused(answer, row):
    with pytest.raises(ScoringError, match="reads probabilities"):
        postprocessor({"type": "likeliest_choice"})(answer, row)


def test_a_list_that_a_step_makes_is_one_answer_to_the_next():
    steps = [{"type": "processors.to_list_by_comma"}, {"type": "processors.remove_none_from_list"}]
    assert postprocessor({"type": "one_after_another", "steps": steps})("a, none, b", {}) == ["a", "b"]


def test_a_step_that_there_is_not_is_refused():
    with pytest.raises(ScoringError, match="upper_caser"):
        postprocessor({"type": "one_after_another", "steps": [{"type": "upper_caser"}]})
