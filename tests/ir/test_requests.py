import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import (
    Choose,
    Converse,
    Decoding,
    Exchange,
    Failure,
    Generate,
    Likelihood,
    Pair,
    Prompt,
    Response,
    Rolling,
    Span,
    Turn,
    turn,
)
from proctor.ir.question import Answered, AnsweredBlocks, Question
from proctor.ir.requests import several_answers


def test_equal_requests_have_equal_keys_whatever_the_order_of_their_dicts():
    first = Generate(Prompt([{"role": "user", "content": "hi"}]), Decoding(extra={"a": 1, "b": 2}))
    second = Generate(Prompt([{"content": "hi", "role": "user"}]), Decoding(extra={"b": 2, "a": 1}))
    assert first.key == second.key


def test_every_part_of_a_request_changes_its_key():
    requests = [
        Generate(Prompt("a")),
        Generate(Prompt("b")),
        Generate(Prompt("a"), Decoding(max_tokens=3)),
        Generate(Prompt("a"), Decoding(stop=("\n",))),
        Generate(Prompt([{"role": "user", "content": "a"}])),
        Choose((Pair(Prompt("a"), "b"),)),
        Choose((Pair(Prompt("a"), "b"), Pair(Prompt("a"), "c"))),
        Likelihood(Prompt("a"), "b"),
        Rolling("a"),
        Rolling("a", from_start=False),
        Rolling("a", messages=({"role": "user", "content": "a"},)),
        Rolling("a", messages=({"role": "user", "content": "b"},)),
        Converse(({"role": "user", "content": "a"}, None)),
    ]
    assert len({request.key for request in requests} - {None}) == len(requests)


def test_pictures_count_by_what_is_in_them():
    def key(picture):
        return Generate(Prompt([{"role": "user", "content": [picture]}])).key

    assert key(np.zeros(4)) == key(np.zeros(4)) != key(np.ones(4))
    assert key(np.zeros(4)) != key(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="a request cannot hold a object"):
        key(object())


def test_several_answers_are_found_under_every_name_that_asks_for_them():
    assert several_answers({"temperature": 2, "n": 3}) == ("n", 3)
    assert several_answers({"extra_body": {"top_k": 4}, "extra": {"num_return_sequences": "2"}}) == (
        "num_return_sequences",
        "2",
    )
    assert several_answers({"n": 1, "count": None, "candidate_count": "1", "extra": {}, "top_k": 4}) is None


def test_an_exchange_has_words_of_its_question_and_of_its_opening():
    turns = (turn("user", "One? "), turn("user", "Two?"))
    assert Exchange(turns, (turn("system", "Be "), turn("system", "brief."))).instruction == "Be brief."
    assert (Exchange(turns).source, Exchange(turns[:1]).source, Exchange(turns).instruction) == (
        "One? Two?",
        "One? ",
        "",
    )


def test_the_first_failure_says_why_there_is_nothing_to_grade():
    late, lost = Failure("timeout", "late"), Failure("data", "no such row")
    asked = Question(0, {}, Exchange(()), ())
    assert Answered(asked, [Response(("a",)), Response(failure=late)]).failure == late
    assert Answered(asked, [Response(("a",))]).failure is None
    assert Answered(Question(0, {}, Exchange(()), (), failure=lost), [Response(failure=late)]).failure == lost


def test_keys_are_the_same_in_every_process():
    code = "from proctor.ir import *; print(Generate(Prompt('ü'), Decoding(extra={'a': [1, None]})).key)"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {Generate(Prompt("ü"), Decoding(extra={"a": [1, None]})).key + "\n"}


@given(st.text(), st.text())
def test_a_boundary_between_context_and_continuation_counts(first, second):
    if second:
        moved = Likelihood(Prompt(first + second[0]), second[1:])
        assert Likelihood(Prompt(first), second).key != moved.key


def test_a_prompt_is_explained_once_and_only_when_looked_at():
    calls = []

    def explain():
        calls.append(1)
        return (Turn("user", (Span("x", "question"),)),)

    prompt = Prompt("x", explain)
    assert not calls
    assert prompt.spans == prompt.spans == (Span("x", "question"),)
    assert calls == [1]


def test_a_string_prompt_is_one_user_message_where_messages_are_wanted():
    assert Prompt("hi").messages == ({"role": "user", "content": "hi"},)
    assert Prompt([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}]).text == "a"


def test_keys_know_a_decoding_that_was_changed_inside():
    decoding = Decoding(extra={"num_beams": 2})
    before = Generate(Prompt("q"), decoding).key
    decoding.extra["num_beams"] = 3
    assert Generate(Prompt("q"), decoding).key != before == Generate(Prompt("q"), Decoding(extra={"num_beams": 2})).key


@given(
    st.lists(st.sampled_from([Decoding(), Decoding(7), Decoding(stop=("x",)), Decoding(extra={"a": 1})]), max_size=6)
)
def test_keys_do_not_depend_on_what_was_asked_before(decodings):
    from proctor.ir.requests import content_key

    for each in decodings:
        assert Generate(Prompt("q"), each).key == content_key("generate", "q", each.content)


def test_answers_come_one_by_one_or_some_at_a_time():
    one, two, three = (Answered(Question(number, {}, Exchange(()), ()), ()) for number in range(3))
    assert list(AnsweredBlocks([(one, two), (three,)])) == [one, two, three]
    assert list(AnsweredBlocks([(one, two), (three,)]).blocks) == [(one, two), (three,)]
