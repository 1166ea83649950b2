"""Grading a run once more from its ``samples.jsonl``: nobody is asked anything.

Scores of a whole exam (F1, BLEU) are not means of anything that single instances have. Two of them are compared by
computing them again on resamples of the instances, and for that the answers must be read as they were.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import msgspec

from proctor.errors import DataError, ProctorError, ScoringError
from proctor.ir import Answers, Choose, Failure, Generate, KnownAnswerer, Likelihood, Response, Rolling
from proctor.ir.question import Answered, Question
from proctor.ir.responses import Scored
from proctor.recipes.exam import Exam
from proctor.scoring.grading.grader import ExamGrader, Regrading
from proctor.scoring.judges.judge_client import asking_through
from proctor.scoring.scores import Score

_CLOSE: Final = 1e-6
"""How near a score that is computed again must be to the stored one, relative to it: sums round differently."""


class RegradedExam:
    """An exam of a run, graded again.

    Args:
        exam: The exam, built again.
        records: Its lines of ``samples.jsonl``.
        stored: The main score that the run's results have.

    Raises:
        ProctorError: It cannot be graded as it was; the message says why.
    """

    def __init__(self, exam: Exam, records: Iterable[Mapping[str, Any]], stored: Score) -> None:
        answered = list(answered_again(exam, records))
        self._places = {each.question.number: place for place, each in enumerate(answered)}
        with asking_nobody():
            self._regrading = Regrading(grader_of(exam), answered)
            found = self.score(list(self._places))
        check_same(exam, stored, found)

    def score(self, numbers: Sequence[int]) -> float:
        """Return the main score of the instances with some numbers, which may occur several times; NaN for none.

        Raises:
            ScoringError: An instance is not there.
        """
        try:
            positions = [self._places[number] for number in numbers]
        except KeyError as error:
            raise ScoringError(f"the exam has no instance {error}") from None
        with asking_nobody():
            try:
                value = self._regrading.main(positions).number
            except ProctorError:  # the metric is not defined on this resample
                value = None
        return math.nan if value is None else value


def answered_again(exam: Exam, records: Iterable[Mapping[str, Any]]) -> Iterator[Answered]:
    """Yield the questions of an exam with the answers that its lines of ``samples.jsonl`` have.

    Raises:
        DataError: A question is not what it was.
    """
    lines = {record.get("doc_id"): record for record in records}
    for question in exam.questions():
        record = lines.get(question.number)
        if record is None:
            continue
        if (digest := record.get("instance")) and digest != question.digest:
            raise DataError(f"the data of '{exam.name}' is not what it was: instance {question.number} has changed")
        yield Answered(question, tuple(_responses(question, record)))


def grader_of(exam: Exam) -> ExamGrader:
    """Return what grades an exam.

    Raises:
        ScoringError: Something of it cannot be had, or it is not the grader of the core.
    """
    grader = getattr(exam.grader, "grader", exam.grader)
    if not isinstance(grader, ExamGrader):
        raise ScoringError(f"the answers to '{exam.name}' are not read by the grader of the core")
    if problems := exam.problems():
        raise ScoringError(problems)
    return grader


def check_same(exam: Exam, stored: Score, found: float) -> None:
    """See that an exam that is graded again has the score that is stored.

    Raises:
        ScoringError: It has not.
    """
    if not math.isclose(found, stored.number or 0.0, rel_tol=_CLOSE, abs_tol=_CLOSE):
        raise ScoringError(
            f"graded again, '{exam.name}' has {stored.name} = {found:.6g}, and {stored.number:.6g} is stored",
            why="its metric or a package behind it has changed since",
            hint="run the exam again; its answers are in the response log",
        )


def asking_nobody() -> AbstractContextManager[None]:
    """Grade meanwhile without asking anybody: a judge that is needed is an error."""
    return asking_through(_nobody)


def _nobody(engine: KnownAnswerer, requests: Iterable[Generate]) -> Answers:
    del requests
    raise ScoringError(f"its metric asks a judge ({engine.label}), and comparing asks nobody")


def _responses(question: Question, record: Mapping[str, Any]) -> Iterator[Response]:
    """Yield the responses to a question as its line tells them."""
    count, output, failure = len(question.requests), record.get("output"), record.get("failure")
    if failure is not None:
        reason = failure if isinstance(failure, Mapping) else {}
        failed = Failure(str(reason.get("kind") or "failure"), str(reason.get("message") or ""))
        yield from (Response(failure=failed) for _ in range(count))
        return
    outputs = output if count > 1 and isinstance(output, list) and _is_one_each(question, output) else [output] * count
    for each in outputs:
        yield _response(each)


def _is_one_each(question: Question, output: list[Any]) -> bool:
    """Whether a list holds an output for each request, rather than the one that all of them share."""
    if len(output) != len(question.requests):
        return False
    if isinstance(question.requests[0], (Choose, Likelihood, Rolling)):
        return all(isinstance(each, list) for each in output)
    return True


def _response(output: Any) -> Response:
    if isinstance(output, list) and output and isinstance(output[0], Mapping) and "log_likelihood" in output[0]:
        return Response(scores=tuple(msgspec.convert(output, list[Scored])))
    if isinstance(output, list):
        return Response(texts=tuple(map(str, output)))
    return Response(texts=("" if output is None else str(output),))
