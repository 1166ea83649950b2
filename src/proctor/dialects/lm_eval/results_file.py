"""Writes ``results_*.json`` under lm-eval's names: scores of tasks and groups, configurations, the model.

Exams of every dialect are written: their scores under the filter ``none``, their configuration as they describe
themselves. Source of the form: lm-eval 0.4.13, compared key by key with files that it wrote.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Any, Final

from proctor.dialects.lm_eval.code_draws import seeds_of
from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig, plain
from proctor.dialects.lm_eval.exam import task_of
from proctor.dialects.lm_eval.generation import generation_arguments
from proctor.dialects.lm_eval.gradings import TaskGrader
from proctor.dialects.lm_eval.groups import group_scores, scored_count
from proctor.dialects.lm_eval.names import OF_HUNDRED, ONLY
from proctor.dialects.lm_eval.prepared import PreparedTask
from proctor.dialects.lm_eval.python_task import python_task_of
from proctor.dialects.lm_eval.tree import Group
from proctor.jsonable import jsonable
from proctor.recipes.exam import Exam
from proctor.recipes.exam_parts import ScoredGroup
from proctor.recipes.metric_code import installed_version
from proctor.recipes.options import ExamOptions
from proctor.running.machine import platform_name
from proctor.scoring.aggregations import BOOTSTRAP_RESAMPLES, NO_ERROR
from proctor.scoring.flat_scores import UNIT
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score
from proctor.secrets import without_secrets

FORM: Final = "0.4.13"
"""The release of lm-eval whose files these are like."""

TORCH_SEED: Final = 1234
"""lm-eval's default: nothing is drawn from it here, and its own files have this value."""

_OF_MODEL: Final = ("model_num_parameters", "model_dtype", "model_revision", "model_sha")
_OF_TOKENIZER: Final = (
    "tokenizer_pad_token",
    "tokenizer_eos_token",
    "tokenizer_bos_token",
    "eot_token_id",
    "max_length",
)


_ELSEWHERE: Final = frozenset(("batch_size", "max_batch_size", "device"))
"""Arguments of models that lm-eval files as the run's."""


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """The model as results describe it.

    Attributes:
        source: Kind of model: ``hf``, ``openai`` …
        name: Which one.
        arguments: How it was loaded.
        info: What is known of it: ``model_dtype``, ``model_num_parameters``, ``max_length``, ``device`` …
        seconds: How long the run took.
        started: Unix seconds.
        chat_template: The chat template, where one was applied.
        log: The response log, where the user named one.
        told: Whether tasks are told its arguments, in their metadata; not where a caller's own task manager made them.
    """

    source: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    started: float = 0.0
    chat_template: str | None = None
    log: str | None = None
    told: bool = True


def results_document(exams: Sequence[Exam], grades: Mapping[str, Grade], model: ModelDescription) -> dict[str, Any]:
    """Return what ``results_*.json`` holds."""
    groups = {each.name: each for exam in exams for each in exam.groups}
    graded = [exam for exam in exams if exam.name in grades]
    told = model.arguments if model.told else {}
    rows = {exam.name: _task_row(exam, grades[exam.name]) for exam in graded}
    with_errors = not exams or exams[0].options.resamples != 0
    found = {name: _group_row(group, grades, rows, with_errors=with_errors) for name, group in groups.items()}
    group_rows = {name: found[name] for name in _members_first(groups) if found[name] is not None}
    bare = {name: _bare_row(group) for name, group in _members_first(groups).items() if isinstance(group, Group)}
    members = {name: _members(group, graded) for name, group in groups.items()}
    listed = {each for names in members.values() for each in names}
    return {
        "results": {**rows, **bare, **group_rows},
        **({"groups": group_rows} if group_rows else {}),
        "group_subtasks": {**members, **{exam.name: [] for exam in graded if exam.name not in listed}},
        "configs": {exam.name: _config(exam, told) for exam in sorted(graded, key=lambda each: each.name)},
        "versions": _sorted({**{exam.name: _version(exam) for exam in graded}, **_versions(groups)}),
        "n-shot": _of_groups({exam.name: _shots(exam) for exam in graded}, members, _same),
        "higher_is_better": _of_groups({e.name: _directions(e, grades[e.name]) for e in graded}, members, _united),
        "n-samples": {
            exam.name: {"original": _count(exam, grades[exam.name]), "effective": rows[exam.name]["sample_len"]}
            for exam in graded
        },
        "config": _config_of_run(exams, model),
        "git_hash": None,
        "date": model.started,
        **place_of_run(),
        **{name: model.info[name] for name in _OF_TOKENIZER if name in model.info},
        "model_source": model.source,
        "model_name": model.name,
        "model_name_sanitized": sanitized(model.name),
        **_chat(exams, model),
        "total_evaluation_time_seconds": str(model.seconds),
    }


