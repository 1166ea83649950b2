"""Prompts between template and model: dialogues of role and text, as OpenCompass and AISBench have them.

An item of a :class:`PromptList` is a text, a dict with ``role`` and ``prompt``, or a *section marker*
(``{"section": "round", "pos": "begin"}``), which tells a meta template where the opening, an example and the rounds
begin and end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from proctor.errors import TemplateError

Item = str | dict[str, Any]
"""A text, a message or a section marker."""

SECTIONS = ("begin", "round", "end", "ice")


def safe_format(input_str: str, /, **fields: Any) -> str:
    """Replace ``{name}`` by the field of that name, one field after the other, in the order of the fields.

    A name without a field stays as it is; braces are never unescaped; what an earlier field brought in is searched
    for the names of later ones.
    """
    return fill(input_str, fields)


def fill(text: str, fields: dict[str, Any]) -> str:
    """Return what :func:`safe_format` returns, for fields whose names need not be identifiers."""
    if "{" not in text:
        return text
    for name, value in fields.items():
        slot = f"{{{name}}}"
        if slot in text:
            text = text.replace(slot, str(value))
    return text


def marker(section: str, position: str) -> dict[str, str]:
    """Return a section marker."""
    return {"section": section, "pos": position}


def is_marker(item: object) -> bool:
    """Whether an item is a section marker."""
    return isinstance(item, dict) and "section" in item


class PromptList(list[Any]):
    """A dialogue that is not laid out yet."""

    def format(self, /, **fields: Any) -> PromptList:
        """Return a list whose texts and prompts are filled by :func:`safe_format`."""
        return PromptList(_filled(item, fields) for item in self)

    def replace(self, src: str, dst: str | list[Any]) -> PromptList:
        """Return a list in which ``src`` is replaced by a text, or, in items that are texts, by other items.

        Raises:
            TemplateError: ``src`` is inside a message, and is to be replaced by messages.
        """
        if not isinstance(dst, (str, PromptList)):
            raise TemplateError(
                f"'{src}' cannot be replaced by a {type(dst).__name__}",
                why="a dialogue takes a text or a dialogue",
                hint="let ice_template and prompt_template be of one kind",
            )
        made = PromptList()
        for item in self:
            if isinstance(item, str):
                made.extend([item.replace(src, dst)] if isinstance(dst, str) else _spliced(item, src, dst))
            else:
                made.append(_replaced(item, src, dst))
        return made

    def plain(self) -> PromptList:
        """Return the messages as people read them: without section markers and empty texts."""
        return PromptList(item for item in self if item != "" and not is_marker(item))

    def __add__(self, other: Any) -> PromptList:
        """Return both; a text becomes one more item, nothing adds nothing."""
        if not other:
            return PromptList(self)
        return PromptList([*self, other] if isinstance(other, str) else [*self, *other])

    def __radd__(self, other: Any) -> PromptList:
        """Return both, the other one first."""
        if not other:
            return PromptList(self)
        return PromptList([other, *self] if isinstance(other, str) else [*other, *self])

    def __iadd__(self, other: Any) -> PromptList:  # noqa: PYI034 - Self of a list subclass
        """Append a text or the items of a list."""
        if isinstance(other, str):
            if other:
                self.append(other)
        elif other:
            self.extend(other)
        return self

    def __str__(self) -> str:
        """Return all words in one text, to be counted, not to be sent."""
        return "".join(_words(self))


def _filled(item: Any, fields: dict[str, Any]) -> Any:
    if isinstance(item, str):
        return fill(item, fields)
    made = dict(item)
    if isinstance(made.get("prompt"), str):
        made["prompt"] = fill(made["prompt"], fields)
    return made


def _spliced(text: str, src: str, items: PromptList) -> Iterable[Any]:
    for position, piece in enumerate(text.split(src)):
        if position:
            yield from items
        if piece:
            yield piece


def _replaced(item: dict[str, Any], src: str, dst: str | PromptList) -> dict[str, Any]:
    made = dict(item)
    prompt = made.get("prompt")
    if isinstance(prompt, str) and src in prompt:
        if not isinstance(dst, str):
            raise TemplateError(
                f"'{src}' stands inside a message, but is to be replaced by messages",
                why=f"the prompt is {prompt!r}"[:200],
                hint=f"make '{src}' an item of its own in 'begin'",
            )
        made["prompt"] = prompt.replace(src, dst)
    return made


def _words(items: Iterable[Any]) -> Iterable[str]:
    for item in items:
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            if "prompt" in item:
                prompt = item["prompt"]
                yield prompt if isinstance(prompt, str) else json.dumps(prompt)
        else:
            raise TemplateError(f"a prompt cannot hold a {type(item).__name__}", why=f"it is {item!r}"[:200])
