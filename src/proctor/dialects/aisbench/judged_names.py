"""Names of judged datasets: ``abbr-judge`` in AISBench's files, tables and summarizers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from proctor.dialects.aisbench.values import ConfigDict, abbr_of, location_of, model_abbr_of

if TYPE_CHECKING:
    from proctor.dialects.aisbench.judge_inference import JudgeInference

ASKING = ("LMEvaluator", "GenericLLMEvaluator", "CascadeEvaluator", "ATLASLLMEvaluator")
"""Evaluators that ask a judge."""


def judge_of(values: Mapping[str, Any]) -> JudgeInference | None:
    """Return the judge of a dataset of a config, ``None`` where it has none."""
    found = values.get("judge_infer_cfg")
    if not isinstance(found, Mapping) or not found:
        return None
    from proctor.dialects.aisbench.judge_inference import JudgeInference

    return JudgeInference(found)


def judged_names(listed: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return AISBench's names of those datasets that have a ``judge_infer_cfg``, by their own (``abbr``)."""
    found = {}
    for dataset in listed:
        judging = dataset.get("judge_infer_cfg")
        judge = judging.get("judge_model") if isinstance(judging, Mapping) else None
        if isinstance(judge, Mapping):
            found[abbr_of(dataset)] = f"{abbr_of(dataset)}-{model_abbr_of(judge)}"
    return found


def with_own_names(summarizer: Mapping[str, Any] | None, listed: Iterable[Mapping[str, Any]]) -> Any:
    """Return a summarizer that names every dataset by its ``abbr``, whichever of both names it was written with.

    Args:
        summarizer: Of a config; ``None`` stays.
        listed: The datasets' configs.
    """
    own = {filed: abbr for abbr, filed in judged_names(listed).items()}
    return _renamed(summarizer, own) if own and summarizer is not None else summarizer


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with names replaced: texts that are one, keys, and ``name@metric``."""
    if isinstance(value, str):
        name, at, metric = value.partition("@")
        return f"{names.get(name, name)}{at}{metric}"
    if isinstance(value, Mapping):
        made = {_renamed(key, names): _renamed(each, names) for key, each in value.items()}
        return ConfigDict(made, location=location_of(value))
    return type(value)(_renamed(each, names) for each in value) if isinstance(value, list | tuple) else value
