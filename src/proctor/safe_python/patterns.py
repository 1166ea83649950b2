"""Regular expressions of strangers: refused where their repetitions nest, stopped where they take long, never large."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]  # the only way to look inside a pattern
from typing import Any

from proctor.errors import DataError, ScoringError
from proctor.regexes import BoundedPattern, bounded, seconds_elsewhere
from proctor.safe_python.budget import PATTERN_SECONDS, Budget, ExhaustedError

_MANY = 100
"""Repetitions; more of them inside each other multiply."""


MAX_PATTERN = 5_000
"""Characters of a pattern; compiling as many takes up to a third of a second."""

_SHORT = 1_000
"""Characters of a replacement that cannot make a short text large."""


class Match:
    """A match of a search: its text and groups; the readable part of :class:`re.Match`.

    Attributes:
        string: The text that was searched.
    """

    __slots__ = ("_names", "_spans", "string")

    def __init__(self, string: str, spans: list[tuple[int, int]], names: Mapping[str, int]) -> None:
        self.string = string
        self._spans = spans
        self._names = names

    def _number(self, group: Any) -> int:
        number = self._names.get(group) if isinstance(group, str) else group
        if not isinstance(number, int) or not 0 <= number < len(self._spans):
            raise IndexError("no such group")
        return number

    def _text(self, group: Any, default: Any = None) -> Any:
        start, end = self._spans[self._number(group)]
        return default if start < 0 else self.string[start:end]

    def group(self, *groups: Any) -> Any:
        """Return the text of a group, of the whole match, or of several groups."""
        if len(groups) > 1:
            return tuple(self._text(group) for group in groups)
        return self._text(groups[0] if groups else 0)

    def __getitem__(self, group: Any) -> Any:
        return self._text(group)

    def groups(self, default: Any = None) -> tuple[Any, ...]:
        """Return the texts of all groups."""
        return tuple(self._text(number, default) for number in range(1, len(self._spans)))

    def groupdict(self, default: Any = None) -> dict[str, Any]:
        """Return the texts of the groups that have names."""
        return {name: self._text(number, default) for name, number in self._names.items()}

    def span(self, group: Any = 0) -> tuple[int, int]:
        """Return the start and end of a group."""
        return self._spans[self._number(group)]

    def start(self, group: Any = 0) -> int:
        """Return the start of a group."""
        return self.span(group)[0]

    def end(self, group: Any = 0) -> int:
        """Return the end of a group."""
        return self.span(group)[1]


class SafePattern:
    """A compiled regular expression of a stranger.

    Args:
        pattern: The expression.
        flags: Flags of :mod:`re`.

    Raises:
        DataError: It is not valid, or its repetitions nest, which can take exponential time.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        if len(pattern) > MAX_PATTERN:
            raise DataError(f"a regular expression has more than {MAX_PATTERN:,} characters")
        try:
            if _nests(_parser.parse(pattern, flags), inside=False):
                raise DataError(
                    f"the regular expression '{pattern}' is refused", why="a repetition inside a repetition"
                )
            self._bounded: BoundedPattern = bounded(pattern, int(flags))
            self._compiled = re.compile(pattern, flags)
        except (re.error, OverflowError, RecursionError, ScoringError) as error:
            raise DataError(f"'{pattern}' is not a regular expression", why=str(error)) from None

    @property
    def pattern(self) -> str:
        """The expression."""
        return self._bounded.pattern

    def find(self, text: str, how: str = "search", budget: Budget | None = None) -> Match | re.Match[str] | None:
        """Return the first match by ``search``, ``match`` or ``fullmatch``.

        Raises:
            ExhaustedError: It does not end in time; a :class:`ScoringError` where there is no budget.
        """
        if self._is_quick(text):
            quick: re.Match[str] | None = getattr(self._compiled, how)(text)
            return quick
        spans = self._within("spans", text, budget, text, how)
        return None if spans is None else Match(text, spans, self._compiled.groupindex)

    def findall(self, text: str, budget: Budget | None = None) -> list[Any]:
        """Return all matches, as :meth:`re.Pattern.findall` does.

        Raises:
            ExhaustedError: It does not end in time, or finds too much.
        """
        if self._is_quick(text) and not self._compiled.groups:
            return self._compiled.findall(text)
        found: list[Any] = self._within("findall", text, budget, text)
        return found

    def split(self, text: str, count: int = 0, budget: Budget | None = None) -> list[Any]:
        """Return the pieces between matches, as :meth:`re.Pattern.split` does.

        Raises:
            ExhaustedError: It does not end in time, or makes too much.
        """
        if self._is_quick(text) and not self._compiled.groups:
            return self._compiled.split(text, count)
        found: list[Any] = self._within("split", text, budget, text, count)
        return found

    def sub(self, replacement: str, text: str, count: int = 0, budget: Budget | None = None) -> str:
        """Return the text with matches replaced, as :meth:`re.Pattern.sub` does.

        Raises:
            ExhaustedError: It does not end in time, or makes too much.
        """
        if self._is_quick(text) and len(replacement) < _SHORT and "\\" not in replacement:
            return self._compiled.sub(replacement, text, count=count)
        return str(self._within("sub", text, budget, replacement, text, count))

    def _is_quick(self, text: str) -> bool:
        return text.__class__ is str and self._bounded.is_quick(text)

    def _within(self, method: str, text: str, budget: Budget | None, *arguments: Any) -> Any:
        if not isinstance(text, str):
            raise TypeError(f"expected string, got {type(text).__name__!r}")
        seconds = PATTERN_SECONDS if budget is None else min(PATTERN_SECONDS, budget.seconds_left())
        before = seconds_elsewhere()
        try:
            found = getattr(self._bounded, method)(*arguments, seconds=seconds)
        except ScoringError as error:
            if budget is None:
                raise
            problem = error.diagnostics[0]
            raise ExhaustedError(f"searches too long: {problem.what}; {problem.why}") from None
        if budget is not None:
            budget.extend(before - seconds_elsewhere())
        return found


@lru_cache(maxsize=1024)
def safe_pattern(pattern: str, flags: int = 0) -> SafePattern:
    """Return a pattern of a stranger, compiled once.

    Raises:
        DataError: It is not valid, or its repetitions nest, which can take exponential time.
    """
    return SafePattern(pattern, flags)


_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)


def _nests(tree: Any, inside: bool) -> bool:
    for code, argument in tree:
        if code in _REPEATS:
            _, high, body = argument
            grows = high is _constants.MAXREPEAT or high > _MANY
            if (grows and inside) or _nests(body, inside or grows):
                return True
        elif any(_nests(part, inside) for part in _subpatterns(argument)):
            return True
    return False


def _subpatterns(argument: Any) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, (list, tuple)):
        for part in argument:
            yield from _subpatterns(part)
