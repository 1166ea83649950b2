"""From what a model wrote to its answer, and back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from proctor.engines.thoughts import Opening, as_written, cut_at, heard, marks_of, opening_of, token_counter, turn_of
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
    lone = said("its mark is</think>that")
    assert heard(lone, MARKS, Opening(is_closed=True)).texts == lone.texts
    assert heard(lone, MARKS).texts == ("that",)
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


THINKER = marks_of("Qwen/QwQ-32B")
ASKED = Prompt([{"role": "user", "content": "?"}])


def assumed():
    return opening_of(ASKED, THINKER, by_name=True)


def test_a_name_tells_that_a_template_begins_the_thoughts_where_nobody_sees_it():
    opening = assumed()
    assert (opening.family and opening.family.name, opening.is_assumed) == ("opened", True)
    begun = Prompt([*ASKED.messages, {"role": "assistant", "content": "Well,"}])
    known = [
        opening_of(ASKED, THINKER),
        opening_of(ASKED, MARKS, by_name=True),
        opening_of("?", THINKER, by_name=True),
        opening_of(begun, THINKER, by_name=True),
    ]
    assert known == [Opening()] * 4


def test_what_a_name_tells_is_doubted_where_the_answer_ended_by_itself():
    assert heard(said("yes"), THINKER, assumed()).texts == ("yes",)
    assert heard(said("hm</think>yes"), THINKER, assumed()).texts == ("yes",)
    assert heard(said("hm", reason="length"), THINKER, assumed()).failure.kind == "thinking"
    assert heard(said("hm", reason="length"), THINKER, Opening(THINK)).failure.kind == "thinking"
    assert heard(said("yes", reason="length", thoughts=("hm",)), THINKER, assumed()).texts == ("yes",)


@pytest.mark.parametrize(
    "response, why",
    [
        (
            said("", reason="length"),
            "all 8 tokens went into thinking: the model thought, and unseen, for it was cut off",
        ),
        (said("<think>hm", reason="length"), "it was cut off before it answered: --thinking-tokens"),
        (said("<think>hm"), "it ended .'stop'. before its thoughts did; a stop string in them"),
        (said("<think>hm</think>"), "it ended .'stop'. without a word of an answer"),
        (said("<think>hm</think>", reason="length"), "it was cut off before it answered"),
        (said("<think>hm", "yes"), "all tokens of 1 of 2 answers went into"),
        (said("<think>hm", "<think>ah"), "all 8 tokens of 2 of 2 answers went into"),
        (said("", thoughts=("hm",)), "without a word of an answer"),
    ],
)
def test_an_answer_that_never_came_says_why(response, why):
    failure = heard(response, MARKS).failure
    assert (failure.kind, failure.retryable) == ("thinking", False)
    assert re.search(why, failure.message)


def test_tokens_of_thoughts_that_a_server_counted_are_thoughts():
    counted = Response(("",), finish_reasons=("stop",), usage=Usage(1, 8, 5))
    assert heard(counted, MARKS).failure.kind == "thinking"
    kept = heard(structs.replace(counted, texts=("yes",)), MARKS)
    assert (kept.texts, kept.usage.thinking_tokens) == (("yes",), 5)


def test_one_of_several_answers_may_have_thoughts():
    found = heard(said("yes", "<think>hm</think>no"), MARKS, count=len)
    assert (found.texts, found.thoughts, found.written) == (("yes", "no"), ("", "hm"), ("yes", "<think>hm</think>no"))
    assert found.usage.thinking_tokens == 8, "no more than there are"
    plain = said("yes", "no")
    assert heard(plain, MARKS) is plain


def test_tokens_of_some_answers_only_stay_as_they_are():
    tokens = ((TokenLogProbability("no", -1.0),),)
    assert heard(said("yes", "<think>hm</think>no", tokens=tokens), MARKS).tokens == tokens


def test_answers_end_at_the_first_stop_string_each():
    response = Response(("a.b;c", "d", "e;f"))
    found = cut_at(response, ("", ";", "."))
    assert (found.texts, found.finish_reasons) == (("a", "d", "e"), ("stop", "", "stop"))
    assert cut_at(said("a", "b;", reason="length"), (";",)).finish_reasons == ("length", "stop")


def test_a_turn_carries_thoughts_where_that_is_wanted():
    reply = Response(("yes",), thoughts=("hm",))
    said_again = {"role": "assistant", "content": "yes"}
    assert turn_of(reply) == said_again
    assert turn_of(reply, with_thoughts=True) == {**said_again, "reasoning_content": "hm"}
    assert turn_of(Response(("yes",)), with_thoughts=True) == said_again


def test_systems_that_know_no_thoughts_see_what_was_written():
    found = heard(said("<think>a;b</think>yes;no"), MARKS)
    assert as_written(found, MARKS, stops=(";",)).texts == ("<think>a",)
    apart = heard(said("yes", thoughts=("hm",)), MARKS)
    assert as_written(apart, MARKS, joint="\n").texts == ("hm\nyes",)
    assert as_written(apart, MARKS).texts == ("yes",)
    lost = heard(said("", thoughts=("hm",)), MARKS)
    assert (as_written(lost, MARKS, joint="\n").texts, as_written(lost, MARKS).failure) == (("hm",), None)
    failed = Response(failure=Failure("timeout", "late"))
    assert as_written(failed, MARKS) is failed
    never = said("yes;no")
    assert as_written(never, MARKS, stops=(";",)).texts == ("yes;no",)


def test_tokens_are_counted_without_special_ones():
    calls = []

    def tokenizer(texts, **options):
        calls.append(options)
        return {"input_ids": [list(text) for text in texts]}

    assert (token_counter(tokenizer)("abc"), calls) == (3, [{"add_special_tokens": False}])


def test_thoughts_that_came_apart_make_a_text_an_answer():
    found = heard(said("yes", thoughts=("hm",)), MARKS)
    assert (found.texts, found.thoughts, found.written) == (("yes",), ("hm",), ("yes",))
    nothing = said("yes", thoughts=("",))
    assert heard(nothing, MARKS) is nothing


def test_answers_need_not_say_why_they_ended():
    found = heard(Response(("<think>hm</think>yes", "no")), MARKS)
    assert (found.texts, found.finish_reasons) == (("yes", "no"), ())


def test_of_several_answers_a_turn_is_the_first_with_its_thoughts():
    reply = Response(("yes", "no"), thoughts=("hm", "ah"))
    assert turn_of(reply, with_thoughts=True)["reasoning_content"] == "hm"


def test_what_was_written_is_no_longer_told_apart():
    found = as_written(heard(said("<think>hm</think>yes"), MARKS), MARKS)
    assert (found.texts, found.written) == (("<think>hm</think>yes",), ())
    assert heard(found, MARKS).texts == ("yes",)
