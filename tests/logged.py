"""Answers put into a response log at once: for tests of whatever reads one."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.ir import Response
from proctor.running.log import Key, ResponseLog, write


def put_many(log: ResponseLog, engine: int, entries: Iterable[tuple[Key, Response]]) -> None:
    """Store entries in one transaction; they are durable when this returns. The first answer to a key stays."""
    with log._guard() as connection:
        write(log, connection, engine, entries)
    log.store.sync()
