"""A toy exam and toy engines: everything that running needs of its neighbours, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from made_exams import made_exam

from proctor.engines.engine import Engine
from proctor.ir import (
    Answers,
    Choose,
    Converse,
    Exchange,
    Failure,
    Generate,
    Pair,
    Prompt,
    Request,
    Response,
    Score,
    Scored,
    Timing,
    Usage,
    turn,
)
from proctor.recipes.exam import Answered, Exam, Question
from proctor.scoring.grades import Grade


def question(name: str, number: int) -> Request:
    return Generate(Prompt(f"{name} {number}"))


def choice(name: str, number: int) -> Request:
    return Choose(tuple(Pair(Prompt(f"{name} {number}"), label) for label in (" A", " B")))


def talk(name: str, number: int) -> Request:
    return Converse(
        (
            {"role": "user", "content": f"{name} {number}"},
            None,
            {"role": "user", "content": "and then?"},
            None,
            {"role": "user", "content": "and last?"},
            None,
        )
    )


class Toy:
    """``count`` questions, each asking what ``makers`` make of its number."""

    def __init__(self, name: str = "toy", count: int = 10, *makers: Callable[[str, int], Request], distinct: int = 0):
        self.name = name
        self.count = count
        self.makers = makers or (question,)
        self.distinct = distinct or count

    def questions(self) -> Iterator[Question]:
        for number in range(self.count):
            requests = tuple(make(self.name, number % self.distinct) for make in self.makers)
            exchange = Exchange((turn("user", str(number)),), references=(str(number),))
            yield Question(number, {"number": number}, exchange, requests)

    def grade(self, answered: Iterable[Answered]) -> Grade:
        predictions: list[Any] = []
        scores: list[float | None] = []
        failures = {}
        for position, each in enumerate(answered):
            failure = each.failure
            if failure is not None:
                failures[position] = failure
            predictions.append(failure or [_words(response) for response in each.responses])
            scores.append(None if failure else float(len(str(predictions[-1])) % 2))
        valid = [score for score in scores if score is not None]
        mean = sum(valid) / len(valid) if valid else float("nan")
        totals = {"score": mean, "score_name": "oddity", "oddity": mean, "score_ci_low": mean, "score_ci_high": mean}
        return Grade(
            totals, {"oddity": scores}, predictions, predictions, [[str(n)] for n in range(len(scores))], failures
        )

    def exam(self) -> Exam:
        source = {"name": self.name, "count": self.count, "distinct": self.distinct}
        kinds = frozenset(_KINDS.get(make, "generate") for make in self.makers)
        return made_exam(self.name, self.questions, self.grade, kinds=kinds, source=source)


_KINDS = {choice: "choose", talk: "converse"}


def ToyExam(name: str = "toy", count: int = 10, *makers: Callable[[str, int], Request], distinct: int = 0) -> Exam:
    return Toy(name, count, *makers, distinct=distinct).exam()


def _words(response: Response) -> Any:
    return list(response.texts) if response.texts else [score.log_likelihood for score in response.scores]


def answer(request: Generate | Score) -> Response:
    """A deterministic answer; only its timing would differ between runs, and here it does not."""
    if isinstance(request, Generate):
        words = request.prompt.text.upper()
        return Response(texts=(words,), finish_reasons=("stop",), usage=Usage(len(words), 1), timing=Timing(1.0, 0.5))
    return Response(scores=tuple(Scored(-float(len(pair.continuation) + at)) for at, pair in enumerate(request.pairs)))


class ToyEngine(Engine):
    """Answers at once and counts what it was asked. ``fail`` names prompts that fail, ``stop_after`` raises."""

    model: str = "toy"
    transient_fields = frozenset({"data_classification_policy", "fail", "stop_after", "error", "asked"})
    can_score = True
    fail: list[str] = []
    stop_after: int | None = None
    error: Any = None
    asked: Any = None

    def prepare(self) -> None:
        self.asked = Counter()

    def generate(self, requests: Iterable[Generate]) -> Answers:
        return self._answer(requests)

    def score(self, requests: Iterable[Score]) -> Answers:
        return self._answer(requests)

    def _answer(self, requests: Iterable[Any]) -> Answers:
        for position, request in enumerate(requests):
            if self.stop_after is not None and sum(self.asked.values()) >= self.stop_after:
                raise self.error
            self.asked[request.key] += 1
            text = request.prompt.text if isinstance(request, Generate) else request.pairs[0].context.text
            if text in self.fail:
                yield position, Response(failure=Failure("server_error", f"no answer to {text}"))
            else:
                yield position, answer(request)
