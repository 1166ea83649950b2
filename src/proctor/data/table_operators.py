"""Operators on tables, ``{"header": […], "rows": [[…], …]}``; some of them are augmentors."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from typing import Any, Literal

from pydantic import Field
from typing_extensions import override

from proctor.artifacts.field_types import Table
from proctor.data.augmentors import TypeDependentAugmentor
from proctor.data.fields import Row, getter, setter
from proctor.data.operator import FieldOperator, InstanceOperator, Step, writing
from proctor.errors import DataError
from proctor.foreign_text import parse_literal
from proctor.randomness import random_stream

# -- shuffling ------------------------------------------------------------------------------------------------


def shuffle_columns(table: Row, seed: int = 0) -> Row:
    """Return a table with its columns in another order; equal tables get the same."""
    header = table.get("header", [])
    order = list(range(len(header)))
    random_stream({"table": table, "seed": seed}).shuffle(order)
    rows = [[row[i] for i in order] for row in table.get("rows", [])]
    return {**table, "header": [header[i] for i in order], "rows": rows}


def shuffle_rows(table: Row, seed: int = 0) -> Row:
    """Return a table with its rows in another order; equal tables get the same."""
    rows = list(table.get("rows", []))
    random_stream({"table": table, "seed": seed}).shuffle(rows)
    return {**table, "rows": rows}


class TableAugmentor(TypeDependentAugmentor):
    """Base of augmentors of tables."""

    augmented_type: Any = Table


class ShuffleTableRows(TableAugmentor):
    """Shuffles the rows of tables; equal tables alike."""

    seed: int = 0

    @override
    def process_value(self, value: Row) -> Row:
        return shuffle_rows(value, self.seed)


class ShuffleTableColumns(TableAugmentor):
    """Shuffles the columns of tables; equal tables alike."""

    seed: int = 0

    @override
    def process_value(self, value: Row) -> Row:
        return shuffle_columns(value, self.seed)


class ShuffleColumnsNames(TableAugmentor):
    """Shuffles the names of columns, and leaves the columns where they are."""

    @override
    def process_value(self, value: Row) -> Row:
        header = list(value["header"])
        random_stream({"table": value, "operator": "ShuffleColumnsNames"}).shuffle(header)
        return {"header": header, "rows": value["rows"]}


# -- changing -------------------------------------------------------------------------------------------------


class TransposeTable(TableAugmentor):
    """Makes columns of rows."""

    @override
    def process_value(self, value: Row) -> Row:
        header, rows = value["header"], value["rows"]
        return {
            "header": [" ", *map(str, range(len(rows)))],
            "rows": [[name, *(row[i] for row in rows)] for i, name in enumerate(header)],
        }


class DuplicateTableRows(TableAugmentor):
    """Repeats some rows.

    Attributes:
        times: How often each of them comes.
    """

    row_indices: list[int] = Field(default_factory=list)
    times: int = 1

    @override
    def process_value(self, value: Row) -> Row:
        rows = [row for i, row in enumerate(value["rows"]) for _ in range(self.times if i in self.row_indices else 1)]
        return {"header": value["header"], "rows": rows}


class DuplicateTableColumns(TableAugmentor):
    """Repeats some columns.

    Attributes:
        times: How often each of them comes.
    """

    column_indices: list[int] = Field(default_factory=list)
    times: int = 1

    @override
    def process_value(self, value: Row) -> Row:
        return {"header": self._repeated(value["header"]), "rows": [self._repeated(row) for row in value["rows"]]}

    def _repeated(self, cells: list[Any]) -> list[Any]:
        return [cell for i, cell in enumerate(cells) for _ in range(self.times if i in self.column_indices else 1)]


class InsertEmptyTableRows(TableAugmentor):
    """Inserts empty rows at random places; equal tables alike.

    Attributes:
        times: How many.
    """

    times: int = 0

    @override
    def process_value(self, value: Row) -> Row:
        header, rows = value["header"], list(value["rows"])
        random = random_stream({"table": value, "operator": "InsertEmptyTableRows"})
        for _ in range(self.times):
            rows.insert(random.randint(0, len(rows)), [""] * len(header))
        return {"header": header, "rows": rows}


class MaskColumnsNames(TableAugmentor):
    """Names columns ``Col1``, ``Col2`` and so on."""

    @override
    def process_value(self, value: Row) -> Row:
        return {"header": [f"Col{i}" for i in range(1, len(value["header"]) + 1)], "rows": value["rows"]}


class ConvertTableColNamesToSequential(FieldOperator):
    """Names columns ``col_0``, ``col_1`` and so on."""

    @override
    def process_value(self, value: Row) -> Row:
        header = value.get("header", [])
        if not header:
            raise DataError("the table has no header")
        return {**value, "header": [f"col_{i}" for i in range(len(header))]}


class TruncateTableRows(FieldOperator):
    """Keeps some rows, drawn at random and in their order; equal tables alike.

    Attributes:
        rows_to_keep: How many.
    """

    rows_to_keep: int = 10

    @override
    def process_value(self, value: Row) -> Row:
        rows = value.get("rows", [])
        if len(rows) <= self.rows_to_keep:
            return value
        random = random_stream({"table": value, "operator": "TruncateTableRows"})
        dropped = set(random.sample(range(len(rows)), len(rows) - self.rows_to_keep))
        return {**value, "rows": [row for i, row in enumerate(rows) if i not in dropped]}


def truncated_cell(cell: Any, length: int) -> str | None:
    """Return a text cut to ``length`` characters, ``None`` where there is nothing to cut."""
    if isinstance(cell, str) and cell.strip() and len(cell) > length:
        return cell[:length]
    return None


class TruncateTableCells(InstanceOperator):
    """Cuts long cells, and answers that are such cells.

    Attributes:
        max_length: Longest text of a cell, in characters.
        table: The field of the table.
        text_output: The field of a list of answers.
    """

    max_length: int = 15
    table: str
    text_output: str | None = None

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        table = getter(self.table)(instance)
        shorter: dict[str, str] = {}
        rows = [[self._cut(cell, shorter) for cell in row] for row in table.get("rows", [])]
        setter(self.table)(instance, {**table, "rows": rows})
        if self.text_output is not None:
            answers = getter(self.text_output)(instance)
            setter(self.text_output)(instance, [shorter.get(answer, answer) for answer in answers])
        return instance

    def _cut(self, cell: Any, shorter: dict[str, str]) -> Any:
        cut = truncated_cell(cell, self.max_length)
        if cut is None:
            return cell
        shorter[cell] = cut
        return cut


class GetNumOfTableCells(FieldOperator):
    """Counts cells."""

    @override
    def process_value(self, value: Row) -> int:
        return len(value["rows"]) * len(value["header"])


# -- text of rows, triples and pairs --------------------------------------------------------------------------


class SerializeTableRowAsText(InstanceOperator):
    """Makes text of fields: ``name is Alex, age is 26, ``.

    Attributes:
        max_cell_length: Longest text of a value, in characters.
    """

    fields: list[str] | str
    to_field: str
    max_cell_length: int | None = None

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        setter(self.to_field)(instance, "".join(self.entry(name, self._value(instance, name)) for name in self.fields))
        return instance

    def entry(self, name: str, value: Any) -> str:
        """Return the text of one field."""
        return f"{name} is {value}, "

    def _value(self, instance: Row, name: str) -> Any:
        value = getter(name)(instance)
        cut = None if self.max_cell_length is None else truncated_cell(value, self.max_cell_length)
        return value if cut is None else cut


class SerializeTableRowAsList(SerializeTableRowAsText):
    """Makes text of fields: ``name: Alex, age: 26, ``."""

    @override
    def entry(self, name: str, value: Any) -> str:
        return f"{name}: {value}, "


class SerializeTriples(FieldOperator):
    """Makes text of (subject, relation, object) triples: ``s : r : o | s : r : o``."""

    @override
    def process_value(self, value: Any) -> str:
        return " | ".join(f"{subject} : {relation.lower()} : {target}" for subject, relation, target in value)


class SerializeKeyValPairs(FieldOperator):
    """Makes text of a dict: ``name is Alex, age is 31``."""

    @override
    def process_value(self, value: dict[str, Any]) -> str:
        return ", ".join(f"{key} is {item}" for key, item in value.items())


class ListToKeyValPairs(InstanceOperator):
    """Makes a dict of a list of keys and a list of values, the two ``fields``."""

    fields: list[str]
    to_field: str

    @override
    def compile(self, stream_name: str | None) -> Step:
        keys, values = map(getter, self.fields[:2])
        return writing(self.to_field, lambda row: dict(zip(keys(row), values(row), strict=False)))


# -- reading tables -------------------------------------------------------------------------------------------


class MapTableListsToStdTableJSON(FieldOperator):
    """Makes a table of a list of rows, the first of which is the header."""

    @override
    def process_value(self, value: list[Any]) -> Row:
        return {"header": value[0], "rows": value[1:]}


class ConstructTableFromRowsCols(InstanceOperator):
    """Makes a table of a header and rows that are written as Python lists.

    Attributes:
        fields: The field of the header, of the rows, and (if there is one) of the caption.
    """

    fields: list[str]
    to_field: str

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        header, rows, *caption = (getter(name)(instance) for name in self.fields)
        table = {"header": _literal(header), "rows": _literal(rows)}
        if caption and caption[0] is not None:
            table["caption"] = caption[0]
        setter(self.to_field)(instance, table)
        return instance


def _literal(text: str) -> Any:
    try:
        return parse_literal(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"{text[:80]!r} is not a Python list", why=str(error)) from None


class _TableReader(HTMLParser):
    """Collects the cells of the first ``thead`` and the first ``tbody`` of an HTML text."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: dict[str, list[list[str]]] = {"thead": [], "tbody": []}
        self.closed: set[str] = set()
        self.part: str | None = None
        self.cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        if tag in self.parts and tag not in self.closed:
            self.part = tag
        elif self.part and tag == "tr":
            self.parts[self.part].append([])
        elif tag == {"thead": "th", "tbody": "td"}.get(self.part or ""):
            self._end_cell()
            self.cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td", "tr", "thead", "tbody"):
            self._end_cell()
        if tag == self.part:
            self.closed.add(tag)
            self.part = None

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)

    def _end_cell(self) -> None:
        if self.cell is not None and self.part:
            rows = self.parts[self.part]
            if not rows:
                rows.append([])
            rows[-1].append("".join(self.cell))
        self.cell = None


