"""Tables as exams: CSV, TSV, JSON lines and parquet files, each row a question.

A table is asked and graded as a task of lm-eval, so this folder needs that one.
"""

from __future__ import annotations

import re

from proctor.dialects.dialect import Dialect

_TABLE = re.compile(r"\.(csv|tsv|jsonl|ndjson|parquet|xlsx|json)(\.gz)?((\[|::).*)?$", re.IGNORECASE | re.DOTALL)

DIALECT = Dialect(
    "tables",
    recognises=lambda name: _TABLE.search(name) is not None or name.startswith("hf/"),
    resolve="proctor.dialects.tables.resolve:resolve_name",
    validate="proctor.dialects.tables.validate:validate",
)
