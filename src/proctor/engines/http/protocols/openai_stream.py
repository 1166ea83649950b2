"""Streamed answers of the OpenAI protocol: server-sent events, put together again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from proctor.engines.http.protocols.openai_shapes import (
    BROKEN,
    REFUSAL,
    FewerAnswersError,
    TextLogProbs,
    UsageReply,
    answer_text,
    ended_with_calls,
    tokens_of,
    usage_of,
)
from proctor.engines.http.protocols.reasoning import Thinks, content_parts, first_of, model_of, thoughts_beside
from proctor.engines.http.retrying_client import ReplyError, SaidError
from proctor.ir import Response, TokenLogProbability, Usage, is_cut_off, is_filtered_end

_DONE = b"[DONE]"


class _Function(Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(Struct):
    index: int = 0
    function: _Function | None = None


class _Delta(Thinks):
    content: str | list[Any] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    index: int = 0
    delta: _Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    logprobs: TextLogProbs | None = None


class _Groq(Struct):
    usage: UsageReply | None = None


class _Event(Struct):
    choices: list[_Choice] = []
    usage: UsageReply | None = None
    x_groq: _Groq | None = None
    error: Any = None
    object: Any = None
    message: Any = None
    model: Any = None

    @property
    def complaint(self) -> Any:
        """The server's error, or ``None``: ``error``, or the event itself (vLLM before 0.10)."""
        return self.error or (self.message or "an error" if self.object == "error" else None)


_EVENT = msgspec.json.Decoder(_Event)


class _Answer:
    """One answer as it grows."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.thoughts: dict[str, list[str]] = {}
        self.thought_parts: list[str] = []
        self.reason = ""
        self.is_refused = False
        self.calls: dict[int, tuple[list[str], list[str]]] = {}
        self.tokens: list[TokenLogProbability] = []
        self.has_words = self.has_content = False

    def add(self, choice: _Choice) -> None:
        answer, thoughts = content_parts(choice.delta.content if choice.delta else None)
        self.pieces.append(choice.text or answer)
        self.has_words = self.has_words or choice.delta is not None or choice.text is not None
        self.has_content = self.has_content or choice.text is not None or (choice.delta or _Delta()).content is not None
        self.thought_parts.append(thoughts)
        for place, words in thoughts_beside(choice.delta).items() if choice.delta else ():
            self.thoughts.setdefault(place, []).append(words)
        self.is_refused = self.is_refused or bool(choice.delta and choice.delta.refusal)
        self.reason = REFUSAL if self.is_refused else choice.finish_reason or self.reason
        for call in (choice.delta.tool_calls if choice.delta else None) or ():
            names, arguments = self.calls.setdefault(call.index, ([], []))
            if call.function is not None:
                names.append(call.function.name or "")
                arguments.append(call.function.arguments or "")
        self.tokens += tokens_of(choice.logprobs)

    def is_empty(self) -> bool:
        """Whether no content came, not even an empty text, and nothing says why."""
        said = self.has_content or self.calls or self.is_refused or self.thought()
        return not (said or is_cut_off(self.reason) or is_filtered_end(self.reason))

    def thought(self) -> str:
        return first_of({place: "".join(pieces) for place, pieces in self.thoughts.items()}) or "".join(
            self.thought_parts
        )

    def words(self, *, offers_tools: bool) -> str:
        calls = [("".join(names), "".join(arguments)) for _, (names, arguments) in sorted(self.calls.items())]
        return answer_text("".join(self.pieces), calls, offers_tools=offers_tools)


def parse_stream(
    body: bytes, count: int = 1, *, thoughts_in_total: bool = False, offers_tools: bool = True
) -> Response:
    """Return the response in a streamed reply; arguments are those of :func:`~.openai_shapes.parse_chat`.

    Raises:
        ReplyError: The stream broke off, carries an error, or has fewer answers than were asked for.
        msgspec.DecodeError: An event is not JSON.
    """
    answers: dict[int, _Answer] = {}
    usage, is_done, model = Usage(), False, ""
    for data, is_error in _events(body):
        if data == _DONE:
            is_done = True
            break
        event = _EVENT.decode(data)
        if said := event.complaint or (is_error and (event.message or data.decode(errors="replace"))):
            raise SaidError(f"the server says in the middle of its answer: {said}", data)
        model = model or model_of(event.model)
        for choice in event.choices:
            answers.setdefault(choice.index, _Answer()).add(choice)
        counted = event.usage if event.x_groq is None else event.usage or event.x_groq.usage
        if counted is not None:
            usage = usage_of(counted, thoughts_in_total=thoughts_in_total)
    found = [answers[index] for index in sorted(answers)][:count]
    _check(found, count, is_done=is_done)
    thoughts = tuple(answer.thought() for answer in found)
    return Response(
        texts=tuple(answer.words(offers_tools=offers_tools) for answer in found),
        thoughts=thoughts if any(thoughts) else (),
        finish_reasons=tuple(ended_with_calls(answer.reason) if answer.calls else answer.reason for answer in found),
        tokens=tuple(tuple(answer.tokens) for answer in found) if any(answer.tokens for answer in found) else (),
        usage=usage,
        model=model,
    )


def _check(found: Sequence[_Answer], count: int, *, is_done: bool) -> None:
    """Look at the answers of a stream; errors are those of :func:`parse_stream`."""
    if not (is_done or (found and all(answer.reason for answer in found))):
        raise ReplyError("the stream broke off")
    if not found:
        raise ReplyError("the stream has no answer")
    if not all(answer.has_words for answer in found):
        raise ReplyError("the stream has no words of an answer, neither in 'delta' nor in 'text'")
    if broken := next((answer.reason for answer in found if answer.reason in BROKEN), None):
        raise ReplyError(f"the server ended the answer with '{broken}'")
    if any(answer.is_empty() for answer in found):
        raise ReplyError("the stream has no content: neither text nor a call of a tool nor a refusal")
    if len(found) < count:
        raise FewerAnswersError(count, len(found))


def _events(body: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield the data of each event, and whether it is called an error; servers put one JSON document on one line."""
    start, is_error = 0, False
    while start < len(body):
        end = body.find(b"\n", start)
        end = len(body) if end < 0 else end
        if body.startswith(b"event:", start):
            is_error = body[start + len(b"event:") : end].strip() == b"error"
        elif body.startswith(b"data:", start):
            yield body[start + len(b"data:") : end].strip(), is_error
        elif not body[start:end].strip():  # a blank line ends an event
            is_error = False
        start = end + 1
