"""The grading of an exam in names that every dialect knows: metrics, text functions, right answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from proctor.artifacts import Artifact
from proctor.dialects.aisbench.evaluation import processed, project_of_config
from proctor.dialects.aisbench.evaluators import is_known
from proctor.dialects.aisbench.exam import ConfigExam
from proctor.dialects.aisbench.postprocessors import postprocessor, postprocessor_problems
from proctor.dialects.aisbench.values import as_data, dotted_name, short_name
from proctor.dialects.conversion.converted import Loss
from proctor.dialects.hub_yaml.config import HubTask
from proctor.dialects.lm_eval.exam import task_of
from proctor.dialects.lm_eval.gradings import TaskGrader
from proctor.dialects.lm_eval.metrics import DEFAULT_METRICS
from proctor.dialects.lm_eval.prepared import PreparedTask
from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.recipes.recipe import DatasetRecipe
from proctor.scoring.evaluators.checked_answers import CHECKS
from proctor.scoring.grade import Columns
from proctor.scoring.metric_table import fetch_metric, metric_table
from proctor.scoring.processor_functions import RegisteredProcessor, fetch_processor
from proctor.scoring.processor_steps import process
from proctor.scoring.processors import PostProcess
from proctor.scoring.registered_metric import RegisteredMetric
from proctor.scoring.registry import INSPECT, LM_EVAL, OPENCOMPASS, named
from proctor.scoring.text_functions import text_function_table


@dataclass(frozen=True, slots=True)
class Named:
    """A metric or a text function of a table or a catalog, with its arguments."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """The system that stands before the name; empty for what is in a catalog."""
        before, colon, _ = self.name.partition(":")
        return before if colon and "[" not in before else ""


class Reading(NamedTuple):
    """A way to read an answer: a name, and what is done to it in order."""

    name: str
    steps: Sequence[Named] = ()


def _nothing(question: Question) -> Any:
    references = list(question.exchange.references)
    return references[0] if len(references) == 1 else references


@dataclass(slots=True)
class Graded:
    """The grading of an exam.

    Attributes:
        metrics: The metrics; the first has the main score.
        readings: Ways to read an answer: a name, and what is done to it in order. Nearly always one.
        keeps_apart: Whether what is done to answers keeps all choices of a row apart.
        target: From a question to the right answer, as metrics see it; several are a list.
        lost: What has no name, as the part that it changes and the reason.
    """

    metrics: list[Named] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=lambda: [Reading("")])
    target: Callable[[Question], Any] = _nothing
    keeps_apart: Callable[[Question, Sequence[str]], bool] = lambda question, choices: True
    lost: list[Loss] = field(default_factory=list)


def graded(exam: Exam, first: Question) -> Graded:
    """Return what grades an exam; its first question's processors stand for all."""
    made = Graded()
    if isinstance(exam.own, DatasetRecipe):
        _of_recipe(made, exam.own, first)
    elif (task := task_of(exam)) is not None:
        _of_task(made, exam, task)
    elif isinstance(exam.own, ConfigExam):
        _of_config(made, exam.own)
    elif isinstance(exam.own, HubTask):
        _of_hub_task(made, exam.own)
    else:
        made.lost.append(Loss("scores", "metrics: the exam scores itself"))
    return made


# -- recipes ------------------------------------------------------------------------------------------------------


def _of_recipe(made: Graded, recipe: DatasetRecipe, first: Question) -> None:
    metrics = recipe.metrics if recipe.metrics is not None else recipe.used_task.metric_names
    for each in metrics:
        if isinstance(each, str):
            made.metrics.append(Named(_whole_metric(each)))
        elif (known := _of_table(each)) is not None:
            made.metrics.append(known)
        else:
            made.lost.append(Loss("scores", f"metric {_shown(each)}: it has no name that a catalog knows"))
    steps = recipe.postprocessors if recipe.postprocessors is not None else list(first.processors)
    found = list(_processors(made, steps))
    if first.exchange.answer_prefix and recipe.request != "choose":
        found.insert(0, Named(f"{LM_EVAL}:regex", {"regex_pattern": _without(first.exchange.answer_prefix)}))
    made.readings = [Reading("", found)]
    made.target = _target_of_recipe(made, steps, varies=recipe.postprocessors is None)
    made.keeps_apart = _keeps_apart(steps)
    if recipe.group_by:
        made.lost.append(Loss("scores", "group_by: scores of parts; --group-by gives them again"))


