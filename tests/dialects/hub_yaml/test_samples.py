"""Samples of rows: what a row lacks is said, and is not a word like any other."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.dialects.hub_yaml.config import FieldSpec
from proctor.dialects.hub_yaml.samples import sample_of
from proctor.errors import DataError


@pytest.mark.parametrize("value", [None, float("nan")])
@pytest.mark.parametrize("choices", [None, "c"])
def test_a_row_without_an_answer_fails_and_is_not_asked_for_none(value: Any, choices: str | None) -> None:
    fields = FieldSpec(input="q", target="a", choices=choices)
    with pytest.raises(DataError, match="no answer in this row"):
        sample_of({"q": "?", "a": value, "c": ["x", "y"]}, fields)


@pytest.mark.parametrize("value, target", [("None", "None"), (0, "0"), (2.5, "2.5"), ("", "")])
def test_what_is_an_answer_stays_one(value: Any, target: str) -> None:
    assert sample_of({"q": "?", "a": value}, FieldSpec(input="q", target="a"))["target"] == target
