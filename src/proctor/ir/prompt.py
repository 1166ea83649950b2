"""The output of a format: the prompt as it is sent, and its labelled parts on demand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from proctor.ir.spans import Media, Origin, Part, Span, Turn

Message = dict[str, Any]
"""A chat message: ``{"role": str, "content": str | list of typed parts}``, as chat APIs take it."""

_CHAT_TEXT = ('[{"role":', '[{"content":')
"""How messages begin that were written as JSON, as Unitxt writes them into datasets."""


class Prompt:
    """A prompt, ready to send.

    ``payload`` is exactly what the engine gets: one string, or a sequence of chat messages.
    ``turns`` (and ``spans``) say where each part of it came from. They are computed by ``explain`` the first
    time somebody looks, so prompts that nobody looks at pay nothing for them; joined together, the spans of a
    string prompt are the payload, character by character.
    """

    __slots__ = ("_explain", "_turns", "payload")

    def __init__(
        self,
        payload: str | Sequence[Message],
        explain: Callable[[], tuple[Turn, ...]] | None = None,
    ) -> None:
        self.payload: str | tuple[Message, ...] = payload if isinstance(payload, str) else tuple(payload)
        self._explain = explain
        self._turns: tuple[Turn, ...] | None = None

    @property
    def is_chat(self) -> bool:
        """Whether the payload is chat messages rather than one string."""
        return not isinstance(self.payload, str)

    @property
    def text(self) -> str:
        """The string payload; for chat, the words of all messages joined by newlines (to read, not to send)."""
        if isinstance(self.payload, str):
            return self.payload
        return "\n".join(message_text(message) for message in self.payload)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The chat messages; a string payload becomes one user message."""
        if isinstance(self.payload, str):
            return ({"role": "user", "content": self.payload},)
        return self.payload

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The prompt cut into labelled spans, grouped by turn."""
        if self._turns is None:
            self._turns = self._explain() if self._explain is not None else self._unlabelled()
        return self._turns

    @property
    def spans(self) -> tuple[Span, ...]:
        """All spans in reading order, media left out."""
        return tuple(part for turn in self.turns for part in turn.parts if isinstance(part, Span))

    def _unlabelled(self) -> tuple[Turn, ...]:
        return tuple(Turn(message["role"], tuple(_parts_of(message))) for message in self.messages)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prompt) and self.payload == other.payload

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Prompt({self.payload!r})"


def prompt_of_source(source: str | Sequence[Message]) -> Prompt:
    """Return the prompt in a row's ``source``: a string, messages, or messages written as JSON."""
    if isinstance(source, str) and source.startswith(_CHAT_TEXT):
        source = json.loads(source)
    return Prompt(source)


def _parts_of(message: Message) -> Iterator[Part]:
    """Yield the words and the media of a chat message in order."""
    content = message.get("content")
    for part in content if isinstance(content, list | tuple) else [{"text": message_text(message)}]:
        if isinstance(part, Mapping) and (media := media_in(part)) is not None:
            yield media
        else:
            text = part.get("text", "") if isinstance(part, Mapping) else str(part)
            yield Span(text, "system") if message["role"] == "system" else Span(text)
    if calls := message.get("tool_calls"):
        yield Span(json.dumps(calls, ensure_ascii=False, default=str))


_MEDIA: Mapping[str, Literal["image", "audio", "video"]] = {
    form.replace("X", kind): kind for kind in ("image", "audio", "video") for form in ("X", "X_url", "input_X")
}


def media_in(part: Mapping[str, Any], origin: Origin = "question") -> Media | None:
    """Return the picture, sound or film in a part of a message; ``None`` where it has none."""
    form = str(part.get("type", "text"))
    if (kind := _MEDIA.get(form)) is None:
        return None
    inner = part.get(form)
    if isinstance(inner, Mapping) and "data" in inner:
        return Media(kind, f"data:{kind}/{inner.get('format', kind)};base64,{inner['data']}", origin)
    return Media(kind, str(inner.get("url", "") if isinstance(inner, Mapping) else inner), origin)


def message_text(message: Message) -> str:
    """Return the words of a chat message, media left out."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = (part.get("text") if isinstance(part, Mapping) else part for part in content or ())
    return "".join(part for part in parts if isinstance(part, str))
