"""From the rows of files to the rows that a dataset class of OpenCompass or AISBench gives.

Tables say it for every class by name (:mod:`shape_table`): which files make which splits, and the columns as
expressions over the files' columns. Beside them expressions may use ``row`` (the whole row), ``file`` (as the file has
it), ``args`` (the arguments of the config), ``split``, ``position`` (of the row in the files) and ``index`` (among
those that ``where`` leaves).
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.files import FileFormat, file_rows, local_path
from proctor.dialects.aisbench.datasets.makers import Source, maker
from proctor.dialects.aisbench.datasets.row_functions import COLUMN_FUNCTIONS, ROW_FUNCTIONS, circular
from proctor.dialects.aisbench.datasets.splits import WHOLE, Splits
from proctor.errors import DataError, Location
from proctor.safe_python import compile_expression

_MODULES = ("re", "json", "math")
_ALL = "*"
"""Stands for every split."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a dataset class makes its rows.

    Attributes:
        files: ``None`` where ``datasets.load_dataset`` loads the rows. Otherwise path templates over the arguments: one
            for a dataset without splits, or one for each split; ``@name`` is the argument of that name. A list joins
            the lines of several files into rows; an empty path is one row without columns.
        maker: A function of :mod:`makers` that gives a split's rows, where no table can say it; ``files`` then only
            names the splits.
        takes: Split → the one that ``datasets.load_dataset`` gives under another name. Empty: all that it gives.
        load: Arguments of ``datasets.load_dataset``, as expressions over the config's; empty: all of them.
        defaults: Arguments that configs may leave out.
        derived: Further arguments, as expressions over the others.
        layout: How the files are read.
        fill: What stands for missing values.
        literal: Columns whose text is a Python literal.
        where: Condition on the files' rows.
        each: Expression for a list of rows that a row stands for.
        columns: The row's columns, in order. Empty: those of the file.
        update: Columns to add or replace, one after the other.
        apply: Columns to put through a function of :mod:`row_functions`.
        also: Expression for an object of further columns.
        rename: Old name → new name of columns that stay where they are.
        drop: Columns to leave out.
        keep: Condition on the finished rows.
        repeat: Argument that says how often each row comes.
        sample: Rows to draw: the argument that asks for it, the split (``*``: all), how many as an expression over
            ``count`` and ``args``, and the seed.
        repeat_whole: Argument that says how often the whole comes, and of which split (``*``: all).
        function: A function of :mod:`row_functions` over all rows.
        chain: Whether several files follow each other instead of being joined.
        circular: Options and answer of questions that are asked with their options in every order.
    """

    files: Any = None
    maker: str = ""
    takes: Mapping[str, str] = field(default_factory=dict)
    load: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    layout: FileFormat = field(default_factory=FileFormat)
    fill: Any = None
    literal: Sequence[str] = ()
    where: str = ""
    each: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    update: Mapping[str, str] = field(default_factory=dict)
    apply: Mapping[str, str] = field(default_factory=dict)
    also: str = ""
    rename: Mapping[str, str] = field(default_factory=dict)
    drop: Sequence[str] = ()
    keep: str = ""
    repeat: str = ""
    sample: Sequence[Any] = ()
    repeat_whole: tuple[str, str] = ("", "")
    function: str = ""
    chain: bool = False
    circular: Mapping[str, Any] = field(default_factory=dict)

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with those that a config may leave out and those that follow from others."""
        values = {**self.defaults, **given}
        arguments = {name: local_path(value) if isinstance(value, str) else value for name, value in values.items()}
        for name, text in self.derived.items():
            arguments[name] = compile_expression(text, _MODULES)(arguments)
        return arguments

    def splits(self, given: Mapping[str, Any], place: Location | None = None) -> Splits:
        """Return the splits of a dataset; nothing is read before it is asked for."""
        arguments = self.arguments(given)
        files = self.files if isinstance(self.files, Mapping) else {WHOLE: self.files}
        named = {_filled(name, arguments, place): paths for name, paths in files.items()}
        return {name: partial(self._read, paths, name, arguments, place) for name, paths in named.items()}

    def over(self, splits: Splits, given: Mapping[str, Any]) -> Splits:
        """Return splits that something else loaded, with this shape's columns."""
        arguments = self.arguments(given)
        taken = {name: _filled(old, arguments, None) for name, old in self.takes.items()} or {
            name: name for name in splits
        }
        return {name: partial(self._loaded, _split_of(splits, old), name, arguments) for name, old in taken.items()}

    def load_arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with which ``datasets.load_dataset`` is called."""
        arguments = self.arguments(given)
        if not self.load:
            return arguments
        return {name: compile_expression(text, _MODULES)(arguments) for name, text in self.load.items()}

    def _read(
        self, paths: str | Sequence[str], split: str, arguments: Mapping[str, Any], place: Location | None
    ) -> list[Row]:
        if self.maker:
            return uniform(self._rows(self._maker_rows(Source(arguments, place), split), split, arguments))
        if isinstance(paths, str) and paths.startswith("@"):
            paths = arguments[paths[1:]]
        names = [paths] if isinstance(paths, str) else list(paths)
        read: list[list[Row]] = [
            [{}] if not name else file_rows(_filled(name, arguments, place), self.layout, place) for name in names
        ]
        raw = [row for rows in read for row in rows] if self.chain else joined(read, names)
        return uniform(self._rows(raw, split, arguments))

    def _maker_rows(self, source: Source, split: str) -> list[Row]:
        try:
            return maker(self.maker)(source, split)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise DataError(
                "the files do not have the form that the dataset type reads",
                location=source.place,
                path=split or "rows",
                why=f"{type(error).__name__}: {error}",
            ) from error

    def _loaded(self, read: Callable[[], Sequence[Row]], split: str, arguments: Mapping[str, Any]) -> list[Row]:
        return self._rows(read(), split, arguments)

    def _rows(self, raw: Iterable[Row], split: str, arguments: Mapping[str, Any]) -> list[Row]:
        made = list(self._made(raw, split, arguments))
        if self.repeat:
            made = [row for row in made for _ in range(int(arguments.get(self.repeat, 1)))]
        if self.sample:
            made = _drawn(made, self.sample, split, arguments)
        name, of_split = self.repeat_whole
        if name and of_split in (split, _ALL):
            made *= int(arguments.get(name, 1))
        if self.function:
            made = self._function_rows(made, split, arguments)
        return circular(made, {**self.circular, **arguments}, split) if self.circular else made

    def _function_rows(self, rows: list[Row], split: str, arguments: Mapping[str, Any]) -> list[Row]:
        try:
            return ROW_FUNCTIONS[self.function](rows, {**arguments, "split": split})
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, SyntaxError) as error:
            raise DataError(
                "the rows do not have the form that the dataset type reads",
                path=split or "rows",
                why=f"{type(error).__name__}: {error}",
            ) from error

    def _made(self, raw: Iterable[Row], split: str, arguments: Mapping[str, Any]) -> Iterator[Row]:
        position = 0
        try:
            for position, made in self._numbered(raw, split, arguments):  # noqa: B007 - named in the error
                yield made
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise DataError(
                "a row does not have the form that the dataset type reads",
                path=f"{split or 'rows'}[{position}] or after",
                why=f"{type(error).__name__}: {error}",
            ) from error

    def _numbered(self, raw: Iterable[Row], split: str, arguments: Mapping[str, Any]) -> Iterator[tuple[int, Row]]:
        where, keep = (compile_expression(text or "True", _MODULES) for text in (self.where, self.keep))
        each = compile_expression(self.each, _MODULES) if self.each else None
        index = 0
        for position, row in enumerate(raw):
            read = row if self.fill is None else {k: self.fill if v is None else v for k, v in row.items()}
            read = {**read, **{name: COLUMN_FUNCTIONS["literal"](read[name]) for name in self.literal}}
            names = {**read, "row": read, "file": read, "args": arguments, "split": split}
            names |= {"position": position, "index": index}
            if not where(names):
                continue
            index += 1
            for part in each(names) if each else [read]:
                made = self._columns(part, {**names, **part, "row": part})
                if keep({**made, "row": made, "args": arguments}):
                    yield position, made

    def _columns(self, part: Row, names: Mapping[str, Any]) -> Row:
        made = {name: make(names) for name, make in self._compiled(self.columns)} if self.columns else dict(part)
        for name, make in self._compiled(self.update):
            made[name] = make({**names, **made, "row": made})
        for name, function in self.apply.items():
            made[name] = COLUMN_FUNCTIONS[function](made[name])
        if self.also:
            made.update(compile_expression(self.also, _MODULES)({**names, **made, "row": made}))
        for name in self.drop:
            made.pop(name, None)
        return {self.rename.get(name, name): value for name, value in made.items()} if self.rename else made

    @staticmethod
    def _compiled(columns: Mapping[str, str]) -> Iterator[tuple[str, Callable[[Mapping[str, Any]], Any]]]:
        return ((name, compile_expression(text, _MODULES)) for name, text in columns.items())


def _filled(template: str, arguments: Mapping[str, Any], place: Location | None) -> str:
    values = {name: local_path(value) if isinstance(value, str) else value for name, value in arguments.items()}
    try:
        return string.Formatter().vformat(template, (), values)
    except KeyError as error:
        raise DataError(
            f"the dataset needs the argument '{error.args[0]}'",
            location=place,
            why=f"its files are {template}; the config gives {', '.join(arguments) or 'no arguments'}",
        ) from None


def joined(read: Sequence[Sequence[Row]], names: Sequence[str]) -> list[Row]:
    """Return rows whose columns come from several files, line by line; lines of text are ``line0``, ``line1`` ….

    Raises:
        DataError: The files differ in length.
    """
    if len(read) == 1:
        return list(read[0])
    if len({len(rows) for rows in read}) != 1:
        lengths = ", ".join(f"{name} has {len(rows)}" for name, rows in zip(names, read, strict=True))
        raise DataError("files that belong together differ in their number of lines", why=lengths)
    numbered = [
        [{f"line{file}" if key == "line" else key: value for key, value in row.items()} for row in rows]
        for file, rows in enumerate(read)
    ]
    return [{key: value for row in parts for key, value in row.items()} for parts in zip(*numbered, strict=True)]


def uniform(rows: Sequence[Row]) -> list[Row]:
    """Return rows that all have the first one's columns, numbers of one column of one kind.

    Upstream keeps rows in Arrow tables, which do both: a missing value is ``None``, and a column with a fraction in it
    holds floats only.
    """
    if not rows:
        return []
    names = list(rows[0])
    mixed = [name for name in names if _mixed({type(row.get(name)) for row in rows})]
    same = all(len(row) == len(names) and list(row) == names for row in rows)
    if same and not mixed:
        return list(rows)
    made = [{name: row.get(name) for name in names} for row in rows]
    for name in mixed:
        for row in made:
            value = row[name]
            row[name] = float(value) if isinstance(value, int) else value
    return made


def _mixed(kinds: set[type]) -> bool:
    return int in kinds and float in kinds and kinds <= {int, float, type(None)}


def _drawn(rows: list[Row], sample: Sequence[Any], split: str, arguments: Mapping[str, Any]) -> list[Row]:
    """Return rows drawn as upstream draws them; all, where nothing asks for it."""
    asked, of_split, size, seed = sample
    if not arguments.get(asked) or of_split not in (split, _ALL):
        return rows
    count = compile_expression(size)({"count": len(rows), "args": arguments})
    if count is None:
        return rows
    if count > len(rows):
        raise DataError(f"{asked} draws {count} rows", why=f"the dataset has {len(rows)}")
    return random.Random(seed).sample(rows, count)


def _split_of(splits: Splits, name: str) -> Callable[[], Sequence[Row]]:
    def read() -> Sequence[Row]:
        if name not in splits:
            raise DataError(f"the dataset has no split '{name}'", why=f"it has {', '.join(map(repr, splits))}")
        return splits[name]()

    return read


def pick(positions: Sequence[int], rows: Sequence[Row]) -> list[Row]:
    """Return the rows at positions."""
    return [rows[position] for position in positions]


def shuffled_positions(count: int, size: int) -> list[int]:
    """Return ``size`` positions of ``count``, drawn as upstream draws them: the size is the seed."""
    positions = list(range(count))
    random.Random(size).shuffle(positions)
    return positions[:size]
