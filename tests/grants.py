"""Effects that are allowed for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from proctor import effects


@contextmanager
def granting(*texts: str) -> Iterator[None]:
    """Allow effects inside the block, as ``--allow`` does for a command."""
    before = set(effects._granted)
    effects.grant(*texts)
    try:
        yield
    finally:
        effects._granted.clear()
        effects._granted.update(before)
