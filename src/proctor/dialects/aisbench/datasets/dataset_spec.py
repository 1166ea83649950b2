"""From the rows of files to the rows that a dataset class of OpenCompass or AISBench gives.

Tables say it for every class by name (:mod:`dataset_specs`): which files make which splits, and the columns as
expressions over the files' columns. Beside them expressions may use ``row`` (the whole row), ``file`` (as the file has
it), ``args`` (the arguments of the config), ``split``, ``position`` (of the row in the files), ``index`` (among those
that ``where`` leaves) and ``texts`` (constants of a module of upstream's).
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from proctor.data.fields import Row
from proctor.data.lazy_rows import AnyRow, read_through, uniform
from proctor.data.row_files import FileFormat
from proctor.dialects.aisbench.datasets.files import iter_rows, local_path
from proctor.dialects.aisbench.datasets.splits import ALL, WHOLE, Splits, drawn, joined, split_of, usable
from proctor.errors import DataError, Location, ProctorError
from proctor.ir import Failure
from proctor.lazy import Deferred
from proctor.safe_python import compile_expression

if TYPE_CHECKING:
    from proctor.dialects.aisbench.datasets import generators, row_functions, upstream_texts
else:
    upstream_texts = Deferred("proctor.dialects.aisbench.datasets.upstream_texts")
    row_functions = Deferred("proctor.dialects.aisbench.datasets.row_functions")
    generators = Deferred("proctor.dialects.aisbench.datasets.generators")

_MODULES = ("re", "json", "math")  # what the specs that come along need; none of them touches files or the network


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """The rows of a dataset class, described as data.

    Attributes:
        files: ``None`` where ``datasets.load_dataset`` loads the rows. Otherwise path templates over the arguments: one
            for a dataset without splits, or one for each split; ``@name`` is the argument of that name. A list joins
            the lines of several files into rows; an empty path is one row without columns.
        generator: A function of :mod:`generators` that gives a split's rows, where no table can say it; ``files`` then
            only names the splits.
        takes: Split → the one that ``datasets.load_dataset`` gives under another name. Empty: all that it gives.
        load: Arguments of ``datasets.load_dataset``, as expressions over the config's; empty: all of them.
        defaults: Arguments that configs may leave out.
        derived: Further arguments, as expressions over the others.
        choices: What an argument may be.
        texts: The module of upstream's package whose constants expressions and functions use.
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
        keep: Condition on the rows so far.
        row_function: A function of :mod:`row_functions` that makes a row, or a list of rows, of a single one.
        repeat: Argument that says how often each row comes.
        sample: Rows to draw: the argument that asks for it, the split (``*``: all), how many as an expression over
            ``count`` and ``args``, and the seed.
        repeat_whole: Argument that says how often the whole comes, and of which split (``*``: all).
        function: A function of :mod:`row_functions` over all rows.
        chain: Whether several files follow each other instead of being joined.
        circular: Options and answer of questions that are asked with their options in every order.
    """

    files: Any = None
    generator: str = ""
    takes: Mapping[str, str] = field(default_factory=dict)
    load: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    texts: str = ""
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
    row_function: str = ""
    repeat: str = ""
    sample: Sequence[Any] = ()
    repeat_whole: tuple[str, str] = ("", "")
    function: str = ""
    chain: bool = False
    circular: Mapping[str, Any] = field(default_factory=dict)

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with those that a config may leave out and those that follow from others.

        Raises:
            DataError: One is none of those that there are.
        """
        values = {**self.defaults, **given}
        for name, known in self.choices.items():
            if values.get(name) not in known:
                raise DataError(f"there is no {name} '{values.get(name)}'", hint=f"choose one of {', '.join(known)}")
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

    def wanted(self) -> frozenset[str]:
        """Return the arguments that its files are named with."""
        files = self.files.values() if isinstance(self.files, Mapping) else [self.files]
        names = [each for file in files for each in ([file] if isinstance(file, str) else file or ())]
        fields = (field for name in names for _, field, _, _ in string.Formatter().parse(name))
        return frozenset(each for each in fields if each) - {*self.defaults, *self.derived}

    def over(self, splits: Splits, given: Mapping[str, Any]) -> Splits:
        """Return splits that something else loaded, with this shape's columns."""
        arguments = self.arguments(given)
        taken = {name: _filled(old, arguments, None) for name, old in self.takes.items()} or {
            name: name for name in splits
        }
        return {name: partial(self._loaded, split_of(splits, old), name, arguments) for name, old in taken.items()}

    def load_arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with which ``datasets.load_dataset`` is called."""
        arguments = self.arguments(given)
        if not self.load:
            return arguments
        return {name: compile_expression(text, _MODULES)(arguments) for name, text in self.load.items()}

    @property
    def _is_flowing(self) -> bool:
        """Whether every row is made of one row of the files, so that they need not be in memory together."""
        whole = self.generator or self.sample or self.repeat_whole[0] or self.function or self.circular
        return not whole

    def _read(
        self, paths: str | Sequence[str], split: str, arguments: Mapping[str, Any], place: Location | None
    ) -> Sequence[AnyRow]:
        if self.generator:
            return uniform(self._whole(self._generated(generators.Source(arguments, place, split)), split, arguments))
        if isinstance(paths, str) and paths.startswith("@"):
            paths = arguments[paths[1:]]
        names = [paths] if isinstance(paths, str) else list(paths)
        files = [_filled(name, arguments, place) if name else "" for name in names]
        if self._is_flowing and (len(files) == 1 or self.chain):
            return read_through(lambda: self._made(self._lines(files, place), split, arguments))
        read = [list(self._lines([file], place)) for file in files]
        raw = [row for rows in read for row in rows] if self.chain else joined(read, names)
        return uniform(self._whole(raw, split, arguments))

    def _lines(self, files: Sequence[str], place: Location | None) -> Iterator[AnyRow]:
        for file in files:
            yield from iter_rows(file, self.layout, place) if file else [{}]

    def _generated(self, source: generators.Source) -> list[Row]:
        try:
            return generators.generator(self.generator)(source)
        except ProctorError:
            raise
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise DataError(
                "the files do not have the form that the dataset type reads",
                location=source.place,
                path=source.split or "rows",
                why=f"{type(error).__name__}: {error}",
            ) from error

    def _loaded(
        self, read: Callable[[], Sequence[AnyRow]], split: str, arguments: Mapping[str, Any]
    ) -> Sequence[AnyRow]:
        if self._is_flowing:
            rows = read()
            return read_through(lambda: self._made(rows, split, arguments), is_uniform=True)
        return self._whole(read(), split, arguments)

    def _whole(self, raw: Iterable[AnyRow], split: str, arguments: Mapping[str, Any]) -> list[Row]:
        """Return rows that are made of all rows of the files together."""
        made = list(usable(self._made(raw, split, arguments)))
        if self.sample:
            made = drawn(made, self.sample, split, arguments)
        name, of_split = self.repeat_whole
        if name and of_split in (split, ALL):
            made *= int(arguments.get(name, 1))
        if self.function:
            made = self._function_rows(made, split, arguments)
        return row_functions.circular(made, {**self.circular, **arguments}, split) if self.circular else made

    def _function_rows(self, rows: list[Row], split: str, arguments: Mapping[str, Any]) -> list[Row]:
        try:
            return row_functions.ROW_FUNCTIONS[self.function](rows, {**arguments, "split": split})
        except ProctorError:
            raise
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, SyntaxError) as error:
            raise DataError(
                "the rows do not have the form that the dataset type reads",
                path=split or "rows",
                why=f"{type(error).__name__}: {error}",
            ) from error

    def _made(self, raw: Iterable[AnyRow], split: str, arguments: Mapping[str, Any]) -> Iterator[AnyRow]:
        """Yield the rows that each row of the files stands for; one that has another form is a failure."""
        if self._is_plain:
            return iter(raw)
        times = int(arguments.get(self.repeat, 1)) if self.repeat else 1
        made = _RowMaker(self, arguments, split).over(raw)
        return made if times == 1 else (row for row in made for _ in range(times))

    @property
    def _is_plain(self) -> bool:
        """Whether rows are the files' rows."""
        plain = DatasetSpec()
        return all(getattr(self, name) == getattr(plain, name) for name in _OF_ROWS)


