"""Prompts that a server finds too long."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.transport import Reply
from proctor.errors import ValidationError
from proctor.ir import Choose, Generate, Likelihood, Pair, Prompt, Rolling, Span, Turn

ROOM = 40
"""Words that fit into the context of the server."""


class SmallServer:
    """Answers with the number of words it was sent, refuses more than fit, and counts."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float) -> Reply:
        sent = json.loads(body)
        text = sent.get("prompt") or " ".join(message["content"] for message in sent["messages"])
        count = len(text.split())
        self.lengths.append(count)
        if count > ROOM:
            said = f"This model's maximum context length is {ROOM} tokens. However, your messages resulted in {count}."
            return Reply(400, {}, json.dumps({"error": {"message": said}}).encode())
        if "messages" in sent:
            return Reply(200, {}, json.dumps({"choices": [{"message": {"content": str(count)}}]}).encode())
        tokens = text.split(" ")
        offsets = [len(" ".join(tokens[:index])) for index in range(len(tokens))]
        found = {"tokens": tokens, "token_logprobs": [None] + [-1.0] * (len(tokens) - 1), "text_offset": offsets}
        found["top_logprobs"] = [None] + [{"other": -0.5}] * (len(tokens) - 1)
        return Reply(200, {}, json.dumps({"choices": [{"text": text, "logprobs": found}]}).encode())

    async def close(self) -> None:
        """Nothing is open."""


def prompt(demos: int, words: int = 10) -> Prompt:
    spans = [Span(f"{'word ' * words}\n", f"demo[{n}].question") for n in range(demos)]
    spans.append(Span("the question", "question"))
    return Prompt("".join(span.text for span in spans), lambda: (Turn("user", tuple(spans)),))


def ask(requests: list[Any], **options: Any) -> tuple[list[Any], SmallServer]:
    server = SmallServer()
    engine = OpenAIEngine(model="m", base_url="http://small", max_concurrency=1, **options)
    engine._make_transport = lambda: server
    method = engine.generate if isinstance(requests[0], Generate) else engine.score
    return [response for _, response in sorted(method(requests), key=lambda pair: pair[0])], server


def test_the_failure_says_by_how_much_and_what_to_do():
    (response,), server = ask([Generate(prompt(6))])
    assert response.failure.kind == "context_too_long"
    assert "too long by 22 tokens" in response.failure.message
    assert "--truncate demos" in response.failure.message
    assert server.lengths == [62]


def test_whole_demonstrations_are_dropped_until_it_fits():
    (long, short), server = ask([Generate(prompt(6)), Generate(prompt(1))], truncate="demos")
    assert (long.text, short.text) == ("32", "12")
    assert server.lengths == [62, 52, 42, 32, 12]


def test_what_does_not_fit_without_demonstrations_either_says_so():
    (response,), server = ask([Generate(prompt(2, words=0)), Generate(prompt(2))][:1], truncate="demos")
    assert response.failure is None
    whole = Prompt(f"{'demo ' * 5}\n{'long ' * 50}", lambda: _turn("demo " * 5 + "\n", "long " * 50))
    (response,), server = ask([Generate(whole)], truncate="demos")
    assert response.failure.kind == "context_too_long"
    assert "too long by 10 tokens" in response.failure.message
    assert "without any demonstrations" in response.failure.message
    assert "--truncate" not in response.failure.message
    assert server.lengths == [55, 50]


def _turn(demo: str, question: str) -> tuple[Turn, ...]:
    return (Turn("user", (Span(demo, "demo[0].question"), Span(question, "question"))),)


def test_choices_lose_the_same_demonstrations():
    context = prompt(5)
    choose = Choose((Pair(context, " yes"), Pair(context, " no")))
    (response,), server = ask([choose], endpoint="completions", truncate="demos")
    assert response.failure is None, response.failure
    assert [score.log_likelihood for score in response.scores] == [-1.0, -1.0]
    assert server.lengths == [53, 43, 33, 33]


def test_likelihoods_are_shortened_and_texts_are_not():
    (one, text), _ = ask(
        [Likelihood(prompt(5), " yes"), Rolling("word " * 50)], endpoint="completions", truncate="demos"
    )
    assert one.failure is None
    assert text.failure.kind == "context_too_long"


def test_it_decides_the_answers_only_where_it_is_asked_for():
    plain = OpenAIEngine(model="m")
    assert plain.identity == OpenAIEngine(model="m", truncate="none").identity
    assert plain.identity != OpenAIEngine(model="m", truncate="demos").identity


def test_other_policies_need_the_tokenizer():
    with pytest.raises(ValidationError, match="truncate"):
        OpenAIEngine(model="m", truncate="left")
