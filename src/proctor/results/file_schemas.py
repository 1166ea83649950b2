"""JSON Schemas of the files of a run folder, for programs that read them."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Literal

from proctor.errors import UsageError

SchemaName = Literal["results", "samples", "run"]
"""``results.json``, a line of ``samples.jsonl``, ``run.yaml``."""


def schema_of(name: SchemaName, version: int = 1) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a file of a run folder.

    Args:
        name: Which file.
        version: The file's ``schema_version``.

    Raises:
        UsageError: There is no such file or version.
    """
    try:
        text = files("proctor.results").joinpath("schemas", f"{name}.v{version}.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(
            f"there is no schema of '{name}' in version {version}", hint="results, samples, run; 1"
        ) from None
    found: dict[str, Any] = json.loads(text)
    return found
