"""Grades made-up answers before a run, to learn the kind of score that an exam has.

Whether a main score is the mean of its instances' is not written anywhere: it depends on the metric, on what becomes of
its values, on the exam's own Python. So a few questions are answered with the right words and with wrong ones, and
graded as always; no judge is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from proctor.engines.engine import Engine
from proctor.errors import ProctorError, UsageError
from proctor.ir import Answers, Converse, Failure, Generate, KnownAnswerer, Request, Response, Rolling, Scored
from proctor.ir.question import Answered, Question
from proctor.recipes.exam import Exam
from proctor.running.drawn_questions import part_of, shares_of
from proctor.scoring.judges.judge_client import asking_through, who_judges

_QUESTIONS = 7
"""Of which an odd number are answered rightly: with as many wrong ones a score of all could be the mean by chance."""

_WRONG = "no answer"
_WRONG_PLACE = 1
_VERDICT = '{"steps": ["one"], "reason": "none", "pass": false, "score": 0}'
"""What judges are taken to say: whoever asks in steps goes on."""
_REFUSED = Response(failure=Failure("rehearsal", "nobody is asked in a rehearsal", retryable=False))


def check_decidable(
    exam: Exam, questions: Sequence[Question], *, instance_scores: bool = False, more_is_better: bool = False
) -> None:
    """Refuse an exam that cannot be decided on some of its questions, before anybody is asked.

    Args:
        exam: The exam.
        questions: Its questions.
        instance_scores: Whether instance scores do where the exam's own score is not their mean.
        more_is_better: Whether less must not be better.

    Raises:
        UsageError: It scores nothing, its score is not the mean of scores of instances, or these have no bounds.
    """
    if exam.options.predict_only:
        why = "--predict-only scores nothing"
        raise UsageError(f"'{exam.name}' cannot be decided on some of its questions", why=why, hint="leave it out")
    if exam.opened.copies > 1:
        raise UsageError(
            f"'{exam.name}' cannot be decided on some of its questions",
            why=f"each of its rows is there {exam.opened.copies} times, and copies are scored together",
            hint="ask once: leave out --repeats, or n of the config",
        )
    usable = [each for each in questions if each.failure is None][:_QUESTIONS]
    part = part_of(exam, usable)
    try:
        with _nobody_asked():
            grade = part.grade(_answered(usable))
    except ProctorError:
        return  # it cannot be graded without real answers: what it is shows when there are some
    if grade.failures or grade.metric_failures or grade.main is None:
        return
    shares = shares_of(exam.name, grade, len(usable), instance_scores=instance_scores)
    if more_is_better and shares.low_is_better:
        raise less_is_better(exam.name, shares.metric)


def asked_of_judges(exam: Exam, questions: Sequence[Question]) -> dict[str, tuple[Engine, list[Generate]]]:
    """Return what judges would be asked, were every answer two words long: engine and requests by who judges.

    Args:
        exam: The exam.
        questions: Some of its questions.
    """
    asked: dict[str, tuple[Engine, list[Generate]]] = {}

    def note(engine: KnownAnswerer, requests: Iterable[Generate]) -> Answers:
        for number, request in enumerate(requests):
            if isinstance(engine, Engine):
                asked.setdefault(who_judges(engine), (engine, []))[1].append(request)
            yield number, Response(texts=(_VERDICT,), finish_reasons=("stop",))

    answered = [
        Answered(each, tuple(_response(request, each, _WRONG_PLACE) for request in each.requests))
        for each in questions
        if each.failure is None
    ]
    with suppress(ProctorError), asking_through(note):  # what cannot be graded so has asked what it has asked
        part_of(exam, [each.question for each in answered]).grade(answered)
    return asked


def less_is_better(name: str, metric: str) -> UsageError:
    """Return the error of a gate on such a score."""
    why = f"less of '{metric}' is better, and a gate is for scores of which more is"
    return UsageError(f"'{name}' cannot be gated", why=why, hint="gate on an accuracy")


def _answered(questions: Iterable[Question]) -> Iterator[Answered]:
    for place, question in enumerate(questions):
        responses = tuple(_response(request, question, place) for request in question.requests)
        yield Answered(question, responses)


def _response(request: Request, question: Question, place: int) -> Response:
    """Return an answer that is right for three questions of four, as far as references say what is."""
    if isinstance(request, Generate | Converse):
        references = question.exchange.references
        said = str(references[0]) if references and place % 4 != _WRONG_PLACE else _WRONG
        count = request.decoding.count if isinstance(request, Generate) else sum(t is None for t in request.turns)
        return Response(texts=(said,) * count, finish_reasons=("stop",) * count)
    count = 1 if isinstance(request, Rolling) else len(request.pairs)
    likes = [
        Scored(-1.0 - (number + place) % count, is_greedy=number == place, token_count=2) for number in range(count)
    ]
    return Response(scores=tuple(likes))


@contextmanager
def _nobody_asked() -> Iterator[None]:
    def refuse(engine: object, requests: Iterable[Generate]) -> Answers:
        del engine
        for number, _ in enumerate(requests):
            yield number, _REFUSED

    with asking_through(refuse):
        yield
