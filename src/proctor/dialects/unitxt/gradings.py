"""From answers to the scores of a recipe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, overload

from proctor.artifacts import fetch_artifact
from proctor.errors import Diagnostic, ProctorError
from proctor.ir import Failure
from proctor.ir.question import Answered, Question
from proctor.recipes.group_scores import Groupings
from proctor.scoring.grade import Columns, Grade
from proctor.scoring.judges.judge_client import remembering
from proctor.scoring.metrics_list import expand_metrics
from proctor.scoring.pipeline import grade_each

MOST_SHARED = 100_000
"""Distinct answers and references that are remembered while grading: labels repeat, free answers never do."""


@dataclass(frozen=True)
class RecipeGrader:
    """Processors and metrics of a recipe.

    Attributes:
        metrics: The metrics; the first one owns the main score.
        processors: The recipe's own, instead of those of each instance's template.
        of_templates: What the templates name.
        is_choice: Whether choices were compared.
        groupings: Makes what scores are grouped by; called once for each grading.
        questions: Yields the questions again: metrics that look at task fields read them there.
    """

    metrics: Sequence[Any]
    processors: Sequence[Any] | None
    of_templates: Sequence[Any]
    is_choice: bool
    groupings: Callable[[], Groupings]
    questions: Callable[[], Iterator[Question]]

    def check(self) -> Iterator[Diagnostic]:
        """Yield metrics and processors that there are not, or that cannot be built."""
        named = self.of_templates if self.processors is None else self.processors
        wanted: list[Callable[[], object]] = [partial(expand_metrics, [each]) for each in self.metrics]
        wanted += [partial(fetch_artifact, each) for each in named]
        yield from dict.fromkeys(problem for look_up in wanted for problem in _problems(look_up))

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; ``scores["groups"]`` lists the groups, where there are some."""
        groupings = self.groupings()
        predictions: list[str | Failure] = []
        references: list[Sequence[Any]] = []
        processors: list[Sequence[Any]] = []
        same: dict[Any, Any] = {}
        for each in answered:
            predictions.append(_shared(self._prediction(each), same))
            references.append(_shared(each.question.exchange.references, same))
            processors.append(self.processors or each.question.processors)
            if groupings:
                groupings.add(None if each.question.failure is not None else each.question.instance)
        columns = Columns(predictions, references, TaskData(self.questions, len(predictions)))
        if not groupings:
            return grade_each(columns, self.metrics, processors)
        with remembering():  # groups ask a judge nothing new
            grade = grade_each(columns, self.metrics, processors)
            grade.scores["groups"] = groupings.scores(grade, columns.task_data, self.metrics)
        return grade

    def _prediction(self, answered: Answered) -> str | Failure:
        if (failure := answered.failure) is not None:
            return failure
        response, exchange = answered.responses[0], answered.question.exchange
        if self.is_choice:
            likelihoods = [scored.log_likelihood for scored in response.scores]
            return exchange.choices[likelihoods.index(max(likelihoods))]
        return strip_prefix(response.text, exchange.answer_prefix)


def _problems(look_up: Callable[[], object]) -> Iterator[Diagnostic]:
    try:
        look_up()
    except ProctorError as error:
        yield from error.diagnostics


def _shared(value: Any, seen: dict[Any, Any]) -> Any:
    """Return an equal value seen before, so that a million equal labels are kept once."""
    return seen.setdefault(value, value) if len(seen) < MOST_SHARED else seen.get(value, value)


def strip_prefix(text: str, prefix: str) -> str:
    """Return an answer without the prefix that the prompt asked it to start with, should it repeat it."""
    return _prefix_pattern(prefix).sub("", text) if prefix else text


@lru_cache(maxsize=1024)
def _prefix_pattern(prefix: str) -> re.Pattern[str]:
    return re.compile(rf"^\s*{re.escape(prefix)}\s*")


class TaskData(Sequence[Mapping[str, Any]]):
    """The task data of an exam's questions, made again whenever somebody reads it: nothing is kept.

    Reading in order is cheap. Whoever jumps back causes one more pass, and the second time everything is kept.
    """

    def __init__(self, questions: Callable[[], Iterator[Question]], length: int) -> None:
        self._questions = questions
        self._length = length
        self._kept: list[Mapping[str, Any]] | None = None
        self._rows = self._fresh()
        self._position = 0
        self._jumps = 0

    def _fresh(self) -> Iterator[Mapping[str, Any]]:
        return (question.instance for question, _ in zip(self._questions(), range(self._length), strict=False))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._kept) if self._kept is not None else self._fresh()

    @overload
    def __getitem__(self, place: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> list[Mapping[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return list(self)[place]
        wanted = place + self._length if place < 0 else place
        if self._kept is None and wanted < self._position:
            self._jumps += 1
            self._rows, self._position = self._fresh(), 0
            if self._jumps > 1:
                self._kept = list(self._rows)
        if self._kept is not None:
            return self._kept[wanted]
        for row in self._rows:
            self._position += 1
            if self._position > wanted:
                return row
        raise IndexError(place)