def sanitized(name: str) -> str:
    """Return a model's name as part of a path."""
    return re.sub(r"[\"<>:/|\\?*\[\]]+", "__", name)


def grader_of(exam: Exam, task: PreparedTask) -> TaskGrader:
    """Return the grader of a task's exam."""
    return exam.grader if isinstance(exam.grader, TaskGrader) else TaskGrader(task)


# -- scores -----------------------------------------------------------------------------------------------------------


def _task_row(exam: Exam, grade: Grade) -> dict[str, Any]:
    task = task_of(exam)
    alias = exam.name if task is None else str(task.config.task_alias or exam.name)
    if not exam.options.predict_only:
        cells = _cells(grade.table if task is None else _in_their_order(grade.table, task))
        found: dict[str, Any] = {"sample_len": scored_count(grade) if cells else 0, **cells}
    elif task is None or task.config.output_type == "generate_until":
        found = {"sample_len": scored_count(grade), **_unscored_cells(exam, task)}
    else:
        found = {"sample_len": 0}  # lm-eval files that of choices and likelihoods, and no score
    return {"name": exam.name, "alias": alias, **found}


def _unscored_cells(exam: Exam, task: PreparedTask | None) -> dict[str, Any]:
    """Return what lm-eval files of texts that were recorded and not scored."""
    own = python_task_of(exam)
    if own is not None:
        pipelines = own.pipelines
    else:
        pipelines = [ONLY] if task is None else [each.name for each in grader_of(exam, task).pipelines]
    return {f"bypass{end},{name}": value for name in pipelines for end, value in (("", 999), ("_stderr", NO_ERROR))}


_ORDER: Final = {
    "multiple_choice": (
        *("acc", "f1", "mcc", "acc_norm", "acc_bytes", "exact_match", "brier_score", "likelihood", "acc_mutual_info"),
    ),
    "loglikelihood": ("perplexity", "acc"),
    "loglikelihood_rolling": ("word_perplexity", "byte_perplexity", "bits_per_byte"),
}
"""In which order lm-eval files scores that it makes itself, whatever ``metric_list`` says."""


def _in_their_order(table: Sequence[Score], task: PreparedTask) -> Sequence[Score]:
    order = () if task.config.process_results is not None else _ORDER.get(task.config.output_type, ())
    places = {name: place for place, name in enumerate(order)}
    pipelines = list(dict.fromkeys(each.grading for each in table))
    return sorted(table, key=lambda each: (pipelines.index(each.grading), places.get(each.metric, len(order))))


def _cells(table: Iterable[Score]) -> dict[str, Any]:
    """Return scores and standard errors as lm-eval files them: the pipeline named; what is no number as it is."""
    cells: dict[str, Any] = {}
    for score in table:
        if score.value is None:
            continue
        bare, pipeline = score.name.removesuffix(f",{score.grading}"), score.grading or ONLY
        scale = scale_of(bare, score.unit)
        value = score.value
        cells[f"{bare},{pipeline}"] = value * scale if scale != 1 and isinstance(value, int | float) else value
        cells[f"{bare}_stderr,{pipeline}"] = NO_ERROR if score.stderr is None else score.stderr * scale
    return cells


def scale_of(metric: str, unit: str) -> float:
    """Return by what lm-eval's files have a score: they know no percent, but for metrics that lm-eval has of 100."""
    return 0.01 if unit == "percent" and metric.partition(":")[0] not in OF_HUNDRED else 1.0


def _bare_row(group: ScoredGroup) -> dict[str, Any]:
    return {"alias": getattr(group, "alias", "") or group.name, "name": group.name}


