"""Summaries of OpenCompass and AISBench: which summarizer a config means, and the table that it makes of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.index import SUMMARIZER, config_entries, find_config
from proctor.dialects.aisbench.judged_names import judged_names, with_own_names
from proctor.dialects.aisbench.prompt_version import mode_of, table_version
from proctor.dialects.aisbench.reader import datasets_of, read_config, summarizer_of
from proctor.dialects.aisbench.values import abbr_of, short_name
from proctor.errors import UnknownArtifactError, did_you_mean
from proctor.results.dataset_groups import SummaryBoard, summary_groups
from proctor.results.summary_table import SummaryTable


def summarize(
    results: Mapping[str, Mapping[str, Any]],
    modes: Mapping[str, str],
    versions: Mapping[str, str],
    summarizer: Mapping[str, Any] | None,
    model: str = "model",
) -> SummaryTable:
    """Return the table of one model's scores.

    Args:
        results: Scores of each dataset, by metric; ``error`` in place of scores that there are not.
        modes: How each dataset was asked.
        versions: The prompt version of each dataset, in the config's order.
        summarizer: Of the config: ``dataset_abbrs`` and ``summary_groups``.
        model: Name of the model.

    Raises:
        ScoringError: A group cannot mean anything.
    """
    return summarize_models({model: results}, modes, versions, summarizer)


def summarize_models(
    results: Mapping[str, Mapping[str, Mapping[str, Any]]],
    modes: Mapping[str, str],
    versions: Mapping[str, str],
    summarizer: Mapping[str, Any] | None,
) -> SummaryTable:
    """Return the table of several models' scores; as :func:`summarize`, with the results of each model by its name.

    Raises:
        ScoringError: A group cannot mean anything.
    """
    board = SummaryBoard.of(results, modes)
    config = summarizer or {}
    for group in summary_groups(config):
        for model in results:
            board.add(group.config, model)
    rows = board.table(config.get("dataset_abbrs"), versions)
    return SummaryTable(rows, board.raw, [*_notes(config), *_without_score(config, board)])


def summary_of(
    path: Path, results: Mapping[str, Mapping[str, Mapping[str, Any]]], summarizer: Mapping[str, Any] | None = None
) -> SummaryTable | None:
    """Return the summarizer's table of a config; one row for each dataset where it has no summarizer.

    Args:
        path: The config.
        results: Results by model, as ``results.json`` has them.
        summarizer: One that stands in for the config's own.
    """
    values = read_config(path)
    return summary_of_datasets(datasets_of(values), results, summarizer or summarizer_of(values))


def summary_of_datasets(
    listed: Sequence[Mapping[str, Any]],
    results: Mapping[str, Mapping[str, Mapping[str, Any]]],
    summarizer: Mapping[str, Any] | None,
) -> SummaryTable | None:
    """Return a summarizer's table of datasets; ``None`` where there are none, or no results.

    Args:
        listed: The datasets' configs.
        results: Results by model, as ``results.json`` has them.
        summarizer: ``dataset_abbrs`` and ``summary_groups``, where there is one.
    """
    datasets = {abbr_of(each): each for each in listed}
    if not results or not datasets:
        return None
    modes = {name: mode_of(each) for name, each in datasets.items()}
    versions = {name: table_version(each) for name, each in datasets.items()}
    table = summarize_models(results, modes, versions, with_own_names(summarizer, listed))
    return table.renamed(judged_names(listed))


def named_summarizer(name: str, include_paths: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return the summarizer that ``--summarizer`` names: a config's, or ``CONFIG/VARIABLE`` in it.

    Raises:
        UnknownArtifactError: There is no such config, or it has no summarizer.
    """
    file, _, variable = (
        name.partition("/") if find_config(name, include_paths, (SUMMARIZER,)) is None else (name, "", "")
    )
    path = (
        Path(file) if file.endswith(".py") and Path(file).is_file() else find_config(file, include_paths, (SUMMARIZER,))
    )
    if path is None:
        known = [each.name for each in config_entries(include_paths).values() if each.kind == SUMMARIZER]
        hint = did_you_mean(file, known) or "proctor ls --from opencompass --kind summarizer lists them"
        raise UnknownArtifactError(f"there is no summarizer '{file}'", hint=hint)
    values = read_config(path)
    found = values.get(variable) if variable else summarizer_of(values)
    if not isinstance(found, Mapping):
        raise UnknownArtifactError(f"the config {path} has no summarizer{f' {variable!r}' if variable else ''}")
    return found


def _notes(config: Mapping[str, Any]) -> list[str]:
    name = short_name(config.get("type") or "DefaultSummarizer")
    if name == "DefaultSummarizer":
        return []
    return [f"the summarizer '{name}' is not known; this is the default one's table"]


def _without_score(config: Mapping[str, Any], board: SummaryBoard) -> list[str]:
    """Return the groups that lack a score which some of their datasets have not, for a model."""
    names = [group.name for group in summary_groups(config)]
    found = [(name, model) for model, raw in board.raw.items() for name in names if "error" in raw.get(name, {})]
    return [f"the group '{name}' has no score of '{model}': {board.raw[model][name]['error']}" for name, model in found]
