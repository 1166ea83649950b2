"""Responses are stored without loss."""

from __future__ import annotations

import math
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import LogError
from proctor.ir import Failure, Response, Scored, Timing, TokenLogProbability, Usage
from proctor.running.codec import decode, encode

floats = st.floats(allow_nan=False)
counts = st.integers(0, 2**40)
text = st.text(st.characters(exclude_categories=["Cs"]))
tokens = st.builds(TokenLogProbability, text, floats, st.lists(st.tuples(text, floats), max_size=3).map(tuple))
responses = st.builds(
    Response,
    texts=st.lists(text, max_size=4).map(tuple),
    scores=st.lists(st.builds(Scored, floats, st.booleans(), counts), max_size=4).map(tuple),
    finish_reasons=st.lists(text, max_size=4).map(tuple),
    tokens=st.lists(st.lists(tokens, max_size=3).map(tuple), max_size=2).map(tuple),
    usage=st.builds(Usage, counts, counts),
    timing=st.builds(Timing, floats, floats, st.none() | floats),
    failure=st.none() | st.builds(Failure, text, text, counts, st.booleans()),
)


@given(responses)
def test_a_response_comes_back_equal(response):
    assert decode(encode(response)) == response


def test_a_not_a_number_stays_one():
    (scored,) = decode(encode(Response(scores=(Scored(math.nan),)))).scores
    assert math.isnan(scored.log_likelihood)


def test_long_texts_are_deflated_and_short_ones_are_not():
    long = Response(texts=("the same words again " * 500,))
    assert len(encode(long)) < 500
    assert decode(encode(long)) == long
    assert encode(Response(texts=("short",)))[0] != 0x78


lone = st.sampled_from("\ud83d\ude00xyz\u00e4\u65e5")


@given(st.text(lone, min_size=1))
def test_lone_surrogates_become_replacement_characters(words):
    kept = decode(encode(Response(texts=(words,), finish_reasons=(words,)))).text
    whole = words.replace("\ud83d\ude00", "\U0001f600")
    assert kept == "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in whole)


@pytest.mark.parametrize(
    "body", [b"", b"\x78\x01broken", b"\x81", b"\xc1", zlib.compress(b"\x81"), b"\x81\xa5texts\x05"]
)
def test_damage_is_an_error_with_a_hint(body):
    with pytest.raises(LogError, match="verify"):
        decode(body)
