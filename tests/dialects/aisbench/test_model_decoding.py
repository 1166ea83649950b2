"""How models of configs write: what of a config is said to an engine, for each family of models."""

import pytest

from proctor.dialects.aisbench.models import _decoding, says_how_to_score


@pytest.mark.parametrize(
    "values, generation, family, counts, said",
    [
        ({"temperature": 0.5}, {}, "hf", False, {"temperature": 0.5}),
        ({"temperature": 0.5}, {"temperature": 0.1}, "hf", False, {"temperature": 0.1}),
        ({}, {"temperature": 0.5, "do_sample": False, "repetition_penalty": 1.1}, "hf", False, {"repetition_penalty": 1.1}),
        ({}, {"temperature": 0.5, "do_sample": True, "top_k": None}, "hf", False, {"temperature": 0.5}),
        ({"other": 1}, {"max_tokens": 5}, "api", False, {"max_tokens": 5}),
        ({}, {"max_completion_tokens": 6}, "api", False, {"max_tokens": 6}),
        ({}, {"max_tokens": 5}, "hf", False, {}),
        ({}, {"num_return_sequences": 3}, "hf", True, {"count": 3}),
        ({}, {"num_return_sequences": 1}, "hf", True, {}),
        ({}, {"num_return_sequences": 3}, "hf", False, {}),
        ({}, {}, "server", False, {"temperature": None}),
        ({}, {"temperature": 0.5, "top_p": 0.9, "stop": "x", "mine": [1], "n": 2, "best_of": 2, "seed": None}, "server", True,
         {"temperature": 0.5, "top_p": 0.9, "stop": ("x",), "extra": {"mine": [1]}}),
    ],
)  # fmt: skip
def test_what_is_said_of_the_writing(values, generation, family, counts, said):
    assert dict(_decoding(values, generation, family, counts=counts)) == said


@pytest.mark.parametrize(
    "values, says",
    [({}, False), ({"pred_postprocessor": {"type": "x"}}, True), ({"generation_kwargs": {"num_return_sequences": 2}}, True),
     ({"generation_kwargs": {"num_return_sequences": 1}}, False), ({"generation_kwargs": [1]}, False)],
)  # fmt: skip
def test_what_changes_scores_of_answers_that_are_there(values, says):
    assert says_how_to_score(values) is says
