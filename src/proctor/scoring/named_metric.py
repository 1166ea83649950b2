"""Metrics of the table as artifacts: an evaluator or a metric of lm-eval in a recipe, in ``evaluate``, in any exam."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple

from proctor.artifacts import NON_POSITIONAL
from proctor.errors import Diagnostic, ProctorError, ScoringError
from proctor.ir import Failure
from proctor.scoring.aggregations import BOOTSTRAP_RESAMPLES, NO_ERROR, Aggregated, aggregated, find_aggregation
from proctor.scoring.answer_functions import Instance, row_function
from proctor.scoring.columns import Columns, ConstantColumn
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.evaluators.evaluation import main_score
from proctor.scoring.flat_scores import MetricScores
from proctor.scoring.grading.protocols import Need
from proctor.scoring.metric import Metric, failure_of
from proctor.scoring.metric_table import MetricEntry, check_arguments, metric_table
from proctor.scoring.named_table import UNITXT
from proctor.scoring.scores import Score, Unit
from proctor.statistics.intervals import Interval, score_interval


class RegisteredMetric(Metric):
    """A metric of the table, by name: ``AccEvaluator``, ``lm_eval:exact_match``.

    Attributes:
        metric: The name, alone or with its system.
        arguments: What its function takes beside answers and references.
        aggregation: What makes one number of the instances' values (lm-eval's metrics only); its own where ``None``.
        project: Whose rules are meant where OpenCompass and AISBench differ.
        n_resamples: Bootstrap resamples behind a standard error that has no closed form.
    """

    reads_task_data: ClassVar[bool] = True

    metric: str
    arguments: dict[str, Any] = {}
    aggregation: Annotated[str | None, NON_POSITIONAL] = None
    project: Annotated[str, NON_POSITIONAL] = "opencompass"
    n_resamples: Annotated[int, NON_POSITIONAL] = BOOTSTRAP_RESAMPLES
    main_score: str = ""

    def prepare(self) -> None:
        """Find the metric, and name the main score after it."""
        super().prepare()
        entry = self.entry
        self.single_reference_per_prediction = not entry.several_references and entry.reads == "columns"
        self.main_score = self.main_score or entry.name

    def verify(self) -> None:
        """Check that the metric takes the arguments, and is given all that it needs.

        Raises:
            ScoringError: It does not or is not, or it aggregates itself and is given an aggregation.
        """
        super().verify()
        if self.entry.reads == "columns":
            check_arguments(self.entry, self.arguments)
            if self.aggregation is not None:
                raise ScoringError(f"'{self.entry.name}' scores all instances together; it takes no aggregation")
        else:
            row_function(self.entry, self.arguments)
            find_aggregation(self.aggregation or self.entry.aggregation)

    @property
    def reads_repeats(self) -> bool:
        """Whether the table's function takes all answers to a question."""
        return self.entry.reads == "repeats"

    @property
    def entry(self) -> MetricEntry:
        """What the table says of it.

        Raises:
            ScoringError: The table has no such name.
        """
        found = metric_table().find(self.metric, UNITXT)
        if found is None:
            raise metric_table().unknown(self.metric)
        return found

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.artifact_id or self.entry.name

    @property
    def unit(self) -> Unit:  # type: ignore[override]
        """In which unit its scores are."""
        return self.entry.unit

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        """Whether more is better."""
        return self.entry.higher_is_better

    @property
    def declared_main(self) -> Score | None:
        """The main score without its value; ``None`` where the entry's scores have different units."""
        entry = self.entry
        if entry.units:
            return None
        return Score(entry.name, None, unit=entry.unit, higher_is_better=entry.higher_is_better, metric=self.name)

    @property
    def needs(self) -> frozenset[Need]:
        """Which further columns it reads: likelihoods are in responses."""
        return frozenset({"fields", "responses"} if self.entry.reads in ("choices", "likelihood") else {"fields"})

    def check(self) -> Iterator[Diagnostic]:
        """Yield what is known before anybody is asked: missing packages, untrusted code."""
        yield from self.entry.check({"project": self.project, **self.arguments})

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        if not len(columns):
            raise ScoringError("there are no predictions to evaluate")
        found = self._of_columns(columns) if self.entry.reads == "columns" else self._of_rows(columns)
        return self._listed(found, intervals=intervals, instances=instances)

    # -- evaluators: all columns at once ----------------------------------------------------------------------

    def _of_columns(self, columns: Columns) -> _Found:
        entry = self.entry
        golds = [self._gold(references) for references in columns.references]
        cases = Cases(columns.predictions, golds, self.fields(columns), project=self.project)
        verdict = call_evaluator(entry, {**entry.arguments, **self.arguments}, cases)
        scores = {name: value for name, value in verdict.scores.items() if is_number(value)}
        found = {
            name: Aggregated(value, NO_ERROR, *(self._bounds(name, float(value), verdict) or (None, None)))
            for name, value in scores.items()
        }
        count = len(columns) - len(verdict.failures)
        return _Found(found, main_score(scores), count, verdict.instances, verdict.failures, verdict.parsed or None)

    def _bounds(self, name: str, value: float, verdict: Verdict) -> Interval | None:
        unit = self.entry.units.get(name, self.entry.unit)
        return score_interval(verdict.instances.get(name, ()), value, may_be_percent=unit != "share")

    def _gold(self, references: Sequence[Any]) -> Any:
        if self.entry.several_references and not (len(references) == 1 and isinstance(references[0], list)):
            return list(references)
        return references[0]

    # -- metrics of single rows, aggregated -------------------------------------------------------------------

    def _of_rows(self, columns: Columns) -> _Found:
        entry = self.entry
        function = row_function(entry, self.arguments)
        responses = columns.responses or [()] * len(columns)
        rows = zip(columns.predictions, columns.references, self.fields(columns), responses, strict=True)
        values = [_value(function, Instance(*each)) for each in rows]
        failures = {place: each for place, each in enumerate(values) if isinstance(each, Failure)}
        good = [each for each in values if not isinstance(each, Failure)]
        if not good:
            raise ScoringError(next(iter(failures.values())).message)
        aggregate = find_aggregation(self.aggregation or entry.aggregation)
        names = dict.fromkeys(name for each in good for name in each)
        found = {
            name: aggregated(name, aggregate, [each[name] for each in good if name in each], self.n_resamples)
            for name in names
        }
        kept = {name: [None if isinstance(each, Failure) else each.get(name) for each in values] for name in names}
        numbers = {name: column for name, column in kept.items() if all(map(_is_value, column))}
        return _Found(found, next(iter(found), entry.name), len(good), numbers, failures)

    # -- both -------------------------------------------------------------------------------------------------

    def _listed(self, found: _Found, *, intervals: bool, instances: bool) -> MetricScores:
        prefix = self.score_prefix
        sheet = self.sheet(found.scored)
        sheet.count()
        for name, each in found.scores.items():
            sheet.put(prefix + name, each.value)
            if intervals and each.low is not None and each.high is not None:
                sheet.bound(prefix + name, each.low, each.high)
        sheet.name_main(prefix + found.main)
        if intervals and found.scores[found.main].low is not None:
            sheet.bound_main()
        measured = sheet.measured(dict(found.failures))
        errors = {prefix + name: each.error for name, each in found.scores.items()}
        measured.scores = [replace(score, stderr=_known(errors[score.name])) for score in measured.scores]
        measured.parsed = found.parsed
        if instances:
            columns: dict[str, Sequence[Any]] = {prefix + name: list(each) for name, each in found.instances.items()}
            if (column := columns.get(prefix + found.main)) is not None:
                columns.update(score=column, score_name=ConstantColumn(prefix + found.main, len(column)))
            measured.instances = columns
        return measured


