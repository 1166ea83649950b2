"""Prompts compiled to text with holes.

Filling replaces one column after the other, and looks for later columns in what earlier ones brought in. A compiled
text replaces all at once. Both give the same unless the result contains the name of a column in braces (then something
that was brought in, or that came to stand together, would have been replaced, too): such a prompt is made the slow way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from proctor.formats.dialogue_layout import HOLE, DialogueLayout, Hole, Mode, Piece, Said, content_of, joined, merged
from proctor.formats.meta_template import CHAT, MetaTemplate, chat_role, spans_of, turns_of
from proctor.ir import Turn
from proctor.templates.prompt_list import PromptList


class PromptLayout:
    """The layout of prompts: text or messages, roles, limits.

    Args:
        meta_template: How the model wants dialogues written; ``None`` for a model that says nothing about it.
        as_messages: Whether prompts are chat messages rather than one text.

    Attributes:
        roles: The layout of dialogues; ``None`` where their turns are joined as they stand.
    """

    def __init__(self, meta_template: MetaTemplate | None, *, as_messages: bool) -> None:
        self.as_messages = as_messages
        self.roles = meta_template.compiled() if meta_template is not None else (CHAT if as_messages else None)

    @property
    def of_messages(self) -> DialogueLayout:
        """The layout of chat messages: the model's, where it takes them."""
        return self.roles if self.as_messages and self.roles is not None else CHAT

    def payload(self, prompt: object, mode: Mode) -> Any:
        """Return what a model is given: a text, or chat messages.

        Raises:
            TemplateError: A role of the prompt is not in the meta template.
        """
        if isinstance(prompt, str):
            return [{"role": "user", "content": prompt}] if self.as_messages else prompt
        if not isinstance(prompt, PromptList):
            return prompt
        if self.as_messages:
            return [{"role": chat_role(str(each.role)), "content": each.content} for each in self._said(prompt, mode)]
        content = content_of([piece for piece, _ in self._pieces(prompt, mode)])
        return content if isinstance(content, str) else [{"role": "user", "content": content}]

    def turns(self, prompt: PromptList, mode: Mode, origins: Sequence[str]) -> tuple[Turn, ...]:
        """Return the same in turns of labelled spans.

        Args:
            mode: Whether an answer is to be written, or a label's likelihood is asked for.
            origins: Who says each item of the prompt.
        """
        if self.as_messages:
            return turns_of(self._said(prompt, mode), origins)
        pieces = self._pieces(prompt, mode)
        if all(isinstance(piece, str) for piece, _ in pieces):
            return (Turn("user", tuple(spans_of(pieces, origins))),)
        return turns_of([Said("user", pieces)], origins)

    def _said(self, prompt: PromptList, mode: Mode) -> list[Said]:
        return merged(self.of_messages.messages(prompt, mode))

    def _pieces(self, prompt: PromptList, mode: Mode) -> list[Piece]:
        return joined(prompt) if self.roles is None else self.roles.text(prompt, mode)


Row = Mapping[str, Any]
Fill = Callable[[Row], str]


class Slot(str):
    """The name of a column whose value belongs here."""

    __slots__ = ()


Token = str
"""A literal text, a :class:`Slot`, or a :class:`~proctor.formats.dialogue_layout.Hole` for examples."""

_BRACES = re.compile(r"\{([^{}]*)\}")


def tokens_of(text: str, columns: Mapping[str, str | None], hole: str | None = None) -> list[Token]:
    """Cut a text at the names of columns and at the token that examples replace.

    Args:
        text: A template.
        columns: The columns of a row; a text instead of ``None`` is what the column is masked with.
        hole: The token that examples replace.
    """
    made: list[Token] = []
    for number, part in enumerate(text.split(hole) if hole else [text]):
        if number:
            made.append(HOLE)
        position = 0
        for match in _BRACES.finditer(part):
            if match[1] not in columns:
                continue
            mask = columns[match[1]]
            made += [part[position : match.start()], Slot(match[1]) if mask is None else mask]
            position = match.end()
        made.append(part[position:])
    return [token for token in made if token or isinstance(token, Hole)]


