"""Exams and an engine behind the seams of the command line; as a program: `proctor` with these."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from types import ModuleType
from typing import Any

from proctor.engines.engine import Engine
from proctor.engines.model_args import Origin, parse_model_args
from proctor.errors import UnknownArtifactError, UsageError, did_you_mean
from proctor.ir import (
    Answers,
    Choose,
    Decoding,
    Exchange,
    Failure,
    Generate,
    Pair,
    Prompt,
    Response,
    Score,
    Scored,
    Span,
    Turn,
    Usage,
    turn,
)
from proctor.recipes.exam import Answered, Exam, Question
from proctor.recipes.options import DECLARED, NO_TABLE, OPTIONS, given_options
from proctor.running.spec import RunSpec
from proctor.scoring.grades import Grade

sys.path.append(str(Path(__file__).parents[1] / "running"))  # it is a program, too

from made_exams import made_exam


class Capitals:
    """A small exam: even documents choose, odd ones generate."""

    name = "capitals"
    description = "Capitals of countries."
    kinds = frozenset({"choose", "generate"})

    def __init__(self, **options: Any) -> None:
        self.options = options

    pairs = (("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Peru", "Lima"))

    def questions(self) -> Iterator[Question]:
        for doc_id, (country, capital) in enumerate(self.pairs):
            spans = (
                Span("Answer briefly.\n\n", "instruction"),
                Span("Chile?", "demo[0].question"),
                Span(" Santiago\n", "demo[0].answer"),
                Span(f"{country}?", "question"),
                Span("\nAnswer:", "answer_prefix"),
            )
            text = "".join(span.text for span in spans)
            prompt = Prompt(text, lambda spans=spans: (Turn("user", spans),))
            exchange = Exchange(
                question=(turn("user", country),),
                answer=capital,
                references=(capital,),
                choices=(" Rome", f" {capital}"),
                gold=1,
            )
            request = (
                Choose((Pair(prompt, " Rome"), Pair(prompt, f" {capital}")))
                if doc_id % 2 == 0
                else Generate(prompt, Decoding(max_tokens=8, stop=("\n",)))
            )
            yield Question(doc_id, {"country": country, "capital": capital}, exchange, (request,))

    def grade(self, answered: Iterable[Answered]) -> Grade:
        scores, failures = [], {}
        for position, each in enumerate(answered):
            response = each.responses[0]
            if response.failure is not None:
                failures[position] = response.failure
                scores.append(None)
            elif response.scores:
                best = max(range(len(response.scores)), key=lambda index: response.scores[index].log_likelihood)
                scores.append(float(best == each.question.exchange.gold))
            else:
                scores.append(float(response.text.strip() == each.question.instance["capital"]))
        given = [score for score in scores if score is not None]
        mean = sum(given) / len(given) if given else None
        return Grade(
            {"score": mean, "score_name": "accuracy", "accuracy": mean, "score_ci_low": 0.25, "score_ci_high": 1.0},
            {"accuracy": scores},
            failures=failures,
        )

    def exam(self) -> Exam:
        source = {"name": self.name, **self.options}
        return made_exam(
            self.name, self.questions, self.grade, kinds=self.kinds, description=self.description, source=source
        )


class Chat(Capitals):
    """The same exam as chat messages."""

    name = "chat"
    kinds = frozenset({"generate"})

    def questions(self) -> Iterator[Question]:
        for item in super().questions():
            country = item.instance["country"]
            prompt = Prompt(
                [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"{country}?"}],
                lambda country=country: (turn("system", "Be brief.", "system"), turn("user", f"{country}?")),
            )
            yield Question(item.number, item.instance, item.exchange, (Generate(prompt),))


class Many(Capitals):
    """As many documents as `limit` says, or 10,000."""

    name = "many"
    kinds = frozenset({"generate"})

    def questions(self) -> Iterator[Question]:
        for doc_id in range(int(self.options.get("limit") or 10_000)):
            prompt = Prompt(f"Question {doc_id}")
            exchange = Exchange(question=(turn("user", f"Question {doc_id}"),), references=("yes",))
            yield Question(doc_id, {"capital": "yes"}, exchange, (Generate(prompt),))


EXAMS = {"capitals": Capitals, "chat": Chat, "many": Many}
calls: list[Any] = []


class Options:
    """Remembers what it was built with, as ExamOptions does."""

    def __init__(self, **values: Any) -> None:
        self.values = values


def resolve_tasks(names: list[str], options: Options) -> list[Exam]:
    calls.append((list(names), options.values))
    for name in names:
        if name not in EXAMS:
            raise UnknownArtifactError(f"there is no task '{name}'", hint=did_you_mean(name, EXAMS))
    return [EXAMS[name](**options.values).exam() for name in names]


def exams_of_spec(spec: RunSpec) -> list[Exam]:
    given = {"limit": spec.limit, "seed": spec.seed, "num_demos": spec.num_demos, **spec.overrides}
    return resolve_tasks(list(spec.tasks), Options(**{key: value for key, value in given.items() if value is not None}))


class SlowEngine(Engine):
    """Says yes to everything, and takes its time."""

    seconds: float = 0.0
    fails_from: int | None = None
    transient_fields = frozenset({"seconds", "data_classification_policy"})
    can_score = True

    def generate(self, requests: Iterable[Generate]) -> Answers:
        for position, _ in enumerate(requests):
            time.sleep(self.seconds)
            if self.fails_from is not None and position >= self.fails_from:
                yield position, Response(failure=Failure("timeout", "no answer came"))
            else:
                yield position, Response(texts=("yes",), usage=Usage(3, 1))

    def score(self, requests: Iterable[Score]) -> Answers:
        for position, request in enumerate(requests):
            yield position, Response(scores=tuple(Scored(-float(index)) for index, _ in enumerate(request.pairs)))


def make_engine(name: str, args: Mapping[str, Any] | None = None, origin: object = None) -> Engine:
    del origin
    if name != "slow":
        raise UsageError(f"there is no engine '{name}'", hint=did_you_mean(name, ["slow"]))
    return SlowEngine(**(args or {}))


def words_for(engine: Engine) -> tuple[str, dict[str, Any]]:
    return "slow", engine.to_dict()


def install(modules: MutableMapping[str, ModuleType]) -> None:
    """Put the fakes behind the seams that the command line uses."""
    fresh: dict[str, ModuleType] = {}
    for name, attribute, value in (
        ("proctor.dialects.resolve", "resolve_tasks", resolve_tasks),
        ("proctor.recipes.options", "ExamOptions", Options),
        ("proctor.recipes.options", "DECLARED", DECLARED),
        ("proctor.recipes.options", "NO_TABLE", NO_TABLE),
        ("proctor.recipes.options", "OPTIONS", OPTIONS),
        ("proctor.recipes.options", "given_options", given_options),
        ("proctor.dialects.run_file", "exams_of_spec", exams_of_spec),
        ("proctor.engines.engine_names", "ENGINES", {"slow": None, "smollm2": None}),
        ("proctor.engines.engine_names", "REGISTERED", {}),
        ("proctor.engines.engine_registry", "make_engine", make_engine),
        ("proctor.engines.engine_registry", "words_for", words_for),
        ("proctor.engines.model_args", "Origin", Origin),
        ("proctor.engines.model_args", "parse_model_args", parse_model_args),
    ):
        setattr(fresh.setdefault(name, ModuleType(name)), attribute, value)
    modules.update(fresh)


if __name__ == "__main__":
    from proctor.cli.__main__ import main

    install(sys.modules)
    sys.exit(main())
