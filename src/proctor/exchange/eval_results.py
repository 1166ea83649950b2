"""Hugging Face's ``.eval_results``: the scores of a model as YAML, one file for a dataset, in the model's repository.

An entry says which dataset (and which of its tasks), the value, when, and where it comes from:
``dataset.id``, ``dataset.task_id``, ``value``, ``date``, ``source``, ``notes``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Final

import yaml

from proctor.results.summary import ScoreRow, score_rows
from proctor.runs.stored_run import StoredRun

FOLDER: Final = ".eval_results"
_HUB_ID: Final = re.compile(r"[\w.-]+/[\w.-]+")


def files_of(run: StoredRun, source: Mapping[str, str] | None = None) -> tuple[dict[str, str], list[str]]:
    """Return the files of a run by path, and why an exam has none.

    Args:
        run: The run.
        source: ``url`` and ``name`` of where the numbers can be looked at.
    """
    entries: dict[str, list[dict[str, Any]]] = {}
    left_out: list[str] = []
    for row in score_rows(run.results):
        dataset = dataset_of(run, row.task)
        if dataset is None:
            left_out.append(f"{row.task}: it does not say which dataset of the hub it asks about")
        elif row.value is None or not isfinite(row.value):
            left_out.append(f"{row.task}: {row.metric} has no finite value")
        else:
            entries.setdefault(dataset["id"], []).append(_entry(run, row, dataset, source))
    files = {f"{FOLDER}/{name.replace('/', '__')}.yaml": _yaml(each) for name, each in entries.items()}
    return files, left_out


def dataset_of(run: StoredRun, exam: str) -> dict[str, str] | None:
    """Return an exam's dataset on the hub and its task; ``None`` where it does not say it.

    A YAML task says it by ``dataset_path``, a recipe by the path that it loads from the hub, an ``eval.yaml`` by where
    it lies. Paths of configs are names in OpenCompass' own collection, or folders, and no ids of the hub.
    """
    about = run.spec.exams.get(exam) if run.spec else None
    for task in _mappings(about):
        path = next((task[key] for key, counts in _KEYS.items() if key in task and counts(task)), None)
        if isinstance(path, str) and _HUB_ID.fullmatch(path) and not Path(path).exists():
            name = task.get("id") or task.get("dataset_name") or task.get("name") or exam
            found = {"id": path, "task_id": str(name)}
            revision = task.get("revision")
            return {**found, "revision": revision} if isinstance(revision, str) else found
    return None


_KEYS: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "dataset_path": lambda task: True,
    "path": lambda task: task.get("__type__") in ("load_hf", "LoadHF"),
    "dataset": lambda task: "solvers" in task,
}
"""Where a dataset's id stands, and in what."""


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings in a description: a task of YAML, a loader of a card."""
    if isinstance(value, Mapping):
        yield value
        for each in value.values():
            yield from _mappings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _mappings(each)


def _entry(
    run: StoredRun, row: ScoreRow, dataset: Mapping[str, str], source: Mapping[str, str] | None
) -> dict[str, Any]:
    found: dict[str, Any] = {"dataset": dict(dataset), "value": row.value}
    if run.started:
        found["date"] = run.started[:10]
    if source:
        found["source"] = dict(source)
    unit = {"share": " of 1", "percent": " percent"}.get(row.unit, "")
    bounds = "" if row.low is None else f", 95% interval {row.low:.6g} to {row.high:.6g}"
    failed = f", {row.failed} failed" if row.failed else ""
    found["notes"] = f"{row.metric} {unit}{bounds}, {row.scored} of {row.asked} instances{failed}; Proctor".replace(
        " ,", ","
    )
    return found


def _yaml(entries: list[dict[str, Any]]) -> str:
    return str(yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=1_000))
