"""Likelihoods of text that the model did not write, by ``echo`` with ``logprobs`` on the completions endpoint.

Which tokens belong to a continuation is found by laying the tokens over the text, and not by the server's
``text_offset``, because servers differ in it (sources of the versions named):

- vLLM 0.33 counts the characters of special tokens that the prompt does not show (``<|begin_of_text|>``), of
  characters that span several tokens, and of blanks that some tokenizers swallow, so that offsets drift;
- SGLang 0.5.23 writes -1 everywhere;
- a token that holds a part of a character is ``""`` (vLLM), U+FFFD (SGLang, older vLLM), or text of its bytes (OpenAI).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from proctor.engines.http.protocols.openai_shapes import (
    TEXT_REPLY,
    TextChoice,
    TextLogProbs,
    TextReply,
    check_said,
    total_of,
    usage_of,
)
from proctor.engines.http.protocols.reasoning import model_of
from proctor.engines.http.retrying_client import CallError, ReplyError
from proctor.ir import Failure, Response, Scored

NO_ECHO = (
    "the server does not return log-probabilities of the prompt, which scoring needs: use a server that supports echo "
    "with logprobs on completions (vLLM and SGLang do), scoring=llamacpp with llama.cpp's server, hf, or "
    "endpoint=chat, which asks multiple choice as text"
)
ECHO = {"echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0.0}
"""Asks a completions server for the log-probabilities of the prompt. One token is generated, and left out again,
because several servers refuse to generate none."""
_PARTIAL = "\ufffd"
Span = tuple[int, int]


class BoundaryError(CallError):
    """The last character of the context shares unreadable tokens with the first of the continuation.

    Attributes:
        body: The reply; :func:`parse_echo` reads it when it is told how many tokens the context has.
    """

    def __init__(self, body: bytes) -> None:
        message = "it cannot be told which of the server's tokens belong to the continuation; use hf or vllm"
        super().__init__(Failure("engine", message, retryable=False))
        self.body = body


def parse_echo(
    body: bytes, text: str, start: int, *, skips_first: bool = False, context_tokens: Sequence[str] | None = None
) -> Response:
    """Return the likelihood of ``text[start:]`` after ``text[:start]``, from the echo of ``text``.

    A token belongs to the continuation when any of its characters do: a token that reaches over the boundary is
    counted, because the continuation cannot be written without it. With ``skips_first`` the first token is left out
    even where the server has a likelihood for it.

    Args:
        body: The reply.
        text: Context and continuation, as they were sent.
        start: Where the continuation begins.
        skips_first: Whether to leave out the first token.
        context_tokens: Tokens of the context alone, where the texts of tokens do not tell.

    Raises:
        BoundaryError: The texts of the tokens do not tell where the continuation begins.
        CallError: The server does not echo.
        ReplyError, msgspec.DecodeError: Some tokens have no log-probabilities.
    """
    reply = TEXT_REPLY.decode(body)
    check_said(reply.error, body)
    found, tokens, has_more = _echoed(reply, text, start)
    if context_tokens is not None:
        if tokens[: len(context_tokens)] != list(context_tokens):
            raise BoundaryError(body)
        inside = list(range(len(context_tokens), len(tokens) - has_more))
    else:
        spans = align(tokens, text, has_more=has_more) or _trusted(found, len(tokens), text)
        if spans is None or (start and _is_blurred(spans, start, tokens, text)):
            raise BoundaryError(body)
        inside = [index for index, (begin, end) in enumerate(spans) if begin < len(text) and end > max(start, begin)]
    if not inside and start < len(text):
        raise CallError.of("engine", NO_ECHO)
    score = _sum(found, inside, is_start_unknown=start == 0, skips_first=skips_first)
    return Response(scores=(score,), usage=usage_of(reply.usage), model=model_of(reply.model))


def parse_context(body: bytes, text: str) -> Response:
    """Return the texts of the tokens that an echo of ``text`` has, as ``texts``; errors as in :func:`parse_echo`."""
    reply = TEXT_REPLY.decode(body)
    check_said(reply.error, body)
    _, tokens, has_more = _echoed(reply, text, len(text))
    return Response(texts=tuple(tokens[:-1] if has_more else tokens), usage=usage_of(reply.usage))


def _echoed(reply: TextReply, text: str, start: int) -> tuple[TextLogProbs, list[str], bool]:
    """Return the log-probabilities of a reply, its tokens, and whether the last of these may have been generated.

    Where the reply counts the tokens that it read, those that it wrote are left out.

    Raises:
        CallError: The server does not echo.
        ReplyError: The lists have different lengths.
    """
    if not reply.choices:
        raise ReplyError("the reply has no choices")
    choice = _beside(reply) or reply.choices[0]
    if (found := choice.logprobs) is None or found.content is not None:
        raise CallError.of("engine", NO_ECHO)
    found.tokens, found.token_logprobs = found.tokens or [], found.token_logprobs or []
    if found.tokens and not choice.text.startswith(text[: start or len(text)]):
        raise CallError.of("engine", NO_ECHO)
    if len(found.tokens) != len(found.token_logprobs):
        raise ReplyError(f"{len(found.tokens)} tokens have {len(found.token_logprobs)} log-probabilities")
    if choice is not reply.choices[0]:
        return found, list(found.tokens), False
    usage = usage_of(reply.usage)
    if usage.prompt_tokens and usage.prompt_tokens + usage.completion_tokens == len(found.tokens):
        return found, found.tokens[: usage.prompt_tokens], False
    return found, list(found.tokens), len(found.tokens) > 1


def _beside(reply: TextReply) -> TextChoice | None:
    """Return the echo that Together AI writes beside the choices, under ``prompt``."""
    if not isinstance(reply.prompt, list) or not reply.prompt:
        return None
    try:
        return msgspec.convert(reply.prompt[0], TextChoice)
    except msgspec.ValidationError:
        return None


def align(tokens: Sequence[str], text: str, *, has_more: bool = False) -> list[Span] | None:
    """Return the start and end of each token in a text; ``None`` where they do not belong together.

    Tokens that the text does not show (special tokens) begin and end at the same place. Several tokens that share
    characters, none of which is readable by itself, have the same begin and end. Tokens beyond the text end one
    character after it; with ``has_more`` there may be one, which the end of the text does not have to show.
    """
    spans: list[Span] = []
    unread: list[str] = []
    position = 0
    for token in tokens:
        place = _place(token, text, position, unread)
        if place is None:
            unread.append(token)
            continue
        begin, end = place
        spans += _unread_spans(unread, position, begin, text)
        unread = []
        spans.append((begin, end))
        position = end
    if len(unread) == len(tokens) > 1:
        return None
    if has_more and len(unread) > 1 and position < len(text):
        return [*spans, *_unread_spans(unread[:-1], position, len(text), text), (len(text), len(text) + 1)]
    return [*spans, *_unread_spans(unread, position, len(text), text)]


def _place(token: str, text: str, position: int, unread: Sequence[str]) -> Span | None:
    """Return where a token stands at or, after tokens that could not be read, soon behind a position."""
    if not token or (position >= len(text)):
        return (len(text), len(text) + 1) if position >= len(text) and not unread else None
    if any(_PARTIAL in each for each in unread):
        most = position + sum(map(len, unread)) + len(unread) + len(token)
        return _found(token, text, _least_end(unread, text, position), most)
    if text.startswith(token, position):
        return position, position + len(token)
    bare = token.lstrip(" ")
    if not bare or _PARTIAL in token:
        return None
    blanks = len(text) - position - len(text[position:].lstrip(" \t\r\n"))
    begin = text.find(bare, position, position + blanks + len(bare))
    if begin >= 0:  # a tokenizer that writes no blanks, or one too many at the start
        return position, begin + len(bare)
    most = position + sum(max(1, len(each)) for each in unread) + len(token)
    return _found(token, text, position, most) if unread else None


def _least_end(unread: Sequence[str], text: str, position: int) -> int:
    """Return where tokens that hold parts of characters end at the soonest, by the blanks and letters among them."""
    is_open = False
    for token in unread:
        readable = token.replace(_PARTIAL, "")
        if readable and _PARTIAL in token and (begin := text.find(readable, position + is_open)) >= 0:
            position, is_open = begin + len(readable), token.endswith(_PARTIAL)
        else:
            is_open = is_open or _PARTIAL in token
    return position + is_open


def _found(token: str, text: str, least: int, most: int) -> Span | None:
    begin = -1 if _PARTIAL in token else text.find(token, least, most)
    return (begin, begin + len(token)) if begin >= 0 else None


def _unread_spans(unread: Sequence[str], begin: int, end: int, text: str) -> list[Span]:
    if begin < end:
        if len(unread) == len(text[begin:end].encode()):  # a token for each byte
            return [(begin + index, begin + index + 1) for index, size in _bytes(text[begin:end]) for _ in range(size)]
        return [(begin, end)] * len(unread)
    # A token without text is the first part of the next character that has parts, perhaps with blanks before it; others
    # are special tokens.
    first = next((index for index in range(begin, len(text)) if not text[index].isascii()), begin)
    parts = [(begin, first + 1), *[(first, first + 1)] * len(unread)]
    return [(begin, begin) if token else parts[min(unread[:index].count(""), 1)] for index, token in enumerate(unread)]


def _bytes(text: str) -> list[tuple[int, int]]:
    return [(index, len(character.encode())) for index, character in enumerate(text)]


def _is_blurred(spans: Sequence[Span], start: int, tokens: Sequence[str], text: str) -> bool:
    """Return whether several tokens share characters on both sides of a place."""
    if any(one == other and one[0] < start < one[1] for one, other in pairwise(spans)):
        return True
    for index, (begin, end) in enumerate(spans):
        if not index or tokens[index - 1] or not tokens[index]:
            continue
        # A token without text comes before it, which may hold whole characters of those that are shown here.
        wide = [index for index in range(begin, min(end, len(text))) if not text[index].isascii()]
        if wide and wide[0] < start <= wide[-1]:
            return True
    return False


def _trusted(found: TextLogProbs, count: int, text: str) -> list[Span] | None:
    """Return where tokens stand by the server's own offsets, where these can be true."""
    offsets = (found.text_offset or [])[:count]
    if len(offsets) < count or any(later < sooner for sooner, later in pairwise(offsets)):
        return None
    if not offsets or offsets[0] < 0 or offsets[-1] > len(text):
        return None
    return list(zip(offsets, [*offsets[1:], len(text) + 1], strict=True))


def _sum(found: TextLogProbs, inside: list[int], *, is_start_unknown: bool, skips_first: bool) -> Scored:
    values = found.token_logprobs or []
    if inside and (skips_first or (is_start_unknown and values[inside[0]] is None)):
        # Without a token before it, the first token of a text has no likelihood.
        inside = inside[1:]
        if not inside:
            raise CallError.of("engine", "the first token of a text has no log-probability, and there is no other")
    known = [value for index in inside if (value := values[index]) is not None]
    if len(known) < len(inside):
        raise ReplyError("some tokens have no log-probability")
    return Scored(total_of(known), _is_greedy(found, inside), len(known))


def _is_greedy(found: TextLogProbs, inside: list[int]) -> bool:
    best, values = found.top, found.token_logprobs or []
    for index in inside:
        top, value = best[index] if index < len(best) else None, values[index]
        if not top or value is None or max(top.values()) > value:
            return False
    return True
