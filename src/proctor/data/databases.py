"""Databases that SQL questions are asked about: SQLite files, tables in memory, and servers.

``connect(value)`` takes a value of the field type ``SQLDatabase``. Files are opened for reading only, and every query
has a time limit, because queries are what models write.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import sys
import time
import urllib.error
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol

from proctor.effects import asking, author_of_rows, require
from proctor.errors import DataError, DatasetNotFoundError, UnreachableDatabaseError
from proctor.foreign_text import parse_json
from proctor.settings import settings

QUERY_SECONDS = 30.0
"""How long a query may run: what Unitxt gives remote databases; honest queries of benchmarks take seconds."""

_ATTEMPTS = 3  # waits of one and two seconds between them: long enough for a hiccup, for each query of an exam
# Statuses from here on are the server's fault (RFC 9110, 15.6) and may pass; others are the query's.
_SERVER_ERROR = 500
# Of SQLite's virtual machine: each may make a large value; looking at clock and memory costs two microseconds.
_STEPS_BETWEEN_CHECKS = 1_000

Outcome = tuple[Any, str | None]
"""The rows of a query, or ``None``, and the error message where it failed."""


class Database(Protocol):
    """A database that can describe itself and answer queries."""

    def schema(self) -> str:
        """Return the tables as text for a prompt."""

    def execute(self, query: str) -> Outcome:
        """Return the rows of a query, or the reason why there are none."""


def connect(config: Mapping[str, Any]) -> Database:
    """Return the database of a ``SQLDatabase`` value.

    Raises:
        DataError: Its ``db_type`` is unknown, or it lacks what that type needs.
    """
    kinds: dict[Any, Callable[[Mapping[str, Any]], Database]] = {
        "local": FileDatabase,
        "in_memory": MemoryDatabase,
        "remote": RemoteDatabase,
    }
    kind = config.get("db_type")
    if kind not in kinds:
        raise DataError(f"there are no databases of type {kind!r}", hint=f"use one of {', '.join(kinds)}")
    return kinds[kind](config)


_READING_PRAGMAS = frozenset(
    {
        "collation_list",
        "compile_options",
        "database_list",
        "foreign_key_list",
        "function_list",
        "index_info",
        "index_list",
        "index_xinfo",
        "module_list",
        "pragma_list",
        "table_info",
        "table_list",
        "table_xinfo",
    }
)
"""What a query may ask SQLite itself; others change it, some of them (``hard_heap_limit``) for the whole process."""

_LARGEST_VALUE = 1 << 18
"""Bytes of a value, or of a query: 256 KiB, beyond any cell of a benchmark (the posts of BIRD take up to 30 KiB)."""

_MOST_COLUMNS = 300
"""Columns of a table or a result: several times those of the widest table of BIRD or Spider. SQLite makes all values
of a row before it looks at the clock."""

_MOST_MEMORY = 1 << 28  # bytes by which the process may grow while a query runs; what it sorts is held in memory, too

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in which the system counts the peak of a process's memory


def _authorize(action: int, name: str | None, *_: Any) -> int:
    """Let a query touch its own database only: others, and copies of it, would be files that it reads or writes."""
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_OK if str(name).lower() in _READING_PRAGMAS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_DENY if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) else sqlite3.SQLITE_OK


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT


_seconds: ContextVar[float] = ContextVar("proctor_query_seconds", default=QUERY_SECONDS)


@contextmanager
def query_seconds(seconds: float) -> Iterator[None]:
    """Give queries inside the ``with`` block so many seconds."""
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


@contextmanager
def _limited(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    deadline, most = time.monotonic() + _seconds.get(), _peak() + _MOST_MEMORY
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, _MOST_COLUMNS)
    connection.set_authorizer(_authorize)
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline or _peak() > most), _STEPS_BETWEEN_CHECKS)
    try:
        yield connection
    finally:
        connection.close()


def _rows(connection: sqlite3.Connection, query: str) -> Outcome:
    try:
        return connection.execute(query).fetchall(), None
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:  # texts that are none; values too long
        return None, f"Error executing SQL: {error}"


class FileDatabase:
    """A SQLite file, found by ``db_id`` anywhere below the databases folder."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        db_id = config.get("db_id")
        if not db_id:
            raise DataError("a local database needs a 'db_id'")
        self.path = self._find(str(db_id))

    @staticmethod
    def folder() -> Path:
        """Return the folder in which files are looked for."""
        base = os.environ.get("UNITXT_CACHE_LOCATION")
        return Path(base) / "databases" if base else Path(settings.cache_dir) / "databases"

    def _find(self, db_id: str) -> Path:
        name = db_id.rpartition("/")[2]
        found = sorted(self.folder().rglob(f"{name}.sqlite"))
        if len(found) == 1:
            return found[0]
        if found:
            raise DataError(f"several files could be the database '{db_id}'", why=", ".join(map(str, found)))
        raise DatasetNotFoundError(
            f"there is no database '{db_id}'",
            why=f"no {name}.sqlite below {self.folder()}",
            hint="copy the databases there (BIRD: premai-io/birdbench on the hub)",
        )

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)

    def schema(self) -> str:
        """Return the statements that made the tables, in the order of the file."""
        with _limited(self._open()) as connection:
            rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type='table'").fetchall()
        return "\n\n".join(sql for name, sql in rows if name != "sqlite_sequence")

    def execute(self, query: str) -> Outcome:
        """Return the rows of a query."""
        with _limited(self._open()) as connection:
            return _rows(connection, query)


