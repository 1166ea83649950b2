"""JSON lines of plain columns, read without the ``datasets`` library, which takes longer to import than to read them.

The library reads such a file with Arrow, too, ten megabytes at a time; what it does beyond that depends on nested
values, on columns with gaps, on numbers that are whole in one part and broken in another, and on texts that look like
dates. Where a file has any of these, :func:`plain_table` leaves it to the library.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES: Final = 256 << 20
"""Bytes of a file that is held in memory; the library keeps larger ones on the disk."""

_DATE: Final = r"^\d{4}-\d{2}-\d{2}"
"""How texts begin that Arrow takes for points in time, where a whole column has them."""

_OF_TRACES: Final = "cwd"
"""A column of the logs of coding agents, which the library (since version 5) turns into conversations."""


def plain_table(path: Path) -> pa.Table | None:
    """Return the rows of a file of JSON lines as the ``datasets`` library would; ``None`` where it has to read them.

    Args:
        path: A file of this machine.
    """
    if not path.is_file() or not 0 < path.stat().st_size <= MOST_BYTES:
        return None
    with path.open("rb") as file:
        if file.read(1) != b"{":  # a list, a compressed file, a mark of its encoding
            return None
    table = _read(path)
    return table if table is not None and _is_plain(table) else None


def _read(path: Path) -> pa.Table | None:
    import pyarrow as pa
    from pyarrow import json

    try:
        table = json.read_json(path)
        table.validate(full=True)  # texts that are none
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        return None
    return table


def _is_plain(table: pa.Table) -> bool:
    """Whether each part of a table is read alike: texts that are not dates, whole numbers, truth values; no gaps."""
    import pyarrow as pa
    from pyarrow import compute

    names = table.column_names
    if not names or len(set(names)) < len(names) or _OF_TRACES in names:
        return False
    for column in table.columns:
        if column.null_count or column.type not in (pa.string(), pa.int64(), pa.bool_()):
            return False
        if column.type == pa.string() and compute.any(compute.match_substring_regex(column, _DATE)).as_py():
            return False
    return True