def _group_row(
    group: ScoredGroup, grades: Mapping[str, Grade], rows: Mapping[str, Any], *, with_errors: bool
) -> dict[str, Any] | None:
    if isinstance(group, Group):
        if not group.metrics:
            return None
        found = group_scores(group, grades)
        cells, count = _cells(found.table), sum(rows[name]["sample_len"] for name in found.counts)
        if not with_errors:
            cells = {name: NO_ERROR if "_stderr," in name else value for name, value in cells.items()}
        counts = {"sample_count": _counts(group, grades, cells)} if cells else {}
        return {**_bare_row(group), "sample_len": count, **cells, **counts}
    scores = group.score(grades)
    value, main = scores.get("score"), str(scores.get("score_name") or "score")
    if not isinstance(value, int | float):
        return None
    asked = scores.get("num_of_instances")
    size = {"sample_len": asked} if isinstance(asked, int) else {}
    value *= scale_of(main, str(scores.get(UNIT)))
    return {**_bare_row(group), **size, f"{main},{ONLY}": value, f"{main}_stderr,{ONLY}": NO_ERROR}


def _members_first(groups: Mapping[str, ScoredGroup]) -> dict[str, ScoredGroup]:
    """Return groups in the order in which lm-eval files their scores: each behind the groups in it."""
    found: dict[str, ScoredGroup] = {}

    def add(name: str) -> None:
        group = groups[name]
        for member in group.members if isinstance(group, Group) else ():
            if isinstance(member, Group) and member.name in groups and member.name not in found:
                add(member.name)
        found[name] = group

    for name in groups:
        if name not in found:
            add(name)
    return found


def _counts(group: Group, grades: Mapping[str, Grade], cells: Mapping[str, Any]) -> dict[str, int]:
    """Return how many documents stand behind each score of a group: those of the tasks that have it."""
    leaves = [leaf.name for leaf in group.leaves() if leaf.name in grades]
    having = {name: _cells(grades[name].table) for name in leaves}
    return {
        cell: sum(scored_count(grades[name]) for name in leaves if cell in having[name])
        for cell in cells
        if "_stderr," not in cell
    }


def _members(group: ScoredGroup, exams: Sequence[Exam]) -> list[str]:
    if isinstance(group, Group):
        return [member.name for member in group.members]
    return [exam.name for exam in exams if any(each.name == group.name for each in exam.groups)]


def _count(exam: Exam, grade: Grade) -> int:
    task, own = task_of(exam), python_task_of(exam)
    if own is not None:
        return len(list(own.task.eval_docs))
    return len(grade.predictions) if task is None else len(task.documents.asked())


# -- configurations ---------------------------------------------------------------------------------------------------


def _config(exam: Exam, told: Mapping[str, Any]) -> dict[str, Any]:
    task = task_of(exam)
    if (own := python_task_of(exam)) is not None:
        return _said(own.task.config, own.task.config.num_fewshot or 0, told) | {"task": exam.name}
    if task is None:
        return {"task": exam.name, **jsonable(exam.specification())}
    return _said(task.config, task.num_fewshot, told)


