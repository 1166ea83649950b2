import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from proctor.cli.__main__ import main
from proctor.errors import UnknownArtifactError, did_you_mean
from proctor.ir import Choose, Decoding, Exchange, Generate, Pair, Prompt, Span, Turn, turn
from proctor.recipes.exam import Item


class Capitals:
    """A small exam: even documents choose, odd ones generate."""

    name = "capitals"
    description = "Capitals of countries."
    pairs = (("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Peru", "Lima"))

    def items(self) -> Iterator[Item]:
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
            yield Item(doc_id, {"country": country, "capital": capital}, exchange, (request,))


class Chat(Capitals):
    """The same exam as chat messages."""

    name = "chat"

    def items(self) -> Iterator[Item]:
        for item in super().items():
            country = item.instance["country"]
            prompt = Prompt(
                [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"{country}?"}],
                lambda country=country: (turn("system", "Be brief.", "system"), turn("user", f"{country}?")),
            )
            yield Item(item.doc_id, item.instance, item.exchange, (Generate(prompt),))


EXAMS = {"capitals": Capitals, "chat": Chat}


class Options:
    """Remembers what it was built with, as RecipeOptions does."""

    def __init__(self, **values: Any) -> None:
        self.values = values


@pytest.fixture
def exams(monkeypatch) -> list[Any]:
    """Put two small exams behind `resolve_tasks`; returns the list of what it was called with."""
    calls: list[Any] = []

    def resolve_tasks(names, options):
        calls.append((list(names), options.values))
        for name in names:
            if name not in EXAMS:
                raise UnknownArtifactError(f"there is no task '{name}'", hint=did_you_mean(name, EXAMS))
        return [EXAMS[name]() for name in names]

    resolve, options = ModuleType("proctor.dialects.resolve"), ModuleType("proctor.recipes.options")
    resolve.resolve_tasks, options.RecipeOptions = resolve_tasks, Options
    monkeypatch.setitem(sys.modules, "proctor.dialects.resolve", resolve)
    monkeypatch.setitem(sys.modules, "proctor.recipes.options", options)
    return calls


@pytest.fixture
def invoke(capsys, monkeypatch):
    """Call the program; returns exit code, standard output and standard error."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return call
