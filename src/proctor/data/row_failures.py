"""Rows that a step cannot use: an error that ends the stream, or, where somebody collects them, one row less.

A dataset ends with the first row that does not fit. An exam goes on: whoever reads its rows puts a
:class:`RowFailures` around each read, and what goes wrong with single rows is filed there, in order.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Self

from proctor.errors import DataError, ProctorError, TemplateError

_OF_ROWS = (DataError, TemplateError)
"""What can be wrong with a row. Missing packages, policies and code that is not trusted concern all of them."""


class RowFailures:
    """The rows that could not be used, since somebody last asked.

    Inside a ``with`` block, what goes wrong with rows is filed here instead of raised.

    Attributes:
        count: How many there were in all.
    """

    def __init__(self) -> None:
        self.count = 0
        self._waiting: list[ProctorError] = []
        self._token: Token[RowFailures | None]

    def add(self, error: ProctorError) -> None:
        """File a row's error."""
        self.count += 1
        self._waiting.append(error)

    def take(self) -> list[ProctorError]:
        """Return the failures filed since the last call."""
        taken, self._waiting = self._waiting, []
        return taken

    def __enter__(self) -> Self:
        self._token = _collector.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _collector.reset(self._token)


_collector: ContextVar[RowFailures | None] = ContextVar("proctor_row_failures", default=None)


def failures_so_far() -> int:
    """Return how many rows have been filed: what a step counts was preceded by so many more."""
    collector = _collector.get()
    return 0 if collector is None else collector.count


def filed(error: ProctorError) -> bool:
    """File the error of a row, where somebody collects them; return whether the stream may go on."""
    collector = _collector.get()
    if collector is None or not isinstance(error, _OF_ROWS):
        return False
    collector.add(error)
    return True
