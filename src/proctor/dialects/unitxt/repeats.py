"""Several answers to one question (``--repeats``): each is processed by itself, until something makes one of them.

That is a text function that takes all answers (``majority_vote``, ``take_first``), or a metric that does (``pass@k``,
``maj@k``, ``avg@k``). A recipe that names neither would throw all answers but one away, so it refuses to be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from proctor.dialects.unitxt.gradings import metrics_of, processors_of
from proctor.errors import Diagnostic
from proctor.ir import Failure
from proctor.ir.question import Answered, Question
from proctor.recipes.recipe import DatasetRecipe
from proctor.scoring.columns import Columns
from proctor.scoring.grading.grader import ExamGrader
from proctor.scoring.grading.protocols import Extract, Reading, Scope, Step, as_step
from proctor.scoring.metric import Metric
from proctor.scoring.text.answer_prefix import strip_prefix
from proctor.scoring.text.processor_steps import Processors


def takes_repeats(recipe: DatasetRecipe) -> bool:
    """Return whether something of a recipe makes one answer, or one score, of several answers."""
    steps, metrics = Processors(processors_of(recipe)), metrics_of(recipe)
    return any(step.scope == "repeats" for step in steps) or any(map(_scores_repeats, metrics))


def _scores_repeats(metric: object) -> bool:
    return isinstance(metric, Metric) and metric.reads_repeats


def over_repeats(grader: ExamGrader) -> ExamGrader:
    """Return the grader of a recipe for questions that are asked several times."""
    gradings = [
        replace(grading, read=read_texts, extract=_of_each_answer(grading.extract)) for grading in grader.gradings
    ]
    return replace(grader, gradings=gradings)


def read_texts(answered: Answered) -> tuple[Reading]:
    """Return all that was written, each without the prefix of the answer."""
    exchange = answered.question.exchange
    texts = [strip_prefix(response.text, exchange.answer_prefix) for response in answered.responses]
    return (Reading(texts, exchange.references, answered.question.instance),)


def _of_each_answer(extract: Extract | Callable[[Question], Extract]) -> Extract | Callable[[Question], Extract]:
    return _OfQuestions(extract) if callable(extract) else until_one(extract)


class _OfQuestions:
    """The steps of each question; equal steps stay one and the same list."""

    def __init__(self, extract: Callable[[Question], Extract]) -> None:
        self._extract = extract
        self._known: dict[int, tuple[Extract, Extract]] = {}

    def __call__(self, question: Question) -> Extract:
        steps = self._extract(question)
        if id(steps) not in self._known:  # what is kept here keeps its id
            self._known[id(steps)] = (steps, until_one(steps))
        return self._known[id(steps)][1]

    def check(self) -> Iterator[Diagnostic]:
        """Yield what is known to go wrong before anybody is asked."""
        yield from _checked(self._extract)


def until_one(extract: Extract) -> tuple[Step, ...]:
    """Return steps that work on each answer, up to the first that makes one of several."""
    steps = [as_step(each) for each in extract]
    many = next((place for place, step in enumerate(steps) if step.scope == "repeats"), len(steps))
    return (*map(EachAnswer, steps[:many]), *steps[many:])


@dataclass(frozen=True, slots=True)
class EachAnswer:
    """A step at work on each of several answers; where one of them fails, the instance fails."""

    step: Step

    @property
    def name(self) -> str:
        """The step's name."""
        return self.step.name

    @property
    def scope(self) -> Scope:
        """The step's scope."""
        return self.step.scope

    def check(self) -> Iterator[Diagnostic]:
        """Yield what is known to go wrong before anybody is asked."""
        yield from _checked(self.step)

    def process(self, columns: Columns) -> Columns:
        """Return columns with other answers; references are processed as for one answer."""
        counts = [len(each) if isinstance(each, list) else 1 for each in columns.predictions]
        every = [place for place, count in enumerate(counts) for _ in range(count)]
        spread = Columns(
            [answer for each in columns.predictions for answer in (each if isinstance(each, list) else [each])],
            [columns.references[place] for place in every],
            [columns.all_fields()[place] for place in every],
        )
        done = self.step.process(spread)
        answers, references = iter(done.predictions), iter(done.references)
        found = [
            _gathered(list(islice(answers, count)), each)
            for count, each in zip(counts, columns.predictions, strict=True)
        ]
        golds = [list(islice(references, count)) for count in counts]
        return replace(columns, predictions=found, references=[same[0] for same in golds])


def _gathered(answers: Sequence[Any], before: Any) -> Any:
    failure = next((each for each in answers if isinstance(each, Failure)), None)
    return failure or (list(answers) if isinstance(before, list) else answers[0])


def _checked(step: object) -> Iterator[Diagnostic]:
    check: Callable[[], Iterator[Diagnostic]] | None = getattr(step, "check", None)
    return iter(()) if check is None else check()
