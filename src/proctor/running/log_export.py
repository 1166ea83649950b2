"""The response log as a file for other programs: JSON Lines or Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import structs

from proctor.errors import OutputError, UsageError, needed
from proctor.ir import Usage
from proctor.running.log import ResponseLog
from proctor.running.maintenance import LoggedResponse, entries
from proctor.safe_files import written_for_user

_ROWS_PER_GROUP = 5_000  # in memory at a time, some 10 to 50 MB; Parquet packs better the more there are
_PARQUET_COLUMNS = {
    "engine": "string",
    "identity": "string",
    "request": "string",
    "repeat": "int32",
    "at": "time",
    "texts": "list:string",
    "finish_reasons": "list:string",
    "thoughts": "list:string",
    "log_likelihoods": "list:float64",
    "is_greedy": "list:bool",
    "token_counts": "list:int64",
    **dict.fromkeys(Usage.__struct_fields__, "int64"),
    "started": "float64",
    "seconds": "float64",
    "failure_kind": "string",
    "failure_message": "string",
}


def export(log: ResponseLog, target: Path, engine: str | None = None) -> int:
    """Write every answer and failure to a ``.parquet`` or ``.jsonl`` file; return how many.

    JSON Lines have ``null`` for infinite log-likelihoods, which JSON does not know; Parquet keeps them.

    Raises:
        UsageError: The file's suffix is neither.
        OutputError: The file cannot be written.
    """
    writers: dict[str, Callable[[Iterator[LoggedResponse], BinaryIO], int]] = {
        ".parquet": _to_parquet,
        ".jsonl": _to_jsonl,
    }
    if target.suffix not in writers:
        raise UsageError(f"'{target}' is neither a .parquet nor a .jsonl file")
    try:
        with written_for_user(target) as file:
            return writers[target.suffix](_everything(log, engine), file)
    except OSError as error:
        raise OutputError.unwritable(str(target), error, "another TARGET") from error


def _everything(log: ResponseLog, engine: str | None) -> Iterator[LoggedResponse]:
    yield from entries(log, engine)
    yield from entries(log, engine, table="failures")


def _to_jsonl(found: Iterator[LoggedResponse], file: BinaryIO) -> int:
    encoder = msgspec.json.Encoder()
    count = 0
    for each in found:
        file.write(encoder.encode(each.to_dict()) + b"\n")
        count += 1
    return count


def _to_parquet(found: Iterator[LoggedResponse], file: BinaryIO) -> int:
    with needed("pyarrow", "loaders", "Export to Parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    schema = pa.schema([(name, _arrow_type(pa, kind)) for name, kind in _PARQUET_COLUMNS.items()])
    count = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := [_flat(each) for each in islice(found, _ROWS_PER_GROUP)]:
            writer.write_table(pa.Table.from_pylist(batch, schema))
            count += len(batch)
    return count


def _arrow_type(pa: Any, kind: str) -> Any:
    if kind.startswith("list:"):
        return pa.list_(_arrow_type(pa, kind.removeprefix("list:")))
    return pa.timestamp("s", tz="UTC") if kind == "time" else pa.type_for_alias(kind)


def _flat(each: LoggedResponse) -> dict[str, Any]:
    response = each.response
    return {
        "engine": each.engine,
        "identity": each.identity,
        "request": each.request,
        "repeat": each.repeat,
        "at": each.at,
        "texts": list(response.texts),
        "finish_reasons": list(response.finish_reasons),
        "thoughts": list(response.thoughts),
        "log_likelihoods": [scored.log_likelihood for scored in response.scores],
        "is_greedy": [scored.is_greedy for scored in response.scores],
        "token_counts": [scored.token_count for scored in response.scores],
        **structs.asdict(response.usage),
        "started": response.timing.started,
        "seconds": response.timing.seconds,
        "failure_kind": response.failure.kind if response.failure else None,
        "failure_message": response.failure.message if response.failure else None,
    }
