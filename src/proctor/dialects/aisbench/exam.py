"""A dataset of a config as an exam."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from proctor.dialects.aisbench.asker import ConfigAsker, Prompts, RetrieverDraw, RowAsker
from proctor.dialects.aisbench.config import GENERATE, DatasetConfig
from proctor.dialects.aisbench.datasets import DatasetRows
from proctor.dialects.aisbench.datasets.files import path_effects
from proctor.dialects.aisbench.definition import definition_of
from proctor.dialects.aisbench.gradings import ConfigGrader
from proctor.dialects.aisbench.honours import honours_of, own_seed
from proctor.dialects.aisbench.judges import evaluation_effects
from proctor.dialects.aisbench.options import DatasetOptions, dataset_options
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.dialects.aisbench.rows import ConfigRows
from proctor.dialects.aisbench.values import as_data
from proctor.effects import author_of_file
from proctor.recipes.exam import Exam
from proctor.recipes.options import ExamOptions
from proctor.scoring.groupings import GroupBy


@dataclass(frozen=True, slots=True)
class ConfigExam:
    """What an exam was made of; converters read it (``exam.own``).

    Attributes:
        config: The dataset.
        given: What the run gives.
        options: What that means for the dataset.
        rows: Its rows.
        prompts: What makes its prompts.
    """

    config: DatasetConfig
    given: ExamOptions
    options: DatasetOptions
    rows: ConfigRows
    prompts: Prompts

    @property
    def builder(self) -> PromptBuilder:
        """What makes the prompts, with demos of the dataset's own index."""
        return self.prompts.over(self.rows.dataset.index)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels that are compared, for perplexities and likelihoods."""
        return RowAsker(self.config, self.options, self.builder).labels


def dataset_exam(
    config: DatasetConfig,
    options: ExamOptions | None = None,
    changed: DatasetOptions | None = None,
    rows: DatasetRows | None = None,
) -> Exam:
    """Return a dataset of a config as an exam.

    Args:
        config: The dataset.
        options: What the run gives.
        changed: What that means for datasets, where it is known already: it reads the model's config.
        rows: The dataset's rows, where they are known; by default its type reads them.

    Raises:
        ProctorError: The model's config or the meta template cannot be read.
    """
    given = options or ExamOptions()
    changed = changed if changed is not None else dataset_options(given)
    config = config if given.repeats is None else config.repeated(given.repeats)
    return _exam(config, given, changed, ConfigRows(config, rows))


def _exam(config: DatasetConfig, given: ExamOptions, options: DatasetOptions, rows: ConfigRows) -> Exam:
    prompts = Prompts(config, options)
    return Exam(
        name=config.abbr,
        description=_description(config),
        dialect="aisbench",
        source=_source(config, given, options),
        rows=rows,
        draw=RetrieverDraw(prompts),
        asker=ConfigAsker(config, options, prompts),
        grader=_grader(config, given, options, rows),
        options=given,
        honours=honours_of(config, given, options),
        longest=config.inferencer.max_seq_len or options.max_seq_len,
        variants=_variants(config, given, options, rows),
        effects=lambda: [*path_effects(config.values, config.location), *evaluation_effects(config.evaluation)],
        author=author_of_file(config.location.file) if config.location and config.location.file else None,
        own_seed=own_seed(config, options),
        own=ConfigExam(config, given, options, rows, prompts),
        define=lambda: definition_of(config, options),
    )


def _grader(config: DatasetConfig, given: ExamOptions, options: DatasetOptions, rows: ConfigRows) -> ConfigGrader:
    by = GroupBy.of(given.group_by)
    return ConfigGrader(config, options, lambda: rows.dataset.in_blocks, by, is_scored=not given.predict_only)


def _variants(
    config: DatasetConfig, given: ExamOptions, options: DatasetOptions, rows: ConfigRows
) -> Mapping[str, Callable[[], Exam]]:
    if config.inferencer.kind != GENERATE or options.as_messages:
        return {}
    return {"messages": lambda: _exam(config, given, replace(options, as_messages=True), rows)}


def _description(config: DatasetConfig) -> str:
    source = "/".join(str(config.values[key]) for key in ("path", "name") if config.values.get(key))
    return f"{config.inferencer.kind} on {source or 'data of its own'}"


def _source(config: DatasetConfig, given: ExamOptions, options: DatasetOptions) -> dict[str, Any]:
    places = given.places_of(config.abbr)
    selected = {
        "limit": given.limit,
        "samples": None if places is None else sorted(places),
        "seed": given.seed,
        "predict_only": given.predict_only or None,
    }
    changed = {key: value for key, value in selected.items() if value is not None} | options.to_dict()
    found: dict[str, Any] = {"dialect": "aisbench", "dataset": as_data(config.values), "options": changed}
    return {**found, "without_effect": idle} if (idle := config.without_effect) else found
