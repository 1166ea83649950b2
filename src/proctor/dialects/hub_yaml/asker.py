"""From a sample to a question: the conversation that the solvers make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.dialects.hub_yaml.config import HubTask
from proctor.dialects.hub_yaml.samples import Samples
from proctor.dialects.hub_yaml.solvers import Solvers, shown_of
from proctor.dialects.hub_yaml.talk import Spoken, Talk, talk_about
from proctor.dialects.hub_yaml.templates import text_of
from proctor.ir import Converse, Decoding, Exchange, Generate, Prompt, Request, Span, Turn
from proctor.ir.question import Ask, Question
from proctor.recipes.exam_parts import Context, Demos, Kind
from proctor.recipes.selection import Opened, Row
from proctor.scoring.lettered_answers import letter_of


@dataclass(frozen=True)
class HubAsker:
    """Puts samples in words.

    Attributes:
        task: The task.
        solvers: What makes a conversation of a sample.
        decoding: How the model writes.
        system: A message that opens every conversation; ``None`` for none.
        seed: Of the order of choices.
    """

    task: HubTask
    solvers: Solvers
    decoding: Decoding
    system: str | None = None
    seed: int | None = None

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of requests."""
        return frozenset({"converse" if self.solvers.answers > 1 else "generate"})

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return the function from a sample to a question."""
        del context
        samples = Samples(self.task, opened.rows, self.seed)

        def ask(place: Ask, row: Row, demos: Demos) -> Question:
            del demos
            return self._question(place.listed, row, samples.of(place.place, row))

        return ask

    def _question(self, number: int, row: Row, sample: Mapping[str, Any]) -> Question:
        talk = self.solvers.run(talk_about(sample, self.system))
        exchange = Exchange(
            (Turn("user", (Span(shown_of(talk)),)),),
            answer=sample["target"],
            references=(sample["target"],),
            choices=tuple(sample["choices"]),
            gold=_gold(sample),
        )
        return Question(number, row, exchange, (self._request(talk),) * self.task.epochs)

    def _request(self, talk: Talk) -> Request:
        if len(talk.asked) > 1:
            return Converse(talk.turns(), self.decoding)
        spoken = talk.asked[0]
        return Generate(Prompt([each.message() for each in spoken], lambda: tuple(map(_turn, spoken))), self.decoding)


def _turn(spoken: Spoken) -> Turn:
    return Turn(spoken.role, (Span(text_of(spoken.words), "system" if spoken.role == "system" else "question"),))


def _gold(sample: Mapping[str, Any]) -> int | None:
    letters = [letter_of(place) for place in range(len(sample["choices"]))]
    return letters.index(sample["target"]) if sample["target"] in letters else None
