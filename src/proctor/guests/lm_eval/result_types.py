"""``lm_eval.result_schema``: the types of what ``simple_evaluate`` returns, for programs that annotate with them."""

from __future__ import annotations

from typing import Any, TypedDict


class _SampleCount(TypedDict):
    original: int
    effective: int


class TaskMetrics(TypedDict, total=False):
    """Scores of a task: ``metric,filter`` beside these keys."""

    name: str
    alias: str
    sample_len: int
    sample_count: dict[str, int]


class SampleResult(TypedDict, total=False):
    """A line of ``samples_*.jsonl``: values of metrics beside these keys."""

    doc_id: int
    doc: dict[str, Any]
    target: str
    arguments: dict[str, dict[str, Any]]
    resps: list[Any]
    filtered_resps: list[Any]
    filter: str
    metrics: list[str]
    doc_hash: str
    prompt_hash: str
    target_hash: str


EvalResults = TypedDict(
    "EvalResults",
    {
        "results": dict[str, TaskMetrics],
        "groups": dict[str, TaskMetrics],
        "group_subtasks": dict[str, list[str]],
        "configs": dict[str, dict[str, Any]],
        "versions": dict[str, Any],
        "n-shot": dict[str, int],
        "higher_is_better": dict[str, dict[str, bool | None]],
        "n-samples": dict[str, _SampleCount],
        "samples": dict[str, list[SampleResult]],
        "config": dict[str, Any],
    },
    total=False,
)
"""What ``simple_evaluate`` returns; it has more keys about model, machine and tokenizer."""


class _Row(dict[str, Any]):
    """Stands for lm-eval's private generic types, which programs only subscript."""


_TaskMetrics = _Row
_EvalConfig = dict[str, Any]
