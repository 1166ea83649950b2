"""What a fork has made of lm-eval's own names is found by its text, whatever its layout; what releases have is not."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from proctor.dialects.lm_eval import fork_changes
from proctor.dialects.lm_eval.fork_changes import changed_names, digests

RELEASED = """
import logging
from lm_eval.api.registry import register_aggregation, register_metric

LIMIT = 3


def _clipped(items):
    return items[:LIMIT]


@register_aggregation("f1")
def f1_score(items):
    return max(_clipped(items))


@register_metric(metric="acc", aggregation="mean")
def acc_fn(items):
    return items
"""
SAME = '''
"""Metrics."""
from lm_eval.api.registry import register_aggregation, register_metric
LIMIT = 3  # of documents
def _clipped(items: list[float]) -> list[float]:
    """Return the first."""
    return items[:LIMIT]
def another(): return 1
@register_metric(metric="acc", aggregation="mean")
def acc_fn(items): return items
@register_aggregation("f1")
def f1_score(items) -> float: return max(_clipped(items))
'''
TASK = """
class Task:
    def process_results(self, doc, results):
        raise NotImplementedError

class ConfigurableTask(Task):
    def process_results(self, doc, results):
        # of one document
        first = results[0]
        return {"acc": first}

    def aggregation(self):
        return {}
"""


def package(folder: Path, metrics: str, task: str = TASK) -> Path:
    (folder / "api").mkdir(parents=True)
    (folder / "filters").mkdir()
    (folder / "api/metrics.py").write_text(metrics)
    (folder / "api/task.py").write_text(task)
    return folder


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what lm-eval's releases have be what is above."""
    known: dict[str, list[str]] = {}
    for name, digest in digests(package(tmp_path / "released", RELEASED)):
        known.setdefault(name, []).append(digest)
    (tmp_path / "fork_digests.json").write_text(json.dumps(known))
    monkeypatch.setattr(fork_changes, "files", lambda _: tmp_path)


@pytest.mark.parametrize(
    "metrics, task, changed",
    [
        (SAME, TASK.replace("        # of one document\n", ""), {}),
        (RELEASED.replace("LIMIT = 3", "LIMIT = 4"), TASK, {"f1": "api/metrics.py"}),
        (RELEASED.replace('"mean")', '"median")'), TASK, {"acc": "api/metrics.py"}),
        (RELEASED, TASK.replace('{"acc": first}', '{"acc": not first}'), {"process_results": "api/task.py"}),
        (RELEASED.replace('"acc"', '"of_its_own"'), TASK.replace("return {}", "return {1: 2}"), {}),
        ("def broken(:", TASK, {}),
    ],
)
@pytest.mark.usefixtures("released")
def test_only_what_means_something_else_is_changed(
    metrics: str, task: str, changed: dict[str, str], tmp_path: Path
) -> None:
    assert changed_names(package(tmp_path / "fork", metrics, task)) == changed


def test_what_releases_register_is_known() -> None:
    known = json.loads(files("proctor.dialects.lm_eval").joinpath("fork_digests.json").read_text())
    assert {"acc", "f1", "exact_match", "bleu", "mean", "regex", "take_first", "process_results"} <= known.keys()
