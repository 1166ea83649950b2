"""What an engine decides where a request leaves something open."""

from __future__ import annotations

import pytest

from proctor.engines.decoding import refuse_several, with_defaults
from proctor.errors import ValidationError
from proctor.ir import Decoding


def test_what_a_request_says_wins_over_the_engines_defaults() -> None:
    defaults = {"max_tokens": 7, "temperature": 0.5, "stop": ("x",), "seed": None, "extra": {"a": 1, "b": 2}}
    found = with_defaults(Decoding(stop=("y",), temperature=0.9, extra={"a": 3}), defaults)
    assert found == Decoding(7, 0.9, stop=("y",), extra={"a": 3, "b": 2})
    greedy = with_defaults(Decoding(extra={"temperature": 0, "a": 3}), defaults)
    assert greedy == Decoding(7, 0.0, stop=("x",), extra={"a": 3, "b": 2})
    assert with_defaults(Decoding(3), defaults).max_tokens == 3
    same = Decoding(3)
    assert with_defaults(same, {"max_tokens": 7, "seed": None, "extra": {}}) is same


def test_several_answers_to_one_request_are_refused_with_what_asks_for_them() -> None:
    with pytest.raises(ValidationError, match=r"extra_body asks for best_of=3(.|\n)*--repeats 3") as caught:
        refuse_several({"best_of": 3}, "extra_body")
    assert caught.value.diagnostics[0].path == "$.extra_body.best_of"
    for allowed in (None, {}, {"n": 1}, {"n": None, "top_k": 5}):
        refuse_several(allowed, "extra_body")
