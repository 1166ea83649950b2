"""Search for cyclic garbage: seldom, where many rows are made at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECT_AFTER = 50_000
"""Containers made since the last search for cycles. Rows, prompts and answers hold none and go when nobody needs them;
Python's own 700 make it look through all imported classes again and again, for some percent of a long run, and for a
third of the evaluation of a large dataset."""


def collect_seldom() -> None:
    """Search for cycles seldom from now on; a program that searches even less often is left alone."""
    first, *rest = gc.get_threshold()
    if 0 < first < COLLECT_AFTER:
        gc.set_threshold(COLLECT_AFTER, *rest)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Search for cycles seldom in a ``with`` block."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
