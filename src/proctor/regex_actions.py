"""Actions of regular expressions on a text, with bounded results; tells which may take long."""

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


def _expand(pattern: re.Pattern[str], text: str, template: str) -> str | None:
    if template.count("\\") * len(text) > MOST_CHARACTERS:
        raise LargeError
    match = pattern.search(text)
    return None if match is None else match.expand(template)


ACTIONS: dict[str, Callable[..., Any]] = {
    "findall": _findall,
    "split": _split,
    "sub": _sub,
    "expand": _expand,
    "groups": _groups,
    "spans": _spans,
}


# -- which patterns may take long -------------------------------------------------------------------------------------


_FEW_WAYS = (1_000, 16)
"""Ways to match without an open repeat, and with one, that a search of a short text may try at each place."""


def cannot_take_long(pattern: str, flags: int) -> bool:
    """Return whether a search of a short text ends soon: repeats and alternatives multiply (``a?a?a?aaa``)."""
    if _parser is None:  # pragma: no cover - see above
        return False
    parsed = _parser.parse(pattern, flags)
    count, ways = sum(_repeats(parsed)), _ways(parsed)
    return count < len(_FEW_WAYS) and ways <= _FEW_WAYS[count]


def _ways(parsed: Any) -> int:
    """Return in how many ways bounded repeats and alternatives may match together, a large number for many."""
    ways = 1
    for code, argument in parsed:
        if code in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            low, high, body = argument
            ways *= (1 + high - low if high <= _MANY else 1) * _ways(body) ** min(high, _MANY)
        elif code is _constants.BRANCH:
            ways *= sum(_ways(each) for each in argument[1])
        else:
            for part in _parts(argument):
                ways *= _ways(part)
        if ways > _FEW_WAYS[0]:
            return _FEW_WAYS[0] + 1
    return ways


_MOST_SET_WORK = 2_000_000
"""Characters of ranges that a compiler goes through one by one where case is ignored: a third of a second."""

_SET_WORK = 1_000
"""What compiling one set costs besides, in the same unit."""

_LARGE_RANGE = 1 << 16
"""Characters of a range from which on the compiler does not go through them."""


def check_sets(pattern: str, flags: int) -> None:
    """Refuse a pattern whose sets take seconds to compile.

    Raises:
        re.error: It does not parse, or has too many sets.
    """
    if _parser is None or pattern.count("[") < 2:  # noqa: PLR2004 - one set is soon compiled
        return
    parsed = _parser.parse(pattern, flags)
    ignores = bool(parsed.state.flags & re.IGNORECASE) or "i" in pattern
    if sum(_set_work(parsed, ignores)) > _MOST_SET_WORK:
        raise re.error("it has too many sets of characters")


def _set_work(parsed: Any, ignores: bool) -> Iterator[int]:
    for code, argument in parsed:
        if code is _constants.IN:
            yield _SET_WORK
            if ignores:
                sizes = (high - low for kind, value in argument if kind is _constants.RANGE for low, high in [value])
                yield sum(min(size, _LARGE_RANGE) for size in sizes)
        for part in _parts(argument):
            yield from _set_work(part, ignores)


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
