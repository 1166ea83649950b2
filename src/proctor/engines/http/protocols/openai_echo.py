"""Likelihoods of text that the model did not write, by ``echo`` with ``logprobs`` on the completions endpoint.

Which tokens belong to a continuation is found by laying the tokens over the text, and not by the server's
``text_offset``, because servers differ in it (sources of the versions named):

- vLLM 0.33 counts the characters of special tokens that the prompt does not show (``<|begin_of_text|>``), of
  characters that span several tokens, and of blanks that some tokenizers swallow, so that offsets drift;
- SGLang 0.5.23 writes -1 everywhere;
- a token that holds a part of a character is ``""`` (vLLM), U+FFFD (SGLang, older vLLM), or text of its bytes (OpenAI).
"""

from __future__ import annotations

import re
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
_NO_OTHER = "the first token of a text has no log-probability, and there is no other"
WITHOUT_FIRST = "echo without the first token"
"""What :attr:`Response.way` says where nothing stands before a text, and the server has no likelihood of its start."""
ECHO = {"echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0.0}
"""Asks a completions server for the log-probabilities of the prompt. One token is generated, and left out again,
because several servers refuse to generate none."""
_PARTIAL = "\ufffd"
_WIDE = re.compile(r"[^\x00-\x7f]")
_BLANKS = re.compile(r"[ \t\r\n]+")
_MOST_LOST = 256
"""Readable tokens in a row that the text does not show: templates of chats have a dozen, other texts all of theirs."""
Span = tuple[int, int]


class FirstTokenError(CallError):
    """A text is one token, which nothing comes before."""


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
    way = WITHOUT_FIRST if score.token_count < len(inside) and not skips_first else ""
    return Response(scores=(score,), usage=usage_of(reply.usage), model=model_of(reply.model), way=way)


def parse_context(body: bytes, text: str) -> Response:
    """Return the texts of the tokens that an echo of ``text`` has, as ``texts``; errors as in :func:`parse_echo`."""
    reply = TEXT_REPLY.decode(body)
    check_said(reply.error, body)
    _, tokens, has_more = _echoed(reply, text, len(text))
    return Response(texts=tuple(tokens[:-1] if has_more else tokens), usage=usage_of(reply.usage))


def _echoed(reply: TextReply, text: str, start: int) -> tuple[TextLogProbs, list[str], bool]:
    """Return the log-probabilities of a reply, its tokens, and whether the last of these may have been generated."""
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

    It takes time in proportion to the tokens and the text, whatever the server wrote.
    """
    spans: list[Span] = []
    unread = _Unread(text)
    for token in tokens:
        if token and not unread.tokens and text.startswith(token, unread.position):  # nearly always
            begin = unread.position
            unread.position = begin + len(token)
            spans.append((begin, unread.position))
            continue
        unread.begin()
        place = unread.place_of(token)
        if place is None:
            if unread.lost > _MOST_LOST:
                return None
            unread.add(token)
            continue
        begin, end = place
        spans += unread.spans(begin)
        spans.append((begin, end))
        unread.move_to(end)
    if len(unread.tokens) == len(tokens) > 1:
        return None
    if has_more and len(unread.tokens) > 1 and unread.position < len(text):
        unread.tokens.pop()
        return [*spans, *unread.spans(len(text)), (len(text), len(text) + 1)]
    return [*spans, *unread.spans(len(text))]


class _Unread:
    """The tokens since the last one whose place in the text is known, with what looking for the next place needs."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._wide = -1
        self.position = self._after = 0
        self.tokens: list[str] = []
        self.begin()

    def move_to(self, position: int) -> None:
        """Begin again behind a token that was found."""
        self.position = position
        self.tokens.clear()
        self.begin()

    def begin(self) -> None:
        """Forget what is known of tokens where there are none: the position may have moved."""
        if not self.tokens:
            self._least = self.position
            self._size = self._blank = self.lost = 0
            self._is_partial = self._is_open = False

    def add(self, token: str) -> None:
        """Take a token that was not found."""
        self.tokens.append(token)
        self._size += len(token)
        self._blank += not token
        readable = token.replace(_PARTIAL, "")
        is_partial = _PARTIAL in token
        most = self.position + self._size + len(self.tokens)
        begin = self._text.find(readable, self._least + self._is_open, most) if readable and is_partial else -1
        if begin >= 0:
            self._least, self._is_open = begin + len(readable), token.endswith(_PARTIAL)
        else:
            self._is_open = self._is_open or is_partial
            self.lost += bool(readable) and is_partial
        self._is_partial = self._is_partial or is_partial

    def place_of(self, token: str) -> Span | None:
        """Return where a token stands at the position or, after tokens that could not be read, soon behind it."""
        text, position = self._text, self.position
        if not token or position >= len(text):
            return (len(text), len(text) + 1) if position >= len(text) and not self.tokens else None
        if self._is_partial:
            most = position + self._size + len(self.tokens) + len(token)
            return self._found(token, self._least + self._is_open, most)
        if text.startswith(token, position):
            return position, position + len(token)
        return self._behind_blanks(token, token.lstrip(" "))

    def _behind_blanks(self, token: str, bare: str) -> Span | None:
        """Return where a token stands behind blanks that it does not have, or without one that it has."""
        text, position = self._text, self.position
        if not bare or _PARTIAL in token:
            return None
        blanks = self._blanks()
        if (begin := text.find(bare, position, position + blanks + len(bare))) >= 0:
            return position, begin + len(bare)
        most = position + self._size + self._blank + len(token)
        if self.tokens:
            return self._found(token, position, most)
        self.lost += 1
        return None

    def _blanks(self) -> int:
        """Return how many blanks stand at the position; they are counted once, however many tokens stumble there."""
        if not self.lost:
            found = _BLANKS.match(self._text, self.position)
            self._after = found.end() if found else self.position
        return self._after - self.position

    def _found(self, token: str, least: int, most: int) -> Span | None:
        if _PARTIAL in token:
            return None
        begin = self._text.find(token, least, most)
        self.lost += begin < 0
        return (begin, begin + len(token)) if begin >= 0 else None

    def spans(self, end: int) -> list[Span]:
        """Return where the tokens stand, if the next known one begins at ``end``."""
        unread, begin, text = self.tokens, self.position, self._text
        if not unread:
            return []
        if begin < end:
            if len(unread) == len(text[begin:end].encode()):  # a token for each byte
                return [
                    (begin + index, begin + index + 1) for index, size in _bytes(text[begin:end]) for _ in range(size)
                ]
            return [(begin, end)] * len(unread)
        # A token without text is the first part of the next character that has parts, perhaps with blanks before it;
        # others are special tokens.
        first = self._next_wide()
        spans: list[Span] = []
        is_inside = False
        for token in unread:
            spans.append((begin, begin) if token else (first, first + 1) if is_inside else (begin, first + 1))
            is_inside = is_inside or not token
        return spans

    def _next_wide(self) -> int:
        """Return where the next character with parts stands; the position where there is none."""
        if self._wide < self.position:
            found = _WIDE.search(self._text, self.position)
            self._wide = found.start() if found else len(self._text)
        return self._wide if self._wide < len(self._text) else self.position


def _bytes(text: str) -> list[tuple[int, int]]:
    return [(index, len(character.encode())) for index, character in enumerate(text)]


def _is_blurred(spans: Sequence[Span], start: int, tokens: Sequence[str], text: str) -> bool:
    """Return whether several tokens share characters on both sides of a place."""
    if any(one == other and one[0] < start < one[1] for one, other in pairwise(spans)):
        return True
    for index, (begin, end) in enumerate(spans):
        if not index or tokens[index - 1] or not tokens[index] or not begin < start < end:
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
            raise FirstTokenError(Failure("engine", _NO_OTHER, retryable=False))
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
