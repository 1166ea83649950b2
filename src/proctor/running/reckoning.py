"""Estimates a request's tokens before it is sent."""

from __future__ import annotations

from typing import NamedTuple

from proctor.engines.engine import Engine
from proctor.ir import Generate, Prompt, Response, Rolling, Score, Usage

_BYTES_PER_TOKEN = 3
"""Of UTF-8: English has four to five in common vocabularies, Chinese three; fewer is on the safe side until a prompt
of this model was counted."""

_FRAME = 16
"""Tokens that a chat template puts around a short prompt: some have as many, most fewer."""

_MEDIA_TOKENS = 1_600
"""Tokens of a picture: what the large providers reckon for a megapixel."""


class Claim(NamedTuple):
    """The most that a request in flight may cost.

    Attributes:
        prompt: Tokens of its prompt, about.
        answer: Tokens of its longest answer; ``None`` where nobody knows.
        size: Bytes of the prompt, by which the next ones are reckoned.
        held: Tokens that are held for it.
        usd: Dollars that are held for it.
    """

    prompt: int
    answer: int | None
    size: int
    held: int = 0
    usd: float = 0.0

    @property
    def usage(self) -> Usage:
        """The tokens as an engine would count them."""
        return Usage(self.prompt, self.answer or 0)


class Reckoner:
    """Reckons with requests of one model, and learns from its answers how it counts."""

    def __init__(self) -> None:
        self._ratio: float | None = None
        self.longest: int | None = None
        """Tokens of the longest answer so far; ``None`` before the first."""

    def claim(self, request: Generate | Score, engine: Engine) -> Claim:
        """Return what a request may cost; of its holding nothing is said yet."""
        size = _size_of(request)
        if not isinstance(request, Generate):
            return Claim(self._tokens(size), len(request.pairs) if not isinstance(request, Rolling) else 1, size)
        counted = engine.count_tokens(request.prompt)
        most = request.decoding.max_tokens or engine.decoding_defaults().get("max_tokens")
        answer = None if most is None else int(most) * request.decoding.count
        return Claim(self._tokens(size) if counted is None else counted + _FRAME, answer, size)

    def _tokens(self, size: int) -> int:
        if self._ratio is None:
            return -(-size // _BYTES_PER_TOKEN) + _FRAME
        return -int(-size * self._ratio // 1)

    def usage(self, claim: Claim, response: Response) -> Usage:
        """Return an answer's usage, and learn from it; where the engine counted nothing, by its length."""
        usage = response.usage
        read, own = usage.of_answer
        if not read and response.failure is None:
            written = sum(-(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN) for text in response.texts)
            usage += Usage(claim.prompt, max(0, written - own))
        elif read and claim.size:
            self._ratio = max(self._ratio or 0.0, read / claim.size)
        if response.failure is None:
            self.longest = max(self.longest or 1, usage.of_answer[1])
        unknown = usage.unknown_attempts
        return usage + Usage(unknown * claim.prompt, unknown * (claim.answer or 0)) if unknown else usage


def _size_of(request: Generate | Score) -> int:
    if isinstance(request, Generate):
        return _prompt_size(request.prompt)
    if isinstance(request, Rolling):
        return _bytes(request.text)
    return sum(_prompt_size(pair.context) + _bytes(pair.continuation) for pair in request.pairs)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _prompt_size(prompt: Prompt) -> int:
    payload = prompt.payload
    if isinstance(payload, str):
        return _bytes(payload)
    return sum(_content_size(message.get("content")) for message in payload)


def _content_size(content: object) -> int:
    if isinstance(content, str):
        return _bytes(content)
    if not isinstance(content, list | tuple):
        return 0
    size = 0
    for part in content:
        text = part.get("text") if isinstance(part, dict) else part
        size += _bytes(text) if isinstance(text, str) else _MEDIA_TOKENS * _BYTES_PER_TOKEN
    return size
