"""What grades an exam of another dialect, as the ``eval_cfg`` of a config: metrics and text functions by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import ProctorError
from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.recipes.recipe import DatasetRecipe
from proctor.scoring.processor_functions import fetch_processor
from proctor.scoring.processors import PostProcess
from proctor.scoring.registry import LM_EVAL

PLACES = 2
"""Post-processors that a config has room for: the dataset's, and the evaluator's own after it."""


@dataclass(slots=True)
class ConvertedGrading:
    """An ``eval_cfg``, empty where nothing of it can be named.

    Attributes:
        metric: The ``evaluator``, without its post-processor.
        predictions: Post-processors of predictions, in order.
        references: Post-processors of references, in order.
        lost: What it does not say, each with its reason.
    """

    metric: dict[str, Any] = field(default_factory=dict)
    predictions: list[dict[str, Any]] = field(default_factory=list)
    references: list[dict[str, Any]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def evaluation(self) -> dict[str, Any]:
        """Return the ``eval_cfg``; what it has no room for is added to :attr:`lost`."""
        if not self.metric:
            return {}
        self.lost += [
            f"{each['type']}: a config has room for {PLACES} post-processors" for each in self.predictions[PLACES:]
        ]
        self.lost += [f"{each['type']} on references: a config has room for one" for each in self.references[1:]]
        own = {"pred_postprocessor": self.predictions[1]} if len(self.predictions) > 1 else {}
        found: dict[str, Any] = {"evaluator": {**self.metric, **own}}
        if self.predictions:
            found["pred_postprocessor"] = self.predictions[0]
        if self.references:
            found["dataset_postprocessor"] = self.references[0]
        return found


def converted_grading(exam: Exam, first: Question) -> ConvertedGrading:
    """Return what grades an exam.

    Args:
        exam: The exam.
        first: Its first question, whose template's processors stand for all.
    """
    made = ConvertedGrading()
    if isinstance(exam.own, DatasetRecipe):
        _of_recipe(made, exam.own, first)
    elif exam.dialect == "lm_eval" and isinstance(task := exam.source.get("task"), Mapping):
        _of_task(made, task)
    if not made.metric:
        made.lost.append("metrics and processors: AccEvaluator compares whole answers; choose another where it matters")
    return made


def _of_recipe(made: ConvertedGrading, recipe: DatasetRecipe, first: Question) -> None:
    metrics = list(recipe.metrics if recipe.metrics is not None else recipe.used_task.metric_names)
    named = [each for each in metrics if isinstance(each, str)]
    made.lost += [f"{_shown(each)}: a config has one metric, by its name" for each in metrics if each not in named[:1]]
    if not named:
        return
    made.metric = {"type": named[0]}
    for each in recipe.postprocessors if recipe.postprocessors is not None else first.processors:
        if not isinstance(each, str):
            made.lost.append(f"{_shown(each)}: a config names post-processors, and this one has no name")
            continue
        of_predictions, of_references = _sides(each)
        made.predictions += [{"type": each}] * of_predictions
        made.references += [{"type": each}] * of_references


def _sides(name: str) -> tuple[bool, bool]:
    """Return whether a processor works on predictions, and on references."""
    try:
        found = fetch_processor(name)
    except ProctorError:
        return True, False
    if isinstance(found, PostProcess):
        return found.process_prediction, found.process_references
    return True, True


def _shown(value: object) -> str:
    return str(value) if isinstance(value, str) else type(value).__name__


def _of_task(made: ConvertedGrading, task: Mapping[str, Any]) -> None:
    if task.get("process_results") is not None:
        made.lost.append("process_results: code of the task")
        return
    entries = list(task.get("metric_list") or [{"metric": "exact_match"}])
    named = [entry for entry in entries if _is_data(entry)]
    made.lost += [
        f"{entry['metric']}: a config has one metric, by its name" for entry in entries if entry not in named[:1]
    ]
    if not named:
        return
    arguments = {key: value for key, value in named[0].items() if key not in ("metric", "higher_is_better")}
    made.metric = {"type": _lm_eval(named[0]["metric"]), **arguments}
    made.predictions = list(_steps(made, task.get("filter_list") or []))


def _steps(made: ConvertedGrading, pipelines: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for pipeline in pipelines[1:]:
        made.lost.append(f"filter_list '{pipeline['name']}': a config has one way to read answers")
    for step in pipelines[0]["filter"] if pipelines else []:
        if not _is_data(step):
            made.lost.append(f"{step['function']}: code of the task")
        elif step["function"] != "take_first":  # a config asks once
            yield {"type": _lm_eval(step["function"]), **{k: v for k, v in step.items() if k != "function"}}


def _is_data(entry: Mapping[str, Any]) -> bool:
    name = str(entry.get("metric") or entry.get("function"))
    return not name.startswith(("!", "<")) and "filter_fn" not in entry


def _lm_eval(name: str) -> str:
    return name if ":" in name or "." in name else f"{LM_EVAL}:{name}"
