"""The only module here that knows the classes of Proctor: from a case to what is recorded of it.

A redesign of exams changes this module; the goldens stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from conformance.own.cases import Case
from conformance.own.spelled import column, named, section, spelled

from proctor.dialects.conversion import convert_exam
from proctor.dialects.lm_eval.gradings import TaskGrader
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.engine import Engine
from proctor.errors import ProctorError
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
from proctor.scoring.grades import Grade
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


def observe(case: Case, folder: Path) -> str:
    """Run a case in the folder that holds its files; return what is recorded of it, as text."""
    here = Path.cwd()
    os.chdir(folder / case.folder)
    try:
        with settings.context(trust_code=case.trusts_code, judge=_judge(case)), _forgetting(folder):
            lines = [line.rstrip().replace(str(folder), ".") for line in _observed(case)]
    finally:
        os.chdir(here)
    return "\n".join(lines) + "\n"


@contextmanager
def _forgetting(folder: Path) -> Iterator[None]:
    """Forget the modules beside the exams that were run in the block; helpers of tasks, whose names are paths, stay."""
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            if "/" not in name and str(getattr(module, "__file__", None)).startswith(str(folder)):
                del sys.modules[name]


def _judge(case: Case) -> MadeUpEngine | None:
    return MadeUpEngine(answers=list(case.judge), model="made-up-judge") if case.judge else None


_ABOUT_ANSWERS = frozenset(
    {"fingerprint", "higher_is_better", "answers", "truncated", "empty", "thinking", "all_answers", "repeats", "sample"}
)
"""Facts beside the scores that tests of their own hold."""


def _observed(case: Case) -> Iterator[str]:
    """Yield the lines of a case; of one that is refused, in which words."""
    try:
        yield from _converted(case) if case.to else _asked(case)
    except ProctorError as error:
        for each in error.diagnostics:
            where = "" if each.location is None else str(each.location)
            yield f"refused: {each.what}"
            said = {"why": each.why, "hint": each.hint, "where": where}
            yield from (named(name, text) for name, text in said.items() if text)


def _asked(case: Case) -> Iterator[str]:
    engine = MadeUpEngine(**case.engine)
    exams = suited(resolve_tasks(case.exams, ExamOptions(**case.options)), engine)
    with TemporaryDirectory(prefix="proctor-own-") as folder, ResponseLog(Path(folder) / "log.db") as log:
        result = run_exams(exams, engine, log=log)
        filed = Filed(log, log.engine_number(engine.identity, engine.label, {}), with_failures=True)
        for exam in exams:
            responses = partial(_responses, exam, filed)
            yield f"== {exam.name}"
            yield from section("asked", _asks(exam))
            yield from _grade(_graded(result.grades, exam.name))
            yield from section("filters", _pipelines(exam, responses))
            yield from _results(exam.name, result)
        for name in (each for each in result.results if each not in {exam.name for exam in exams}):
            yield f"== {name}"
            yield from _results(name, result)


def _graded(grades: Mapping[str, Any], name: str) -> Grade:
    """Return the grade of an exam.

    Raises:
        AssertionError: It has none.
    """
    grade = grades[name]
    assert isinstance(grade, Grade), name
    return grade


def _results(name: str, result: Any) -> Iterator[str]:
    """Yield the results of an exam or a group that are not among the scores of its grade."""
    known = result.grades[name].scores if name in result.grades else {}
    yield from section(
        "results",
        (
            named(key, spelled(_without_places(value)))
            for key, value in result.results[name].items()
            if key not in known and key not in _ABOUT_ANSWERS
        ),
    )


def _responses(exam: Exam, filed: Filed) -> Iterator[Answered]:
    return answered(exam.questions(), filed, Failure("missing", "there is no answer"))


def _without_places(value: Any) -> Any:
    """Return reasons without the files that they name: those lie in another folder each time."""
    if isinstance(value, Mapping):
        return {name: _without_places(each) for name, each in value.items()}
    return value.partition(" (/")[0] if isinstance(value, str) else value


def _converted(case: Case) -> Iterator[str]:
    """Yield what becomes of exams in another form: the text, the first rows, what is lost."""
    for name in case.exams:
        for exam in resolve_tasks([name], ExamOptions(**case.options)):
            yield f"== {exam.name}"
            try:
                made = convert_exam(exam, case.to)
            except ProctorError as error:
                yield from (f"refused: {each.what}: {each.why}" for each in error.diagnostics)
                continue
            yield from section("lost", (f"  {each.part}: {each.text}" for each in made.lost))
            yield from section("file", (f"  {line}" for line in made.text.splitlines()))
            rows = made.rows_text().splitlines()
            digest = hashlib.sha256("\n".join(rows).encode()).hexdigest()[:KEY_DIGITS]
            yield f"rows: {len(rows)}, {digest}"
            yield from (f"  {row}" for row in rows[:SHOWN_ROWS])


SHOWN_ROWS = 2
"""Rows of a converted exam that a golden shows; the digest holds the others."""


def asked_in_words(case: Case, folder: Path) -> Iterator[str]:
    """Yield every request of a case as text, for people who look for a difference."""
    here = Path.cwd()
    os.chdir(folder / case.folder)
    try:
        with settings.context(trust_code=case.trusts_code):
            exams = suited(resolve_tasks(case.exams, ExamOptions(**case.options)), MadeUpEngine(**case.engine))
            for exam in exams:
                for item in exam.questions():
                    yield from (f"{exam.name} {item.number} {each.key}\n{each!r}\n" for each in item.requests)
    finally:
        os.chdir(here)


def _asks(exam: Exam) -> Iterator[str]:
    """Yield by ask: its number, its requests' keys with the repeat where there is one, the marks of its demos."""
    asks = [(item.number, " ".join(map(_key, wanted(item))), _demos(item)) for item in exam.questions()]
    if any(demos for _, _, demos in asks):
        yield from (f"  {number:>3}  {keys}   demos {demos}" for number, keys, demos in asks)
        return
    for some in batched(asks, PER_LINE):
        yield "  " + "   ".join(f"{number} {keys}" for number, keys, _ in some)


