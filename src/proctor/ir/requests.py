"""The five things one can ask of a model.

Each request has a content ``key``: equal requests have equal keys on every machine and in every process. The
response log files answers under (engine identity, request key, repeat).
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct, field

from proctor.ir.prompt import Message, Prompt


def _plain(value: Any) -> Any:
    """Return a picture in memory (PIL, numpy) as data, so that it counts by its content."""
    if (raw := getattr(value, "tobytes", None)) is not None:
        shape = (getattr(value, "mode", None), getattr(value, "size", None), getattr(value, "shape", None))
        return [shape, blake2b(raw(), digest_size=KEY_BYTES).hexdigest()]
    raise TypeError(f"a request cannot hold a {type(value).__name__}")


KEY_BYTES = 16  # of a digest: among a billion requests two have the same key with a probability of 1e-21
_ENCODER = msgspec.json.Encoder(order="deterministic", enc_hook=_plain)


def content_key(kind: str, *content: object) -> str:
    """Return a 32-digit hexadecimal digest of JSON-like content, independent of dict order."""
    return blake2b(_ENCODER.encode((kind, content)), digest_size=KEY_BYTES).hexdigest()


class Decoding(Struct, frozen=True, omit_defaults=True):
    """Decoding parameters of a request.

    Attributes:
        max_tokens: Most tokens to generate; ``None`` leaves it to the engine's default.
        temperature: 0 means greedy.
        stop: Strings that end the answer; they are not part of it.
        seed: Seed for sampling, where the engine honours one.
        count: Answers per request.
        extra: Parameters passed to the engine as they are (``repetition_penalty``, ``num_beams`` …).
    """

    max_tokens: int | None = None
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    count: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def content(self) -> tuple[object, ...]:
        """The content that keys digest: equal values give equal content (0 or 0.0, given or default)."""
        return (
            self.max_tokens,
            float(self.temperature),
            None if self.top_p is None else float(self.top_p),
            self.top_k,
            tuple(self.stop),
            self.seed,
            self.count,
            self.extra,
        )


_last = (Decoding(), msgspec.Raw(_ENCODER.encode(Decoding().content)))
"""The decoding that was digested last, and its content as JSON: the questions of an exam nearly always share one."""


def _content_of(decoding: Decoding) -> msgspec.Raw:
    """Return what keys digest of a decoding, as JSON."""
    global _last  # noqa: PLW0603 - one reference that is replaced whole, so threads see the old or the new one
    known, content = _last
    if known is not decoding or decoding.extra:  # what is in `extra` may have changed
        content = msgspec.Raw(_ENCODER.encode(decoding.content))
        if not decoding.extra:
            _last = decoding, content
    return content


_SEVERAL = frozenset({"n", "count", "num_return_sequences", "candidate_count", "num_completions", "numResults"})
"""Parameters with which engines and services are asked for several answers at once: OpenAI and vLLM (``n``),
transformers, Gemini, older Google and AI21 models; ``count`` is :class:`Decoding`'s own."""


def several_answers(parameters: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the parameter that asks for several answers to one request, and how many; ``None`` where none does.

    Args:
        parameters: Of decoding; parameters within parameters (``extra``, ``extra_body``) count, too.
    """
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            if (inner := several_answers(value)) is not None:
                return inner
        elif name in _SEVERAL and value not in (None, 1, "1"):
            return name, value
    return None


class Generate(Struct, frozen=True, gc=False):
    """Write an answer to a prompt."""

    prompt: Prompt
    decoding: Decoding = Decoding()

    @property
    def key(self) -> str:
        """Content key."""
        return content_key("generate", self.prompt.payload, _content_of(self.decoding))


class Pair(Struct, frozen=True, gc=False):
    """A context and a continuation whose likelihood is wanted."""

    context: Prompt
    continuation: str


class Choose(Struct, frozen=True, gc=False):
    """Score several continuations; contexts may differ by choice.

    How scores become a decision (per character, per byte, …) is a property of the scoring, not of the request.
    """

    pairs: tuple[Pair, ...]

    @property
    def key(self) -> str:
        """Content key."""
        return content_key("choose", [(pair.context.payload, pair.continuation) for pair in self.pairs])


class Likelihood(Struct, frozen=True, gc=False):
    """Score one continuation of one context."""

    context: Prompt
    continuation: str

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The one pair, so that engines score it like a choice."""
        return (Pair(self.context, self.continuation),)

    @property
    def key(self) -> str:
        """Content key."""
        return content_key("likelihood", self.context.payload, self.continuation)


class Rolling(Struct, frozen=True, gc=False):
    """Score every token of a text, however long (perplexity).

    Attributes:
        from_start: Whether the first token counts too, after the model's beginning-of-text token. If not, every token
            but the first is predicted from those before it (the loss of a language model on the text).
        messages: The chat messages whose words ``text`` is, where a server lays them out itself.
    """

    text: str
    from_start: bool = True
    messages: tuple[Message, ...] = ()

    @property
    def key(self) -> str:
        """Content key."""
        if self.messages:
            return content_key("rolling", self.messages, "chat")
        return content_key("rolling", self.text) if self.from_start else content_key("rolling", self.text, "continued")


class Converse(Struct, frozen=True, gc=False):
    """Hold a conversation: the model fills every turn that is ``None``, in order.

    The filled text is part of the context of later turns; the response holds one text per ``None``. Turns may repeat
    earlier answers, and be asked aside: :mod:`~proctor.ir.conversation`.
    """

    turns: tuple[Message | None, ...]
    decoding: Decoding = Decoding()

    @property
    def key(self) -> str:
        """Content key."""
        return content_key("converse", self.turns, _content_of(self.decoding))


Score = Choose | Likelihood | Rolling
"""What ``Engine.score`` answers."""

Request = Generate | Choose | Likelihood | Rolling | Converse
