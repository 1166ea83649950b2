"""Serializers of tables: markdown, HTML, JSON, code, rows of text, an image."""

from __future__ import annotations

import io
import json
from typing import Any

from typing_extensions import override

from proctor.data.dataframes import frames
from proctor.data.fields import Row
from proctor.data.table_operators import shuffle_columns, shuffle_rows
from proctor.errors import DataError, ValidationError, needed
from proctor.tasks.serializers import ImageSerializer, TableSerializer


class SerializeTable(TableSerializer):
    """Base of serializers of tables; override ``serialize_table(table_content)``.

    Attributes:
        seed: Of the shuffling.
        shuffle_rows: Shuffle rows first; equal tables alike.
        shuffle_columns: Shuffle columns first; equal tables alike.
    """

    seed: int = 0
    shuffle_rows: bool = False
    shuffle_columns: bool = False

    def serialize_table(self, table_content: Row) -> str:  # noqa: ARG002 - for those who override it
        """Return a table as text."""
        raise ValidationError(f"{type(self).__name__} does not define serialize_table(table_content)")

    def arranged(self, value: Row) -> Row:
        """Return the table with rows and columns in the order to show."""
        if self.shuffle_columns:
            value = shuffle_columns(value, self.seed)
        if self.shuffle_rows:
            value = shuffle_rows(value, self.seed)
        if not value.get("header") or not value.get("rows"):
            raise DataError("a table needs a header and rows", why=f"it has {', '.join(map(str, value))}")
        return value

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return self.serialize_table(self.arranged(value))


class SerializeTableAsIndexedRowMajor(SerializeTable):
    """``col : a | b row 1 : 1 | 2 row 2 : 3 | 4``."""

    @override
    def serialize_table(self, table_content: Row) -> str:
        rows = [f"row {i} : {' | '.join(map(str, row))} " for i, row in enumerate(table_content["rows"], 1)]
        return f"col : {' | '.join(table_content['header'])} {''.join(rows)}".strip()


class SerializeTableAsMarkdown(SerializeTable):
    """A table in Markdown."""

    @override
    def serialize_table(self, table_content: Row) -> str:
        header = table_content["header"]
        lines = [header, ["---"] * len(header), *table_content["rows"]]
        return "".join(f"|{'|'.join(map(str, cells))}|\n" for cells in lines).strip()


class SerializeTableAsDFLoader(SerializeTable):
    """The Python code that makes a pandas data frame."""

    @override
    def serialize_table(self, table_content: Row) -> str:
        rows, names = table_content["rows"], distinct_names(table_content["header"])
        with frames() as pd:
            columns = pd.DataFrame(rows, columns=names).to_dict(orient="list")
        return f"pd.DataFrame({{\n{json.dumps(columns)[1:-1]}}},\nindex={list(range(len(rows)))})"


def distinct_names(header: list[str]) -> list[str]:
    """Return names of columns with a number after those that come again: ``a, b, a_1``."""
    return [f"{name}_{header[:i].count(name)}" if name in header[:i] else name for i, name in enumerate(header)]


class SerializeTableAsJson(SerializeTable):
    """JSON: an object for each row, by its number from 0."""

    @override
    def serialize_table(self, table_content: Row) -> str:
        header = table_content["header"]
        return json.dumps({i: dict(zip(header, row, strict=False)) for i, row in enumerate(table_content["rows"])})


class SerializeTableAsHTML(SerializeTable):
    """A table in HTML."""

    @override
    def serialize_table(self, table_content: Row) -> str:
        names = "".join(f"<th>{name}</th>" for name in table_content["header"])
        rows = "".join(f"\n    <tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in table_content["rows"])
        head = f"  <thead>\n    <tr>{names}</tr>\n  </thead>"
        return f"<table>\n{head}\n  <tbody>{rows}\n  </tbody>\n</table>"


class SerializeTableAsConcatenation(SerializeTable):
    """All names and cells, separated by blanks."""

    @override
    def serialize_table(self, table_content: Row) -> str:
        lines = [table_content["header"], *table_content["rows"]]
        return " ".join(" ".join(map(str, line)) for line in lines).strip()


class SerializeTableAsImage(SerializeTable):
    """A picture of the table; needs the packages ``matplotlib`` and ``pillow``."""

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        image = _drawn(self.arranged(value))
        return ImageSerializer().serialize({"image": image, "format": "png"}, instance)


def _drawn(table: Row) -> Any:
    with needed("matplotlib", "media", "a picture of a table"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from PIL import Image
    header, rows = distinct_names(table["header"]), table["rows"]
    figure = Figure(figsize=(len(header) * 1.5, len(rows) * 0.5))
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.axis("off")
    labels = [str(i) for i in range(len(rows))]
    text = [[str(cell) for cell in row] for row in rows]
    drawn = axes.table(cellText=text, colLabels=header, rowLabels=labels, loc="center", cellLoc="center")
    drawn.auto_set_column_width(list(range(len(header))))
    drawn.scale(1.5, 1.5)
    for cell in drawn.get_celld().values():
        cell.get_text().set_fontfamily("serif")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight", dpi=150)
    buffer.seek(0)
    return Image.open(buffer)
