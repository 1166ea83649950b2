"""The only module here that knows the classes of Proctor: from a case to what is recorded of it.

A redesign of exams changes this module; the goldens stay as they are.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from conformance.own.cases import Case

from proctor.dialects.lm_eval.gradings import TaskGrader
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.engine import Engine
from proctor.ir import (
    Answers,
    Choose,
    Converse,
    Failure,
    Generate,
    Likelihood,
    Prompt,
    Request,
    Response,
    Rolling,
    Score,
    Scored,
)
from proctor.recipes.exam import Answered, Exam, Question, suited
from proctor.recipes.options import ExamOptions
from proctor.running.log import ResponseLog
from proctor.running.plan import Filed, answered, wanted
from proctor.running.run import run_exams
from proctor.scoring.columns import ABSENT
from proctor.scoring.grade import Grade
from proctor.settings import settings

MARK = re.compile(r"\b[tp]\d\d\b")
KEY_DIGITS = 12
"""Hexadecimal digits of a request's key that are kept: 48 bits tell a few thousand requests apart."""


class MadeUpEngine(Engine):
    """Answers from its own dice, thrown anew for each prompt and each time it is asked again.

    Attributes:
        answers: What it may say; ``{word}`` is a word of the prompt.
        ties: Whether likelihoods are coarse, so that choices are often equal.
        lost: Marks of questions that get a failure.
        scores: Whether it gives likelihoods.
        chats: Whether it takes messages only.
    """

    answers: list[str] = ["yes", "no", "maybe", "The answer is {letter}.", "{number}", "{word}", ""]
    ties: bool = False
    lost: list[str] = []
    scores: bool = True
    chats: bool = False
    model: str = "made-up"
    can_generate: ClassVar[bool] = True

    def prepare(self) -> None:
        """Learn whether it can score."""
        super().prepare()
        object.__setattr__(self, "can_score", self.scores)
        object.__setattr__(self, "_times", {})

    @property
    def only_chats(self) -> bool:
        """Whether it takes messages only."""
        return self.chats

    def count_tokens(self, prompt: Prompt) -> int:
        """Return the number of words."""
        return len(prompt.text.split())

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer in order."""
        for position, request in enumerate(requests):
            text = text_of(request)
            if self._is_lost(text):
                yield position, Response(failure=Failure("timeout", "no answer", retryable=False))
                continue
            name = f"{text}/{request.decoding.seed}"
            time = self._times[name] = self._times.get(name, 0) + 1
            stream = random.Random(f"{name}/{time}")
            texts = tuple(self._said(stream, text) for _ in range(request.decoding.count))
            yield position, Response(texts=texts, finish_reasons=("stop",) * len(texts))

    def score(self, requests: Iterable[Score]) -> Answers:
        """Score in order."""
        if not self.scores:
            yield from super().score(requests)
            return
        for position, request in enumerate(requests):
            if self._is_lost(text_of(request)):
                yield position, Response(failure=Failure("timeout", "no answer", retryable=False))
                continue
            yield position, Response(scores=tuple(self._scored(each) for each in pairs_of(request)))

    def _is_lost(self, text: str) -> bool:
        marks = MARK.findall(text)
        return bool(marks) and marks[-1] in self.lost

    def _said(self, stream: random.Random, text: str) -> str:
        said = stream.choice(self.answers)
        words = re.findall(r"[a-z]{4,}", text.rpartition("Item")[2]) or ["word"]
        picks = {"word": stream.choice(words), "words": " ".join(stream.sample(words, min(4, len(words))))}
        return said.format(letter=stream.choice("ABCD"), number=stream.randint(2, 12), **picks)

    def _scored(self, pair: tuple[str, str]) -> Scored:
        stream = random.Random(repr(pair))
        value = -float(stream.randint(1, 3)) if self.ties else -stream.random() * 9
        return Scored(value, stream.random() < 0.4, max(1, len(pair[1].split())))


def pairs_of(request: Score) -> list[tuple[str, str]]:
    """Return contexts and continuations."""
    if isinstance(request, Rolling):
        return [("", request.text)]
    return [(_payload(pair.context), pair.continuation) for pair in request.pairs]


def text_of(request: Request) -> str:
    """Return all words of a request."""
    if isinstance(request, Generate):
        return _payload(request.prompt)
    if isinstance(request, Converse):
        return json.dumps(request.turns)
    if isinstance(request, Choose | Likelihood):
        return _payload(request.pairs[0].context) + request.pairs[0].continuation
    return request.text


def _payload(prompt: Prompt) -> str:
    return prompt.payload if isinstance(prompt.payload, str) else json.dumps(prompt.payload, ensure_ascii=False)


# -- one case -----------------------------------------------------------------------------------------------------


def observe(case: Case, folder: Path) -> dict[str, Any]:
    """Run a case in the folder that holds its files; return what is recorded of it, as JSON-like data."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        with settings.context(trust_code=case.trusts_code):
            return _observed(case)
    finally:
        os.chdir(here)


