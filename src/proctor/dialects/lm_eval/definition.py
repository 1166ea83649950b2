"""What a task is made of, by value: its file names functions, and functions are code."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from proctor.artifacts.held import by_value, resolved
from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig, plain
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.recipes.fingerprint import Definition, digest_of_bytes
from proctor.safe_files import read_bytes
from proctor.scoring.versions import with_versions
from proctor.settings import settings

_MOST_BYTES = 4 << 20
"""Bytes of a file with functions: the longest one of lm-eval's tasks has 200 KB."""


def definition_of(config: TaskConfig) -> Definition:
    """Return how a task's answers are read and scored, and digests of the files that its functions are in."""
    code = dict(_code_of(config))
    metrics = [_by_value(entry) for entry in plain(config.metric_list) or ()]
    return Definition(
        extraction={"filters": plain(config.filter_list), "output_type": config.output_type},
        metrics=with_versions([metrics or config.output_type, plain(config.process_results), config.version, code]),
        held=code,
    )


def definition_of_class(kind: type) -> Definition:
    """Return what a task that is a Python class is made of: its code, which reads and scores its answers itself."""
    file = inspect.getsourcefile(kind)
    code = "" if file is None else digest_of_bytes(read_bytes(file, _MOST_BYTES))
    name = f"{kind.__module__}.{kind.__qualname__}"
    return Definition(extraction=[name, code], metrics=with_versions([name, code]), held={f"class {name}": code})


def _by_value(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of a metric list with the catalog's metric, where its name is one."""
    name = entry.get("metric")
    found = resolved(name) if isinstance(name, str) and name.startswith("metrics.") else name
    return {**entry, "metric": by_value(found)}


def _code_of(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the files of functions that a task names, each with the digest of what is in it."""
    if isinstance(value, FunctionReference):
        module = value.name.rpartition(".")[0]
        file = Path(value.folder) / f"{module.replace('.', '/')}.py"
        if settings.trust_code and file.is_file():  # without trust none of it runs, and the exam is refused
            yield f"!function {module}", digest_of_bytes(read_bytes(file, _MOST_BYTES))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _code_of(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _code_of(each)
    elif isinstance(value, (TaskConfig, FewshotConfig)):
        for each in fields(value):
            yield from _code_of(getattr(value, each.name))
