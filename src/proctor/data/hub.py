"""Datasets by hub id: a folder that the user maps, then the local cache, then the hub.

``settings.hub_dir`` (``PROCTOR_HUB_DIR``) is a folder with one folder per dataset, ``<hub_dir>/<hub id>/``, as the hub
has them; ``aliases.json`` in it maps other ids to these. Parquet files in such a folder are read directly; everything
else goes through the ``datasets`` library, which looks in its own cache before it asks the hub.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.data.arrow_rows import ArrowRows, plain_table
from proctor.data.bounds import check_file
from proctor.data.datasets_library import library_split, mapped_files, not_found, split_names
from proctor.data.fields import Row
from proctor.data.hub_dataset import FILE_FORMATS, Dataset, not_there, paths_in
from proctor.data.mapped_folder import local_folder
from proctor.data.parquet_bounds import check_parquet, held_table
from proctor.data.read_once import once
from proctor.errors import DataError, Location

__all__ = [
    "FILE_FORMATS",
    "Dataset",
    "held_rows",
    "library_split",
    "local_folder",
    "mapped_files",
    "needs_decoding",
    "not_found",
    "read_parquet",
    "rows",
    "rows_of",
    "split_names",
]

_BATCH = 1000  # rows made at once: enough that the cost of a call into Arrow does not show
# Types of datasets whose columns hold encoded bytes, which only that package turns into media.
_DECODED_FEATURES = ("Image", "Audio", "Video", "Pdf")


def read_parquet(paths: Iterable[str]) -> Iterator[Row]:
    """Yield the rows of parquet files, a batch in memory at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    for path in paths:
        try:
            with parquet.ParquetFile(Path(path).absolute()) as file:
                check_parquet(file, path)
                for batch in file.iter_batches(_BATCH):
                    columns = [column.to_pylist() for column in batch.columns]
                    names = batch.schema.names
                    yield from (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))
        except (pa.ArrowInvalid, OSError) as error:
            raise _unreadable_parquet(path, error) from None


def _unreadable_parquet(path: str, error: Exception) -> DataError:
    return DataError("the file cannot be read as parquet", location=Location(path), why=str(error))


def needs_decoding(paths: Iterable[str]) -> bool:
    """Whether files hold media, which only ``datasets`` decodes."""
    import pyarrow as pa
    from pyarrow import parquet

    for path in paths:
        try:
            metadata = parquet.read_schema(Path(path).absolute()).metadata or {}
        except (pa.ArrowInvalid, OSError):
            return False  # whoever reads the file says what is wrong with it
        features = metadata.get(b"huggingface", b"").decode()
        return any(f'"_type": "{name}"' in features for name in _DECODED_FEATURES)
    return False


def rows(dataset: Dataset, split: str) -> Iterator[Row]:
    """Yield the rows of a split.

    Raises:
        DatasetNotFoundError: The dataset or the split is neither mapped, nor cached, nor on a hub that can be reached.
    """
    files = _parquet_of(dataset, split)
    yield from read_parquet(files) if files is not None else library_split(dataset, split)


def held_rows(dataset: Dataset, split: str) -> Sequence[Row]:
    """Return the rows of a split to look up by place; they are kept as columns and made when they are asked for.

    Raises:
        DatasetNotFoundError: As :func:`rows`.
    """
    return once(("rows", repr(dataset), split), lambda: _held(dataset, split))


def _held(dataset: Dataset, split: str) -> Sequence[Row]:
    files = _parquet_of(dataset, split)
    if files is not None:
        return _held_parquet(files)
    table = _plain_json_of(dataset, split)
    return rows_of(library_split(dataset, split)) if table is None else ArrowRows.of_table(table)


def _plain_json_of(dataset: Dataset, split: str) -> Any:
    """Return the table of a split that is one file of JSON lines; ``None`` where the library has to read it.

    The library takes the types of columns from the first of several splits.
    """
    named = dataset.data_files if isinstance(dataset.data_files, Mapping) else {}
    paths = list(paths_in(named.get(split)))
    is_bare = not (dataset.name or dataset.data_dir or dataset.revision or dataset.streaming or dataset.extra)
    if dataset.path != "json" or local_folder("json") is not None or len(named) != 1 or len(paths) != 1 or not is_bare:
        return None
    check_file(paths[0], is_json=True)
    return plain_table(Path(paths[0]))


def rows_of(dataset: Any) -> Sequence[Row]:
    """Return the rows of a dataset of the ``datasets`` library (or of another collection), decoded as it does."""
    if isinstance(dataset, list):
        return dataset
    features = getattr(dataset, "features", None)
    if features is None or not hasattr(dataset, "with_format") or not hasattr(dataset, "__len__"):
        return list(dataset)
    has_media = any(f"{kind}(" in str(features) for kind in _DECODED_FEATURES)
    return list(dataset) if has_media else ArrowRows.of_dataset(dataset)


def _parquet_of(dataset: Dataset, split: str) -> tuple[str, ...] | None:
    """Return the files of a split that can be read directly; ``None`` where the ``datasets`` library has to."""
    dataset.act()
    folder = local_folder(dataset.path)
    files = None if folder is None else mapped_files(folder, dataset)
    if files is None:
        return None
    if split not in files and "[" not in split:
        raise not_there(dataset, "split", split, list(files), folder)
    return files[split] if split in files and not needs_decoding(files[split]) else None


def _held_parquet(paths: Sequence[str]) -> Sequence[Row]:
    import pyarrow as pa
    from pyarrow import parquet

    tables = []
    for path in paths:
        try:
            with parquet.ParquetFile(Path(path).absolute()) as file:
                tables.append(held_table(file, path))
        except (pa.ArrowInvalid, OSError) as error:
            raise _unreadable_parquet(path, error) from None
    if any(not table.schema.equals(tables[0].schema) for table in tables):  # as one table, values would change types
        return [row for table in tables for row in ArrowRows.of_table(table)]
    return ArrowRows.of_table(pa.concat_tables(tables))
