"""Assertions in a word."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.scoring.assertions import _JOINED, _includes, _schema

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