def is_literal(tokens: Iterable[Token]) -> bool:
    """Whether nothing has to be filled in."""
    return not any(isinstance(token, (Slot, Hole)) for token in tokens)


def only_slots(tokens: Sequence[Token]) -> list[str]:
    """Return the columns of a text that is nothing but columns, and may be empty; none for others."""
    if not tokens or not all(isinstance(token, Slot) for token in tokens):
        return []
    return [str(token) for token in tokens]


def filler(tokens: Iterable[Token]) -> Fill:
    """Return a function that fills literals and slots from a row."""
    parts = list(tokens)
    columns = [str(token) for token in parts if isinstance(token, Slot)]
    pattern = "".join("%s" if isinstance(token, Slot) else token.replace("%", "%%") for token in parts)
    if not columns:
        return partial(_constant, pattern % ())
    if len(columns) == 1:
        return partial(_one, pattern, columns[0])
    return partial(_several, pattern, itemgetter(*columns))


def _constant(text: str, row: Row) -> str:
    del row
    return text


def _one(pattern: str, column: str, row: Row) -> str:
    return pattern % (row[column],)


def _several(pattern: str, get: Callable[[Row], tuple[Any, ...]], row: Row) -> str:
    return pattern % get(row)


def rescan_pattern(columns: Iterable[str]) -> re.Pattern[str]:
    """Return what finds the name of a column in braces."""
    return re.compile("|".join(re.escape(f"{{{name}}}") for name in columns) or r"(?!)")


def in_place_of(pieces: Iterable[Piece], texts: Sequence[Sequence[Token]]) -> list[Token]:
    """Return the tokens of laid-out pieces: those of the item that a piece came from, or what the layout added."""
    made: list[Token] = []
    for piece, place in pieces:
        made += [piece] if place < 0 else texts[place]
    return made


class TextFrame:
    """A prompt that is one text, with columns to fill in and holes for examples.

    Args:
        tokens: The whole prompt.
        columns: All columns of the rows, to find out where filling one after the other would differ.
        may_be_empty: Columns which, where they are empty, change the layout.
    """

    def __init__(self, tokens: Iterable[Token], columns: Iterable[str], may_be_empty: Iterable[str] = ()) -> None:
        runs: list[list[Token]] = [[]]
        for token in tokens:
            if isinstance(token, Hole):
                runs.append([])
            else:
                runs[-1].append(token)
        self._fill = [filler(run) for run in runs]
        self._only = self._fill[0] if len(self._fill) == 1 else None
        self._differs = rescan_pattern(columns).search
        self._may_be_empty = tuple(dict.fromkeys(may_be_empty))

    def render(self, row: Row, examples: str) -> str | None:
        """Return the prompt, or ``None`` where it has to be made the slow way."""
        for column in self._may_be_empty:
            if row[column] == "":
                return None
        text = self._only(row) if self._only is not None else examples.join([fill(row) for fill in self._fill])
        return None if "{" in text and self._differs(text) else text


class ChatFrame:
    """A prompt of messages, with columns to fill in; examples are part of it.

    Args:
        messages: Role and tokens of each message.
        columns: All columns of the rows.
    """

    def __init__(self, messages: Iterable[tuple[str, Sequence[Token]]], columns: Iterable[str]) -> None:
        self._differs = rescan_pattern(columns).search
        self._messages: list[tuple[str, Fill, dict[str, str] | None]] = []
        self._is_safe = True
        for role, tokens in messages:
            fill = filler(tokens)
            if is_literal(tokens):
                text = fill({})
                self._is_safe = self._is_safe and not self._differs(text)
                self._messages.append((role, fill, {"role": role, "content": text}))
            else:
                self._messages.append((role, fill, None))

    def render(self, row: Row) -> list[dict[str, str]] | None:
        """Return the messages, or ``None`` where they have to be made the slow way."""
        if not self._is_safe:
            return None
        made = []
        for role, fill, constant in self._messages:
            if constant is not None:
                made.append(constant)
                continue
            text = fill(row)
            if "{" in text and self._differs(text):
                return None
            made.append({"role": role, "content": text})
        return made
