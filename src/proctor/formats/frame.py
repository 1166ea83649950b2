r"""The text around question and demos, with its line breaks applied once instead of for each prompt.

``\N`` changes runs of certain characters only (:mod:`proctor.formats.newline`). Where a question has no ``\N`` and
neither begins nor ends with such a character, no run reaches into it: what stands before and behind it is then the
same in every prompt that shares system prompt, instruction and answer prefix. The same goes for demos that begin so.
All other prompts are laid out and applied as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any, Final, NamedTuple

from proctor.formats.format import Demo, Parts
from proctor.formats.newline import apply_newline_notation, begins_a_run, inside, stands_alone

_PLACE: Final = "\ue000"
"""Stands for question and demos while a frame is filled: a character of no language, which no run has."""

_TEXT: Final = frozenset({str})

Key = tuple[str, str, str]
"""System prompt, instruction, answer prefix."""


class _Filled(NamedTuple):
    """A frame filled for a key; ``None`` where it has to be filled with each prompt."""

    key: Key
    alone: tuple[str, str] | None
    with_demos: tuple[str, str, str] | None


class Frame:
    """The frame of a layout's prompts.

    Args:
        fill: Fills the format string of a prompt.
        arguments: More values for it.
    """

    def __init__(self, fill: Callable[[Mapping[str, Any]], str], arguments: Mapping[str, Any]) -> None:
        self._fill = fill
        self._arguments = arguments
        self._filled: _Filled | None = None

    @classmethod
    def of(cls, text: str, fill: Callable[[Mapping[str, Any]], str], arguments: Mapping[str, Any]) -> Frame | None:
        """Return the frame of a format string; ``None`` where question or demos are not put into it as they are."""
        named = [(name, spec, conversion) for _, name, spec, conversion in Formatter().parse(text) if name is not None]
        shown = [each for each in named if each[0].startswith(("source", "demos")) or each[1]]
        if shown not in ([_SOURCE], [_DEMOS, _SOURCE]):
            return None
        return cls(fill, arguments)

    def around(self, parts: Parts, words_of: Callable[[Demo, Parts], str]) -> str | None:
        """Return a prompt; ``None`` where runs may reach into its question or its demos.

        Args:
            parts: The parts of the prompt.
            words_of: Returns a demo in words, its line breaks not applied.
        """
        source = parts.source
        if not stands_alone(source):
            return None
        key = parts.system_prompt, parts.instruction, parts.target_prefix
        filled = self._filled
        if filled is None or filled.key != key:
            if not _TEXT.issuperset(map(type, key)):  # others may be equal and look different
                return None
            filled = self._filled = self._made(key)
        if not parts.demos:
            return None if filled.alone is None else f"{filled.alone[0]}{source}{filled.alone[1]}"
        if filled.with_demos is None:
            return None
        words = [inner_words(demo, parts, words_of) for demo in parts.demos]
        before, between, behind = filled.with_demos
        return f"{before}{''.join(words)}{between}{source}{behind}" if all(words) else None

    def _made(self, key: Key) -> _Filled:
        alone, shown = self._cut(key, ""), self._cut(key, _PLACE)
        return _Filled(
            key,
            (alone[0], alone[1]) if len(alone) == 2 else None,  # noqa: PLR2004 - before and behind the question
            (shown[0], shown[1], shown[2]) if len(shown) == 3 else None,  # noqa: PLR2004 - and between demos and it
        )

    def _cut(self, key: Key, demos: str) -> list[str]:
        """Return what stands around the places of demos and question; nothing where demos may run on."""
        named = dict(zip(("system_prompt", "instruction", "target_prefix"), key, strict=True))
        text = self._fill({**self._arguments, **named, "demos": demos, "source": _PLACE})
        if demos and begins_a_run(text.partition(_PLACE)[2]):
            return []
        return apply_newline_notation(text).split(_PLACE)


_SOURCE: Final = ("source", "", None)
_DEMOS: Final = ("demos", "", None)


def inner_words(demo: Demo, parts: Parts, words_of: Callable[[Demo, Parts], str]) -> str:
    """Return a demo in words with its line breaks applied; nothing where these depend on what stands before it."""
    if demo.inner is not None:
        return demo.inner
    words = inside(words_of(demo, parts))
    if demo.laid_out is not None:  # the same in every prompt
        demo.inner = words
    return words
