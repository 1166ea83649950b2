"""Grading by tasks that are Python classes: they filter and score their answers themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from proctor.dialects.lm_eval.class_requests import file_answers
from proctor.dialects.lm_eval.config import plain
from proctor.dialects.lm_eval.functions import TaskCodeError, guarded
from proctor.dialects.lm_eval.names import ONLY, TaskNames, unit_of
from proctor.errors import Diagnostic, ProctorError
from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.scoring.aggregations import AGGREGATIONS, BOOTSTRAP_RESAMPLES, mean
from proctor.scoring.answer_values import RowAggregation, Values
from proctor.scoring.grades import Grade
from proctor.scoring.grading.composition import composed
from proctor.scoring.grading.protocols import Mark

if TYPE_CHECKING:
    from proctor.dialects.lm_eval.python_task import PythonTask


class ClassScored(NamedTuple):
    """The scores that a class gives one document.

    Attributes:
        answered: The document, and what was answered.
        number: The document's number among all.
        pipeline: The name of the filter pipeline.
        instances: lm-eval's requests, with answers as they came and as they were filtered.
        target: The answer, as the class gives it.
        values: What the class scored, or why it could not.
    """

    answered: Answered
    number: int
    pipeline: str
    instances: Sequence[Any]
    target: Any
    values: Mapping[str, Any] | Failure


class ClassGrader:
    """Lets the class filter and score its answers.

    Args:
        task: The task.
    """

    def __init__(self, task: PythonTask) -> None:
        self._task = task

    def check(self) -> Iterator[Diagnostic]:
        """Yield nothing: what a class scores with is known to it alone."""
        yield from ()

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into scores; a class filters all its answers at once, so they are kept."""
        answers = list(answered)
        failures = {place: each.failure for place, each in enumerate(answers) if each.failure is not None}
        good = self._filed(answers)
        grade = composed(list(self._marks(good, len(answers))), TaskNames(), len(answers), failures)
        raw = [[one.resps[0] for one in good[place]] if place in good else None for place in range(len(answers))]
        grade.predictions = [grade.failures[place] if each is None else _only(each) for place, each in enumerate(raw)]
        grade.processed_predictions = grade.predictions
        grade.processed_references = [[each.question.exchange.answer] for each in answers]
        return grade

    def scored(self, answered: Iterable[Answered]) -> Iterator[ClassScored]:
        """Yield what the class makes of each answer that there is, one filter pipeline after the other."""
        answers = list(answered)
        good = self._filed(answers)
        for pipeline in self._pipelines(good):
            for place, instances in good.items():
                doc, values = instances[0].doc, self._values(instances, pipeline)
                target = raw_target(self._task.task, doc)
                number = self._task.number(answers[place].question.number)
                yield ClassScored(answers[place], number, pipeline, instances, target, values)

    def _filed(self, answers: Sequence[Answered]) -> dict[int, Sequence[Any]]:
        """File answers at the requests of the class, and return these by place."""
        good: dict[int, Sequence[Any]] = {}
        for place, each in enumerate(answers):
            if each.failure is not None:
                continue
            good[place] = self._task.instances[each.question.number]
            file_answers(good[place], each.responses)
        return good

    def _pipelines(self, good: Mapping[int, Sequence[Any]]) -> Sequence[str]:
        """Filter all answers at once, and return the names of the pipelines."""
        if not good:
            return ()
        task = self._task.task
        task._instances = [each for instances in good.values() for each in instances]  # noqa: SLF001 - filters read it
        guarded(task.apply_filters, f"the filters of '{self._task.name}'")()
        return list(next(iter(good.values()))[0].filtered_resps)

    def _values(self, instances: Sequence[Any], pipeline: str) -> dict[str, Any] | Failure:
        process = guarded(self._task.task.process_results, f"process_results of '{self._task.name}'")
        if self._task.options.predict_only:
            return {}
        try:
            return dict(process(instances[0].doc, [each.filtered_resps[pipeline] for each in instances]))
        except TaskCodeError as error:
            return Failure("scoring", str(error.diagnostics[0].why), retryable=False)

    def _marks(self, good: Mapping[int, Sequence[Any]], count: int) -> Iterator[Mark]:
        """Yield what the class makes of each of its filter pipelines."""
        if self._task.options.predict_only or not (pipelines := self._pipelines(good)):
            return
        aggregation = self._aggregation()
        for pipeline in pipelines:
            rows: list[Values | None] = [None] * count
            failures: dict[int, Failure] = {}
            for place, instances in good.items():
                values = self._values(instances, pipeline)
                if isinstance(values, Failure):
                    failures[place] = values
                else:
                    rows[place] = values
            found = aggregation.measured(rows)
            found.failures |= failures
            yield Mark("" if pipeline == ONLY else pipeline, "process_results", found)

    def _aggregation(self) -> RowAggregation:
        task, resamples = self._task.task, self._task.options.resamples
        return RowAggregation(
            {metric: _aggregate(each) for metric, each in task.aggregation().items()},
            BOOTSTRAP_RESAMPLES if resamples is None else resamples,
            dict(task.higher_is_better()),
            unit_of,
            plain,
        )


def raw_target(task: Any, doc: Any) -> Any:
    """Return the answer of a document, as the class gives it; ``None`` where it gives none."""
    try:
        return task.doc_to_target(doc)
    except ProctorError:
        raise
    except (AttributeError, LookupError, NotImplementedError, TypeError, ValueError):
        return None  # the class scores without one


def _only(answers: list[Any]) -> Any:
    return answers[0] if len(answers) == 1 else answers


def _aggregate(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an aggregation; those that are known, and means, whoever wrote them, have a standard error."""
    if any(function is known for known in AGGREGATIONS.values()):
        return function
    return mean if getattr(function, "__name__", "") == "mean" else guarded(function, "an aggregation")
