"""The interface of a response log to whatever holds its tables: an SQLite file or a PostgreSQL database.

The tables, and nearly all questions to them, are the same; what differs is here. Questions are written with ``?`` for
values, and in what both understand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from proctor.errors import LogError
from proctor.running.log_place import LogAddress

T = TypeVar("T")


class AbsentLogError(LogError):
    """There is no log where one is to be read."""


class Connection(Protocol):
    """A connection to the tables of a log, for one thread at a time."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Any:
        """Do something once; return a cursor of the database's."""

    def among(self, query: str, values: Sequence[Any], requests: Sequence[bytes]) -> Any:
        """Ask a question that ends with ``request IN`` about some hundred requests."""

    def executemany(self, query: str, values: Iterable[Sequence[Any]], /) -> object:
        """Do something for each of many values."""

    def transact(self, work: Callable[[Connection], T]) -> T:
        """Do some work as one write transaction, again from the start where the database went away meanwhile."""

    def stream(self, query: str) -> Iterator[Any]:
        """Yield the rows of a large table, without holding them all."""

    def tidy(self) -> None:
        """Do after a commit what would otherwise pile up."""

    def close(self) -> None:
        """Close it."""


class Store(ABC):
    """What holds the tables of a log.

    Attributes:
        network: The network file system on which it lies, where one process at a time may write it.
        now: The time of the database in SQL, in seconds since 1970.
        alive: What is true in SQL of a row of ``processes`` whose lease holds.
        locking: What a question in SQL ends with that keeps others from its rows until the transaction ends.
    """

    network = locking = ""
    now: str
    alive: str

    @abstractmethod
    def connect(self) -> Connection:
        """Return a further connection, for a thread of its own."""

    @abstractmethod
    def prepare(self, connection: Connection) -> None:
        """Make the tables where there are none, and bring those of an earlier version up to date.

        Raises:
            LogError: They are another program's, or of a version that this Proctor does not know.
        """

    @abstractmethod
    def size(self, connection: Connection) -> int:
        """Return how many bytes it takes."""

    @abstractmethod
    def compact(self, connection: Connection) -> int:
        """Give unused space back; return how many bytes. Others may not write meanwhile."""

    def ahead(self, connection: Connection) -> float:  # noqa: ARG002 - of a file, as of the next one
        """Return by how many seconds the clock of the database is ahead of this machine's."""
        return 0.0

    def check(self, connection: Connection) -> list[str]:  # noqa: ARG002
        """Return what is wrong with its structure."""
        return []

    def sync(self) -> None:  # noqa: B027 - what a database has committed is on its disk
        """Wait until everything committed so far would outlive a power loss."""


def store_at(place: Path | LogAddress, *, read_only: bool) -> Store:
    """Return what holds the log at a place.

    Raises:
        MissingExtraError: It is a database, and psycopg is not installed.
    """
    if isinstance(place, LogAddress):
        from proctor.running.log_database import LogDatabase

        return LogDatabase(place, read_only=read_only)
    from proctor.running.log_file import LogFile

    return LogFile(place, read_only=read_only)