class _Found(NamedTuple):
    scores: Mapping[str, Aggregated]
    main: str
    scored: int
    instances: Mapping[str, Sequence[Any]]
    failures: Mapping[int, Failure]
    parsed: Sequence[Any] | None = None


def _known(error: float | str) -> float | None:
    return error if isinstance(error, float) else None


def call_evaluator(entry: MetricEntry, arguments: Mapping[str, Any], cases: Cases) -> Verdict:
    """Return what an evaluator says of cases.

    Raises:
        ScoringError: It stumbles over them, or does not take these arguments.
    """
    function = entry.load()
    try:
        verdict: Verdict = function(cases, **arguments)
    except ProctorError:
        raise
    except (TypeError, AttributeError, ValueError, KeyError, IndexError) as error:
        words = f"{type(error).__name__}: {error}"
        if not isinstance(error, TypeError | AttributeError) or not cases.references:
            raise ScoringError(f"{entry.name} cannot be computed", why=words) from error
        given, gold = (_described(each[0]) for each in (cases.predictions, cases.references))
        why = f"an answer is {given}, and its reference {gold}: it takes others ({words})"
        hint = "references are the column that output_column names"
        raise ScoringError(f"{entry.name} cannot be computed", why=why, hint=hint) from error
    return verdict


_SHOWN = 40  # characters of a value in a message


def _described(value: Any) -> str:
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + '…'}"


def is_number(value: object) -> bool:
    """Return whether a score is a number, and not a truth value, a list or a text."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_value(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


def _value(function: Any, instance: Instance) -> Mapping[str, Any] | Failure:
    try:
        found: Mapping[str, Any] = function(instance)
    except (ProctorError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        return failure_of(error)
    return found
