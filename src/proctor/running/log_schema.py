"""The file of a response log: its tables, their versions and seals, and transactions on it."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from proctor.errors import LogError
from proctor.running.log_errors import BUSY_SECONDS
from proctor.running.log_store import Connection

SCHEMA_VERSION = 3
"""Kept in ``PRAGMA user_version``; a log with a higher number was written by a newer Proctor.

Version 1 had no digests, version 2 no keys: their bodies stay as they are and are read.
"""

APPLICATION_ID = 0x50524354  # "PRCT": by it ``file`` and we tell a log from other SQLite files


# Room for the keys of a million responses, which are looked up in random order; SQLite's own 2 MB are not.
CACHE_KIB = 65_536
TABLES = (
    """CREATE TABLE engines (
        id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, label TEXT NOT NULL, config TEXT NOT NULL,
        created REAL NOT NULL)""",
    """CREATE TABLE responses (
        id INTEGER PRIMARY KEY, engine INTEGER NOT NULL, request BLOB NOT NULL, repeat INTEGER NOT NULL,
        at INTEGER NOT NULL, body BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX responses_by_key ON responses (engine, request, repeat)",
    """CREATE TABLE failures (
        engine INTEGER NOT NULL, request BLOB NOT NULL, repeat INTEGER NOT NULL, at INTEGER NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (engine, request, repeat)) WITHOUT ROWID""",
)
SEALS = "CREATE TABLE IF NOT EXISTS engine_seals (engine INTEGER PRIMARY KEY, seal BLOB NOT NULL)"
"""Digests of the rows of ``engines``, which version 1 did not have."""

SHARED = (
    "CREATE TABLE IF NOT EXISTS processes (id INTEGER PRIMARY KEY, until REAL NOT NULL, note TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS claims (
        engine INTEGER NOT NULL, request BLOB NOT NULL, repeat INTEGER NOT NULL, process INTEGER NOT NULL,
        PRIMARY KEY (engine, request, repeat)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS servers (
        engine INTEGER NOT NULL, address TEXT NOT NULL, says TEXT NOT NULL, PRIMARY KEY (engine, address))""",
    """CREATE TABLE IF NOT EXISTS probes (
        engine INTEGER NOT NULL, request BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (engine, request))""",
    """CREATE TABLE IF NOT EXISTS spending (
        process INTEGER PRIMARY KEY, engine INTEGER NOT NULL, tokens INTEGER NOT NULL, usd REAL NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS paces (
        engine INTEGER NOT NULL, kind TEXT NOT NULL, slot INTEGER NOT NULL, amount REAL NOT NULL,
        PRIMARY KEY (engine, kind, slot)) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS batches (name TEXT PRIMARY KEY, engine TEXT NOT NULL, body BLOB NOT NULL)",
    """CREATE TABLE IF NOT EXISTS superseded (
        engine INTEGER NOT NULL, request BLOB NOT NULL, repeat INTEGER NOT NULL, at INTEGER NOT NULL,
        body BLOB NOT NULL)""",
)
"""Which processes live, and what each has on its way (:mod:`proctor.running.claims`); which servers had a model, and
requests by which one tells whether another one has it (:mod:`proctor.running.same_model`); what budgets and limits per
minute have of all processes together (:mod:`proctor.running.shared_means`); what was sent to providers in batches
(:mod:`proctor.running.batch_records`); and answers that were set aside (:mod:`proctor.running.anew`).
"""

LEASE_SECONDS = 30.0
"""So long is a process taken to live after it last said so: five times what a busy machine makes it wait."""

NOW = "((julianday('now') - 2440587.5) * 86400.0)"
"""The time of the database, in seconds since 1970."""


def other_version(name: str, version: int) -> LogError:
    """Return the refusal of a log that another Proctor wrote."""
    whose, what_next = "a newer", "upgrade with: pip install -U proctor"
    if version < SCHEMA_VERSION:
        whose, what_next = "an earlier", "run the Proctor that wrote it"
    why = f"its format is version {version}, this Proctor reads up to {SCHEMA_VERSION}"
    hint = f"{what_next}, or start another log with --log PATH"
    return LogError(f"the response log {name} was written by {whose} Proctor", why=why, hint=hint)


def drop_claims(connection: Connection, keys: Iterable[tuple[int, bytes, int]]) -> None:
    """Free requests, each given as engine, request and repeat, for whoever wants to send them."""
    connection.executemany("DELETE FROM claims WHERE engine = ? AND request = ? AND repeat = ?", sorted(keys))


def engine_seal(row: Sequence[Any]) -> bytes:
    """Return the digest of a row of ``engines``: id, identity, label, config, created."""
    return blake2b(repr(tuple(row)).encode("utf-8", "surrogatepass"), digest_size=8, person=b"proctor engine").digest()


def seal_engine(connection: Connection, row: Sequence[Any]) -> None:
    """Keep the digest of a row of ``engines``."""
    insert = "INSERT INTO engine_seals VALUES (?, ?) ON CONFLICT (engine) DO UPDATE SET seal = excluded.seal"
    connection.execute(insert, (row[0], engine_seal(row)))


def text_of(data: bytes) -> str:
    """Return a text of the file, of a damaged one too."""
    return data.decode("utf-8", "surrogateescape")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run a block as one write transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


_OF_NETWORKS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "afs", "9p", "glusterfs", "fuse.glusterfs"}
    | {"fuse.sshfs", "fuse.ceph", "fuse.s3fs", "fuse.gcsfuse", "fuse.juicefs", "pvfs2", "orangefs", "panfs", "quobyte"}
)
"""Names of file systems whose files several machines may have open."""


def network_file_system(path: Path) -> str:
    """Return the name of the network file system on which a file lies; nothing on a disk of this machine.

    SQLite's write-ahead log shares memory between processes, which no network file system does (sqlite.org/wal.html).
    """
    place, found, longest = os.path.realpath(path), "", -1
    with suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            before, _, after = line.partition(" - ")
            mount = before.split()[4].replace("\\040", " ")
            if f"{place}/".startswith(f"{mount.rstrip('/')}/") and len(mount) >= longest:
                found, longest = after.split()[0], len(mount)
    return found if found in _OF_NETWORKS else ""


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait by itself when two processes do it at once."""
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not is_busy or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return
