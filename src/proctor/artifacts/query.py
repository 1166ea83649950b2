"""The query grammar: ``name``, ``name[key=value,…]``, and recipes ``card=…,template=…``.

::

    query       = name [ "[" [assignments] "]" ]
    assignments = assignment { "," assignment }
    assignment  = key "=" value
    value       = "[" [ value { "," value } ] "]"  |  "{" [assignments] "}"  |  query  |  plain
    plain       = any text without  [ ] { } = ,

Plain values become ``True``/``False`` (any case), ``None``, integers and decimals where they look like them, and
strings otherwise. A query as a value stays text: it is fetched where it is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from proctor.artifacts.names import is_name
from proctor.errors import QueryError

MOST_NESTED = 50
"""Brackets in brackets: the deepest recipe of the catalogs has five."""

IN_CODE: Final = re.compile(r"(?P<file>[^:]+\.py)(?::(?P<name>\w+))?")
"""A name in a Python file, ``app.py:answer``, or the file alone."""

_MOST_DIGITS = 400  # of a number: floats have 309 before the point; longer ones are text
_DELIMITERS = frozenset("[]{}=,")
_NUMBER = re.compile(r"-?(?:\d+|\d+\.\d*|\.\d+)")
_PLAIN = re.compile(r"[^\[\]{}=,]*")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: which artifact, and which of its fields to overwrite."""

    name: str
    overwrites: dict[str, Any]


def parse_query(text: str) -> Query:
    """Parse ``name`` or ``name[key=value,…]``.

    Raises:
        QueryError: With the position of the problem.
    """
    parser = _Parser(text)
    query = parser.query()
    parser.end()
    return query


def parse_assignments(text: str) -> dict[str, Any]:
    """Parse ``key=value,key=value,…``, the form of a recipe on one line.

    Raises:
        QueryError: With the position of the problem.
    """
    parser = _Parser(text)
    values = parser.assignments(closing="")
    parser.end()
    return values


def is_assignments(text: str) -> bool:
    """Whether a text is a recipe (``card=…,template=…``) rather than the name of an artifact."""
    head = text.partition("[")[0]
    return "=" in head or "," in head


def convert(plain: str) -> Any:
    """Return a plain value as the type it looks like."""
    if plain.lower() in {"true", "false"}:
        return plain.lower() == "true"
    if plain == "None":
        return None
    if len(plain) <= _MOST_DIGITS and _NUMBER.fullmatch(plain):
        return float(plain) if "." in plain else int(plain)
    return plain


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._depth = 0

    def query(self) -> Query:
        start = self.position
        name = self.plain()
        if not is_name(name):
            raise self.error("an artifact name is expected", start, why="names have letters, digits, '_' and '.'")
        if self.peek() != "[":
            return Query(name, {})
        self.position += 1
        return Query(name, self.assignments(closing="]"))

    def assignments(self, closing: str) -> dict[str, Any]:
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise self.error(f"brackets are nested more than {MOST_NESTED} deep", self.position)
        values = self._assignments(closing)
        self._depth -= 1
        return values

    def _assignments(self, closing: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if closing and self.accept(closing):
            return values
        opening = self.position
        while True:
            start = self.position
            key = self.plain()
            if not key:
                raise self.error("a key is expected", start)
            if not self.accept("="):
                raise self.error(f"'=' is expected after '{key}'", self.position)
            if key in values:
                raise self.error(f"'{key}' is given twice", start)
            values[key] = self.value()
            if self.accept(","):
                continue
            if not closing and self.position == len(self.text):
                return values
            if closing and self.accept(closing):
                return values
            self.unclosed(closing, opening)

    def value(self) -> Any:
        self.spaces()
        if self.accept("["):
            return self.items()
        if self.accept("{"):
            return self.assignments(closing="}")
        start = self.position
        plain = self.plain()
        if self.peek() == "[":
            self.position = start
            self.query()
            return self.text[start : self.position].strip()
        if not plain:
            raise self.error("a value is expected", start)
        return convert(plain)

    def items(self) -> list[Any]:
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise self.error(f"brackets are nested more than {MOST_NESTED} deep", self.position)
        found = self._items()
        self._depth -= 1
        return found

    def _items(self) -> list[Any]:
        found: list[Any] = []
        opening = self.position
        if self.accept("]"):
            return found
        while True:
            found.append(self.value())
            if self.accept(","):
                continue
            if self.accept("]"):
                return found
            self.unclosed("]", opening)

    def plain(self) -> str:
        match = _PLAIN.match(self.text, self.position)
        assert match is not None  # noqa: S101 - the pattern matches the empty string
        self.position = match.end()
        return match.group().strip()

    def spaces(self) -> None:
        while self.peek().isspace():
            self.position += 1

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def accept(self, character: str) -> bool:
        self.spaces()
        if self.peek() != character:
            return False
        self.position += 1
        return True

    def end(self) -> None:
        self.spaces()
        if self.position < len(self.text):
            raise self.error(f"'{self.peek()}' is unexpected here", self.position)

    def unclosed(self, closing: str, opening: int) -> None:
        if self.position == len(self.text):
            raise self.error(f"'{closing}' is missing at the end", opening - 1, why="this one is never closed")
        expected = f"',' or '{closing}'" if closing else "','"
        raise self.error(f"{expected} is expected", self.position)

    def error(self, what: str, position: int, why: str = "") -> QueryError:
        pointer = f"{self.text}\n{' ' * position}^"
        return QueryError(f"{what}, at character {position + 1} of the query\n{pointer}", why=why)
