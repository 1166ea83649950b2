"""Unitxt: recipes and benchmarks as exams. The recipes themselves are the core's (``proctor.recipes``)."""

from __future__ import annotations

from proctor.dialects.dialect import Conversion, Dialect, names_file

_ENDINGS = (".yaml", ".yml", ".py", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
"""Of files that no catalog holds."""

DIALECT = Dialect(
    "unitxt",
    recognises=lambda name: not names_file(name, *_ENDINGS),
    resolve="proctor.dialects.unitxt.resolve:resolve_name",
    list="proctor.dialects.listing:catalog_entries",
    validate="proctor.dialects.unitxt.validate:validate",
    convert=Conversion(
        "unitxt",
        ".json",
        read="proctor.dialects.unitxt.convert:graded",
        write="proctor.dialects.unitxt.convert:to_unitxt",
    ),
)