class MapHTMLTableToJSON(FieldOperator):
    """Makes a table of an HTML table with ``thead`` and ``tbody``."""

    @override
    def process_value(self, value: str) -> Row:
        reader = _TableReader()
        reader.feed(value)
        reader.close()
        if reader.closed != {"thead", "tbody"}:
            raise DataError("the HTML is not a table", why="it needs a thead and a tbody")
        return {"header": [cell for row in reader.parts["thead"] for cell in row], "rows": reader.parts["tbody"]}


class ParseCSV(FieldOperator):
    r"""Makes a table of comma-separated values in a text.

    Attributes:
        separator: What separates cells (``"\t"`` for TSV).
        has_header: The first row holds the names of the columns; otherwise they are ``col_0``, ``col_1``, …
        skip_header: Drop the first row, and name the columns ``col_0``, ``col_1``, …
        strip_cells: Remove blanks at both ends of cells, and make blanks of line ends inside.
    """

    separator: str = ","
    has_header: bool = True
    skip_header: bool = False
    dtype: Literal["str"] | None = None
    strip_cells: bool = False

    @override
    def process_value(self, value: str) -> Row:
        try:
            rows = list(csv.reader(io.StringIO(value), delimiter=self.separator, quotechar='"'))
        except csv.Error as error:
            raise DataError("the text is not valid CSV", why=str(error)) from None
        header = rows.pop(0) if self.has_header and rows else []
        if not self.has_header or self.skip_header:
            if not rows:
                raise DataError("the table has no rows", why="its columns cannot be counted")
            header = [f"col_{i}" for i in range(len(rows[0]))]
        if self.strip_cells:
            header = [_clean(cell) for cell in header]
            rows = [[_clean(cell) for cell in row] for row in rows]
        return {"header": header, "rows": rows}


def _clean(cell: str) -> str:
    return cell.replace("\n", " ").strip()