def batched(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Yield items in parts of one size."""
    yield from (items[start : start + size] for start in range(0, len(items), size))


PER_LINE = 5
"""Asks without demos that a line shows."""


def _key(entry: Any) -> str:
    digits = bytes(entry.key.request).hex()[:KEY_DIGITS]
    return f"{digits}#{entry.key.repeat}" if entry.key.repeat else digits


def _demos(item: Question) -> str:
    """Return the marks that stand in the first request before the ask's own, which is the last: who its demos are."""
    return " ".join(MARK.findall(text_of(item.requests[0]))[:-1]) if item.requests else ""


def _grade(grade: Grade) -> Iterator[str]:
    yield from section("scores", (named(name, spelled(value)) for name, value in grade.scores.items()))
    yield from section("instances", (named(name, column(values)) for name, values in grade.instance_scores.items()))
    yield "answers"
    yield named("predictions", column(grade.predictions))
    yield named("processed", column(grade.processed_predictions))
    yield named("references", column(grade.processed_references))
    failures = (named(str(place), failure.kind) for place, failure in sorted(grade.failures.items()))
    yield from section("failures", failures)
    yield from section("metric failures", (f"  {name}" for name in sorted(grade.metric_failures)))


def _pipelines(exam: Exam, responses: Callable[[], Iterable[Answered]]) -> Iterator[str]:
    """Yield what each filter pipeline of a task makes of the answers."""
    grader = exam.grader
    if isinstance(grader, TaskGrader):
        for each in grader.pipelines:
            yield named(each.name, column(list(scored.filtered) for _, scored in grader.scored(each, responses())))