def _said(config: TaskConfig, num_fewshot: int, told: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {
        **config.to_dict(),
        "fewshot_config": {each.name: plain(getattr(config.fewshot, each.name)) for each in fields(FewshotConfig)},
        "num_fewshot": num_fewshot,
    }
    metadata = without_secrets(config.metadata) if isinstance(config.metadata, Mapping) else {}
    if config.source is not None:
        metadata["config_source"] = str(config.source.path)
    arguments = {name: value for name, value in without_secrets(told).items() if name not in _ELSEWHERE}
    return {**said, "metadata": {**arguments, **metadata}}


def _version(exam: Exam) -> Any:
    task, own = task_of(exam), python_task_of(exam)
    if own is not None:
        return own.version
    return exam.source.get("version", "Yaml") if task is None else task.config.version


def _versions(groups: Mapping[str, ScoredGroup]) -> dict[str, str]:
    found = {name: getattr(group, "metadata", None) or {} for name, group in groups.items()}
    return {name: str(metadata.get("version", "N/A")) for name, metadata in found.items()}


def _shots(exam: Exam) -> int:
    task = task_of(exam)
    if task is not None:
        return task.num_fewshot
    if (own := python_task_of(exam)) is not None:
        return own.task.config.num_fewshot or 0
    found = exam.options.num_demos if exam.options.num_demos is not None else _demos_of(exam.specification())
    return int(found) if isinstance(found, int) else 0


def _demos_of(specification: Mapping[str, Any]) -> Any:
    recipe = specification.get("recipe")
    return recipe.get("num_demos") if isinstance(recipe, Mapping) else specification.get("num_demos")


def _directions(exam: Exam, grade: Grade) -> dict[str, bool | None]:
    task = task_of(exam)
    if task is not None:
        return dict(grader_of(exam, task).higher_is_better)
    if (own := python_task_of(exam)) is not None:
        return dict(own.task.higher_is_better())
    return {score.name: score.higher_is_better for score in grade.table}


def _of_groups(found: dict[str, Any], members: Mapping[str, Sequence[str]], together: Any) -> dict[str, Any]:
    """Return entries of tasks with those of their groups, made of their members' from below."""

    def entry(name: str) -> Any:
        if name not in found and name in members:
            parts = [each for each in map(entry, members[name]) if each is not None]
            made = together(parts) if parts else None
            if made is not None:
                found[name] = made
        return found.get(name)

    for name in members:
        entry(name)
    return _sorted(found)


def _same(parts: Sequence[int]) -> int | None:
    return parts[0] if len(set(parts)) == 1 else None


def _united(parts: Sequence[Mapping[str, bool | None]]) -> dict[str, bool | None]:
    """Return the directions of all members; ``None`` where two disagree."""
    found: dict[str, bool | None] = {}
    for part in parts:
        for metric, direction in part.items():
            found[metric] = direction if found.get(metric, direction) == direction else None
    return found


def _sorted(found: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(found.items()))


# -- the run ----------------------------------------------------------------------------------------------------------


def _config_of_run(exams: Sequence[Exam], model: ModelDescription) -> dict[str, Any]:
    options = exams[0].options if exams else ExamOptions()
    task = task_of(exams[0]) if exams else None
    arguments, info = dict(model.arguments), dict(model.info)
    batch_size, device = arguments.pop("batch_size", None), arguments.pop("device", None)
    size = info.get("batch_size", batch_size)
    return {
        "model": model.source,
        "model_args": arguments,
        **{name: info[name] for name in _OF_MODEL if name in info},
        "batch_size": size if batch_size is None else str(batch_size),
        "batch_sizes": info.get("batch_sizes", []),
        "device": info.get("device", device) if device is None else device,
        "use_cache": model.log,
        "limit": None if options.limit is None else float(options.limit),
        "bootstrap_iters": BOOTSTRAP_RESAMPLES if task is None else task.resamples,
        "gen_kwargs": generation_arguments(options.decoding),
        **dict(zip(("random_seed", "numpy_seed"), seeds_of(options), strict=True)),
        "torch_seed": TORCH_SEED,
        "fewshot_seed": exams[0].seed if task is None and exams else None if task is None else task.seed,
    }


def place_of_run() -> dict[str, Any]:
    """Return what results say of the machine and of versions."""
    own = installed_version("proctor") or "source"
    return {
        "pretty_env_info": f"Proctor {own}, Python {platform.python_version()}, {platform_name()}",
        "transformers_version": installed_version("transformers"),
        "lm_eval_version": f"{FORM}+proctor.{own}",
        "upper_git_hash": None,
    }


def _chat(exams: Sequence[Exam], model: ModelDescription) -> dict[str, Any]:
    options = exams[0].options if exams else ExamOptions()
    is_chat = options.apply_chat_template or options.meta_template is not None
    template = model.chat_template or (model.info.get("chat_template") if options.apply_chat_template else None)
    return {
        "system_instruction": options.system_prompt,
        "system_instruction_sha": _digest_or_none(options.system_prompt),
        "fewshot_as_multiturn": options.demos_as_turns is not False if is_chat else None,
        "chat_template": template,
        "chat_template_sha": _digest_or_none(template),
    }


def digest(text: str) -> str:
    """Return the SHA-256 of a text, as hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest_or_none(text: str | None) -> str | None:
    return None if text is None else digest(text)


def number_or_none(value: Any) -> float | None:
    """Return a finite number, ``None`` for everything else."""
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return value if is_number else None
