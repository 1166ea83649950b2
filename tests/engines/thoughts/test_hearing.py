"""From what a model wrote to its answer, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.engines.thoughts import Opening, as_written, cut_at, heard, marks_of, opening_of
from proctor.ir import Failure, Prompt, Response, TokenLogProbability, Usage

MARKS = marks_of("m")
THINK = next(family for family in MARKS.families if family.name == "think")
PIECES = st.sampled_from(["<think>", "</think>", "a", "\n", "b c", "`", "<|channel|>analysis", "<|channel|>final"])


def said(*texts, reason="stop", **values):
    return Response(texts=texts, finish_reasons=(reason,) * len(texts), usage=Usage(1, 8), **values)


@given(st.lists(PIECES).map("".join), st.sampled_from(["stop", "length"]), st.sampled_from(["", "apart"]))
def test_hearing_twice_is_hearing_once_and_nothing_is_lost(text, reason, aside):
    response = said(text, reason=reason, thoughts=(aside,) if aside else ())
    found = heard(response, MARKS)
    assert heard(found, MARKS) == found
    assert as_written(found, MARKS).texts == (text,)
    if found.failure is None:
        assert text.endswith(found.text) or found.text in text
    else:
        assert (found.failure.kind, found.texts, found.finish_reasons) == ("thinking", (), (reason,))


def test_tokens_of_thoughts_are_counted_and_those_of_answers_kept():
    pieces = ["<think>", "hm", "</think>", "\n\n", "pos", "itive"]
    tokens = tuple(TokenLogProbability(piece, -1.0) for piece in pieces)
    found = heard(said("".join(pieces), tokens=(tokens,)), MARKS, count=lambda text: 4)
    assert [token.token for token in found.tokens[0]] == ["pos", "itive"]
    assert found.usage == Usage(1, 8, 4)


def test_tokens_that_lose_their_blanks_are_counted():
    tokens = tuple(TokenLogProbability(piece, -1.0) for piece in ["<think>", "hm", "</think>", "all", "good"])
    text = "<think>hm</think>all good"
    counted = heard(said(text, tokens=(tokens,)), MARKS, count=lambda text: 3)
    assert [token.token for token in counted.tokens[0]] == ["all", "good"]
    apart = heard(said("all good", thoughts=("hm",), tokens=(tokens[3:],)), MARKS)
    assert [token.token for token in apart.tokens[0]] == ["all", "good"]


def test_an_unknown_number_of_tokens_is_not_invented():
    assert heard(said("<think>hm</think>yes"), MARKS).usage.thinking_tokens == 0
    assert heard(said("<think>hm"), MARKS).usage.thinking_tokens == 8


@pytest.mark.parametrize(
    "payload, family, is_closed",
    [
        ("Question\n<think>\n", "think", False),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", None, True),
        ("<|start|>assistant<|channel|>analysis<|message|>", "harmony", False),
        ("<|start|>assistant<|channel|>final<|message|>", None, True),
        ("What is <think>? Answer:", None, False),
        ([{"role": "user", "content": "what is <think>"}], None, False),
        ([{"role": "user", "content": "?"}, {"role": "assistant", "content": "<think>"}], "think", False),
    ],
)
def test_what_a_prompt_says(payload, family, is_closed):
    found = opening_of(Prompt(payload), MARKS)
    assert (found.family and found.family.name, found.is_closed) == (family, is_closed)


def test_a_string_that_becomes_a_message_begins_nothing():
    assert opening_of(Prompt("<think>"), MARKS, strings_are_messages=True).family is None


def test_thoughts_that_the_prompt_began():
    opened = Opening(THINK)
    assert heard(said("hm</think>yes"), MARKS, opened).texts == ("yes",)
    for reason in ("stop", "length"):
        failure = heard(said("hm", reason=reason), MARKS, opened).failure
        assert failure is not None
        assert failure.kind == "thinking"
    assert heard(said("yes"), MARKS, Opening(is_closed=True)).texts == ("yes",)
    assert heard(said("yes", thoughts=("hm",)), MARKS, opened).texts == ("yes",)


def test_the_end_that_the_user_names_counts_at_last_as_in_lm_eval():
    own = marks_of("m", None, "</think>")
    opening = opening_of("x", own)
    found = heard(said("a</think>b</think> c"), own, opening)
    assert (found.texts, found.thoughts) == (("c",), ("a</think>b",))
    lost = heard(said("never ended"), own, opening)
    assert lost.failure is not None
    assert as_written(lost, own).texts == ("never ended",)
    assert as_written(found, own).texts == ("c",)


def test_cut_at():
    assert cut_at(said("a\nb", reason="length"), ("\n",)).finish_reasons == ("stop",)
    assert cut_at(said("ab"), ("",)).texts == ("ab",)
    assert cut_at(said("ab"), ()).texts == ("ab",)
    failed = Response(failure=Failure("x", "y"))
    assert cut_at(failed, ("a",)) is failed


def test_an_empty_answer_is_one_where_nothing_was_thought():
    assert heard(said(""), MARKS).failure is None
    cut = heard(said("", reason="length"), MARKS)
    assert cut.failure is not None
    shown = heard(said("", reason="length"), MARKS, Opening(is_shown=True))
    assert shown.failure is None
    assert heard(shown, MARKS) == shown