def _of_table(source: object) -> Named | None:
    """Return a metric of the table that a recipe holds with its arguments; ``None`` where it is another artifact."""
    try:
        found = fetch_metric(source)
    except ProctorError:
        return None  # what cannot be made is named as what has no name
    if not isinstance(found, RegisteredMetric) or not found.to_dict().keys() <= _TOLD:
        return None
    how = {} if found.aggregation is None else {"aggregation": found.aggregation}
    return Named(found.entry.key, {**found.arguments, **how})


_TOLD = frozenset({"__type__", "metric", "arguments", "aggregation"})
"""What another form can say of a metric; one with a prefix, or with another number of resamples, has no name there."""


def _without(prefix: str) -> str:
    """Return a pattern that finds an answer without the prefix that it may repeat."""
    return rf"(?s)\A(?:\s*{re.escape(prefix.strip())})?(.*)\Z"


def _whole_metric(name: str) -> str:
    entry = metric_table().find(named(name)[0], "unitxt")
    return name if entry is None or ":" in name or name.startswith("metrics.") else f"{entry.system}:{name}"


def _processors(made: Graded, sources: Sequence[Any]) -> Iterator[Named]:
    for each in sources:
        try:
            found = fetch_processor(each)
        except ProctorError as error:
            made.lost.append(Loss("scores", f"processor {_shown_source(each)}: {error.diagnostics[0].what}"))
            continue
        if isinstance(found, PostProcess) and isinstance(found.operator, RegisteredProcessor):
            if found.process_prediction:
                yield Named(found.operator.function, dict(found.operator.arguments))
            continue
        if not isinstance(each, str):
            made.lost.append(Loss("scores", f"processor {_shown(each)}: it has no name that a catalog knows"))
            continue
        if not isinstance(found, PostProcess) or found.process_prediction:
            yield Named(each)


def _target_of_recipe(made: Graded, steps: Sequence[Any], *, varies: bool) -> Callable[[Question], Any]:
    def target(question: Question) -> Any:
        own = list(question.processors) if varies else list(steps)
        if own != list(steps) and _VARIED not in made.lost:
            made.lost.append(_VARIED)
        columns = Columns([""], [question.exchange.references], [question.instance])
        references = process(columns, own).references[0]
        if isinstance(references, Failure):
            return _nothing(question)
        is_one = len(references) == 1 and not isinstance(references[0], list)  # a list alone would be several answers
        return references[0] if is_one else list(references)

    return target


_VARIED = Loss("scores", "processors: templates differ in them; those of the first row are kept")


def _keeps_apart(steps: Sequence[Any]) -> Callable[[Question, Sequence[str]], bool]:
    def check(question: Question, choices: Sequence[str]) -> bool:
        some = Columns(list(choices), [[each] for each in choices], [question.instance] * len(choices))
        done = process(some, steps)
        pairs = [(str(one), str(gold[0])) for one, gold in zip(done.predictions, done.references, strict=True)]
        return len(set(pairs)) == len(set(choices)) and all(one == gold for one, gold in pairs)

    return check


def _shown_source(source: object) -> str:
    return source if isinstance(source, str) else _shown(source)


def _shown(value: object) -> str:
    kind = value.get("__type__", "dict") if isinstance(value, Mapping) else type(value).__name__
    return value.artifact_id or kind if isinstance(value, Artifact) else str(kind)


# -- tasks --------------------------------------------------------------------------------------------------------


def _of_task(made: Graded, exam: Exam, task: PreparedTask) -> None:
    config = task.config
    if config.process_results is not None:
        made.lost.append(Loss("scores", "process_results: code of the task"))
    else:
        entries = config.metric_list
        if entries is None:
            entries = [{"metric": name} for name in DEFAULT_METRICS[config.output_type]]
        made.metrics = list(_metrics_of_task(made, entries))
    pipelines = config.filter_list if isinstance(config.filter_list, list) else []
    if config.output_type == "multiple_choice" and pipelines:
        made.lost.append(Loss("scores", "filter_list: the other form has no filters of likelihoods"))
    elif pipelines:
        made.readings = [Reading(str(each["name"]), list(_filters(made, each["filter"]))) for each in pipelines]
    if isinstance(exam.grader, TaskGrader):
        scorer = exam.grader.pipelines[0].scorer
        made.target = lambda question: scorer.gold_text(question.instance)


