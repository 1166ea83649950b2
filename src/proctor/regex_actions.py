"""What a regular expression does to a text, its result never far longer than the text; and which ones may take long."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

try:
    from re import _constants, _parser  # type: ignore[attr-defined]
except ImportError:  # pragma: no cover - the parser of patterns is not part of Python's promises
    _constants = _parser = None

MOST_CHARACTERS = 10_000_000
"""Characters that a search may make of a text: as much as a template may."""

_PIECE = 50
"""Bytes that each piece of text costs beside its characters."""


class LargeError(Exception):
    """The result is too long."""


def _groups(pattern: re.Pattern[str], text: str) -> list[str | None] | None:
    match = pattern.search(text)
    return None if match is None else [match.group(), *match.groups()]


def _spans(pattern: re.Pattern[str], text: str, how: str) -> list[tuple[int, int]] | None:
    match = getattr(pattern, how)(text)
    return None if match is None else [match.span(group) for group in range(pattern.groups + 1)]


def _findall(pattern: re.Pattern[str], text: str) -> list[Any]:
    _check_pieces(pattern, text, pattern.finditer(text))
    return pattern.findall(text)


def _split(pattern: re.Pattern[str], text: str, count: int) -> list[str | Any]:
    _check_pieces(pattern, text, pattern.finditer(text))
    return pattern.split(text, maxsplit=count)


def _check_pieces(pattern: re.Pattern[str], text: str, matches: Iterator[re.Match[str]]) -> None:
    """Refuse what groups that overlap make of a text: ``(?=(.*))`` finds a billion characters in fifty thousand."""
    if _most(pattern, text, pattern.groups * _PIECE, pattern.groups) <= MOST_CHARACTERS:
        return
    made = 0
    for match in matches:
        made += sum(end - start + _PIECE for start, end in match.regs)
        if made > MOST_CHARACTERS:
            raise LargeError


def _most(pattern: re.Pattern[str], text: str, each: int, groups: int) -> int:
    """Return how long a result is at most: so much for each match, and so many groups."""
    matches = len(text) + 1
    return matches * (1 + each) + groups * len(text) * (matches if _overlaps(pattern) else 1)


@lru_cache(maxsize=1024)
def _overlaps(pattern: re.Pattern[str]) -> bool:
    """Return whether what groups of different matches hold may overlap: a group looks ahead or back."""
    return bool(pattern.groups) and ("(?=" in pattern.pattern or "(?<=" in pattern.pattern)


def _sub(pattern: re.Pattern[str], text: str, replacement: str, count: int) -> str:
    references = replacement.count("\\")
    if _most(pattern, text, len(replacement), references) > MOST_CHARACTERS:
        made = len(text)
        for number, match in enumerate(pattern.finditer(text), 1):
            made += len(match.expand(replacement)) if references else len(replacement)
            if made > MOST_CHARACTERS:
                raise LargeError
            if number == count:
                break
    return pattern.sub(replacement, text, count=count)


ACTIONS: dict[str, Callable[..., Any]] = {
    "findall": _findall,
    "split": _split,
    "sub": _sub,
    "groups": _groups,
    "spans": _spans,
}


# -- which patterns may take long -------------------------------------------------------------------------------------


def open_repeats(pattern: str, flags: int) -> int:
    """Return how many repeats without an end a pattern has; a nested one counts as many."""
    if _parser is None:  # pragma: no cover - see above
        return 2
    return sum(_repeats(_parser.parse(pattern, flags)))


def repeats_groups(pattern: str, flags: int) -> bool:
    """Return whether a pattern repeats more than single characters."""
    return _parser is None or any(_repeated_groups(_parser.parse(pattern, flags)))


def _repeated_groups(parsed: Any) -> Iterator[bool]:
    for code, argument in parsed:
        if code in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            yield any(inner in (_constants.SUBPATTERN, _constants.BRANCH) for inner, _ in argument[2])
        for part in _parts(argument):
            yield from _repeated_groups(part)


_MANY = 100  # a repeat that ends by then costs no more than a longer text; a nested one counts as so many open ones


def _repeats(parsed: Any, inside: bool = False) -> Iterator[int]:
    for code, argument in parsed:
        repeat = code in (_constants.MAX_REPEAT, _constants.MIN_REPEAT)
        varies = repeat and argument[0] != argument[1]
        if (inside and (varies or code is _constants.BRANCH)) or code is _constants.GROUPREF:
            yield _MANY  # (a|a)+ and (a{1,9})+ try every way to cut the text
        elif varies and argument[1] > _MANY:
            yield 1
        for part in _parts(argument):
            yield from _repeats(part, inside or (repeat and argument[1] > 1))


def _parts(argument: Any) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, tuple | list):
        for each in argument:
            yield from _parts(each)
