"""Gradings of a task, one for each filter pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from typing import Any, Final

from proctor.dialects.lm_eval.config import plain
from proctor.dialects.lm_eval.document_scores import DocumentScorer, View
from proctor.dialects.lm_eval.filters import filter_list_problems, make_pipelines
from proctor.dialects.lm_eval.fork_names import load_fork
from proctor.dialects.lm_eval.functions import load_code, resolve_function
from proctor.dialects.lm_eval.metric_list import leading, metric_list_problems, metrics_of
from proctor.dialects.lm_eval.names import ONLY, TaskNames, unit_of
from proctor.dialects.lm_eval.prepared import Document, DocumentView, PreparedTask
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.dialects.lm_eval.task_pipelines import Requests, Scored, TaskPipeline, compact
from proctor.dialects.lm_eval.task_scorers import CoreScorer, DocumentValues, RecordedDocuments
from proctor.errors import Diagnostic, did_you_mean, problems_of
from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.scoring.answer_values import RowAggregation
from proctor.scoring.grades import Grade
from proctor.scoring.grading.grader import BLOCK, ExamGrader, Shown, raw_answer
from proctor.scoring.grading.groups import GroupBy
from proctor.scoring.grading.protocols import Grading, Reading, Scorer
from proctor.scoring.named_table import imprisonable
from proctor.scoring.scores import Score
from proctor.settings import settings

_MADE_WITH: Final = ("custom_dataset", "process_docs", "doc_to_text", "doc_to_target")


class TaskGrader:
    """Scores the answers of a task; compiled on first use, since its metrics may be code.

    Args:
        task: The task.
    """

    def __init__(self, task: PreparedTask) -> None:
        self._task = task
        load_code(task.config)
        self._of_fork = list(load_fork(task.config))

    def check(self) -> Iterator[Diagnostic]:
        """Yield what is wrong with metrics and filters, and the fields that are code where code is not trusted."""
        if not settings.trust_code:
            yield from self._untrusted()
        if self._of_fork:
            yield from self._of_fork
            return
        yield from metric_list_problems(self._task.config)
        yield from filter_list_problems(self._task.config)
        if self._task.config.unsafe_code:
            yield from imprisonable(self._task.name)
        yield from self._unknown_fields()

    def _untrusted(self) -> Iterator[Diagnostic]:
        """Yield the fields that rows and questions are made with by code; metrics and filters say so themselves."""
        config = self._task.config
        named = {each: getattr(config, each) for each in _MADE_WITH}
        if config.output_type == "multiple_choice":
            named["doc_to_choice"] = config.doc_to_choice
        if self._task.num_fewshot:
            named["fewshot_config.samples"] = config.fewshot.samples
        for name, value in named.items():
            if isinstance(value, FunctionReference):
                yield from problems_of(partial(resolve_function, value, name))

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

    @property
    def declared_main(self) -> Score | None:
        """The main score without its value, where all metrics of the task have one unit.

        Raises:
            ProctorError: A metric cannot be had.
        """
        config = self._task.config
        if config.process_results is not None or self._task.options.predict_only:
            return None
        metrics, core = metrics_of(config)
        found = [
            Score(each.name, None, unit=unit_of(each.name), higher_is_better=each.higher_is_better) for each in metrics
        ]
        for place, each in enumerate(core):
            declared = each.metric.declared_main
            if declared is None:
                return None
            at = place if place < leading(config) else len(found)
            found.insert(at, replace(declared, higher_is_better=each.higher_is_better))
        return found[0] if len({(each.unit, each.higher_is_better) for each in found}) == 1 else None

    @cached_property
    def pipelines(self) -> Sequence[TaskPipeline]:
        """The filter pipelines."""
        config = self._task.config
        metrics, self._core = metrics_of(config)
        pipelines = make_pipelines(config.filter_list)
        view = _LastView(self._task.answer_view)
        return [TaskPipeline(each, DocumentScorer(config, view, metrics, pipelines[0])) for each in pipelines]

    @property
    def higher_is_better(self) -> dict[str, bool | None]:
        """Whether more is better, by metric; ``None`` where neither the task nor a table says it."""
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
                self._scorers(each, warns=not number),
                {"filter": each.name},
            )
            for number, each in enumerate(self.pipelines)
        ]
        by = () if self._task.options.predict_only else self._task.options.group_by
        return ExamGrader(gradings, TaskNames(), GroupBy.of(by), shown=read.shown)

    def _scorers(self, pipeline: TaskPipeline, *, warns: bool) -> Sequence[Scorer]:
        if self._task.options.predict_only:
            return [RecordedDocuments()]
        values = DocumentValues(pipeline.scorer, self._aggregation(pipeline), warns=warns)
        core, first = [CoreScorer(each, pipeline.scorer) for each in self._core], leading(self._task.config)
        return [*core[:first], values, *core[first:]]  # the first of the list has the main score

    def scored(self, pipeline: TaskPipeline, answered: Iterable[Answered]) -> Iterator[tuple[Answered, Scored]]:
        """Yield answers with what a pipeline makes of them; some at a time, unless its filters must see all."""
        read = _Reader(self._task.config.output_type)
        iterator = iter(answered)
        while block := list(islice(iterator, None if pipeline.scope == "column" else BLOCK)):
            good = [each for each in block if each.failure is None]
            requests = [read.requests(each) for each in good]
            scored = iter(pipeline.scored(requests, [each.question.instance for each in good]))
            yield from ((each, next(scored) if (why := each.failure) is None else Scored.lost(why)) for each in block)

    def _aggregation(self, pipeline: TaskPipeline) -> RowAggregation:
        scorer = pipeline.scorer
        return RowAggregation(scorer.aggregates, self._task.resamples, scorer.directions, unit_of, plain)


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
            if len(answered.responses) == 1:
                return [list(answered.responses[0].texts) or [""]]
            return [[text for response in answered.responses for text in response.texts or ("",)]]
        return [[(each.log_likelihood, each.is_greedy)] for response in answered.responses for each in response.scores]

    @property
    def shown(self) -> Shown:
        """The raw answer as samples show it: of likelihoods these alone."""
        return raw_answer if self._writes else _likelihoods


def _likelihoods(readings: Sequence[Reading]) -> Any:
    value = readings[0].value
    return value if isinstance(value, Failure) else [likelihood for likelihood, _ in value]
