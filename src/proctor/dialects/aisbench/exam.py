"""A dataset of a config as an exam."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.honours import honours_of, own_seed, parts_of
from proctor.dialects.aisbench.inferencers import GENERATE, PPL
from proctor.dialects.aisbench.judged_names import judge_of
from proctor.dialects.aisbench.options import DatasetOptions, dataset_options, sends_stops
from proctor.dialects.aisbench.values import as_data
from proctor.effects import Effect, author_of_file
from proctor.errors import ProctorError
from proctor.lazy import Later
from proctor.recipes.exam import Exam
from proctor.recipes.exam_parts import Grader
from proctor.recipes.fingerprint import Definition
from proctor.recipes.options import ExamOptions
from proctor.scoring.grading.groups import GroupBy

if TYPE_CHECKING:
    from proctor.dialects.aisbench.asker import Prompts
    from proctor.dialects.aisbench.datasets import DatasetRows
    from proctor.dialects.aisbench.prompts import PromptBuilder
    from proctor.dialects.aisbench.rows import ConfigRows


@dataclass(frozen=True, slots=True)
class ConfigExam:
    """The parts that an exam was made of; converters read it (``exam.own``).

    Attributes:
        config: The dataset.
        given: What the run gives.
        options: What that means for the dataset.
        prompts: What makes its prompts.
    """

    config: DatasetConfig
    given: ExamOptions
    options: DatasetOptions
    rows: ConfigRows
    prompts: Prompts

    @property
    def builder(self) -> PromptBuilder:
        """The prompt builder, with demos of the dataset's own index."""
        return self.prompts.over(self.rows.dataset.index)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels that are compared, for perplexities and likelihoods."""
        from proctor.dialects.aisbench.asker import RowAsker

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
    if given.repeats is not None:
        config = config.repeated(given.repeats)
    elif changed.repeats > 1:
        config = config.sampled(changed.repeats)
    return _exam(config, given, changed, _later("rows:ConfigRows", config, rows))


def _exam(config: DatasetConfig, given: ExamOptions, options: DatasetOptions, rows: ConfigRows) -> Exam:
    prompts = _later("asker:Prompts", config, options)
    return Exam(
        name=config.abbr,
        description=_description(config),
        dialect="aisbench",
        joint="</think>",  # AISBench 3.1, ``models/output.py``
        source=_source(config, given, options),
        rows=rows,
        draw=_later("asker:RetrieverDraw", prompts, config.count if config.by_row else 1),
        asker=_later("asker:ConfigAsker", config, options, prompts),
        grader=_grader(config, given, options, rows),
        options=given,
        honours=honours_of(config, given, options),
        longest=config.inferencer.max_seq_len or options.max_seq_len,
        variants=_variants(config, given, options, rows),
        effects=lambda: _effects(config),
        author=author_of_file(config.location.file) if config.location and config.location.file else None,
        own_seed=own_seed(config, options),
        clusters=config.clusters,
        own=ConfigExam(config, given, options, rows, prompts),
        define=lambda: _definition(config, options),
        parts=parts_of(config),
    )


def _later(place: str, *arguments: Any, **named: Any) -> Any:
    return Later(f"{__package__}.{place}", *arguments, **named)


def _definition(config: DatasetConfig, options: DatasetOptions) -> Definition:
    from proctor.dialects.aisbench.definition import definition_of

    return definition_of(config, options)


def _effects(config: DatasetConfig) -> list[Effect]:
    """Return what a dataset does besides being an exam; what is wrong with its judge is said by its grader."""
    from proctor.dialects.aisbench.datasets.files import path_effects
    from proctor.dialects.aisbench.judges import evaluation_effects

    found = [*path_effects(config.values, config.location), *evaluation_effects(config.evaluation)]
    if (judge := judge_of(config.values)) is not None:
        with suppress(ProctorError):
            found += judge.effects()
    return list(dict.fromkeys(found))


def _grader(config: DatasetConfig, given: ExamOptions, options: DatasetOptions, rows: ConfigRows) -> Grader:
    by = GroupBy.of(given.group_by)
    grader: Grader = _later(
        "gradings:ConfigGrader",
        config,
        options,
        lambda: rows.dataset.in_blocks,
        by,
        is_scored=not given.predict_only,
        rows=lambda: rows.dataset.test,
    )
    if config.count < _SEVERAL or (given.repeats is None and not given.reduce):
        return grader
    from proctor.recipes.copies import CopiesGrader

    return CopiesGrader(grader, config.count, given.reduce, in_blocks=lambda: rows.dataset.in_blocks)


_SEVERAL = 2  # answers to each row: one has nothing to be reduced


def _variants(
    config: DatasetConfig, given: ExamOptions, options: DatasetOptions, rows: ConfigRows
) -> Mapping[str, Callable[[], Exam]]:
    if config.inferencer.kind == PPL and config.inferencer.normalizing is None and not options.as_messages:
        return {"messages": lambda: _exam(config, given, replace(options, as_messages=True), rows)}
    if config.inferencer.kind != GENERATE or (options.as_messages and not _loses_stops(config, options)):
        return {}
    stops = options.takes_stops or False  # services get none, whose only form is chat
    return {"messages": lambda: _exam(config, given, replace(options, as_messages=True, takes_stops=stops), rows)}


def _loses_stops(config: DatasetConfig, options: DatasetOptions) -> bool:
    return options.takes_stops is None and bool(config.inferencer.stop) and sends_stops(config, options)


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
