"""Metrics that map each instance to something small and reduce what they have to scores."""

# ruff: noqa: ARG002 - what subclasses override names all it is given

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar

from proctor.artifacts import NON_POSITIONAL
from proctor.artifacts.overriding import still_holds
from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring.columns import Columns, scatter, to_columns
from proctor.scoring.flat_scores import MetricScores, ScoreSheet
from proctor.scoring.grading.protocols import Need
from proctor.scoring.metric import Metric, Scores, failure_of
from proctor.scoring.reductions import AggregationReduction, GroupMean, GroupReduction
from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Indices
from proctor.statistics.intervals import Bootstrap, Interval
from proctor.statistics.resampling import Opaque, Resampler

Prediction = TypeVar("Prediction")
Intermediate = TypeVar("Intermediate")


# All pairs of a few marks; real numbers seldom repeat, and remembering them would only cost memory.
_MOST_KEPT_ONCE = 1024


class EvaluationInput(NamedTuple):
    """What a metric maps: one instance."""

    prediction: Any
    references: Sequence[Any]
    task_data: Mapping[str, Any]


class MapReduceMetric(Metric, Generic[Prediction, Intermediate]):
    """Override :meth:`map` and :meth:`reduce`; both see plain values.

    One bootstrap serves all scores, so they are resampled together.

    Attributes:
        n_resamples: Bootstrap resamples; ``None`` or 0 for no intervals.
        ci_score_names: Scores that get an interval; ``None`` for every score that is a float.
        reference_field: Field of the task data to take references from, instead of ``references``.
        prediction_field: Field of the task data to score, instead of the prediction.
    """

    names_main_first: ClassVar[bool] = True

    n_resamples: int | None = 1000
    confidence_level: float = 0.95
    ci_score_names: list[str] | None = None
    return_confidence_interval: bool = True
    ci_method: str = "BCa"
    ci_paired: bool = True
    reference_field: Annotated[str, NON_POSITIONAL] = "references"
    prediction_field: Annotated[str, NON_POSITIONAL] = "prediction"

    def map(self, prediction: Prediction, references: list[Prediction], task_data: dict[str, Any]) -> Intermediate:
        """Return what :meth:`reduce` needs of one instance."""
        raise ScoringError(f"{type(self).__name__} overrides neither map nor map_stream")

    def reduce(self, intermediates: list[Intermediate]) -> dict[str, Any]:
        """Return the scores of a sample."""
        raise ScoringError(f"{type(self).__name__} does not override reduce")

    def reduce_one(self, intermidate: Intermediate) -> dict[str, Any]:
        """Return the scores of one instance."""
        return self.reduce([intermidate])

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> list[Any]:
        """Map all instances; override it to work in batches. An entry may be a :class:`~proctor.ir.Failure`."""
        mapped: list[Any] = []
        same: dict[Any, Any] = {}
        for prediction, references, task_data in evaluation_inputs_stream:
            try:
                found = self.map(prediction=prediction, references=references, task_data=task_data)  # type: ignore[arg-type]
                mapped.append(_kept_once(found, same))
            except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
                mapped.append(failure_of(error))
        return mapped

    def resampler(self, intermediates: Sequence[Intermediate], names: Sequence[str]) -> Resampler:
        """Return how to recompute the scores ``names`` on resamples."""

        def statistic(rows: Indices) -> list[float]:
            scores = self.reduce([intermediates[i] for i in rows])
            return [float(scores.get(name, math.nan)) for name in names]

        return Opaque(len(intermediates), statistic)

    @property
    def needs(self) -> frozenset[Need]:
        """Which further columns the metric reads."""
        own = self.prediction_field == "prediction" and self.reference_field == "references"
        return super().needs if own else frozenset({"fields"})

    def inputs(self, columns: Columns) -> Columns:
        """Return predictions and references, taken from other fields where the metric says so."""
        return chosen_fields(columns, self.prediction_field, self.reference_field)

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        inputs = starmap(
            EvaluationInput, zip(columns.predictions, columns.references, self.fields(columns), strict=True)
        )
        mapped = self.map_stream(inputs)
        failures = {position: each for position, each in enumerate(mapped) if isinstance(each, Failure)}
        kept = [i for i in range(len(mapped)) if i not in failures] if failures else range(len(mapped))
        intermediates = [mapped[i] for i in kept] if failures else mapped
        columns_of_instances: dict[str, Sequence[Any]] = {}
        if instances:
            columns_of_instances = {
                name: scatter(column, kept, len(mapped)) for name, column in self._alone_columns(intermediates).items()
            }
        failure: Failure | None = None
        try:
            sheet = self._listed(intermediates, intervals)
        except Exception as error:  # noqa: BLE001 - the reason becomes a value: this metric fails, others count
            failure = failure_of(error)
            sheet = self.sheet(len(intermediates))
            sheet.put(self.score_prefix + self.main_score, math.nan)
        sheet.name_main(self.score_prefix + self.main_score, backwards=True)
        sheet.bound_main(backwards=True)
        sheet.count()
        found = sheet.measured(failures, failure)
        found.instances = columns_of_instances
        return found

    def _listed(self, intermediates: list[Intermediate], intervals: bool) -> ScoreSheet:
        sheet = self.sheet(len(intermediates))
        scores = self.reduce(intermediates) if intermediates else {self.main_score: math.nan}
        for name, value in scores.items():
            sheet.put(self.score_prefix + name, value)
        if not (intermediates and intervals and self.return_confidence_interval and self.n_resamples):
            return sheet
        names = self.ci_score_names
        if names is None:
            names = [name for name, value in scores.items() if isinstance(value, float)]
        self.check_interval_names("ci_score_names", names, scores)
        drawn: Mapping[str, Interval] = {}
        if names and len(intermediates) > 1:
            bootstrap = Bootstrap(self.n_resamples, self.confidence_level, self.ci_method)
            drawn = dict(zip(names, bootstrap.intervals(self._resampler(intermediates, names)), strict=True))
        for name in names:
            self._bound(sheet, name, drawn.get(name), partial(self._alone, intermediates, name), self.confidence_level)
        return sheet

    def _resampler(self, intermediates: Sequence[Intermediate], names: Sequence[str]) -> Resampler:
        """Return the quick resampler of a family, or the plain one where a program reduces otherwise."""
        if still_holds(type(self), "resampler", "reduce"):
            return self.resampler(intermediates, names)
        return MapReduceMetric.resampler(self, intermediates, names)

    def _alone_columns(self, intermediates: list[Intermediate]) -> dict[str, Sequence[Any]]:
        """Do the same for the scores of instances."""
        if still_holds(type(self), "_instance_columns", "reduce_one", "reduce"):
            return self._instance_columns(intermediates)
        return MapReduceMetric._instance_columns(self, intermediates)

    def _instance_columns(self, intermediates: list[Intermediate]) -> dict[str, Sequence[Any]]:
        return self._columns_from(map(self.reduce_one, intermediates), len(intermediates))

    def _alone(self, intermediates: list[Intermediate], name: str) -> list[float]:
        """Return a score of each instance by itself."""
        return [self.reduce_one(each).get(name, math.nan) for each in intermediates]