_SINCE = frozenset({"fingerprint", "higher_is_better", "answers", "empty", "thinking", "truncated"})
"""What results have said since the goldens were recorded, and tests of their own look at."""


def _observed(case: Case) -> dict[str, Any]:
    engine = MadeUpEngine(**case.engine)
    exams = suited(resolve_tasks(case.exams, ExamOptions(**case.options)), engine)
    found: dict[str, Any] = {}
    with TemporaryDirectory(prefix="proctor-own-") as folder, ResponseLog(Path(folder) / "log.db") as log:
        result = run_exams(exams, engine, log=log)
        number = log.engine_number(engine.identity, engine.label, {})
        filed = Filed(log, number, with_failures=True)
        for exam in exams:
            responses = partial(_responses, exam, filed)
            grade = _grade(result.grades[exam.name])
            found[exam.name] = {"asks": _asks(exam), **grade, "pipelines": _pipelines(exam, responses)}
    for name, entry in result.results.items():  # groups, and of exams what is not among their scores
        known = result.grades[name].scores if name in result.grades else {}
        found.setdefault(name, {})["results"] = {
            key: plain(_without_places(value)) for key, value in entry.items() if key not in known and key not in _SINCE
        }
    return found


def _responses(exam: Exam, filed: Filed) -> Iterator[Answered]:
    return answered(exam.questions(), filed, Failure("missing", "there is no answer"))


def _without_places(value: Any) -> Any:
    """Return reasons without the files that they name: those lie in another folder each time."""
    if isinstance(value, Mapping):
        return {name: _without_places(each) for name, each in value.items()}
    return value.partition(" (/")[0] if isinstance(value, str) else value


def asked_in_words(case: Case, folder: Path) -> Iterator[str]:
    """Yield every request of a case as text, for people who look for a difference."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        with settings.context(trust_code=case.trusts_code):
            exams = suited(resolve_tasks(case.exams, ExamOptions(**case.options)), MadeUpEngine(**case.engine))
            for exam in exams:
                for item in exam.questions():
                    yield from (f"{exam.name} {item.number} {each.key}\n{each!r}\n" for each in item.requests)
    finally:
        os.chdir(here)


def _asks(exam: Exam) -> list[list[Any]]:
    """Return by ask: its number, the marks of its demos, and its requests' keys, with the repeat where there is one."""
    return [[item.number, _demos(item), *map(_key, wanted(item))] for item in exam.questions()]


def _key(entry: Any) -> str:
    digits = bytes(entry.key.request).hex()[:KEY_DIGITS]
    return f"{digits}#{entry.key.repeat}" if entry.key.repeat else digits


def _demos(item: Question) -> str:
    """Return the marks that stand in the first request before the ask's own, which is the last: who its demos are."""
    return " ".join(MARK.findall(text_of(item.requests[0]))[:-1])


def _grade(grade: Grade) -> dict[str, Any]:
    return {
        "scores": [[name, plain(value)] for name, value in grade.scores.items()],
        "columns": [[name, plain(column)] for name, column in grade.instance_scores.items()],
        "predictions": plain(grade.predictions),
        "processed": plain(grade.processed_predictions),
        "references": plain(grade.processed_references),
        "failures": {str(place): failure.kind for place, failure in sorted(grade.failures.items())},
        "metric_failures": sorted(grade.metric_failures),
    }


def plain(value: Any) -> Any:  # noqa: PLR0911 - one for each kind of value
    """Return a value as JSON that keeps every bit and every type apart: floats as hexadecimal texts."""
    if value is ABSENT:
        return {"absent": True}
    if isinstance(value, Failure):
        return {"failure": value.kind}
    if isinstance(value, float):
        return {"float": float(value).hex()}
    if isinstance(value, str | int | bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return {"tuple": [plain(each) for each in value]}
    if isinstance(value, Sequence | set | frozenset):
        return [plain(each) for each in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if callable(item := getattr(value, "item", None)):
        return plain(item())
    return repr(value)


def _pipelines(exam: Exam, responses: Callable[[], Iterable[Answered]]) -> dict[str, Any]:
    """Return what each filter pipeline of a task makes of the answers."""
    grader = exam.grader
    if not isinstance(grader, TaskGrader):
        return {}
    return {
        each.name: [plain(list(scored.filtered)) for _, scored in grader.scored(each, responses())]
        for each in grader.pipelines
    }