def _metrics_of_task(made: Graded, entries: Sequence[Mapping[str, Any]]) -> Iterator[Named]:
    for entry in entries:
        name, how = entry["metric"], entry.get("aggregation")
        if not isinstance(name, str) or not (how is None or isinstance(how, str)):
            made.lost.append(Loss("scores", f"metric {name}: it is code of the task"))
            continue
        own = metric_table().find(named(name)[0], LM_EVAL)
        arguments = {key: value for key, value in entry.items() if key not in _NOT_ARGUMENTS}
        if own is not None and own.system == LM_EVAL and how not in (None, own.aggregation):
            arguments["aggregation"] = how
        yield Named(own.key if own is not None and ":" not in name and "[" not in name else name, arguments)


_NOT_ARGUMENTS = frozenset({"metric", "aggregation", "higher_is_better", "hf_evaluate"})


def _filters(made: Graded, steps: Sequence[Mapping[str, Any]]) -> Iterator[Named]:
    for step in steps:
        name = step["function"]
        if not isinstance(name, str) or "filter_fn" in step:
            made.lost.append(Loss("scores", f"filter {name}: it is code of the task"))
            continue
        entry = text_function_table().find(named(name)[0], LM_EVAL)
        whole = entry.key if entry is not None and ":" not in name and "[" not in name else name
        yield Named(whole, {key: value for key, value in step.items() if key != "function"})


# -- configs ------------------------------------------------------------------------------------------------------


def _of_config(made: Graded, own: ConfigExam) -> None:
    evaluation = own.config.evaluation
    config = evaluation.get("evaluator") or {}
    kind = config.get("type", "")
    name = short_name(kind)
    if not is_known(config):
        made.lost.append(
            Loss("scores", f"{name or 'evaluator'}: it cannot be computed here; AccEvaluator stands for it")
        )
        made.metrics = [Named(f"{OPENCOMPASS}:AccEvaluator")]
    elif isinstance(kind, str) and (":" in kind or kind.startswith("metrics.")):
        made.metrics = [Named(kind, _arguments(config))]
    else:
        made.metrics = [_evaluator(config, dotted_name(kind))]
    project = project_of_config(evaluation)
    steps: list[Named] = []
    for each in (evaluation.get("pred_postprocessor"), config.get("pred_postprocessor")):
        if each and not list(postprocessor_problems(each, project)):
            steps.append(_postprocessor(each, project))
        elif each:
            made.lost.append(Loss("scores", f"pred_postprocessor {short_name(each.get('type', ''))}: it is code"))
    made.readings = [Reading("", steps)]
    if evaluation.get("sc_size") is not None:
        made.lost.append(Loss("scores", "sc_size: the vote among several answers"))
    made.target = _target_of_config(own, evaluation.get("dataset_postprocessor"), project)


def _evaluator(config: Mapping[str, Any], whole: str) -> Named:
    from proctor.dialects.aisbench.evaluators import entry_of

    entry = entry_of(config)
    arguments = _arguments(config)
    return Named(entry.key if entry is not None else f"{OPENCOMPASS}:{short_name(whole)}", arguments)


def _postprocessor(config: Mapping[str, Any], project: str) -> Named:
    name = short_name(config["type"])
    entry = text_function_table().find(name, (project, OPENCOMPASS))
    return Named(entry.key if entry is not None else name, _arguments(config))


def _target_of_config(own: ConfigExam, after: Mapping[str, Any] | None, project: str) -> Callable[[Question], Any]:
    output = own.config.reader.get("output_column")
    function = postprocessor(after, project) if after else None

    def target(question: Question) -> Any:
        gold = question.instance.get(output) if output else None
        return gold if function is None else processed(function, gold, question.instance)

    return target


def _arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: as_data(value) for key, value in config.items() if key not in ("type", "pred_postprocessor")}


# -- eval.yaml ----------------------------------------------------------------------------------------------------


def _of_hub_task(made: Graded, task: HubTask) -> None:
    for each in task.scorers:
        if each.name in CHECKS:
            made.metrics.append(Named(f"{INSPECT}:{each.name}", dict(each.args)))
        else:
            made.lost.append(Loss("scores", f"scorer {each.name}: only an eval.yaml has it"))
    if task.epochs > 1:
        made.lost.append(Loss("scores", f"epochs: {task.reducer} makes one score of {task.epochs} answers there"))