def _kept_once(found: Any, seen: dict[Any, Any]) -> Any:
    """Return an equal dict of numbers seen before: a million instances are usually right or wrong."""
    if type(found) is not dict:
        return found
    for value in found.values():
        if type(value) is not float or (not value and math.copysign(1.0, value) < 0):
            return found  # 1, 1.0 and True are equal, and so are 0.0 and -0.0, but they are not the same
    key = tuple(found.items())
    return seen.setdefault(key, found) if len(seen) < _MOST_KEPT_ONCE else seen.get(key, found)


def chosen_fields(columns: Columns, prediction_field: str, reference_field: str) -> Columns:
    """Return columns with predictions or references replaced by fields of the task data.

    An instance without the field has a :class:`~proctor.ir.Failure` in its place.
    """
    predictions, references = columns.predictions, columns.references
    if prediction_field != "prediction":
        predictions = [field_of(each, prediction_field) for each in columns.all_fields()]
    if reference_field != "references":
        found = (field_of(each, reference_field) for each in columns.all_fields())
        references = [each if isinstance(each, (list, Failure)) else [each] for each in found]  # type: ignore[misc]
    if predictions is columns.predictions and references is columns.references:
        return columns
    return replace(columns, predictions=predictions, references=references)


def field_of(task_data: Mapping[str, Any], name: str) -> Any:
    """Return a field of the task data, by name or by a path with ``/``; a failure where there is none."""
    if name in task_data:
        return task_data[name]
    value: Any = task_data
    for part in name.split("/"):
        if not isinstance(value, Mapping) or part not in value:
            return Failure("missing_field", f"the task data has no field '{name}'", retryable=False)
        value = value[part]
    return value


