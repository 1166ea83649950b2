"""Replies of the OpenAI protocol that are none: what is said beside answers, answers of nothing, numbers of no meaning."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from proctor.engines.http.protocols.openai import parse_prompt_scores
from proctor.engines.http.protocols.openai_echo import parse_echo
from proctor.engines.http.protocols.openai_shapes import FewerAnswersError, parse_chat, parse_completion
from proctor.engines.http.retrying_client import ReplyError
from proctor.ir import Response


def reply(content: Any, *, written: int | None = 1, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"content": content, **message}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": written}}


def chat(body: dict[str, Any]) -> Response:
    return parse_chat(json.dumps(body).encode())


@pytest.mark.parametrize("error", ["out of memory", {"message": "out of memory"}, ["out of memory"]])
@pytest.mark.parametrize(
    "parse, choice",
    [
        (parse_chat, {"message": {"content": "Par"}}),
        (parse_completion, {"text": "Par"}),
        (lambda body: parse_echo(body, "a b", 1), {"text": "a b"}),
    ],
)
def test_an_answer_beside_an_error_is_none(parse: Callable[[bytes], Any], choice: dict[str, Any], error: Any) -> None:
    with pytest.raises(ReplyError, match="out of memory"):
        parse(json.dumps({"choices": [choice], "error": error}).encode())


@pytest.mark.parametrize("error", [None, {}, "", False])
def test_an_error_that_says_nothing_is_none(error: Any) -> None:
    assert chat({**reply("Paris"), "error": error}).text == "Paris"


@pytest.mark.parametrize("written", [0, 1, None])
def test_content_that_is_null_is_no_answer(written: int | None) -> None:
    with pytest.raises(ReplyError, match="the reply has no content"):
        chat(reply(None, written=written))
    assert chat(reply("", written=written)).text == ""


def test_text_beside_calls_of_tools_is_the_answer_where_no_tools_were_offered() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "add", "arguments": "{}"}}]
    body = json.dumps({"choices": [{"message": {"content": "42", "tool_calls": calls}, "finish_reason": "stop"}]})
    called = '{"name": "add", "arguments": {}}'
    assert parse_chat(body.encode(), offers_tools=True).text == called
    assert parse_chat(body.encode(), offers_tools=False).text == "42"
    assert parse_chat(body.replace('"42"', "null").encode(), offers_tools=False).text == called


def test_a_refusal_is_one_whatever_the_content() -> None:
    assert chat(reply(None, written=0, refusal="no")).finish_reasons == ("refusal",)


def completion(*choices: dict[str, Any], count: int = 1) -> Response:
    return parse_completion(json.dumps({"choices": list(choices)}).encode(), count)


def test_several_answers_are_in_the_order_of_their_indexes_each_once() -> None:
    listed = [{"index": 1, "text": "b"}, {"index": 0, "text": "a"}, {"index": 1, "text": "again"}]
    assert completion(*listed, count=2).texts == ("a", "b")
    assert completion({"text": "a"}, {"text": "b"}, {"text": "c"}, count=2).texts == ("a", "b")
    assert completion({"index": 7, "text": "a"}).texts == ("a",)
    with pytest.raises(FewerAnswersError):
        completion({"index": 0, "text": "a"}, {"index": 0, "text": "b"}, count=2)
    with pytest.raises(ReplyError, match="no choices"):
        completion()
    for reason in ("error", "abort"):
        with pytest.raises(ReplyError, match=f"the server ended the answer with '{reason}'"):
            completion({"index": 0, "text": "a", "finish_reason": reason})


def echoed(value: float) -> dict[str, Any]:
    found = {"tokens": ["a", " b"], "token_logprobs": [None, value], "text_offset": [0, 1]}
    return {"choices": [{"text": "a b", "logprobs": found}], "usage": {"prompt_tokens": 2, "completion_tokens": 0}}


@pytest.mark.parametrize("value, is_one", [(-0.5, True), (0.0, True), (2e-7, True), (0.5, False), (12.0, False)])
def test_numbers_above_nought_are_no_log_probabilities(value: float, is_one: bool) -> None:
    ways: list[Callable[[], Any]] = [
        lambda: parse_echo(json.dumps(echoed(value)).encode(), "a b", 1),
        lambda: parse_prompt_scores(json.dumps({"prompt_logprobs": [None, {"2": {"logprob": value}}]}).encode()),
    ]
    for way in ways:
        if is_one:
            way()
        else:
            with pytest.raises(ReplyError, match="none is above 0"):
                way()
