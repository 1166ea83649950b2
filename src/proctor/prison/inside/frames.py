"""Messages on a pipe: four bytes that say how long one is, then the message."""

from __future__ import annotations

import os

LONGEST = 256 * 1024 * 1024
"""Bytes of a message: more than the tests of any problem, of which those of contests are the longest."""
HEAD = 4


class ClosedError(Exception):
    """The other side is gone, or sends what is not a message."""


def send(handle: int, message: bytes) -> None:
    """Write a message.

    Raises:
        ClosedError: Nobody reads any more.
    """
    rest = memoryview(len(message).to_bytes(HEAD, "big") + message)
    try:
        while rest:
            rest = rest[os.write(handle, rest) :]
    except OSError as error:
        raise ClosedError(str(error)) from None


def receive(handle: int) -> bytes:
    """Read a message.

    Raises:
        ClosedError: There is no more, or it is not one.
    """
    size = int.from_bytes(_exactly(handle, HEAD), "big")
    if size > LONGEST:
        raise ClosedError("a message is too long")
    return _exactly(handle, size)


def _exactly(handle: int, count: int) -> bytes:
    parts = []
    while count:
        try:
            part = os.read(handle, min(count, 1 << 20))
        except OSError as error:
            raise ClosedError(str(error)) from None
        if not part:
            raise ClosedError("the other side is gone")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
