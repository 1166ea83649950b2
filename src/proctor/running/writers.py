"""Writers of a response log, by their keys: whose answers are used, and whose are only there.

Each user has a key (:func:`proctor.state.secret`); an answer carries the key's id and a digest that only its owner can
make. Answers of another key are used where the user named the log, or trusted its writers with ``proctor log trust``.
Answers of earlier versions, and of users whose home cannot be written, are unsigned, and used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from proctor.errors import ForgedError, LogError
from proctor.logs import get_logger
from proctor.safe_files import write_text
from proctor.state import kept_table, read_table, sealed_table, secret

ID_BYTES = 8
"""Of a key's id."""
UNSIGNED = b""
"""The writer of what has no key."""


class ForeignError(LogError):
    """An answer of a writer whom the user does not trust: it is not used."""


class Writers:
    """Writers of one log.

    Args:
        trusts_all: Whether the user named the log.
    """

    def __init__(self, *, trusts_all: bool) -> None:
        self.key: bytes | None = None
        with suppress(OSError):  # a home that cannot be written: what is filed is unsigned
            self.key = secret()
        self.own = UNSIGNED if self.key is None else id_of(self.key)
        self._trusted = None if trusts_all else trusted()
        self.met: set[bytes] = set()

    def check(self, writer: bytes) -> None:
        """Note that an answer of a writer is used.

        Raises:
            ForeignError: It may not be.
        """
        self.met.add(writer)
        if self._trusted is not None and writer not in (self.own, UNSIGNED) and writer not in self._trusted:
            raise ForeignError(f"an answer was filed by another writer, of key {writer.hex()}")

    def others(self) -> list[str]:
        """Return the ids of the other writers whose answers were met, and ``unsigned`` where some have none."""
        return sorted(each.hex() or "unsigned" for each in self.met if each != self.own)


def id_of(key: bytes) -> bytes:
    """Return the id of a key, from which nothing of it can be told."""
    return hashlib.blake2b(key, digest_size=ID_BYTES, person=b"proctor key").digest()


def trusted() -> frozenset[bytes]:
    """Return the ids of the writers whom the user trusts.

    Raises:
        ForgedError: Somebody else wrote the file that says so.
    """
    try:
        return frozenset(map(bytes.fromhex, read_table(_file())))
    except ForgedError:
        raise
    except (OSError, ValueError) as error:
        get_logger().warning("%s cannot be read (%s): answers of other writers are not used", _file(), error)
        return frozenset()


def trust(writers: Iterable[str], log: Path | str) -> None:
    """Trust writers, by the ids of their keys, from now on.

    Raises:
        ForgedError: As :func:`trusted`.
        OSError: It cannot be written down.
    """
    known = read_table(_file())
    write_text(_file(), sealed_table({**known, **dict.fromkeys(writers, str(log))}), mode=0o600)


def _file() -> Path:
    return kept_table("trusted.json")
