"""``unitxt.text2sql_utils``: functions on queries and their results."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.data.databases import FileDatabase, MemoryDatabase, Outcome, RemoteDatabase
from proctor.errors import DatasetNotFoundError

if TYPE_CHECKING:
    pass


_TABLE = re.compile(r"(?:CREATE TABLE|Table:)\s+(?:IF NOT EXISTS\s+)?[`\"\[]?([^\s`\"\](]+)", re.IGNORECASE)


def _named_table(part: str) -> str:
    found = _TABLE.search(part)
    return found[1] if found else ""


class DatabaseConnector:
    """What every database has, by the names that programs call."""

    execute: Any
    schema: Any

    def __init__(self, db_config: Mapping[str, Any]) -> None:
        super().__init__(db_config)  # type: ignore[call-arg]  # of the database itself, which is the other base
        self.db_config = db_config

    def execute_query(self, query: str) -> Outcome:
        """Return the rows of a query, or why there are none."""
        return self.execute(query)  # type: ignore[no-any-return]

    def get_table_schema(self, select_tables: list[str] | None = None) -> str:
        """Return the tables as text; with names, those tables only, as far as a text names its table."""
        text: str = self.schema()
        if select_tables is None:
            return text
        parts = re.split(r"(?:\n\n|\n(?=Table: ))", text.rstrip("\n"))
        return "\n\n".join(part for part in parts if _named_table(part) in select_tables)


class DatabaseToDownloadError(DatasetNotFoundError, NotImplementedError):
    """A database that is not on this machine: none is downloaded."""


class LocalSQLiteConnector(DatabaseConnector, FileDatabase):
    """A SQLite file, found below the databases folder."""

    def _find(self, db_id: str) -> Path:
        return Path(self.get_db_file_path(db_id))

    def get_db_file_path(self, db_id: str) -> str:
        """Return the path of the database's file.

        Raises:
            DataError: There are several, or none.
        """
        try:
            return str(super()._find(db_id))
        except DatasetNotFoundError:
            self.download_database(db_id)
            raise

    def download_database(self, db_id: str) -> None:
        """Refuse to download a database.

        Raises:
            NotImplementedError: Always; the message says where to put the file.
        """
        raise DatabaseToDownloadError(
            f"there is no database '{db_id}'",
            why=f"none is below {self.folder()}, and none is downloaded",
            hint="copy the databases there (BIRD: premai-io/birdbench on the hub)",
        )

    @property
    def databases_folder(self) -> str:
        """Where databases are looked for."""
        return str(self.folder())

    @property
    def db_path(self) -> str:
        """The path of the file."""
        return str(self.path)

    @cached_property
    def conn(self) -> sqlite3.Connection:
        """A connection that reads the file; queries of models have one of their own each, with limits."""
        return self._open()

    @cached_property
    def cursor(self) -> sqlite3.Cursor:
        """A cursor of that connection."""
        return self.conn.cursor()


class InMemoryDatabaseConnector(DatabaseConnector, MemoryDatabase):
    """Tables in memory."""


class RemoteDatabaseConnector(DatabaseConnector, RemoteDatabase):
    """A database behind a server."""

    @property
    def api_url(self) -> str:
        """Where it is."""
        return self.url

    @property
    def database_id(self) -> str:
        """Its name there."""
        return self.id

    @property
    def api_key(self) -> str:
        """The key of the server, which is the environment's: an object that is printed or saved does not hold it."""
        return os.environ.get("SQL_API_KEY", "")

    @property
    def base_headers(self) -> Mapping[str, str]:
        """What goes along with each request."""
        return self.headers


def get_db_connector(db_type: str) -> type[Any]:
    """Return the class for a type of database.

    Raises:
        ValueError: There are no databases of this type.
    """
    known: Mapping[str, type[Any]] = {
        "local": LocalSQLiteConnector,
        "in_memory": InMemoryDatabaseConnector,
        "remote": RemoteDatabaseConnector,
    }
    if db_type not in known:
        raise ValueError(f"Unsupported database type: {db_type}")
    return known[db_type]
