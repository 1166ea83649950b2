"""``evaluate``: predictions and a dataset in, results out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from proctor.artifacts import fetch_artifact
from proctor.engines.thoughts import as_written, heard, marks_of
from proctor.errors import ScoringError
from proctor.foreign_text import parse_json
from proctor.garbage import collecting_seldom
from proctor.ir import Failure, Response
from proctor.recipes.graded_answers import Wanted, looks_for_thoughts
from proctor.recipes.options import ExamOptions
from proctor.results.rows import Table
from proctor.results.scores import GlobalScores, GroupsScores, InstanceScores, SubsetsScores
from proctor.scoring.columns import Columns, rows_of
from proctor.scoring.flat_scores import COUNT, FAILED, main_of
from proctor.scoring.grades import Grade
from proctor.scoring.judges.judge_client import remembering
from proctor.scoring.judges.judged import JUDGED, judges_heard
from proctor.scoring.pipeline import apply_metrics, check_lengths
from proctor.scoring.scores import Score, Unit, mean_score
from proctor.scoring.text.answer_prefix import strip_prefix
from proctor.scoring.text.processor_steps import process_each

SUBSET_DEPTH = 2  # Unitxt's subset_depth: deeper levels are part of the second


class EmptyPrediction:
    """Stands for the prediction where none was given: metrics that look at the data alone do not miss it."""

    def __repr__(self) -> str:
        return "<__empty_prediction__>"


class EvaluationResults(list[dict[str, Any]]):
    """The evaluated instances, with views of their scores.

    Each instance is its row with ``prediction``, ``processed_prediction``, ``processed_references`` and ``score``:
    ``{"global": …, "instance": …}``, with ``"groups"`` and ``"subsets"`` where there are some. Global scores are one
    object that all instances share. An instance that could not be scored has ``failure`` with kind and message.
    """

    def __init__(self, instances: Sequence[dict[str, Any]] = (), metadata: Mapping[str, Any] | None = None) -> None:
        super().__init__(instances)
        self.metadata = dict(metadata or {})
        """``dataset`` (what ``load_dataset`` loaded), ``predictions`` (which engine), ``creation_time``, ``judges``;
        ``judged``: in whose words judges asked."""

    @property
    def global_scores(self) -> GlobalScores:
        """Scores over all instances."""
        scores = GlobalScores(self[0]["score"]["global"])
        scores.first_failure = next((row["failure"]["message"] for row in self if "failure" in row), "")
        return scores

    @property
    def instance_scores(self) -> InstanceScores:
        """Scores of each instance."""
        return InstanceScores(self)

    instances_scores = instance_scores
    """Another name of :attr:`instance_scores`."""

    @property
    def groups_scores(self) -> GroupsScores:
        """Scores by group.

        Raises:
            ScoringError: The recipe asked for no groups.
        """
        if "groups" not in self[0]["score"]:
            raise ScoringError("there are no groups", hint="name fields in the recipe: group_by=['template']")
        return GroupsScores(self[0]["score"]["groups"])

    @property
    def subsets_scores(self) -> SubsetsScores:
        """Scores by subset of a benchmark.

        Raises:
            ScoringError: The dataset is not a benchmark.
        """
        if "subsets" not in self[0]["score"]:
            raise ScoringError("there are no subsets", hint="evaluate a Benchmark")
        return SubsetsScores(self[0]["score"]["subsets"])

    @property
    def failures(self) -> dict[int, dict[str, Any]]:
        """Position and reason of each instance that could not be scored."""
        return {position: row["failure"] for position, row in enumerate(self) if "failure" in row}


def evaluate(
    predictions: Sequence[Any] | None,
    dataset: object = None,
    data: object = None,
    calc_confidence_intervals: bool = True,
    *,
    options: ExamOptions | None = None,
) -> EvaluationResults:
    """Score predictions on a dataset that a recipe made.

    Args:
        predictions: One for each instance, in order: what a model wrote, or a whole :class:`~proctor.ir.Response`, or a
            :class:`~proctor.ir.Failure` where there is none. ``None`` for metrics that need no predictions.
        dataset: One split: a Hugging Face dataset or a list of rows.
        data: An old name of ``dataset``.
        calc_confidence_intervals: Whether to compute confidence intervals.
        options: ``answers`` and ``truncated`` say what of a text is graded: by default what stands behind the thoughts,
            cut off or not.

    Raises:
        ScoringError: The lengths differ, or there is nothing to score.
        ProctorError: A metric cannot be had, or a package is missing.
    """
    with collecting_seldom(), judges_heard() as judged:
        rows = _evaluated(
            predictions, Table(_given(dataset, data)), calc_confidence_intervals, options or ExamOptions()
        )
    about = _about(predictions, _given(dataset, data))
    return EvaluationResults(rows, {**about, JUDGED: judged} if judged else about)


def _evaluated(
    predictions: Sequence[Any] | None, table: Table, intervals: bool, options: ExamOptions
) -> list[dict[str, Any]]:
    given = [EmptyPrediction()] * len(table) if predictions is None else _answers(predictions, table, options)
    task_data = table.task_data()
    references = [_present_references(each) for each in table["references"]]
    columns = Columns(given, references, task_data, classes=table.get("data_classification_policy", ()))
    check_lengths(columns)
    for fields, source in zip(task_data, table.get("source", ""), strict=True):
        fields["source"] = source
    processed = _processed(columns, table["postprocessors"])
    with remembering():  # groups ask a judge nothing new
        scores, instance_scores, failures = _scores(processed, table, intervals)
    return _rows(table, columns, processed, instance_scores, scores, failures)


def _about(predictions: Sequence[Any] | None, dataset: Any) -> dict[str, Any]:
    """Return what is known of an evaluation: what dataset it is, who predicted, and when it was made."""
    about: dict[str, Any] = {}
    description = getattr(getattr(dataset, "info", None), "description", None)
    if description:
        with suppress(TypeError, ValueError):  # a text that somebody wrote for people
            description = json.loads(description)
        about["dataset"] = description
    if (told := getattr(predictions, "metadata", None)) is not None:
        about["predictions"] = told
    return {**about, "creation_time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}


def post_process(predictions: Sequence[Any], dataset: object = None, data: object = None) -> list[Any]:
    """Return predictions after the processors of their instances; a failure where one cannot be processed.

    Raises:
        ScoringError: The lengths differ.
    """
    table = Table(_given(dataset, data), with_references=False)
    columns = Columns(_listed(predictions), [[]] * len(table), table.task_data())
    check_lengths(columns)
    return list(_processed(columns, table["postprocessors"]).predictions)


def _given(dataset: Any, data: Any) -> Any:
    if dataset is None and data is None:
        raise ScoringError("no dataset is given", hint="evaluate(predictions, dataset)")
    return data if dataset is None else dataset


def _listed(predictions: Any) -> list[Any]:
    if isinstance(predictions, (str, bytes, Mapping)) or not isinstance(predictions, Iterable):
        raise ScoringError(
            f"the predictions are of type {type(predictions).__name__}, not a list",
            hint="pass one prediction for each instance, in the order of the dataset",
        )
    return list(predictions)


# -- thoughts -------------------------------------------------------------------------------------------------


def _answers(predictions: Any, table: Table, options: ExamOptions) -> list[Any]:
    """Return predictions without the thoughts in them; thoughts without an answer are failures."""
    given, processors = _listed(predictions), table["postprocessors"]
    if len(given) != len(table):  # which is an error, said where all columns are compared
        return given
    wishes = _Wishes(options)
    return [_answer(each, wishes.of(names)) for each, names in zip(given, processors, strict=True)]


class _Wishes:
    """What is wanted of the answers to instances, by their processors, which most of them share."""

    def __init__(self, options: ExamOptions) -> None:
        self._options = options
        self._known: dict[str, Wanted] = {}

    def of(self, processors: Any) -> Wanted:
        """Return what is wanted where these processors read the answer."""
        key = str(processors)
        if key not in self._known:
            is_marked = self._options.answers is None and looks_for_thoughts({"postprocessors": list(processors)})
            self._known[key] = Wanted(self._options, is_marked)
        return self._known[key]


def _answer(prediction: Any, wanted: Wanted) -> Any:
    if not isinstance(prediction, Response | str):
        return prediction
    response = prediction if isinstance(prediction, Response) else Response(texts=(prediction,))
    is_raw = wanted.options.answers == "raw"
    response = wanted.response(as_written(response, marks_of()) if is_raw else heard(response, marks_of()))
    if response.failure is not None:
        return response.failure
    return response.texts[0] if len(response.texts) == 1 else list(response.texts)


# -- processing -----------------------------------------------------------------------------------------------


def _processed(columns: Columns, postprocessors: Sequence[Sequence[str]]) -> Columns:
    """Strip target prefixes and run each instance through its own processors."""
    return process_each(replace(columns, predictions=_without_prefixes(columns)), postprocessors)


def _without_prefixes(columns: Columns) -> list[Any]:
    """Return predictions as a run reads them: nothing is not a prediction, and the start of an answer is left out."""
    prefix_of = _Prefixes()
    rows = zip(columns.predictions, columns.all_fields(), strict=True)
    return [
        strip_prefix(prediction, prefix_of(fields)) if isinstance(prediction, str) else _present(prediction)
        for prediction, fields in rows
    ]


def _present(prediction: Any) -> Any:
    """Return a prediction, and a failure where it is ``None``, NaN or infinite: tables write so that there is none."""
    if _is_nothing(prediction):
        return Failure("no_prediction", f"there is no prediction ({prediction})", retryable=False)
    return prediction


def _present_references(references: Any) -> Any:
    """Return references, and a failure where there are some and none of them says anything."""
    if isinstance(references, (list, tuple)) and references and all(map(_is_nothing, references)):
        return Failure("no_reference", f"there is no reference ({references[0]})", retryable=False)
    return references


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


class _Prefixes:
    """What answers start with, by the template of each instance; a template is fetched once."""

    def __init__(self) -> None:
        self._templates: dict[str, Callable[[dict[str, Any]], str] | None] = {}

    def __call__(self, fields: Mapping[str, Any]) -> str:
        template = (fields.get("metadata") or {}).get("template")
        if template is None:
            return ""
        key = template if isinstance(template, str) else json.dumps(template, sort_keys=True)
        if key not in self._templates:
            self._templates[key] = getattr(fetch_artifact(template), "answer_prefix_of", None)
        prefix_of = self._templates[key]
        return "" if prefix_of is None else prefix_of(dict(fields))


# -- scores ---------------------------------------------------------------------------------------------------


def _scores(
    columns: Columns, table: Table, intervals: bool
) -> tuple[dict[str, Any], list[dict[str, Any]], dict[int, Failure]]:
    """Return the score tree, the scores of each instance, and the failures."""
    tree: dict[str, Any] = {}
    instance_scores: list[dict[str, Any]] = [{} for _ in range(len(columns))]
    failures: dict[int, Failure] = {}
    units: dict[tuple[str, ...], Unit] = {}
    metrics, groups = table["metrics"], table.get("groups", [])
    for subset, positions in _positions(tuple(path or ())[:SUBSET_DEPTH] for path in table.get("subset", [])).items():
        own = metrics[positions[0]]
        found = _graded(columns, positions, own, intervals, instances=True)
        if found.main is not None:
            units[subset] = found.main.unit
        node = _place(tree, ("subsets", *subset) if subset else ("global",))
        node.update(found.scores)
        for position, row in zip(positions, rows_of(found.instance_scores, len(positions)), strict=True):
            instance_scores[position] = row
        failures.update({positions[local]: failure for local, failure in found.failures.items()})
        inner = tree if not subset else node
        for key, members in _groups(groups, positions):
            scores = _graded(columns, members, own, intervals, instances=False).scores
            _place(inner, ("groups", *key)).update(scores)
    return _with_subset_means(tree, units), instance_scores, failures


def _graded(columns: Columns, positions: list[int], metrics: Any, intervals: bool, *, instances: bool) -> Grade:
    return apply_metrics(columns.select(positions), metrics, intervals=intervals, instances=instances)


def _positions(keys: Iterator[Hashable]) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for position, key in enumerate(keys):
        found.setdefault(key, []).append(position)
    return found


def _groups(groups: Sequence[Any], positions: list[int]) -> Iterator[tuple[tuple[Any, Any], list[int]]]:
    """Yield (grouping, value) and the positions of each group, in order of first appearance."""
    members: dict[str, list[int]] = {}
    for position in positions:
        for text in groups[position] or ():
            members.setdefault(text if isinstance(text, str) else json.dumps(text), []).append(position)
    for text, found in members.items():
        fields = parse_json(text)
        names, values = tuple(fields), tuple(_group_value(value) for value in fields.values())
        yield (names, values) if len(names) > 1 else (names[0], values[0]), found


def _group_value(value: Any) -> Any:
    text = str(value)
    return int(text) if text.isdigit() else text


def _place(tree: dict[str, Any], path: Sequence[Any]) -> dict[str, Any]:
    for part in path:
        tree = tree.setdefault(part, {})
    return tree


Units = Mapping[tuple[str, ...], Unit]
"""The unit of the main score of each subset, by its path."""


def _with_subset_means(tree: dict[str, Any], units: Units) -> dict[str, Any]:
    if "subsets" not in tree:
        return tree
    subsets, _ = _subset_means(tree["subsets"], units)
    top = {"score": subsets["score"], "score_name": subsets["score_name"], "subsets_mean": subsets["score"]}
    for name in (COUNT, FAILED):
        if name in subsets:
            top[name] = subsets[name]
    return {**tree, "subsets": subsets, "global": top}


def _subset_means(node: dict[str, Any], units: Units, path: tuple[str, ...] = ()) -> tuple[dict[str, Any], Score]:
    """Return a node with the means of its subsets, and its main score; subsets of several units are converted."""
    if "score" in node and "score_name" in node:
        return node, replace(main_of(node), value=node["score"], unit=units.get(path, "raw"))
    children = {name: _subset_means(child, units, (*path, name)) for name, child in node.items()}
    result: dict[str, Any] = {name: child for name, (child, _) in children.items()}
    scores = [score for _, score in children.values() if score.number is not None]
    mean = mean_score(scores, "subsets_mean") if scores else Score("subsets_mean", math.nan)
    result["score"] = mean.value
    result["score_name"] = "subsets_mean"
    for count in (COUNT, FAILED):
        if any(count in child for child, _ in children.values()):
            result[count] = sum(child.get(count, 0) for child, _ in children.values())
    return result, replace(mean, low=None, high=None)


# -- rows -----------------------------------------------------------------------------------------------------


def _rows(
    table: Table,
    columns: Columns,
    processed: Columns,
    instance_scores: list[dict[str, Any]],
    scores: dict[str, Any],
    failures: Mapping[int, Failure],
) -> list[dict[str, Any]]:
    rows = []
    for position, own in enumerate(instance_scores):
        row = {
            **table.row(position),
            "task_data": columns.task_data[position],
            "prediction": columns.predictions[position],
            "processed_prediction": processed.predictions[position],
            "processed_references": processed.references[position],
            "score": {**scores, "instance": own},
        }
        if position in failures:
            row["failure"] = {"kind": failures[position].kind, "message": failures[position].message}
        rows.append(row)
    return rows
