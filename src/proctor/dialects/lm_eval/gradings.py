"""How a task's answers become scores: one grading for each filter pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from proctor.dialects.lm_eval.config import plain
from proctor.dialects.lm_eval.document_scores import DocumentScorer, Values, View
from proctor.dialects.lm_eval.filters import FilterPipeline, filter_list_problems, make_pipelines
from proctor.dialects.lm_eval.metric_list import metric_list_problems, metrics_of
from proctor.dialects.lm_eval.metrics import CoreMetric
from proctor.dialects.lm_eval.names import ONLY, TaskNames, unit_of
from proctor.dialects.lm_eval.prepared import DocumentView, PreparedTask
from proctor.errors import Diagnostic, ProctorError, did_you_mean
from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.logs import get_logger
from proctor.scoring.evaluators.metrics import references_of
from proctor.scoring.grade import Columns, Grade, Measured
from proctor.scoring.grader import BLOCK, ExamGrader, Shown, raw_answer
from proctor.scoring.grading import Grading, Need, Reading, Scope, Scorer
from proctor.scoring.groupings import GroupBy
from proctor.scoring.row_values import RowAggregation

Document = Mapping[str, Any]
Requests = Sequence[Sequence[Any]]
"""What was answered to each of lm-eval's requests about a document: a list of repeats."""


class TaskGrader:
    """Scores the answers of a task; compiled on first use, since its metrics may be code.

    Args:
        task: The task.
    """

    def __init__(self, task: PreparedTask) -> None:
        self._task = task

    def check(self) -> Iterator[Diagnostic]:
        """Yield what is wrong with metrics and filters."""
        yield from metric_list_problems(self._task.config)
        yield from filter_list_problems(self._task.config)
        yield from self._unknown_fields()

    def _unknown_fields(self) -> Iterator[Diagnostic]:
        """Yield the fields of ``group_by`` that documents do not have."""
        asked = self._task.options.group_by
        if not asked:
            return
        columns = self._task.documents.columns()
        names = dict.fromkeys(name for each in asked for name in ([each] if isinstance(each, str) else each))
        for name in names:
            if name.lstrip("/").partition("/")[0] not in columns:
                what = f"'{self._task.name}' cannot group by '{name}', which its documents do not have"
                hint = did_you_mean(name, columns) or f"the columns are {', '.join(columns)}"
                yield Diagnostic(what, hint=hint)

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once."""
        return self.grader.grade(answered)

    @cached_property
    def pipelines(self) -> Sequence[TaskPipeline]:
        """The filter pipelines."""
        config = self._task.config
        metrics, self._core = metrics_of(config)
        pipelines = make_pipelines(config.filter_list)
        view = _LastView(self._task.view)
        return [TaskPipeline(each, DocumentScorer(config, view, metrics, pipelines[0])) for each in pipelines]

    @property
    def higher_is_better(self) -> dict[str, bool]:
        """Whether more is better, by metric."""
        own = dict(self.pipelines[0].scorer.directions)
        return {**own, **{each.metric.main_score: each.higher_is_better for each in self._core}}

    @cached_property
    def grader(self) -> ExamGrader:
        """The grader of the core."""
        read = _Reader(self._task.config.output_type)
        gradings = [
            Grading(
                "" if each.name == ONLY else each.name,
                read,
                [each],
                [_DocumentValues(each, self._aggregation(each), warns=not number), *self._core_scorers(each)],
                {"filter": each.name},
            )
            for number, each in enumerate(self.pipelines)
        ]
        return ExamGrader(gradings, TaskNames(), GroupBy.of(self._task.options.group_by), shown=read.shown)

    def scored(self, pipeline: TaskPipeline, answered: Iterable[Answered]) -> Iterator[tuple[Answered, Scored]]:
        """Yield answers with what a pipeline makes of them; some at a time, unless its filters must see all."""
        read = _Reader(self._task.config.output_type)
        iterator = iter(answered)
        while block := list(islice(iterator, None if pipeline.scope == "column" else BLOCK)):
            good = [each for each in block if each.failure is None]
            requests = [read.requests(each) for each in good]
            scored = iter(pipeline.scored(requests, [each.question.instance for each in good]))
            yield from ((each, next(scored) if (why := each.failure) is None else _lost(why)) for each in block)

    def _aggregation(self, pipeline: TaskPipeline) -> RowAggregation:
        scorer = pipeline.scorer
        return RowAggregation(scorer.aggregates, self._task.resamples, scorer.directions, unit_of, plain)

    def _core_scorers(self, pipeline: TaskPipeline) -> list[Scorer]:
        return [_CoreScorer(each, pipeline.scorer) for each in self._core]


class _LastView:
    """What a task finds in a document, remembered while the same document is looked at."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._doc: Document | None = None
        self._found: DocumentView | None = None

    def __call__(self, doc: Document) -> DocumentView:
        if self._found is None or doc is not self._doc:
            self._found = self._view(doc)
            self._doc = doc
        return self._found


