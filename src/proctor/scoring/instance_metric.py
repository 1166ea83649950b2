"""Metrics whose global scores are reductions of instance scores: ``InstanceMetric`` and ``BulkInstanceMetric``."""

# ruff: noqa: ARG002 - what subclasses override names all it is given

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL
from proctor.errors import ScoringError, did_you_mean
from proctor.ir import Failure
from proctor.lazy import np
from proctor.scoring.columns import Columns, scatter
from proctor.scoring.flat_scores import MetricScores, ScoreSheet
from proctor.scoring.grading.protocols import Need
from proctor.scoring.map_reduce import chosen_fields
from proctor.scoring.metric import UNPREFIXED, Metric, failure_of
from proctor.scoring.reductions import read_group_mean
from proctor.settings import settings
from proctor.statistics.arrays import Floats, as_floats
from proctor.statistics.intervals import Bootstrap
from proctor.statistics.resampling import Maxima, Means, Resampler

Instances = Mapping[str, Sequence[Any]]
"""Instance scores by name, each a column."""


class Unscored(NamedTuple):
    """An instance without a score about which there is something to show (what a judge was asked and said).

    Attributes:
        failure: Why there is no score.
        details: What is kept among the instance scores all the same.
    """

    failure: Failure
    details: Mapping[str, Any]


Computed = dict[str, Any] | Failure | Unscored


class ResampledInstancesMetric(Metric):
    """Base of metrics that bootstrap the scores of instances.

    Attributes:
        n_resamples: Bootstrap resamples; ``None`` or 0 for no intervals.
        ci_scores: Scores that get an interval.
        reduction_map: Reduction → names of the scores it reduces.
    """

    n_resamples: int | None = Field(default_factory=lambda: settings.num_resamples_for_instance_metrics)
    confidence_interval_calculation: bool = True
    confidence_level: float = 0.95
    ci_scores: list[str] | None = None
    ci_method: str = "BCa"
    reduction_map: dict[str, Any]

    @abstractmethod
    def _compute_all(self, columns: Columns) -> list[Computed]:
        """Return the scores of each instance, or why it has none."""

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        self._check_reductions()
        rows = self._compute_all(columns)
        unscored = {i: row for i, row in enumerate(rows) if not isinstance(row, dict)}
        failures = {i: each.failure if isinstance(each, Unscored) else each for i, each in unscored.items()}
        details = {i: self.prefixed(each.details) for i, each in unscored.items() if isinstance(each, Unscored)}
        kept = [i for i in range(len(columns)) if i not in unscored]
        if not kept:
            found = self.nothing(failures=failures)
            found.instances = _with_details({}, details, len(columns))
            return found
        sheet = self.sheet(len(kept))
        sheet.count()
        scores = self._columns_of([row for row in rows if isinstance(row, dict)])
        for kind, parameters in self.reduction_map.items():
            self._reduce(kind, parameters, scores, columns.select(kept), sheet, intervals=intervals)
        found = sheet.measured(failures)
        spread = {name: scatter(column, kept, len(columns)) for name, column in scores.items()}
        found.instances = _with_details(spread, details, len(columns))
        return found

    def _check_reductions(self) -> None:
        known: Sequence[str] = self.implemented_reductions  # type: ignore[attr-defined]
        for name in self.reduction_map:
            if name not in known:
                raise ScoringError(
                    f"{self.name} has no reduction '{name}'",
                    hint=did_you_mean(name, known) or f"its reductions are {', '.join(known)}",
                )

    def _reduce(
        self, kind: str, parameters: Any, scores: Instances, columns: Columns, sheet: ScoreSheet, *, intervals: bool
    ) -> None:
        """List means or maxima of scores, with their intervals."""
        resampler = Maxima if kind == "max" else Means
        for name in dict.fromkeys(parameters):
            public = self.score_prefix + name
            self._put(sheet, name, public, resampler(as_floats(scores[public])))
        if bootstrap := self._bootstrap(len(columns), intervals):
            names = dict.fromkeys(self._bounded_names())
            self._check_intervals(names, scores)
            for name in names:
                values = as_floats(scores[self.score_prefix + name])
                self._put_interval(sheet, bootstrap, name, resampler(values), values)

    def _bounded_names(self) -> Sequence[str]:
        """Return the scores that get an interval."""
        return self.ci_scores or ()

    def _bootstrap(self, count: int, intervals: bool) -> Bootstrap | None:
        resamples = self.n_resamples or 0
        if not (intervals and self.confidence_interval_calculation and resamples > 1 and count):
            return None
        return Bootstrap(resamples, self.confidence_level, self.ci_method, repair=True)

    def _check_intervals(self, names: Iterable[str], scores: Iterable[str]) -> None:
        """Refuse a score that somebody wants an interval of, and that instances do not have."""
        own = [name.removeprefix(self.score_prefix) for name in scores if name not in UNPREFIXED]
        self.check_interval_names("ci_scores", names, own)

    def _put(self, sheet: ScoreSheet, name: str, public: str, resampler: Resampler) -> None:
        sheet.put(public, float(resampler.observed()[0]))
        if name == self.main_score:
            sheet.name_main(public)

    def _put_interval(
        self, sheet: ScoreSheet, bootstrap: Bootstrap, name: str, resampler: Resampler, values: Floats, public: str = ""
    ) -> None:
        """List the interval of a score, where it has one: of values that are all equal, resampling knows none."""
        present = values[~np.isnan(values)]
        is_constant = bool(present.size) and bool(np.all(present == present[0]))
        drawn = None if is_constant else bootstrap.intervals(resampler)[0]
        self._bound(sheet, name, drawn, lambda: values, self.confidence_level, public)


