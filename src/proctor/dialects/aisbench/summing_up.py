"""A config's summarizer over the results of its models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.config import abbr_of
from proctor.dialects.aisbench.prompt_version import mode_of, prompt_version
from proctor.dialects.aisbench.reader import datasets_of, read_config, summarizer_of
from proctor.dialects.aisbench.summary import SummaryTable, summarize_models

Results = Mapping[str, Mapping[str, Any]]


def summary_of(path: Path, results: Mapping[str, Results]) -> SummaryTable | None:
    """Return the summarizer's table of a config; one row for each dataset where it has no summarizer.

    Args:
        path: The config.
        results: Results by model, as ``results.json`` has them.
    """
    values = read_config(path)
    datasets = {abbr_of(each): each for each in datasets_of(values)}
    if not results or not datasets:
        return None
    modes = {name: mode_of(each) for name, each in datasets.items()}
    versions = {name: prompt_version(each) for name, each in datasets.items()}
    return summarize_models(results, modes, versions, summarizer_of(values))
