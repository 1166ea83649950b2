"""What reading a config may cost: steps, memory and size of texts and numbers; and what is said when it costs more.

Everything that could take long inside one operation of Python (a repetition, a power, a comparison of nested lists)
is measured before it happens, so no config can hang or fill the machine between two steps.
"""

from __future__ import annotations

import time
from collections.abc import ItemsView, KeysView, ValuesView
from typing import Any

from proctor.errors import ArtifactError

MAX_STEPS = 2_000_000
"""Expressions and statements evaluated while one config is read, bases included; OpenCompass needs up to 246,067."""

MAX_MEMORY = 1 << 28
"""Bytes allocated while one config is read (what is freed again still counts)."""

MAX_SECONDS = 10.0
"""Processor time of one read; only data made to collide in hash tables comes near it."""

MAX_TEXT = 1 << 24
"""Characters of one text."""

MAX_BITS = 1 << 14
"""Bits of one whole number."""

MAX_WIDTH = 10_000
"""Width or precision in a format."""

MAX_NESTING = 200
"""How deep values may be nested that Python compares, prints or hashes: deeper ones could end the process."""

MAX_STREAMS = 40
"""How many iterators may take their items from one another."""

_CHECK_EVERY = 2_048

SCALARS = frozenset({str, int, float, bool, type(None), bytes, complex, type(Ellipsis)})


class ConfigFileError(ArtifactError):
    """A config that is no Python, fails when it is read, or cannot be found."""


class RefusalError(Exception):
    """Something that reading a config without running code does not allow; the text completes 'the config ...'."""


class ExhaustedError(RefusalError):
    """A config that costs more to read than any real one."""


class Budget:
    """What is left of steps and memory.

    Attributes:
        steps: Steps left until the next look at the clock; the interpreter subtracts from it directly.
        streams: Iterators that are in the middle of taking an item from one another.
    """

    __slots__ = ("_memory", "_reserve", "_until", "steps", "streams")

    def __init__(self) -> None:
        self.steps = 0
        self.streams = 0
        self._reserve = MAX_STEPS
        self._memory = MAX_MEMORY
        self._until = time.thread_time() + MAX_SECONDS

    @property
    def used(self) -> tuple[int, int]:
        """Steps and bytes left, for measurements."""
        return self.steps + self._reserve, self._memory

    def refill(self) -> None:
        """Called when ``steps`` is below zero: hand out the next portion of steps.

        Raises:
            ExhaustedError: There is none, or the processor time is used up.
        """
        self._reserve += self.steps
        if self._reserve <= 0:
            self._reserve = self.steps = 0
            raise ExhaustedError(f"takes more than {MAX_STEPS:,} steps")
        if time.thread_time() > self._until:
            raise ExhaustedError(f"takes more than {MAX_SECONDS:.0f} seconds of processor time")
        self.steps = min(_CHECK_EVERY, self._reserve)
        self._reserve -= self.steps

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
        self._memory -= count
        if self._memory < 0:
            self._memory = 0
            raise ExhaustedError(f"makes values of more than {MAX_MEMORY >> 20:,} MiB")

    def hold_items(self, count: int) -> None:
        """Take what a list of so many items costs."""
        self.spend(count >> 4)
        self.hold(56 + 8 * count)

    def hold_text(self, length: int) -> None:
        """Take what a text of so many characters costs.

        Raises:
            ExhaustedError: The text is too long.
        """
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
                    self.spend(2 * len(value) + 1)
                    below.extend(_parts(value))
            level = below
        self.spend(total)
        return total


_CONTAINERS = (list, tuple, set, frozenset, dict, KeysView, ItemsView, ValuesView)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return [*value]
