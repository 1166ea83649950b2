"""Metric: from predictions and references to instance scores, global scores and their intervals.

A metric takes :class:`~proctor.scoring.columns.Columns` and returns :class:`MetricScores`. Families in
``map_reduce``, ``instance_metric`` and ``global_metric`` fill in how; what is common to all is here: names and
prefixes of scores, the check of types, and failures as values.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from proctor.artifacts import Artifact
from proctor.artifacts.types import explain_mismatch, is_of_type, parse_type_string
from proctor.data.operator import StreamingOperator
from proctor.data.policy import POLICY_FIELD, check_policy, classes_of, policy_of
from proctor.data.streams import GeneratorStream, MultiStream
from proctor.errors import (
    ArtifactError,
    Diagnostic,
    EngineError,
    MissingExtraError,
    PolicyError,
    ProctorError,
    ScoringError,
    SettingsError,
    TrustError,
    UsageError,
    did_you_mean,
)
from proctor.ir import Failure
from proctor.scoring.columns import Columns, ConstantColumn, columns_of_rows, rows_of, scatter, to_columns
from proctor.scoring.flat_scores import MetricScores, ScoreSheet, merged
from proctor.scoring.grading.protocols import Need
from proctor.scoring.scores import Score, Unit
from proctor.secrets import redacted
from proctor.statistics.intervals import CLOSED_FORMS, Interval, settled

UNPREFIXED = frozenset({"score", "score_name", "num_of_instances"})
FATAL = (MissingExtraError, PolicyError, TrustError, SettingsError, ArtifactError, EngineError, UsageError)
"""Errors that concern the whole evaluation, not one instance: they are raised, not counted."""

Scores = dict[str, Any]


_NUMBERS = (float, int, float | int, int | float)
"""Types of predictions of which one that is not finite would make every score NaN, or infinite."""


def _not_finite(*values: Any) -> float | None:
    return next((each for each in values if isinstance(each, float) and not math.isfinite(each)), None)


class Metric(StreamingOperator):
    """Base of all metrics. Subclass one of its families, not this class.

    A metric is an operator, too: on streams of rows with ``prediction``, ``references`` and ``task_data`` it adds
    ``score``.

    Attributes:
        main_score: Name of the score that ``score`` repeats.
        prediction_type: Type of predictions and of each reference.
        single_reference_per_prediction: Whether exactly one reference is expected.
        score_prefix: Put before the name of every score of this metric.
    """

    reads_task_data: ClassVar[bool] = True
    """Whether the metric looks at fields of the task; where it does not, they need not even be decoded."""

    unit: ClassVar[Unit | None] = None
    """``share`` where the scores are bounded by 0 and 1, ``raw`` where they are not; ``None`` where nobody said."""

    higher_is_better: ClassVar[bool | None] = None
    """Whether more is better, where that is known; of shares it is, unless a metric says otherwise."""

    names_main_first: ClassVar[bool] = False
    """Whether ``score_name`` stands before ``score``, as where Unitxt's reducing metrics list them."""

    raw_scores: ClassVar[frozenset[str]] = frozenset()
    """Scores beside the main one that are not in its unit: lengths, counts, thresholds."""

    main_score: str
    prediction_type: object = Any
    single_reference_per_prediction: bool = False
    score_prefix: str = ""

    def model_post_init(self, context: object, /) -> None:
        """Read a type that was given as text before :meth:`prepare` sees it."""
        if isinstance(self.prediction_type, str):
            object.__setattr__(self, "prediction_type", parse_type_string(self.prediction_type))
        super().model_post_init(context)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if not cls.__module__.startswith("proctor.") and "reads_task_data" not in vars(cls):
            cls.reads_task_data = True  # what a program derives from a metric may look at more than the metric does

    @property
    def reads_repeats(self) -> bool:
        """Whether the metric makes one score of several answers to a question (``pass@k``)."""
        return False

    @property
    def name(self) -> str:
        """How messages call this metric: its catalog name, or its class."""
        return self.artifact_id or type(self).__name__

    def set_confidence_interval_calculation(self, return_confidence_interval: bool) -> None:
        """Switch the confidence intervals of this metric, and of the metrics in it, on or off."""
        for name in ("return_confidence_interval", "confidence_interval_calculation"):
            if name in type(self).model_fields:
                setattr(self, name, return_confidence_interval)
        inner = [getattr(self, "metric", None), *(getattr(self, "metrics", None) or ())]
        for each in inner:
            if isinstance(each, Metric):
                each.set_confidence_interval_calculation(return_confidence_interval)

    def disable_confidence_interval_calculation(self) -> None:
        """Switch the confidence intervals of this metric off."""
        self.set_confidence_interval_calculation(return_confidence_interval=False)

    def check_interval_names(self, field: str, names: Iterable[str], scores: Iterable[str]) -> None:
        """Refuse a score that somebody wants an interval of, and that the metric does not compute.

        Raises:
            ScoringError: There is one; fields that nobody set may name scores of larger samples.
        """
        unknown = [name for name in names if name not in scores] if field in self.model_fields_set else []
        if unknown:
            raise ScoringError(
                f"{self.name} has no score '{unknown[0]}' to give an interval",
                path=f"$.{field}",
                why=f"it computes {', '.join(map(str, scores))}",
                hint=did_you_mean(unknown[0], map(str, scores)),
            )

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> MetricScores:
        """Return the scores of ``columns``.

        Args:
            columns: Processed predictions, references and task data.
            intervals: Whether to compute confidence intervals.
            instances: Whether instance scores are wanted.

        Raises:
            ProctorError: Of a kind in :data:`FATAL`. Everything else that goes wrong is a failure in the result.
        """
        check_classes(self, columns)
        prepared = self.inputs(columns)
        failures = dict(self._refusals(prepared))
        kept = [i for i in range(len(columns)) if i not in failures] if failures else range(len(columns))
        scored = prepared.select(kept) if failures else prepared
        found = self._measured(scored, intervals=intervals, instances=instances)
        if failures and not kept and not (found.failure is None and math.isnan(found.overall.get("score", math.nan))):
            found = self.nothing()  # nothing was scored: that is neither a zero nor a fault of the metric
        for position, failure in found.failures.items():
            failures[kept[position]] = self._explained(failure, prepared.references[kept[position]])
        nothing = found.failure is not None or len(failures) == len(columns)
        columns_of_scores = found.instances
        if instances and nothing and "score" not in columns_of_scores:  # every instance says that it has no score
            main = found.main or self.score_prefix + self.main_score
            columns_of_scores = {
                **columns_of_scores,
                main: [None] * len(kept),
                "score": [None] * len(kept),
                "score_name": [main] * len(kept),
            }
        return replace(
            found,
            instances={name: scatter(column, kept, len(columns)) for name, column in columns_of_scores.items()},
            failures=failures,
        )

    # -- as a scorer of any dialect's exam -----------------------------------------------------------------------

    @property
    def declared_main(self) -> Score | None:
        """The main score without its value, as far as the metric says before anything is scored in which unit it is."""
        if self.unit is None:
            return None
        name = self.score_prefix + self.main_score
        sheet = self.sheet(0)
        is_raw = self.main_score in self.raw_scores
        better = None if is_raw else sheet.higher_is_better
        return Score(name, None, unit="raw" if is_raw else sheet.unit, higher_is_better=better, metric=self.name)

    @property
    def needs(self) -> frozenset[Need]:
        """Which further columns the metric reads."""
        return frozenset({"fields"}) if self.reads_task_data or policy_of(self) else frozenset()

    def check(self) -> Iterator[Diagnostic]:
        """Yield what is known to go wrong before anybody is asked; a metric that could be made has nothing to say."""
        return iter(())

    def _explained(self, failure: Failure, references: Sequence[Any]) -> Failure:
        """Return why an instance failed: a metric that stumbles where there is no reference needs one."""
        if references or failure.kind != "metric":
            return failure
        said = "reference" in failure.message
        message = failure.message if said else f"{self.name} needs a reference, and there is none ({failure.message})"
        return Failure("no_reference", message, retryable=False)

    def _measured(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        """Score columns; what makes it impossible (a model that cannot be loaded …) is a failure of the metric."""
        try:
            return self._measure(columns, intervals=intervals, instances=instances)
        except FATAL:
            raise
        except OSError as error:
            failure = Failure("metric", redacted(f"{type(error).__name__}: {error}"))
        except Exception as error:  # noqa: BLE001 - the reason becomes a value: this metric fails, others count
            failure = failure_of(error)
        return self.nothing(failure)

    def sheet(self, n: int) -> ScoreSheet:
        """Return what takes the scores of ``n`` instances."""
        better = True if self.higher_is_better is None and self.unit == "share" else self.higher_is_better
        raw = frozenset(self.score_prefix + name for name in self.raw_scores)
        return ScoreSheet(self.name, n, self.unit or "raw", better, raw)

    def _bound(
        self,
        sheet: ScoreSheet,
        name: str,
        drawn: Interval | None,
        alone: Callable[[], Any],
        level: float,
        public: str = "",
    ) -> None:
        """List the interval of a score that is listed, where it has one.

        Args:
            sheet: Lists it.
            name: Of the score.
            drawn: What resampling gives; ``None`` where there was nothing to resample.
            alone: Returns the instances' own values of it.
            level: Confidence level.
            public: Under which name it is listed, where that is not its own.
        """
        public = public or self.score_prefix + name
        score = sheet.scores.get(public)
        whole = None if name in self.raw_scores else _WHOLE[self.unit]  # a metric that says nothing ends at 1
        closed = getattr(self, "ci_method", "").lower() in CLOSED_FORMS  # somebody chose it, and gets it
        count = 0 if closed or self.unit is None else sheet.n
        interval = settled(drawn, score and score.value, alone, level, whole=whole, count=count)
        if interval is not None:
            sheet.bound(public, *interval)
            if sheet.main and name == self.main_score:
                sheet.bound_main()

    def nothing(self, failure: Failure | None = None, failures: dict[int, Failure] | None = None) -> MetricScores:
        """Return what the metric says where no instance could be scored: the main score is NaN."""
        sheet = self.sheet(0)
        sheet.count()
        sheet.put(main := self.score_prefix + self.main_score, math.nan)
        sheet.name_main(main)
        return sheet.measured(failures, failure)

    def __call__(self, streams: MultiStream | None = None) -> MultiStream:
        """Return the streams with scores added to their rows."""
        return MultiStream(
            {
                name: GeneratorStream(self.process, {"stream": stream, "stream_name": name})
                for name, stream in (streams or MultiStream()).items()
            }
        )

    def process(self, stream: Iterable[Mapping[str, Any]], stream_name: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of a stream with ``score``: ``{"global": …, "instance": …}``.

        A row without ``task_data`` is its own task data.
        """
        del stream_name
        rows = [dict(row) for row in stream]
        found = self.measure(columns_of_rows(rows))
        for row, own in zip(rows, rows_of(found.instances, len(rows)), strict=True):
            before = row.get("score") or {}
            overall = merged([before.get("global", {}), found.overall])
            row["score"] = {**before, "global": overall, "instance": {**before.get("instance", {}), **own}}
            yield row

    def inputs(self, columns: Columns) -> Columns:
        """Return what this metric reads; families that read other fields override it."""
        return columns

    @abstractmethod
    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        """Score columns that hold no failure and have the right types."""

    # -- checks -----------------------------------------------------------------------------------------------

    def _refusals(self, columns: Columns) -> list[tuple[int, Failure]]:
        anything = self.prediction_type is Any
        is_number, wants_one = self.prediction_type in _NUMBERS, self.single_reference_per_prediction
        refused = []
        for position, (prediction, references) in enumerate(zip(columns.predictions, columns.references, strict=True)):
            if isinstance(prediction, Failure):
                refused.append((position, prediction))
            elif isinstance(references, Failure):
                refused.append((position, references))
            elif (
                not isinstance(references, (list, tuple))
                or (wants_one and len(references) != 1)
                or not (anything or self._fits(prediction, references))
            ):
                refused.append((position, Failure("wrong_type", self._mismatch(prediction, references))))
            elif is_number and (odd := _not_finite(prediction, *references)) is not None:
                what = f"{self.name} needs finite numbers, got {odd}"
                refused.append((position, Failure("wrong_type", what, retryable=False)))
        return refused

    def _fits(self, prediction: Any, references: Sequence[Any]) -> bool:
        kind = self.prediction_type
        return is_of_type(prediction, kind) and all(is_of_type(reference, kind) for reference in references)

    def _mismatch(self, prediction: Any, references: Any) -> str:
        if not isinstance(references, (list, tuple)):
            return f"{self.name} expects a list of references, got {type(references).__name__}"
        if why := explain_mismatch(prediction, self.prediction_type):
            return f"the prediction does not fit {self.name}: {why}"
        if self.single_reference_per_prediction and len(references) != 1:
            return f"{self.name} expects exactly one reference, got {len(references)}"
        reasons = (explain_mismatch(reference, self.prediction_type) for reference in references)
        return f"a reference does not fit {self.name}: {next(filter(None, reasons), '')}"

    def fields(self, columns: Columns) -> Sequence[Mapping[str, Any]]:
        """Return the task data of each instance; nothing where the metric does not read it."""
        return columns.all_fields() if self.reads_task_data else [{}] * len(columns)

    # -- names ------------------------------------------------------------------------------------------------

    def prefixed(self, scores: Mapping[str, Any]) -> Scores:
        """Return scores under their public names; the value of ``score_name`` gets the prefix too."""
        if not self.score_prefix:
            return dict(scores)
        return {
            name if name in UNPREFIXED else self.score_prefix + name: (
                self.score_prefix + value if name == "score_name" and isinstance(value, str) else value
            )
            for name, value in scores.items()
        }

    def _columns_of(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Any]]:
        """Return instance score columns of rows that have the main score, with ``score`` and ``score_name``."""
        return self._columns_from(rows, len(rows))

    def _columns_from(self, rows: Iterable[Mapping[str, Any]], length: int) -> dict[str, Sequence[Any]]:
        """Do the same for rows that are made while they are read."""
        return self._with_main(to_columns(map(self.prefixed, rows), length), length)

    def _with_main(self, columns: dict[str, Sequence[Any]], length: int) -> dict[str, Sequence[Any]]:
        """Add ``score`` and ``score_name`` to instance score columns."""
        main = self.score_prefix + self.main_score
        if main in columns:
            entries: list[tuple[str, Sequence[Any]]] = [
                ("score", columns[main]),
                ("score_name", ConstantColumn(main, length)),
            ]
            columns.update(reversed(entries) if self.names_main_first else entries)
        return columns


_WHOLE: Mapping[Unit | None, float | None] = {"share": 1.0, None: 1.0, "percent": 100.0, "raw": None}


def present(references: Sequence[Any]) -> Sequence[Any]:
    """Return references; where "one of none" would quietly be 0, there have to be some.

    Raises:
        ScoringError: There is none.
    """
    if not references:
        raise ScoringError("the list is empty")
    return references


def failed(columns: Columns) -> list[tuple[int, Failure]]:
    """Return position and reason of the instances that have failed before."""
    found = []
    for position, pair in enumerate(zip(columns.predictions, columns.references, strict=True)):
        failure = next((each for each in pair if isinstance(each, Failure)), None)
        if failure is not None:
            found.append((position, failure))
    return found


def check_classes(artifact: Artifact, columns: Columns) -> None:
    """Refuse data that an artifact may not see, before anything of it is passed on.

    Raises:
        PolicyError: An instance has none of the allowed classes.
    """
    policy = policy_of(artifact)
    if not policy:
        return
    name = artifact.artifact_id or type(artifact).__name__
    every = columns.classes or [classes_of(fields) for fields in columns.all_fields()]
    for classes in dict.fromkeys(map(tuple, every)):  # one warning for all that do not say what they are
        check_policy(policy, {POLICY_FIELD: classes}, name)


def failure_of(error: Exception, kind: str = "metric") -> Failure:
    """Return the failure that an exception becomes.

    Raises:
        ProctorError: The exception is of a kind in :data:`FATAL`, or says that a package is missing.
        OSError: A file or model cannot be read, which concerns all instances.
    """
    if isinstance(error, (*FATAL, OSError)):
        raise error
    if isinstance(error, ModuleNotFoundError):
        raise MissingExtraError(
            f"the package '{error.name}' is needed and not installed", hint=f"pip install {error.name}"
        ) from error
    message = str(error) if isinstance(error, ProctorError) else redacted(f"{type(error).__name__}: {error}")
    return Failure(kind, message, retryable=False)
