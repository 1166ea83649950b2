"""Limits for parquet files, checked before their values are unpacked.

A parquet file writes a value once, and then how often it comes: fifty million rows of a kilobyte take a few bytes.
Libraries write such rows out one by one, in memory or on the disk. What a file says of its pages bounds most columns;
texts that stand in dictionaries are counted by their places, which unpacks none of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from proctor.data.bounds import MOST_RATIO, most_bytes, too_large
from proctor.errors import DataError, Location
from proctor.safe_files import Stamp

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch, Table
    from pyarrow.parquet import ColumnChunkMetaData, ParquetFile

SMALL_ROWS: Final = 1 << 30
"""Bytes that the rows of any file may take, whatever its size: a gibibyte fills neither memory nor disk."""

_BATCH: Final = 1 << 16  # rows that are looked at together

_WIDEST: Final = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
"""Bytes of a value of each physical type, where all are equally wide."""


@lru_cache(maxsize=1024)
def check_parquet_file(path: str, changed: Stamp) -> None:
    """Look at a file that a library will unpack whole; a version of a file is looked at once.

    Args:
        path: The file.
        changed: What tells a version from another.

    Raises:
        DataError: As :func:`check_parquet`.
    """
    del changed
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(Path(path).absolute()) as file:
            check_parquet(file, path)
    except (pa.ArrowInvalid, OSError):
        return  # whoever reads it says what is wrong with it


def check_parquet(file: ParquetFile, path: str) -> None:
    """Look at what a parquet file says of itself, and at its dictionaries where that could be too much.

    Raises:
        DataError: Its pages unpack to more than 200 times its size, or its rows to more than that and a gibibyte.
    """
    about, size = file.metadata, Path(path).stat().st_size
    total = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
    if total > most_bytes(size):
        raise too_large(path, most_bytes(size))
    limit = max(SMALL_ROWS, MOST_RATIO * size)
    sure, most = _claimed(file)
    if sure > limit:
        raise too_large(path, limit)
    if most > limit:
        _count(path, sorted({each.path_in_schema for each in _chunks(file) if _is_in_dictionary(each)}), limit, sure)


def _chunks(file: ParquetFile) -> Iterator[ColumnChunkMetaData]:
    about = file.metadata
    for number in range(about.num_row_groups):
        group = about.row_group(number)
        yield from (group.column(each) for each in range(group.num_columns))


def _is_in_dictionary(chunk: ColumnChunkMetaData) -> bool:
    return chunk.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in each for each in chunk.encodings)


def _claimed(file: ParquetFile) -> tuple[int, int]:
    """Return the bytes that the values take in any case, and those that they take at most."""
    widths = [file.schema.column(each).length for each in range(len(file.schema))]
    sure = most = 0
    for place, chunk in enumerate(_chunks(file)):
        if _is_in_dictionary(chunk):
            most += chunk.num_values * chunk.total_uncompressed_size
        elif chunk.physical_type == "BYTE_ARRAY":
            sure += chunk.total_uncompressed_size
        else:
            sure += chunk.num_values * (_WIDEST.get(chunk.physical_type) or widths[place % len(widths)])
    return sure, sure + most


def _count(path: str, names: list[str], limit: int, total: int) -> None:
    from pyarrow import parquet

    with parquet.ParquetFile(path, read_dictionary=names) as file:
        for batch in file.iter_batches(_BATCH, columns=names):
            total += sum(map(_written_out, batch.columns))
            if total > limit:
                raise too_large(path, limit)


def _written_out(values: Array[Any]) -> int:
    """Return the bytes of values, as often as each of them comes."""
    from pyarrow import compute, types

    if types.is_dictionary(values.type):
        sizes = compute.cast(compute.binary_length(values.dictionary), "int64")
        return int(compute.sum(compute.take(sizes, values.indices)).as_py() or 0)
    if types.is_nested(values.type):
        flat = values.flatten() if types.is_struct(values.type) else [values.flatten()]
        return sum(map(_written_out, flat))
    return int(values.nbytes)


def held_table(file: ParquetFile, path: str) -> Table:
    """Return all of a parquet file as a table.

    Raises:
        DataError: As :func:`check_parquet`, or it takes more than half of the machine's memory.
    """
    import pyarrow as pa

    check_parquet(file, path)
    return pa.Table.from_batches(_bounded(file, path), schema=file.schema_arrow)


def _bounded(file: ParquetFile, path: str) -> Iterator[RecordBatch]:
    total, most = 0, _memory() // 2
    for batch in file.iter_batches(_BATCH):
        total += batch.nbytes
        if total > most:
            raise DataError(
                f"the rows take more than {most >> 30} GiB of memory", location=Location(path), hint="split the file"
            )
        yield batch


def _memory() -> int:
    """Return the bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
