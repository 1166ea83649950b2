"""Samples of rows: what a row lacks is said, and is not a word like any other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from proctor.dialects.hub_yaml.config import FieldSpec, HubTask
from proctor.dialects.hub_yaml.honours import parts_of
from proctor.dialects.hub_yaml.samples import Samples, sample_of
from proctor.errors import DataError
from proctor.ir import Failure
from proctor.recipes.row_changes import RowParts


@pytest.mark.parametrize("value", [None, float("nan")])
@pytest.mark.parametrize("choices", [None, "c"])
def test_a_row_without_an_answer_fails_and_is_not_asked_for_none(value: Any, choices: str | None) -> None:
    fields = FieldSpec(input="q", target="a", choices=choices)
    with pytest.raises(DataError, match="no answer in this row"):
        sample_of({"q": "?", "a": value, "c": ["x", "y"]}, fields)


@pytest.mark.parametrize("value, target", [("None", "None"), (0, "0"), (2.5, "2.5"), ("", "")])
def test_what_is_an_answer_stays_one(value: Any, target: str) -> None:
    assert sample_of({"q": "?", "a": value}, FieldSpec(input="q", target="a"))["target"] == target


TALK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}


@pytest.mark.parametrize(
    "row, fields, found",
    [
        ({"q": "Who?"}, {}, "Who?"),
        ({"q": TALK}, {}, TALK),
        (
            {"q": "Who?", "i": PICTURE["image_url"]["url"]},
            {"input_image": "i"},
            [{"role": "user", "content": [{"type": "text", "text": "Who?"}, PICTURE]}],
        ),
        ({"q": "Who?", "i": None}, {"input_image": "i"}, "Who?"),
        ({"q": "Who?", "i": ""}, {"input_image": "i"}, "Who?"),
    ],
)
def test_a_question_is_a_text_messages_or_a_text_with_a_picture(row: Any, fields: Any, found: Any) -> None:
    made = FieldSpec(input="q", target="literal:me", **fields)
    sample = sample_of(row, made)
    assert (sample["input"], sample["target"]) == (found, "me")


@pytest.mark.parametrize(
    "row, fields, told",
    [
        ({"q": 3}, {}, "the column 'q' holds a int"),
        ({"q": []}, {}, "the column 'q' holds a list"),
        ({"q": [{"role": "boss", "content": "Who?"}]}, {}, "the column 'q' holds a list"),
        ({"q": [{"role": "user", "content": 3}]}, {}, "the column 'q' holds a list"),
        ({"q": "Who?", "i": 3}, {"input_image": "i"}, "the column 'i' has to hold addresses of images"),
        ({"q": TALK, "i": "a"}, {"input_image": "i"}, "the column 'i' has to hold addresses of images"),
        ({"q": "Who?", "a": 26, "c": ["x"]}, {"target": "a", "choices": "c"}, "the column 'a' is 26"),
        ({"q": "Who?", "a": -1, "c": ["x"]}, {"target": "a", "choices": "c"}, "positions of choices are 0 to 25"),
        ({"q": "Who?", "c": ["x", 1]}, {"choices": "c"}, "choices are a list of texts"),
        ({"q": "Who?", "c": "xy"}, {"choices": "c"}, "choices are a list of texts"),
        ({"q": "Who?"}, {"metadata": ("topic",)}, "the row has no column 'topic'"),
    ],
)
def test_what_a_row_cannot_be_asked_for_is_said(row: Any, fields: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        sample_of(row, FieldSpec(**{"input": "q", "target": "literal:me", **fields}))


@pytest.mark.parametrize(
    "choices, found",
    [("c", ["x", "y"]), (("one", "two"), ["1", "2"]), ("none", []), (None, [])],
)
def test_choices_stand_in_one_column_or_in_several(choices: Any, found: list[str]) -> None:
    row = {"q": "Who?", "a": 25, "c": ["x", "y"], "one": "1", "two": "2", "none": None}
    sample = sample_of(row, FieldSpec(input="q", target="a", choices=choices, metadata=("one",)))
    as_libraries_have_it = {**row, "c": np.array(row["c"], dtype=object)}
    assert sample_of(as_libraries_have_it, FieldSpec(input="q", target="a", choices=choices))["choices"] == found
    assert (sample["choices"], sample["metadata"]) == (found, {"one": "1"})
    assert sample["target"] == ("25" if choices is None else "Z")


def test_choices_are_shuffled_row_by_row_and_rows_that_cannot_be_used_draw_nothing() -> None:
    task = HubTask("d", "", FieldSpec("q", "a", "c"), (), (), shuffle_choices=True)
    usable = [{"q": str(n), "a": 1, "c": ["x", "y", "z"]} for n in range(6)]
    made = Samples(task, usable, 7)
    found = [made.of(place, row) for place, row in enumerate(usable)]
    assert all(each["choices"]["ABC".index(each["target"])] == "y" for each in found)
    assert len({tuple(each["choices"]) for each in found}) > 1
    broken = [Failure("row", "no"), {"q": "?", "a": 1, "c": 3}, {"q": "?", "a": 0, "c": []}, *usable]
    later = Samples(task, broken, 7)
    assert [later.of(place + 3, row) for place, row in enumerate(usable)] == found
    assert later.of(2, broken[2]) == {"input": "?", "target": "A", "choices": [], "metadata": {}}
    with pytest.raises(DataError, match="the target 'D' is beyond the 3 choices of the row"):
        made.of(0, {**usable[0], "a": 3})
    plain = Samples(replace(task, shuffle_choices=False), usable, 7)
    assert plain.of(0, usable[0])["choices"] == ["x", "y", "z"]


@pytest.mark.parametrize(
    "fields, parts",
    [
        (FieldSpec("q", "a"), RowParts(("q",), (), "a")),
        (FieldSpec("q", "a", "c"), RowParts(("q",), ("c",), "a")),
        (FieldSpec("q", "a", ("c", "d")), RowParts(("q",), ("c", "d"), "a")),
        (FieldSpec("q", "literal:A", "c"), RowParts(("q",), (), "")),
    ],
)
def test_what_the_columns_are(fields: FieldSpec, parts: RowParts) -> None:
    assert parts_of(HubTask("d", "", fields, (), ())) == parts
