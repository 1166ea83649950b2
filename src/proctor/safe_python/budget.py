"""Budget for Python of strangers: steps, memory, processor time; and its messages.

One budget serves one evaluation: the reading of a config with its bases, an expression over one row, the rendering of
a template. Everything that could take long inside one operation of Python (a repetition, a power, a comparison of
nested lists) is measured before it happens, so nothing can hang or fill the machine between two steps.
"""

from __future__ import annotations

import re
import time
from collections.abc import ItemsView, KeysView, ValuesView
from itertools import islice
from typing import Any

MAX_STEPS = 1_000_000
"""Expressions and statements evaluated, or the work that costs as much; the largest of OpenCompass' needs 246,067."""

MAX_MEMORY = 1 << 27
"""Bytes allocated (what is freed again still counts): half of what may be in use, for not every byte is seen."""

MAX_SECONDS = 0.9
"""Processor time; a million steps take about half of it, so only work that hides from the steps comes near it."""

PATTERN_SECONDS = 0.45
"""Processor time of one search of a regular expression: honest ones take a thousandth of it."""

MAX_ITEMS = 1 << 20
"""Items of one list: as many as there are steps to go through them."""

MAX_TEXT = 1 << 24
"""Characters of one text: more than any prompt or file of rows that an exam computes with at once."""

MAX_BITS = 14_000
"""Bits of one whole number: it has fewer digits than the 4,300 that Python itself is willing to write out."""

MAX_WIDTH = 10_000
"""Width or precision in a format: nobody reads wider columns."""

MAX_NESTING = 200
"""How deep values may be nested that Python compares, prints or hashes: deeper ones could end the process."""

MAX_STREAMS = 40
"""How many iterators may take their items from one another: each needs a piece of the C stack."""

MAX_CALLS = 40
"""How deep functions may call each other: each call needs a dozen frames of ours."""

MAX_WORDS = 50_000
"""Words and signs of a source file or template: compiling takes 20 microseconds for each; the largest has 20,127."""

_WORD = re.compile(r"\w+|[^\w\s]|\n")

PORTION = 2_048
"""Steps between two looks at the clock: half a millisecond."""

_SMALL_TEXT = 64
"""Characters of texts that are not worth counting: the step that makes one counts for it."""

SCALARS = frozenset({str, int, float, bool, type(None), bytes, complex, type(Ellipsis)})
_FIXED_SIZE = frozenset({int, float, bool, type(None)})


class RefusalError(Exception):
    """Something that is not on the allow-list; the text completes 'the config ...' or 'the expression ...'."""


class ExhaustedError(RefusalError):
    """Work that costs more than any honest one."""


def check_length(source: str) -> None:
    """Look at a source before it is parsed; texts in it count, too, for only a parser knows where they end.

    Raises:
        ExhaustedError: It has more words and signs than any real one.
    """
    if len(source) > MAX_WORDS and next(islice(_WORD.finditer(source), MAX_WORDS, None), None) is not None:
        raise ExhaustedError(f"has more than {MAX_WORDS:,} words and signs")


class Budget:
    """The steps, memory and time that are left.

    The attributes of the class are what every evaluation starts with: making a budget costs next to nothing, and most
    rows need no more than the first portion of steps.

    Attributes:
        steps: Steps left until the next look at the clock; whoever takes steps may subtract from it directly.
        streams: Iterators that are in the middle of taking an item from one another.
    """

    steps = PORTION
    streams = 0
    _granted = PORTION
    _held = 0
    _until: float | None = None

    @property
    def used(self) -> tuple[int, int]:
        """Steps taken and bytes held, for measurements."""
        return self._granted - self.steps, self._held

    def refill(self) -> None:
        """Hand out the next portion of steps; called when ``steps`` is below zero.

        Raises:
            ExhaustedError: There is none, or the processor time is used up.
        """
        used = self._granted - self.steps
        if used > MAX_STEPS:
            raise ExhaustedError(f"takes more than {MAX_STEPS:,} steps")
        self.seconds_left()
        self.steps = min(PORTION, MAX_STEPS - used)
        self._granted = used + self.steps

    def seconds_left(self) -> float:
        """Return the processor time that is left; the first look starts the clock.

        Raises:
            ExhaustedError: There is none.
        """
        now = time.thread_time()
        if self._until is None:
            self._until = now + MAX_SECONDS
        left = self._until - now
        if left <= 0:
            raise ExhaustedError(f"takes more than {MAX_SECONDS:g} seconds of processor time")
        return left

    def extend(self, seconds: float) -> None:
        """Give time back that something else took, such as the parser."""
        if self._until is not None:
            self._until += seconds

    def spend(self, steps: int) -> None:
        """Take steps for work that Python does in one go."""
        self.steps -= steps
        if self.steps < 0:
            self.refill()

    def hold(self, count: int) -> None:
        """Take memory for something that is about to be made.

        Raises:
            ExhaustedError: There is less left.
        """
        self._held += count
        if self._held > MAX_MEMORY:
            raise ExhaustedError(f"makes values of more than {MAX_MEMORY >> 20:,} MiB")

    def hold_items(self, count: int) -> None:
        """Take what a list of so many items costs.

        Raises:
            ExhaustedError: They are too many.
        """
        if count > MAX_ITEMS:
            raise ExhaustedError(f"makes a list of more than {MAX_ITEMS:,} items")
        self.spend(count >> 4)
        self.hold(56 + 8 * count)

    def hold_text(self, length: int) -> None:
        """Take what a text of so many characters costs.

        Raises:
            ExhaustedError: The text is too long.
        """
        if length < _SMALL_TEXT:
            return
        if length > MAX_TEXT:
            raise ExhaustedError(f"makes a text of more than {MAX_TEXT:,} characters")
        self.spend(length >> 8)
        self.hold(50 + 2 * length)

    def check_number(self, number: Any) -> Any:
        """Return the number where it is of a usual size."""
        if number.__class__ is int and number.bit_length() > MAX_BITS:
            raise ExhaustedError(f"makes a whole number of more than {MAX_BITS:,} bits")
        return number

    def measure(self, *values: Any) -> int:
        """Return how many parts the values have, each text counting by its length; take that many steps.

        A list that holds another one twice counts it twice, as printing and comparing do.
        """
        total = depth = 0
        level: list[Any] = [*values]
        while level:
            depth += 1
            if depth > MAX_NESTING:
                raise RefusalError(f"compares, prints or looks up values nested more than {MAX_NESTING} deep")
            below: list[Any] = []
            for value in level:
                total += 1
                kind = value.__class__
                if kind is str or kind is bytes:
                    total += len(value) >> 6
                elif isinstance(value, _CONTAINERS):
                    total += self._measure_parts(value, below)
            level = below
        self.spend(total)
        return total

    def _measure_parts(self, value: Any, below: list[Any]) -> int:
        """Return what flat parts count; add those that have parts to ``below``."""
        self.spend((len(value) >> 2) + 1)
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else [*value]
        kinds = {*map(type, parts)}
        if kinds <= _FIXED_SIZE:
            return len(parts)
        if kinds == {str}:
            return len(parts) + (sum(map(len, parts)) >> 6)
        self.spend(len(parts))
        below.extend(parts)
        return 0


_CONTAINERS = (list, tuple, set, frozenset, dict, KeysView, ItemsView, ValuesView)
