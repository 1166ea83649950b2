"""From the rows of files to the rows that a dataset class of OpenCompass or AISBench gives.

``types.json`` says it for every class by name: which files make which splits, and the columns as expressions over the
files' columns (beside them: ``row``, the whole row; ``index``, its position; ``args``, the arguments of the config).
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from importlib import resources
from typing import Any

from proctor.data.expressions import compile_expression
from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.files import FileFormat, file_rows, local_path
from proctor.errors import DataError, Location

Splits = Mapping[str, Callable[[], Sequence[Row]]]
"""Splits of a dataset, each a function that reads it."""

WHOLE = ""
"""Name of the only split of a dataset that has none."""

_MODULES = ("re", "json", "math")
_LAYOUT = {each.name for each in fields(FileFormat)}


@dataclass(frozen=True, slots=True)
class Shape:
    """How a dataset class makes its rows.

    Attributes:
        files: ``None`` where ``datasets.load_dataset`` loads the rows. Otherwise path templates over the arguments: one
            for a dataset without splits, or one for each split. A list joins the lines of several files into rows.
        defaults: Arguments that configs may leave out.
        layout: How the files are read.
        where: Condition on the files' rows.
        each: Expression for a list of rows that a row stands for.
        columns: The row's columns, in order. Empty: those of the file.
        update: Columns to add or replace, one after the other.
        drop: Columns to leave out.
        keep: Condition on the finished rows.
        repeat: Argument that says how often each row comes.
        chain: Whether several files follow each other instead of being joined.
    """

    files: Any = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    layout: FileFormat = field(default_factory=FileFormat)
    where: str = ""
    each: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    update: Mapping[str, str] = field(default_factory=dict)
    drop: Sequence[str] = ()
    keep: str = ""
    repeat: str = ""
    chain: bool = False

    def splits(self, arguments: Mapping[str, Any], place: Location | None = None) -> Splits:
        """Return the splits of a dataset; nothing is read before it is asked for."""
        arguments = {**self.defaults, **arguments}
        files = self.files if isinstance(self.files, Mapping) else {WHOLE: self.files}
        return {
            _filled(name, arguments, place): partial(self.rows, paths, arguments, place)
            for name, paths in files.items()
        }

    def rows(self, paths: str | Sequence[str], arguments: Mapping[str, Any], place: Location | None) -> list[Row]:
        """Return the rows that files make."""
        names = [paths] if isinstance(paths, str) else list(paths)
        read = [file_rows(_filled(name, arguments, place), self.layout, place) for name in names]
        raw = [row for rows in read for row in rows] if self.chain else joined(read, names)
        made = list(self._made(raw, arguments))
        if self.repeat:
            made = [row for row in made for _ in range(int(arguments.get(self.repeat, 1)))]
        return uniform(made)

    def over(self, splits: Splits, arguments: Mapping[str, Any]) -> Splits:
        """Return splits that something else loaded, with this shape's columns."""
        return {name: partial(self._loaded, read, arguments) for name, read in splits.items()}

    def _loaded(self, read: Callable[[], Sequence[Row]], arguments: Mapping[str, Any]) -> list[Row]:
        return list(self._made(read(), arguments))

    def _made(self, raw: Iterable[Row], arguments: Mapping[str, Any]) -> Iterator[Row]:
        where, each, keep = (
            compile_expression(text or "True", _MODULES) for text in (self.where, self.each, self.keep)
        )
        columns = {name: compile_expression(text, _MODULES) for name, text in self.columns.items()}
        update = {name: compile_expression(text, _MODULES) for name, text in self.update.items()}
        for index, row in enumerate(raw):
            names = {**row, "row": row, "args": arguments, "index": index}
            if not where(names):
                continue
            for part in each(names) if self.each else [row]:
                names = {**row, **part, "row": part, "args": arguments, "index": index}
                made = {name: make(names) for name, make in columns.items()} if columns else dict(part)
                for name, make in update.items():
                    made[name] = make({**names, **made, "row": made})
                for name in self.drop:
                    made.pop(name, None)
                if keep({**made, "row": made}):
                    yield made


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
    """Return rows whose columns come from several files, line by line.

    Raises:
        DataError: The files differ in length.
    """
    if len(read) == 1:
        return list(read[0])
    if len({len(rows) for rows in read}) != 1:
        lengths = ", ".join(f"{name} has {len(rows)}" for name, rows in zip(names, read, strict=True))
        raise DataError("files that belong together differ in their number of lines", why=lengths)
    return [{key: value for row in parts for key, value in row.items()} for parts in zip(*read, strict=True)]


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


@cache
def _shapes() -> Mapping[str, Mapping[str, Shape]]:
    text = resources.files(__package__).joinpath("types.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, Shape]] = {}
    for name, entry in json.loads(text).items():
        common = {key: value for key, value in entry.items() if key not in ("opencompass", "aisbench")}
        table[name] = {
            project: _shape({**common, **entry.get(project, {})})
            for project in ("opencompass", "aisbench")
            if ("opencompass" not in entry and "aisbench" not in entry) or project in entry or common.get("files")
        }
    return table


def _shape(entry: Mapping[str, Any]) -> Shape:
    layout = FileFormat(**{key: value for key, value in entry.items() if key in _LAYOUT})
    return Shape(layout=layout, **{key: value for key, value in entry.items() if key not in _LAYOUT})


def shape_of(name: str, project: str) -> Shape | None:
    """Return how a class makes its rows, by its name; the other project's class where only that one has it."""
    found = _shapes().get(name, {})
    return found.get(project) or next(iter(found.values()), None)


def shape_names() -> list[str]:
    """Return the names of all classes that are known."""
    return sorted(_shapes())


def pick(positions: Sequence[int], rows: Sequence[Row]) -> list[Row]:
    """Return the rows at positions."""
    return [rows[position] for position in positions]


def shuffled_positions(count: int, size: int) -> list[int]:
    """Return ``size`` positions of ``count``, drawn as upstream draws them: the size is the seed."""
    positions = list(range(count))
    random.Random(size).shuffle(positions)
    return positions[:size]
