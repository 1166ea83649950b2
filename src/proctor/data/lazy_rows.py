"""Rows that are not all in memory: read when somebody looks, read again where they are many, repeated and picked."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, overload

from msgspec import structs

from proctor.data.fields import Row
from proctor.ir import Failure

MOST_KEPT = 100_000
"""Rows of a split that stay in memory: so many short ones take some 60 MB, and reading them again takes time. More are
read again whenever somebody looks, so that a million of them cost no memory."""

AnyRow = Row | Failure
"""A row, or why it cannot be used."""


class _Rows(Sequence[Any]):
    """Base: what has a length and can be iterated from any place."""

    def starting(self, place: int) -> Iterator[AnyRow]:
        """Yield the rows from a place on."""
        return islice(iter(self), place, None)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return picked(range(len(self))[index], self)
        return self._row(range(len(self))[index])

    def _row(self, place: int) -> AnyRow:
        return next(self.starting(place))


class LazyRows(_Rows):
    """Rows that are read when somebody looks at them.

    Args:
        read: Reads them; called once.
    """

    def __init__(self, read: Callable[[], Sequence[AnyRow]]) -> None:
        self._read = read
        self._rows: Sequence[AnyRow] | None = None

    @property
    def _loaded(self) -> Sequence[AnyRow]:
        if self._rows is None:
            self._rows = self._read()
        return self._rows

    def __len__(self) -> int:
        return len(self._loaded)

    def __iter__(self) -> Iterator[AnyRow]:
        return iter(self._loaded)

    def _row(self, place: int) -> AnyRow:
        return self._loaded[place]


def read_through(read: Callable[[], Iterator[AnyRow]], *, is_uniform: bool = False) -> Sequence[Any]:
    """Return rows that are read as far as somebody looks, kept where they are few, read again where they are many.

    The first row is read now, so that files are looked for, and what is wrong with them is said, where they are named.

    Args:
        read: Starts reading from the beginning.
        is_uniform: Whether the rows are of one form already (:class:`Form`).
    """
    rows = RowsSoFar(read, None if is_uniform else Form())
    rows.go_on(is_last=True)
    return rows


class RowsSoFar(_Rows):
    """The rows of a file: the first ones alone where nobody looks at the others, and none of them can change the first.

    A whole number in a column is a decimal where a later row has decimals there (:class:`Form`): whoever looks at such
    a row has all read.

    Args:
        read: Starts reading from the beginning.
        form: The form that rows are brought into.
    """

    def __init__(self, read: Callable[[], Iterator[AnyRow]], form: Form | None) -> None:
        self._read, self._form = read, form
        self._source: Iterator[AnyRow] | None = None
        self._kept: list[AnyRow] = []
        self._rows: Sequence[AnyRow] | None = None

    @property
    def all(self) -> Sequence[AnyRow]:
        """All rows, read to the end."""
        while self._rows is None:
            self.go_on(is_last=False)
        return self._rows

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[AnyRow]:
        place = 0
        while self._rows is None:
            if place >= len(self._kept):
                self.go_on(is_last=True)
                continue
            yield self._kept[place]
            place += 1
        yield from islice(self._rows, place, None)

    def _row(self, place: int) -> AnyRow:
        return self.all[place]

    def go_on(self, *, is_last: bool) -> None:
        """Read a row; or all that are left, where that is not the last one looked at, or is not settled by itself."""
        if self._source is None:
            self._source, self._kept = self._read(), []
            self._form = self._form and Form()
        try:
            self._read_on(self._source, is_last=is_last)
        except BaseException:
            self._source = None  # whoever looks again is told again
            raise

    def _read_on(self, source: Iterator[AnyRow], *, is_last: bool) -> None:
        for row in source:
            self._see(row)
            self._kept.append(row)
            is_last = is_last and (self._form is None or self._form.leaves(row))
            if is_last or len(self._kept) > MOST_KEPT:
                break
        else:
            self._rows = self._kept if self._form is None else list(self._form.over(self._kept))
            return
        if len(self._kept) > MOST_KEPT:
            count = len(self._kept)
            for row in source:
                count += 1
                self._see(row)
            self._rows, self._kept = RereadRows(self._read, count, self._form), []

    def _see(self, row: AnyRow) -> None:
        if self._form is not None:
            self._form.see(row)


class RereadRows(_Rows):
    """Many rows, read again by everybody who looks; one after the other, forwards, costs one reading.

    Args:
        read: Starts reading from the beginning.
        count: How many there are.
        form: Their form, where they are brought into one.
    """

    def __init__(self, read: Callable[[], Iterator[AnyRow]], count: int, form: Form | None) -> None:
        self._read, self._count, self._form = read, count, form
        self._cursor: Iterator[AnyRow] = iter(())
        self._next = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[AnyRow]:
        rows = self._read()
        return rows if self._form is None else self._form.over(rows)

    def _row(self, place: int) -> AnyRow:
        if place < self._next or not self._next:
            self._cursor, self._next = iter(self), 0
        row = next(islice(self._cursor, place - self._next, None))
        self._next = place + 1
        return row


class Form:
    """The form that all rows of a split have: the first one's columns, numbers of one column of one kind.

    Arrow tables do both: a missing value is ``None``, and a column with a fraction in it holds floats only.
    """

    def __init__(self) -> None:
        self._columns: dict[str, set[type]] = {}
        self._names: list[str] = []
        self._is_same = True

    def see(self, row: AnyRow) -> None:
        """Take notice of a row."""
        if isinstance(row, Failure):
            return
        names = list(row)
        if not self._columns:
            self._names = names
            self._columns = {name: set() for name in names}
        if names != self._names:
            self._is_same = False
            for name, kinds in self._columns.items():
                kinds.add(type(row.get(name)))
            return
        for value, kinds in zip(row.values(), self._columns.values(), strict=True):
            kinds.add(type(value))

    def leaves(self, row: AnyRow) -> bool:
        """Whether a row that was seen stays as it is, whatever rows follow."""
        if isinstance(row, Failure):
            return True
        return bool(row) and list(row) == self._names and int not in map(type, row.values())

    def over(self, rows: Iterable[AnyRow]) -> Iterator[AnyRow]:
        """Yield rows in this form; those that cannot be used stay as they are."""
        mixed = [name for name, kinds in self._columns.items() if _is_mixed(kinds)]
        if self._is_same and not mixed:
            return iter(rows)
        return (row if isinstance(row, Failure) else self._formed(row, mixed) for row in rows)

    def _formed(self, row: Row, mixed: Sequence[str]) -> Row:
        made = {name: row.get(name) for name in self._names}
        for name in mixed:
            value = made[name]
            made[name] = float(value) if isinstance(value, int) else value
        return made


def uniform(rows: Sequence[Row]) -> list[Any]:
    """Return rows in one form (:class:`Form`)."""
    form = Form()
    for row in rows:
        form.see(row)
    return list(form.over(rows))


def _is_mixed(kinds: set[type]) -> bool:
    return int in kinds and float in kinds and kinds <= {int, float, type(None)}


class PickedRows(_Rows):
    """Some of many rows, at growing places.

    Args:
        places: Where they are.
    """

    def __init__(self, places: Sequence[int], rows: Sequence[AnyRow]) -> None:
        self._places = places if isinstance(places, range) else array("q", places)
        self._rows = rows

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[AnyRow]:
        rows, position = iter(self._rows), 0
        for place in self._places:
            yield next(islice(rows, place - position, None))
            position = place + 1

    def _row(self, place: int) -> AnyRow:
        return self._rows[self._places[place]]


def picked(places: Sequence[int], rows: Sequence[AnyRow]) -> Sequence[Any]:
    """Return the rows at places, in the order of the places; only those are in memory, or none of them."""
    if isinstance(rows, list | tuple) or len(rows) <= MOST_KEPT:
        return [rows[place] for place in places]
    if all(a < b for a, b in zip(places, islice(places, 1, None), strict=False)):
        return PickedRows(places, rows)
    wanted = set(places)
    found = {place: row for place, row in enumerate(rows) if place in wanted}
    return [found[place] for place in places]


class RepeatedRows(_Rows):
    """Rows, each of them several times, perhaps with two columns that say which one it is.

    A row that cannot be used says it, too.

    Args:
        rows: Each once.
        times: How often each comes.
        in_blocks: Whether the whole is repeated, rather than each row.
        origin: What the rows are of; without one they stay as they are.
        columns: What the columns of the origin and of the position are called; by default as in OpenCompass.
    """

    def __init__(
        self,
        rows: Sequence[AnyRow],
        times: int = 1,
        *,
        in_blocks: bool = False,
        origin: str = "",
        columns: tuple[str, str] = ("subdivision", "idx"),
    ) -> None:
        self._rows, self._times, self._in_blocks = rows, times, in_blocks
        self._origin, self._columns = origin, columns

    def __len__(self) -> int:
        return len(self._rows) * self._times

    def __iter__(self) -> Iterator[AnyRow]:
        outer, inner = (self._times, 1) if self._in_blocks else (1, self._times)
        for _ in range(outer):
            for index, row in enumerate(self._rows):
                made = self._numbered(row, index)
                for _ in range(inner):
                    yield made

    def _row(self, place: int) -> AnyRow:
        index = place % len(self._rows) if self._in_blocks else place // self._times
        return self._numbered(self._rows[index], index)

    def _numbered(self, row: AnyRow, index: int) -> AnyRow:
        if not self._origin:
            return row
        if isinstance(row, Failure):
            return structs.replace(row, message=f"{self._origin}[{index}]: {row.message}")
        return {**row, self._columns[0]: self._origin, self._columns[1]: index}
