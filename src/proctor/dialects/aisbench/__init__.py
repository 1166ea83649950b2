"""AISBench and OpenCompass configs: read without running them, and turned into recipes."""

from __future__ import annotations

import re

from proctor.dialects.dialect import Conversion, Dialect

OWN_FILE = re.compile(r"(.+\.(?:jsonl|csv))\[([^\[\]]*)\]")
"""A file of rows, with what is said about it in brackets."""


def _may_be_a_config(name: str) -> bool:
    base = name.partition("::")[0]
    return OWN_FILE.fullmatch(name) is not None or bool(base and "=" not in base)


DIALECT = Dialect(
    "aisbench",
    recognises=_may_be_a_config,
    resolve="proctor.dialects.aisbench.resolve:resolve_name",
    list="proctor.dialects.aisbench.index:list_configs",
    validate="proctor.dialects.aisbench.validate:validate",
    convert=Conversion(
        "opencompass",
        ".py",
        read="proctor.dialects.aisbench.convert:graded",
        write="proctor.dialects.aisbench.convert:to_config",
    ),
    knows="proctor.dialects.aisbench.index:knows",
    words="proctor.dialects.aisbench.flags:flag",
    models="proctor.dialects.aisbench.models:find_models",
)
