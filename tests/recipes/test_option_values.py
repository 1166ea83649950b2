"""Values of options as they are typed."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.errors import UsageError
from proctor.recipes.option_values import GivenSeeds, parse_groupings, parse_samples, parse_seeds
from proctor.recipes.options import ExamOptions


@pytest.mark.parametrize(
    "text, found",
    [
        ("7", GivenSeeds(7)),
        ("none", GivenSeeds(None)),
        ("4294967295", GivenSeeds(2**32 - 1)),
        ("1,2,3", GivenSeeds(None, (1, 2), 3)),
        ("1, 2, 3, 4", GivenSeeds(4, (1, 2), 3)),
        ("none,none,None,none", GivenSeeds(None, (0, 1234), None)),
    ],
)
def test_one_seed_is_for_everything_and_four_are_as_in_lm_eval(text: str, found: GivenSeeds) -> None:
    assert parse_seeds(text) == found


@pytest.mark.parametrize("text", ["", "x", "1,2", "1,2,3,4,5", "-1", "4294967296", "1,x,3"])
def test_what_is_no_seed_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a seed"):
        parse_seeds(text)


def test_positions_are_json_or_in_a_file(tmp_path) -> None:
    assert parse_samples(' {"a": [0, 3]}') == {"a": [0, 3]}
    path = tmp_path / "positions.json"
    path.write_text('{"b": [1]}')
    assert parse_samples(str(path)) == {"b": [1]}
    with pytest.raises(UsageError, match="which cannot be read(.|\n)*No such file"):
        parse_samples(str(tmp_path / "nowhere"))
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="cannot be read(.|\n)*decode"):
        parse_samples(str(path))


@pytest.mark.parametrize(
    "text, message", [('{"a": ', "not JSON"), ("[1]", "not a mapping"), ('{"a": 1}', "not a mapping of tasks")]
)
def test_positions_that_are_none_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_samples(text)


def test_fields_to_group_by_are_one_or_several() -> None:
    assert parse_groupings(["a", "b, c", " , ", "d,"]) == ("a", ("b", "c"), "d")


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"limit": -1}, "limit is -1"),
        ({"limit": float("inf")}, "limit is inf"),
        ({"limit": float("nan")}, "limit is nan"),
        ({"num_demos": -1}, "number of demos is -1"),
        ({"samples": {"a": [0, True]}}, "names True of 'a'"),
        ({"samples": {"a": ["1"]}}, "names '1' of 'a'"),
        ({"decoding": {"n": 2}}, "asks for 2 answers to one request"),
        ({"decoding": {"temperature": "hot"}}, "temperature is a number"),
    ],
)
def test_values_that_cannot_be_meant_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ExamOptions(**fields)


def test_values_at_the_edge_are_taken() -> None:
    options = ExamOptions(limit=0, num_demos=0, samples={"a": [0]}, decoding={"n": 1, "temperature": 0})
    assert (options.limit, options.num_demos) == (0, 0)
