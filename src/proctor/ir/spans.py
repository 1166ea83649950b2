"""Labelled text and media: the smallest pieces a prompt is made of.

Every piece carries its *origin*, the part of the exam it came from:

``system``, ``instruction``, ``demo[i].question``, ``demo[i].answer``, ``question``, ``choice[j]``,
``answer_prefix``, and ``layout`` for text that a format adds around them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Origin = str
"""Where a span comes from; see the module docstring for the vocabulary."""


class Span(Struct, frozen=True, gc=False):
    """A piece of text and where it comes from."""

    text: str
    origin: Origin = "question"


class Media(Struct, frozen=True, gc=False):
    """A picture, a sound or a film inside a prompt.

    ``source`` is a path, a URL or a data URL; it is never opened here.
    """

    kind: Literal["image", "audio", "video"]
    source: str
    origin: Origin = "question"


Part = Span | Media


class Turn(Struct, frozen=True, gc=False):
    """One role's turn.

    Attributes:
        role: ``system``, ``user``, ``assistant``, or a role of a dialect's own (``HUMAN``, ``BOT``).
        parts: Spans and media in reading order.
        fallback_role: The role that a format may use where it has no place for ``role``.
    """

    role: str
    parts: tuple[Part, ...]
    fallback_role: str | None = None

    @property
    def text(self) -> str:
        """The words of the turn without its media."""
        return "".join(part.text for part in self.parts if isinstance(part, Span))


def turn(role: str, text: str, origin: Origin = "question") -> Turn:
    """Return a turn of one span."""
    return Turn(role, (Span(text, origin),))