_OF_ROWS = (
    "fill", "literal", "where", "each", "columns", "update", "apply", "also", "rename", "drop", "keep", "row_function",
    "repeat",
)  # fmt: skip
"""Fields of a specification that change single rows."""

_Expression = Callable[[Mapping[str, Any]], Any]


class _RowMaker:
    """Makes rows of the files' rows; expressions are compiled once."""

    def __init__(self, spec: DatasetSpec, arguments: Mapping[str, Any], split: str) -> None:
        self._spec, self._arguments, self._split = spec, arguments, split
        self._where, self._keep = (compile_expression(text or "True", _MODULES) for text in (spec.where, spec.keep))
        self._each = compile_expression(spec.each, _MODULES) if spec.each else None
        self._also = compile_expression(spec.also, _MODULES) if spec.also else None
        self._columns, self._update = _compiled(spec.columns), _compiled(spec.update)
        self._texts = upstream_texts.constants(spec.texts) if spec.texts else {}
        self._index = 0

    def over(self, raw: Iterable[AnyRow]) -> Iterator[AnyRow]:
        """Yield the rows that each row of the files stands for."""
        for position, row in enumerate(raw):
            if isinstance(row, Failure):
                yield row
                continue
            try:
                yield from self._of_row(position, row)
            except (ValueError, KeyError, IndexError, TypeError, AttributeError, SyntaxError, DataError) as error:
                why = f"{type(error).__name__}: {error}"
                what = f"{self._split or 'rows'}[{position}] does not have the form that the dataset type reads: {why}"
                yield Failure("row", what, retryable=False)

    def _of_row(self, position: int, row: Row) -> list[Row]:
        spec = self._spec
        read = row if spec.fill is None else {k: spec.fill if v is None else v for k, v in row.items()}
        read = {**read, **{name: row_functions.COLUMN_FUNCTIONS["literal"](read[name]) for name in spec.literal}}
        names = {**read, "row": read, "file": read, "args": self._arguments, "split": self._split}
        names |= {"position": position, "index": self._index, "texts": self._texts}
        if not self._where(names):
            return []
        self._index += 1
        made = (
            self._row(part, {**names, **part, "row": part}) for part in (self._each(names) if self._each else [read])
        )
        kept = [each for each in made if self._keep({**each, "row": each, "args": self._arguments})]
        return [new for each in kept for new in self._finished(each)] if spec.row_function else kept

    def _finished(self, row: Row) -> list[Row]:
        made = row_functions.SINGLE_ROW_FUNCTIONS[self._spec.row_function](row, self._arguments, self._texts)
        return made if isinstance(made, list) else [made]

    def _row(self, part: Row, names: Mapping[str, Any]) -> Row:
        spec = self._spec
        made = {name: make(names) for name, make in self._columns} if self._columns else dict(part)
        for name, make in self._update:
            made[name] = make({**names, **made, "row": made})
        for name, function in spec.apply.items():
            made[name] = row_functions.COLUMN_FUNCTIONS[function](made[name])
        if self._also is not None:
            made.update(self._also({**names, **made, "row": made}))
        for name in spec.drop:
            made.pop(name, None)
        return {spec.rename.get(name, name): value for name, value in made.items()} if spec.rename else made


def _compiled(columns: Mapping[str, str]) -> list[tuple[str, _Expression]]:
    return [(name, compile_expression(text, _MODULES)) for name, text in columns.items()]


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


def shuffled_positions(count: int, size: int) -> list[int]:
    """Return ``size`` positions of ``count``, drawn as upstream draws them: the size is the seed."""
    positions = list(range(count))
    random.Random(size).shuffle(positions)
    return positions[:size]