class ReductionInstanceMetric(MapReduceMetric[Prediction, Intermediate]):
    """Override :meth:`map` to return the scores of one instance; ``reduction`` does the rest."""

    reduction: AggregationReduction  # type: ignore[type-arg]

    def reduce(self, intermediates: list[Intermediate]) -> dict[str, Any]:
        """Return the reduced scores."""
        return self.reduction.reduce(intermediates)

    def reduce_one(self, intermidate: Intermediate) -> dict[str, Any]:
        """Return the scores of the instance."""
        return dict(intermidate)  # type: ignore[call-overload, no-any-return]

    def _instance_columns(self, intermediates: list[Intermediate]) -> dict[str, Sequence[Any]]:
        if type(self).reduce_one is not ReductionInstanceMetric.reduce_one:
            return super()._instance_columns(intermediates)
        return self._with_main(to_columns(self._rows(intermediates), len(intermediates)), len(intermediates))

    def _rows(self, intermediates: Iterable[Any]) -> Iterator[Scores]:
        """Yield the scores of instances under their public names; what few objects stand for is named once."""
        known: dict[int, Scores] = {}
        for each in intermediates:
            row = known.get(id(each))
            if row is None:
                row = self.prefixed(each)
                if len(known) < _MOST_KEPT_ONCE:
                    known[id(each)] = row
            yield row

    def resampler(self, intermediates: Sequence[Intermediate], names: Sequence[str]) -> Resampler:
        """Return how to recompute the scores ``names`` on resamples."""
        quick = still_holds(type(self.reduction), "resampler", "reduce", "reduce_list")
        found = self.reduction.resampler(intermediates, names) if quick else None
        return found or super().resampler(intermediates, names)


class GroupMetric(MapReduceMetric[Prediction, Intermediate]):
    """Reduces a metric first within groups of instances, then across groups.

    Attributes:
        metric: What scores each instance.
        group_id_field: Field of the task data that names the group.
        item_id_field: Field of the task data that names the instance within its group.
    """

    main_score: str = ""
    metric: MapReduceMetric  # type: ignore[type-arg]
    group_id_field: str
    item_id_field: str
    in_group_reduction: GroupReduction = GroupMean()
    cross_group_reduction: GroupReduction = GroupMean()
    n_resamples: int | None = None

    @property
    def unit(self) -> Unit | None:  # type: ignore[override]
        """The unit of the metric."""
        return self.metric.unit

    def prepare(self) -> None:
        """Take the main score of the metric."""
        super().prepare()
        self.main_score = self.metric.main_score

    def group_id(self, task_data: Mapping[str, Any]) -> str:
        """Return the group of an instance."""
        return str(self._named(task_data, self.group_id_field))

    def item_id(self, task_data: Mapping[str, Any]) -> str:
        """Return the name of an instance in its group."""
        return str(self._named(task_data, self.item_id_field))

    def _named(self, task_data: Mapping[str, Any], name: str) -> Any:
        value = field_of(task_data, name)
        if isinstance(value, Failure):
            raise ScoringError(f"{self.name} cannot group: {value.message}")
        return value

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> list[Any]:
        """Return (what the metric maps to, group, item) for each instance."""
        inputs = list(evaluation_inputs_stream)
        mapped = self.metric.map_stream(inputs)
        return [
            each if isinstance(each, Failure) else (each, self.group_id(fields), self.item_id(fields))
            for each, (_, _, fields) in zip(mapped, inputs, strict=True)
        ]

    def reduce_one(self, intermidate: Any) -> dict[str, Any]:
        """Return the scores of the instance."""
        return self.metric.reduce_one(intermidate[0])

    def reduce(self, intermediates: list[Any]) -> dict[str, Any]:
        """Return the scores reduced within and then across groups."""
        groups: dict[str, dict[str, dict[str, Any]]] = {}
        for intermediate, group, item in intermediates:
            groups.setdefault(group, {})[item] = self.metric.reduce_one(intermediate)
        within = [(group, self.in_group_reduction.reduce(list(items.items()))) for group, items in groups.items()]
        return self.cross_group_reduction.reduce(within)


class MultiTurnMetric(GroupMetric[Prediction, Intermediate]):
    """Groups the turns of a conversation."""

    group_id_field: str = "conversation/id"
    item_id_field: str = "conversation/dialog"

    def item_id(self, task_data: Mapping[str, Any]) -> str:
        """Return the number of the assistant's turn."""
        return f"assistant_turn_{len(self._named(task_data, self.item_id_field)) // 2}"