class MemoryDatabase:
    """Tables given as ``{"table": {"columns": [...], "rows": [[...], ...]}}``."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.tables: Mapping[str, Any] = config.get("data") or {}
        if not self.tables:
            raise DataError("a database in memory needs 'data'")

    def schema(self) -> str:
        """Return a statement for each table, in which every column is text."""
        return "\n\n".join(
            f"CREATE TABLE `{name}` ({', '.join(f'`{column}` TEXT' for column in table['columns'])});"
            for name, table in self.tables.items()
        )

    def execute(self, query: str) -> Outcome:
        """Return the rows of a query.

        Raises:
            DataError: SQLite takes the tables for none.
        """
        with _limited(sqlite3.connect(":memory:")) as connection:
            for name, table in self.tables.items():
                self._make(connection, name, table)
            return _rows(connection, query)

    @staticmethod
    def _make(connection: sqlite3.Connection, name: str, table: Mapping[str, Any]) -> None:
        try:
            connection.execute(f"CREATE TABLE {name} ({', '.join(table['columns'])})")
            places = ", ".join("?" * len(table["columns"]))
            connection.executemany(f"INSERT INTO {name} VALUES ({places})", table["rows"])  # noqa: S608 - the names are those of the data
        except (sqlite3.Error, sqlite3.Warning, ValueError, TypeError, KeyError) as error:
            raise DataError(f"the table '{name}' of a database in memory cannot be made", why=str(error)) from None


class RemoteDatabase:
    """A database behind a server; ``db_id`` is ``<url>,db_id=<id>`` and ``SQL_API_KEY`` holds the key."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        db_id = str(config.get("db_id") or "")
        self.url = db_id.partition(",")[0]
        self.id = db_id.rpartition("db_id=")[2].partition(",")[0]
        key = os.environ.get("SQL_API_KEY")
        if not self.url.startswith(("http://", "https://")) or not self.id:
            raise DataError("a remote database needs a 'db_id' of the form '<url>,db_id=<id>'")
        if not key:
            raise DataError("a remote database needs a key", hint="set the environment variable SQL_API_KEY")
        self.author = author_of_rows()
        require(asking(self.url, "a database of a row", ["SQL_API_KEY"]), self.author)
        self.headers = {
            "Content-Type": "application/json",
            "accept": "application/json",
            "Authorization": f"Bearer {key}",
        }

    def _ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        address = f"{self.url}/{path}"
        from proctor.data import web  # with what speaks TLS: few rows have a database

        with web.opened(address, self.author, "a database of a row", headers=self.headers, body=data) as response:
            return parse_json(web.read(response))

    def schema(self) -> str:
        """Return a line for each table with its columns."""
        try:
            tables = self._ask(f"datasources/{self.id}")["schema"]["tables"]
        except (OSError, ValueError, KeyError) as error:
            raise UnreachableDatabaseError(
                f"the schema of '{self.id}' cannot be fetched from {self.url}", why=str(error)
            ) from error
        return "".join(
            f"Table: {table.get('name', table.get('table_name'))} has columns: "
            f"{[column.get('name', column.get('column_name')) for column in table['columns']]}\n"
            for table in tables
        )

    def execute(self, query: str) -> Outcome:
        """Return the rows of a query; server errors are tried again twice."""
        why = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(2 ** (attempt - 1))
            try:
                return self._ask("sql", {"sql": query, "dataSourceId": self.id}), None
            except urllib.error.HTTPError as error:
                why = f"HTTP Error on attempt {attempt + 1}: {error}"
                if error.code < _SERVER_ERROR:
                    break
            except (OSError, ValueError) as error:
                why = f"Error on attempt {attempt + 1}: {error}"
        return None, why