class _Reader:
    """Reads responses: the texts of a document's one request, or a likelihood for each of its pairs."""

    def __init__(self, output_type: str) -> None:
        self._writes = output_type == "generate_until"

    def __call__(self, answered: Answered) -> Sequence[Reading]:
        return (Reading(compact(self.requests(answered)), (), answered.question.instance),)

    def requests(self, answered: Answered) -> Requests:
        """Return the answers to each request of lm-eval's."""
        if self._writes:
            return [[text for response in answered.responses for text in response.texts or ("",)]]
        return [[(each.log_likelihood, each.is_greedy)] for response in answered.responses for each in response.scores]

    @property
    def shown(self) -> Shown:
        """What samples show as the raw answer: what was read, of likelihoods these alone."""
        return raw_answer if self._writes else _likelihoods


def _likelihoods(readings: Sequence[Reading]) -> Any:
    value = readings[0].value
    return value if isinstance(value, Failure) else [likelihood for likelihood, _ in value]


def compact(requests: Requests) -> Any:
    """Return answers with less around them, since every one of them is kept: a text, texts, or likelihoods."""
    if len(requests) == 1 and isinstance(requests[0][0], str):
        return requests[0][0] if len(requests[0]) == 1 else requests[0]
    return [some[0] for some in requests]


def expanded(value: Any) -> Requests:
    """Return what :func:`compact` was given."""
    if isinstance(value, str):
        return [[value]]
    return [value] if isinstance(value[0], str) else [[each] for each in value]


class Scored(NamedTuple):
    """What becomes of one document's answers.

    Attributes:
        shown: The prediction; the failure where the filters stumble.
        values: Its metrics; ``None`` where it has none.
        failure: Why it has none.
        filtered: What the filters left of the answer to each request.
        answers: What was answered to each request.
    """

    shown: Any
    values: Values | None
    failure: Failure | None = None
    filtered: Sequence[Any] = ()
    answers: Requests = ()


def _lost(failure: Failure) -> Scored:
    return Scored(failure, None, failure)


class TaskPipeline:
    """A filter pipeline and the metrics behind it: from answers to the values of a document.

    Documents are scored as they pass, so that nothing of them need be kept.

    Args:
        pipeline: The filters.
        scorer: The metrics.
    """

    def __init__(self, pipeline: FilterPipeline, scorer: DocumentScorer) -> None:
        self._pipeline = pipeline
        self.scorer = scorer
        self.name = pipeline.name
        self.scope: Scope = "column" if pipeline.sees_all else "repeats"

    def process(self, columns: Columns) -> Columns:
        """Return columns whose predictions are what is shown, the values, and why there are none."""
        docs = columns.all_fields()
        good = [place for place, each in enumerate(columns.predictions) if not isinstance(each, Failure)]
        requests = [expanded(columns.predictions[place]) for place in good]
        scored = self.scored(requests, [docs[place] for place in good])
        predictions = list(columns.predictions)
        for place, each in zip(good, scored, strict=True):
            predictions[place] = each[:3]
        return replace(columns, predictions=predictions, references=[self._golds(doc) for doc in docs])

    def scored(self, answers: Sequence[Requests], docs: Sequence[Document]) -> list[Scored]:
        """Return what becomes of the answers to documents."""
        filtered = self._filtered(answers, docs)
        return [self._scored(*each) for each in zip(docs, answers, filtered, strict=True)]

    def _golds(self, doc: Document) -> Sequence[Any]:
        try:
            target = self.scorer.view(doc).target
        except (ProctorError, *_STUMBLES):  # a row that could not be asked about
            return ()
        return target if isinstance(target, list) else [target]

    def _filtered(self, answers: Sequence[Requests], docs: Sequence[Document]) -> Sequence[Sequence[Any] | Failure]:
        if self._pipeline.only_takes_first:
            return [[some[0] for some in requests] for requests in answers]
        try:
            return self._apply(answers, docs)
        except ProctorError:  # one by one shows whose fault it is
            return [self._apply_alone(*each) for each in zip(answers, docs, strict=True)]

    def _apply(self, answers: Sequence[Requests], docs: Sequence[Document]) -> list[Sequence[Any] | Failure]:
        flat = [some for requests in answers for some in requests]
        rows = [doc for doc, requests in zip(docs, answers, strict=True) for _ in requests]
        filtered = iter(self._pipeline.apply(flat, rows) if flat else [])
        return [[next(filtered) for _ in requests] for requests in answers]

    def _apply_alone(self, answers: Requests, doc: Document) -> Sequence[Any] | Failure:
        try:
            return self._apply([answers], [doc])[0]
        except ProctorError as error:
            return _failure(error)

    def _scored(self, doc: Document, answers: Requests, filtered: Sequence[Any] | Failure) -> Scored:
        if isinstance(filtered, Failure):
            return Scored(filtered, None, filtered, answers=answers)
        try:
            values = self.scorer.values(doc, filtered, answers)
        except (ProctorError, *_STUMBLES) as error:
            return Scored(self.scorer.shown(doc, filtered), None, _failure(error), filtered, answers)
        return Scored(self.scorer.shown(doc, filtered), values, None, filtered, answers)