class InstanceMetric(ResampledInstancesMetric):
    """Override :meth:`compute` to score one instance; ``reduction_map`` says how instances become global scores.

    Reductions: ``mean``, ``max`` (each with a list of score names), and ``group_mean`` with
    ``{"agg_func": [name, function, whether groups are resampled as units], "score_fields": [...]}``: the function
    reduces the scores of each group (``task_data["group_id"]``), and the global score is the mean over groups.

    Attributes:
        subgroup_column: Field of the task data; the function of ``group_mean`` then gets the scores by its values.
        reference_field: Field of the task data to take references from, instead of ``references``.
        prediction_field: Field of the task data to score, instead of the prediction.
    """

    subgroup_column: str | None = None
    reference_field: Annotated[str, NON_POSITIONAL] = "references"
    prediction_field: Annotated[str, NON_POSITIONAL] = "prediction"
    implemented_reductions: list[str] = ["mean", "group_mean", "max"]

    def compute(self, references: list[Any], prediction: object, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of one instance."""
        raise ScoringError(f"{type(self).__name__} does not override compute")

    @property
    def needs(self) -> frozenset[Need]:
        """Which further columns the metric reads."""
        own = self.prediction_field == "prediction" and self.reference_field == "references"
        return super().needs if own and "group_mean" not in self.reduction_map else frozenset({"fields"})

    def inputs(self, columns: Columns) -> Columns:
        """Return predictions and references, taken from other fields where the metric says so."""
        return chosen_fields(columns, self.prediction_field, self.reference_field)

    def _compute_all(self, columns: Columns) -> list[Computed]:
        found: list[Computed] = []
        inputs = zip(columns.predictions, columns.references, self.fields(columns), strict=True)
        for prediction, references, task_data in inputs:
            try:
                scores = self.compute(references=references, prediction=prediction, task_data=task_data)  # type: ignore[arg-type]
                found.append(_checked(scores, self))
            except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
                found.append(failure_of(error))
        return found

    def _reduce(
        self, kind: str, parameters: Any, scores: Instances, columns: Columns, sheet: ScoreSheet, *, intervals: bool
    ) -> None:
        if kind != "group_mean":
            super()._reduce(kind, parameters, scores, columns, sheet, intervals=intervals)
            return
        reduction = read_group_mean(parameters, self.name)
        groups = [self._group_field(fields, "group_id") for fields in columns.all_fields()]
        subgroups = None
        if self.subgroup_column is not None:
            subgroups = [self._group_field(fields, self.subgroup_column) for fields in columns.all_fields()]
        self._check_intervals(self.ci_scores or (), scores)
        for name in dict.fromkeys(reduction.score_fields or [self.main_score]):
            public = reduction.prefix + self.score_prefix + name
            values = list(scores[self.score_prefix + name])
            resampler, units = reduction.resampler(values, groups, subgroups)
            self._put(sheet, name, public, resampler)
            bootstrap = self._bootstrap(len(units), intervals)
            if bootstrap and name in (self.ci_scores or ()):
                self._put_interval(sheet, bootstrap, name, resampler, as_floats(units), public)

    def _group_field(self, fields: Mapping[str, Any], name: str) -> str:
        if name not in fields:
            raise ScoringError(f"{self.name} groups by '{name}', which the task data does not have")
        return str(fields[name])


class BulkInstanceMetric(ResampledInstancesMetric):
    """Override :meth:`compute` to score all instances at once (in batches, on a model …).

    Reductions: ``mean`` and ``weighted_win_rate`` (positive scores are wins, negative ones losses, by weight).
    """

    implemented_reductions: list[str] = ["mean", "weighted_win_rate"]

    def compute(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[dict[str, Any]] | list[Computed]:
        """Return the scores of each instance; a :class:`~proctor.ir.Failure` where there are none."""
        raise ScoringError(f"{type(self).__name__} does not override compute")

    def _compute_all(self, columns: Columns) -> list[Computed]:
        try:
            return self._compute(columns)
        except Exception as error:  # noqa: BLE001 - the reason becomes a value; one by one shows whose it is
            whole = failure_of(error)
        if len(columns) == 1:
            return [whole]
        found: list[Computed] = []
        for position in range(len(columns)):
            try:
                found += self._compute(columns.select([position]))
            except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
                found.append(failure_of(error))
        return found

    def _compute(self, columns: Columns) -> list[Computed]:
        if not len(columns):
            return []
        rows = self.compute(
            references=list(columns.references),  # type: ignore[arg-type]
            predictions=list(columns.predictions),
            task_data=list(columns.all_fields()),  # type: ignore[arg-type]
        )
        if len(rows) != len(columns):
            raise ScoringError(f"{self.name} returned {len(rows)} scores for {len(columns)} instances")
        return [row if isinstance(row, (Failure, Unscored)) else _checked(row, self) for row in rows]

    def _reduce(
        self, kind: str, parameters: Any, scores: Instances, columns: Columns, sheet: ScoreSheet, *, intervals: bool
    ) -> None:
        if kind == "mean":
            super()._reduce(kind, parameters, scores, columns, sheet, intervals=intervals)
            return
        for name in parameters:
            values = scores[self.score_prefix + name]
            wins = sum(1 if value == 0 else max(value, 0) for value in values)
            battles = sum(2 if value == 0 else abs(value) for value in values)
            sheet.put(self.score_prefix + name, wins / battles)
            if name == self.main_score:
                sheet.name_main(self.score_prefix + name)

    def _bounded_names(self) -> Sequence[str]:
        return [self.main_score] if self.ci_scores is None else self.ci_scores


def _checked(scores: Any, metric: Metric) -> dict[str, Any]:
    if not isinstance(scores, dict) or metric.main_score not in scores:
        raise ScoringError(f"{metric.name} returned no '{metric.main_score}'", why=f"it returned {scores!r}"[:200])
    return {name: value for name, value in scores.items() if name not in ("score", "score_name")}


def _with_details(
    columns: dict[str, Sequence[Any]], details: Mapping[int, Mapping[str, Any]], length: int
) -> dict[str, Sequence[Any]]:
    """Return instance score columns with what is known of instances that have no score."""
    more = dict(columns)
    for name in dict.fromkeys(name for each in details.values() for name in each):
        known = {position: each[name] for position, each in details.items() if name in each}
        before = columns.get(name)
        more[name] = [
            known[position] if position in known else (None if before is None else before[position])
            for position in range(length)
        ]
    return more
