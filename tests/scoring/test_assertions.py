"""Assertions in a word."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import ScoringError
from proctor.scoring.assertions import _JOINED, _includes, _schema, check_of, made, parse_assertion

_TEXTS = "aß İ1_-首都はkKſ. "


@given(st.text(_TEXTS, max_size=12), st.text(_TEXTS, max_size=4))
def test_what_includes_a_text_is_what_a_pattern_finds(answer, wanted):
    letter, text = rf"[^\W{_JOINED}]", wanted.strip().casefold()
    before = f"(?<!{letter})" if re.match(letter, text) else ""
    after = f"(?!{letter})" if re.match(letter, text[-1:]) else ""
    found = re.search(f"{before}{re.escape(text)}{after}", answer.casefold())
    assert _includes(answer, wanted) is (bool(text) and found is not None)


def test_a_json_schema_that_is_written_as_people_write_it_is_read():
    pytest.importorskip("jsonschema")
    fits = _schema('{"type": "object", "required": ["a",],}')
    assert (fits({"a": 1}), fits({})) == (True, False)


@given(st.recursive(st.text(), lambda inner: st.dictionaries(st.text(), inner, max_size=3), max_leaves=4))
def test_a_json_schema_that_is_json_is_read_as_json(value):
    pytest.importorskip("jsonschema")
    for written in (json.dumps({"const": value}), json.dumps({"const": value}, ensure_ascii=False, indent="\t")):
        assert _schema(written)(value)


@pytest.mark.parametrize(
    "word, value, told",
    [
        ("is-json", "{a: [", "is not JSON"),
        ("is-json", [1], "a JSON schema is an object, and this is"),
        ("is-json", {"type": "nothing"}, "this is not a JSON schema"),
        ("contians", None, "contains"),
        ("regex", "(", "does not compile"),
    ],
)
def test_an_assertion_that_means_nothing_is_refused_when_it_is_made(word, value, told):
    with pytest.raises(ScoringError, match=told):
        made(word, value)


def test_a_row_without_a_number_to_compare_with_is_said():
    check = check_of(parse_assertion("number"))
    assert [check(said, ["4", "5 km"]) for said in ("it is 5", "5 of 6", "none")] == [1.0, 0.0, 0.0]
    with pytest.raises(ScoringError, match="no right answer is a number: 'four'"):
        check("4", ["four"])