_STUMBLES = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
"""What metrics and ``process_results`` raise on an answer that they did not expect."""


def _failure(error: Exception) -> Failure:
    message = str(error.diagnostics[0].what) if isinstance(error, ProctorError) else f"{type(error).__name__}: {error}"
    return Failure("scoring", message, retryable=False)


class _DocumentValues:
    """Aggregates the values of documents; a scorer.

    Args:
        pipeline: The pipeline that has scored them.
        aggregation: How.
        warns: Whether to warn of gold answers outside the choices: once for all pipelines.
    """

    needs: frozenset[Need] = frozenset()

    def __init__(self, pipeline: TaskPipeline, aggregation: RowAggregation, *, warns: bool) -> None:
        self.name = "metric_list"
        self._scorer = pipeline.scorer
        self._aggregation = aggregation
        self._warns = warns

    def check(self) -> Iterator[Diagnostic]:
        """Yield nothing; the metric list is checked as a whole."""
        yield from ()

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return the aggregates."""
        failures: dict[int, Failure] = {}
        aggregation = self._aggregation if intervals else replace(self._aggregation, resamples=0)
        found = aggregation.measured(_values(columns.predictions, failures), instances=instances)
        found.failures = failures
        found.parsed = _Shown(columns.predictions)
        if failures and not found.instances and not found.scores:  # what is wrong with every answer is said once
            found.failure = next(iter(failures.values()))
        if self._warns:
            self._warn_of_golds()
        return found

    def _warn_of_golds(self) -> None:
        count, self._scorer.golds_outside = self._scorer.golds_outside, 0
        if count:
            get_logger().warning(
                "%s: %d documents have a gold answer outside their choices; they count as wrong",
                self._scorer.config.task,
                count,
            )


def _values(predictions: Iterable[Any], failures: dict[int, Failure]) -> Iterator[Values | None]:
    """Yield the values of documents; why one has none is put into ``failures``."""
    for place, each in enumerate(predictions):
        if isinstance(each, Failure):
            yield None
            continue
        _, values, failure = each
        if failure is not None:
            failures[place] = failure
        yield values


class _Shown(Sequence[Any]):
    """What is shown of the predictions of a pipeline."""

    def __init__(self, predictions: Sequence[Any]) -> None:
        self._predictions = predictions

    def __len__(self) -> int:
        return len(self._predictions)

    def __iter__(self) -> Iterator[Any]:
        return map(_shown, self._predictions)

    def __getitem__(self, index: Any) -> Any:
        found = self._predictions[index]
        return [_shown(each) for each in found] if isinstance(index, slice) else _shown(found)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def _shown(prediction: Any) -> Any:
    return prediction if isinstance(prediction, Failure) else prediction[0]


class _CoreScorer:
    """A metric of a catalog or of OpenCompass, on what the filters left; a scorer.

    Args:
        metric: The metric.
        scorer: Knows the right answers.
    """

    def __init__(self, metric: CoreMetric, scorer: DocumentScorer) -> None:
        self._metric = metric
        self._scorer = scorer
        self.name = metric.metric.name
        self.needs: frozenset[Need] = metric.metric.needs | {"fields"}

    def check(self) -> Iterator[Diagnostic]:
        """Yield what the metric misses."""
        yield from self._metric.metric.check()

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return the metric's scores, under its own names."""
        metric = self._metric.metric
        shown = list(_Shown(columns.predictions))
        golds = [
            None if isinstance(each, Failure) else self._scorer.gold_text(doc)
            for each, doc in zip(shown, columns.task_data, strict=True)
        ]
        read = replace(columns, predictions=shown, references=references_of(golds, metric.prediction_type))
        found = metric.measure(read, intervals=intervals, instances=instances)
        if found.failure is not None:
            return Measured(failures=found.failures, failure=found.failure)
        scores = [replace(each, higher_is_better=self._metric.higher_is_better) for each in found.scores]
        scores.sort(key=lambda each: each.name != found.main)
        names = {each.name for each in scores}
        own = {name: column for name, column in found.instances.items() if name in names}
        return Measured(scores, found.main, own, found.failures)
