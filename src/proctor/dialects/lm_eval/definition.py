"""Definition of a task by value, for fingerprints: its file names functions, and functions are code."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from types import FunctionType
from typing import Any

from proctor.artifacts import Artifact
from proctor.artifacts.held import by_value, resolved
from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig, plain
from proctor.dialects.lm_eval.fork_names import code_of_fork
from proctor.dialects.lm_eval.functions import read_by
from proctor.dialects.lm_eval.metric_list import metrics_of
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import ProctorError
from proctor.guests.code import code_of_named
from proctor.guests.overrides import brought
from proctor.recipes.fingerprint import Definition
from proctor.recipes.held_code import code_of, code_of_file
from proctor.recipes.metric_code import with_code
from proctor.settings import settings


def definition_of(config: TaskConfig) -> Definition:
    """Return how a task's answers are read and scored, and digests of the files that its functions are in."""
    code = dict(_code_of(config))
    entries = [_with_metric(entry) for entry in config.metric_list or ()]
    code |= code_of(entry["metric"] for entry in entries if isinstance(entry["metric"], Artifact))
    code |= code_of_fork(config)
    metrics = [{**entry, "metric": _by_value(entry["metric"])} for entry in entries]
    return Definition(
        extraction={"filters": plain(config.filter_list), "output_type": config.output_type},
        metrics=with_code([metrics or config.output_type, plain(config.process_results), config.version, code]),
        held=code,
        scorers=_scorers(config),
    )


def _scorers(config: TaskConfig) -> list[Artifact]:
    try:
        return [each.metric for each in metrics_of(config)[1]]
    except ProctorError:  # whoever grades says so
        return []


def definition_of_class(kind: type, values: Mapping[str, Any]) -> Definition:
    """Return what a task that is a Python class is made of: its code, and that which its keys name.

    The class reads and scores its answers itself.
    """
    file = inspect.getsourcefile(kind) if kind.__module__ in sys.modules else None
    files = {} if file is None else code_of_file(Path(file))
    name = f"{kind.__module__}.{kind.__qualname__}"
    own, *_ = [*files.values(), ""]
    helpers = {f"class {name}: {path}": digest for path, digest in list(files.items())[1:]}
    put = [vars(owner).get(each) for owner, each in brought(kind) if owner.__module__.startswith("proctor.")]
    helpers |= code_of(each for each in (getattr(one, "fget", one) for one in put) if isinstance(each, FunctionType))
    helpers |= dict(_code_of(values))
    code = [name, own, helpers] if helpers else [name, own]
    return Definition(extraction=code, metrics=with_code(code), held={f"class {name}": own, **helpers})


def _with_metric(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of a metric list as data, but for a metric that is an artifact, or the name of a catalog's."""
    name, known = entry.get("metric"), dict(plain(entry))
    if isinstance(name, Artifact):
        return {**known, "metric": name}
    found = known.get("metric")
    return {**known, "metric": resolved(found) if isinstance(found, str) and found.startswith("metrics.") else found}


def _by_value(metric: object) -> Any:
    """Return a metric as data; what a judge is asked with counts beside it, and so does the code of files."""
    if isinstance(metric, Artifact):
        from proctor.scoring.assertion_metrics import AssertionMetric
        from proctor.scoring.metric import Metric

        if isinstance(metric, AssertionMetric) or (isinstance(metric, Metric) and hasattr(metric, "code_files")):
            return metric.name
    return by_value(metric)


def _code_of(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the files of functions that a task names and what these import, each with the digest of what is in it."""
    if isinstance(value, FunctionReference):
        module, file = value.module, value.file
        if not settings.trust_code:  # none of it runs, and the exam is refused
            return
        found = code_of_file(file) if file.is_file() else code_of_named(module)
        for path, digest in found.items():
            yield f"!function {module}" if path in (file.name, module) else f"!function {module}: {path}", digest
        yield from read_by(file).items()
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _code_of(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _code_of(each)
    elif isinstance(value, (TaskConfig, FewshotConfig)):
        for each in fields(value):
            yield from _code_of(getattr(value, each.name))
