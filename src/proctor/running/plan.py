"""The plan of a run: every request of every question under its key, conversations taken apart into steps.

A conversation is asked one generated turn at a time, and each turn is an ordinary generation request with an entry
of its own in the log; so a conversation that was cut off goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Literal, TypeVar

from msgspec import Struct, structs

from proctor.engines.thoughts import turn_of
from proctor.ir import Converse, Failure, Generate, Prompt, Request, Response, Score, Timing, Usage, content_key
from proctor.ir.conversation import count_asked, next_messages
from proctor.recipes.exam import Answered, Question
from proctor.running.listening import AS_FILED, Listening
from proctor.running.log import Key, ResponseLog

Kind = Literal["generate", "score"]
Single = Generate | Score
"""A request that an engine answers by itself."""

BATCH = 256
"""Questions looked up in the log at once: enough that the query costs little, few enough that asking begins soon."""

Entry = TypeVar("Entry")


def kind_of(request: Request) -> Kind:
    """Return the engine's method that answers a request."""
    return "generate" if isinstance(request, (Generate, Converse)) else "score"


def steps_of(request: Request) -> int:
    """Return how many answers a request needs: one, or one for each generated turn."""
    return count_asked(request.turns) if isinstance(request, Converse) else 1


class Wanted(Struct, frozen=True, gc=False):
    """A request and its repeat: equal generation requests of one question are separate draws."""

    request: Request
    key: Key


class Step(Struct, frozen=True, gc=False):
    """The next thing to ask of an engine.

    Attributes:
        then: From its answer to the next step of a conversation, if there is one.
    """

    request: Single
    key: Key
    is_last: bool = True
    then: Callable[[Response], Step | None] | None = None


def wanted(question: Question, place: str = "") -> list[Wanted]:
    """Return the requests of a question with their keys. Scores do not vary, so equal ones share one entry.

    Args:
        question: What is asked.
        place: Name of the exam where answers belong to places rather than to requests; keys are then those of places.
    """
    if place:
        keys = [content_key("place", place, question.number, number) for number in range(len(question.requests))]
        return [Wanted(request, Key.of(key)) for request, key in zip(question.requests, keys, strict=True)]
    if len(question.requests) == 1:  # nearly always
        return [Wanted(question.requests[0], Key.of(question.requests[0].key))]
    seen: dict[str, int] = {}
    found = []
    for request in question.requests:
        name = request.key
        repeat = seen.get(name, 0) if kind_of(request) == "generate" else 0
        seen[name] = repeat + 1
        found.append(Wanted(request, Key.of(name, repeat)))
    return found


def batches(entries: Iterable[Entry], size: int = BATCH) -> Iterator[list[Entry]]:
    """Yield lists of ``size`` entries; the last one may be shorter."""
    iterator = iter(entries)
    while batch := list(islice(iterator, size)):
        yield batch


class Filed:
    """The answers that a log holds for one engine.

    Args:
        log: An open log.
        engine: The engine's number in the log.
        with_failures: Whether a recorded failure stands for an answer.
        hear: What is made of what is filed; see :mod:`proctor.running.listening`.
    """

    def __init__(self, log: ResponseLog, engine: int, *, with_failures: bool, hear: Listening = AS_FILED) -> None:
        self._log = log
        self._engine = engine
        self._with_failures = with_failures
        self._hear = hear

    def heard_by(self, hear: Listening) -> Filed:
        """Return the same answers, heard in another way."""
        return Filed(self._log, self._engine, with_failures=self._with_failures, hear=hear)

    def known(self, keys: Sequence[Key]) -> set[Key]:
        """Return the keys that need not be asked."""
        return self._log.has_many(self._engine, keys, failures=self._with_failures)

    def responses(self, keys: Sequence[Key]) -> dict[Key, Response]:
        """Return the entries under the keys, failures included where they stand for answers."""
        return self._log.get_many(self._engine, keys, failures=self._with_failures)

    def next_steps(self, requests: Sequence[Wanted]) -> tuple[list[Step], int]:
        """Return what has to be asked next for requests that are not fully answered, and how many answers there are.

        Each turn of a conversation is an answer.
        """
        plain = [entry for entry in requests if not isinstance(entry.request, Converse)]
        known = self.known([entry.key for entry in plain])
        steps = [Step(entry.request, entry.key) for entry in plain if entry.key not in known]  # type: ignore[arg-type]
        talks = [self._talk(entry.request, entry) for entry in requests if isinstance(entry.request, Converse)]
        self._advance(talks)
        answered = len(plain) - len(steps) + sum(len(talk.replies) for talk in talks)
        return steps + [step for talk in talks if (step := self._followed(talk)) is not None], answered

    def _followed(self, talk: _Talk) -> Step | None:
        """Return the next step of a conversation, which knows how it goes on."""
        return None if talk.step is None else structs.replace(talk.step, then=partial(self._then, talk))

    def _then(self, talk: _Talk, reply: Response) -> Step | None:
        if talk.step is not None:
            talk.hear(self._hear(talk.step.request, reply))
        return self._followed(talk)

    def assemble(self, requests: Sequence[Wanted]) -> list[Response | None]:
        """Return the response to each request; ``None`` where there is none."""
        hear = self._hear.hear
        talks = {
            place: self._talk(entry.request, entry)
            for place, entry in enumerate(requests)
            if isinstance(entry.request, Converse)
        }
        if not talks:
            filed_of = self.responses([entry.key for entry in requests]).get
            return [
                None if (filed := filed_of(entry.key)) is None else hear(entry.request, filed) for entry in requests
            ]
        self._advance(list(talks.values()))
        plain = self.responses([entry.key for place, entry in enumerate(requests) if place not in talks])
        return [
            talks[place].response
            if place in talks
            else None
            if (filed := plain.get(entry.key)) is None
            else hear(entry.request, filed)
            for place, entry in enumerate(requests)
        ]

    def replies(self, requests: Sequence[Wanted]) -> list[Sequence[Response]]:
        """Return the answers to the steps of each request, in order, up to the first that is missing."""
        talks = {
            place: self._talk(entry.request, entry)
            for place, entry in enumerate(requests)
            if isinstance(entry.request, Converse)
        }
        self._advance(list(talks.values()))
        plain = self.responses([entry.key for place, entry in enumerate(requests) if place not in talks])
        return [
            talks[place].replies if place in talks else [plain[entry.key]] if entry.key in plain else ()
            for place, entry in enumerate(requests)
        ]

    def trail(self, requests: Sequence[Wanted]) -> dict[Key, Response]:
        """Return every entry that the responses to some requests are made of, each turn of a conversation by itself."""
        found = self.responses([entry.key for entry in requests if not isinstance(entry.request, Converse)])
        talks = [self._talk(entry.request, entry) for entry in requests if isinstance(entry.request, Converse)]
        self._advance(talks)
        for talk in talks:
            found.update(zip(talk.keys, talk.replies, strict=True))
        return found

    def _talk(self, request: Converse, entry: Wanted) -> _Talk:
        return _Talk(request, entry.key.repeat, self._hear.keeps_thoughts)

    def _advance(self, talks: list[_Talk]) -> None:
        active = talks
        while active:
            filed = self.responses([talk.step.key for talk in active if talk.step])
            active = [talk for talk in active if talk.step and talk.step.key in filed]
            for talk in active:
                if talk.step:
                    talk.hear(self._hear(talk.step.request, filed[talk.step.key]))


class _Talk:
    """A conversation, as far as its answers are known."""

    def __init__(self, request: Converse, repeat: int, keeps_thoughts: bool) -> None:
        self._keeps_thoughts = keeps_thoughts
        self._request = request
        self._repeat = repeat
        self.replies: list[Response] = []
        self.keys: list[Key] = []
        self._count = steps_of(request)
        self.step = self._next()

    def hear(self, reply: Response) -> None:
        """Take the reply to :attr:`step` and move on."""
        self.replies.append(reply)
        self.keys += [self.step.key] if self.step is not None else []
        self.step = None if reply.failure else self._next()

    @property
    def response(self) -> Response | None:
        """The whole answer; ``None`` while some of it is unknown."""
        if self.step is not None:
            return None
        usage = sum((reply.usage for reply in self.replies), Usage())
        for reply in self.replies:
            if reply.failure is not None:
                return structs.replace(reply, texts=(), usage=usage)
        return Response(
            texts=tuple(reply.text for reply in self.replies),
            finish_reasons=tuple(reason for reply in self.replies for reason in reply.finish_reasons[:1]),
            thoughts=_thoughts(self.replies),
            tokens=tuple(tokens for reply in self.replies for tokens in reply.tokens[:1]),
            usage=usage,
            timing=Timing(
                self.replies[0].timing.started if self.replies else 0.0,
                sum(reply.timing.seconds for reply in self.replies),
            ),
            model=self.replies[0].model if self.replies else "",
        )

    def _next(self) -> Step | None:
        if len(self.replies) == self._count:
            return None
        said = [turn_of(reply, with_thoughts=self._keeps_thoughts) for reply in self.replies]
        messages = next_messages(self._request.turns, said)
        request = Generate(Prompt(messages or ()), self._request.decoding)
        return Step(request, Key.of(request.key, self._repeat), is_last=len(self.replies) + 1 == self._count)


def _thoughts(replies: Sequence[Response]) -> tuple[str, ...]:
    """Return the thoughts of each turn; nothing where no turn has any."""
    found = tuple(reply.thoughts[0] if reply.thoughts else "" for reply in replies)
    return found if any(found) else ()


Block = tuple[list[Question], list[list[Wanted]]]
"""Questions with their requests."""


def blocks_of(questions: Iterable[Question], place: str = "") -> Iterator[Block]:
    """Yield questions with their requests, some at a time; ``place`` as in :func:`wanted`."""
    for batch in batches(questions):
        yield batch, [wanted(question, place) for question in batch]


def answered(questions: Iterable[Question], filed: Filed, missing: Failure, place: str = "") -> Iterator[Answered]:
    """Yield questions with their responses; ``missing`` is the reason where the log has none.

    Args:
        questions: What was asked.
        filed: The answers of the log.
        missing: Why there is no answer, where there is none.
        place: As in :func:`wanted`.
    """
    return chain.from_iterable(answered_blocks(blocks_of(questions, place), filed, missing))


def answered_blocks(blocks: Iterable[Block], filed: Filed, missing: Failure) -> Iterator[list[Answered]]:
    """Yield questions with their responses, some at a time, where their requests are known already."""
    unanswered = Response(failure=missing)
    for batch, requests in blocks:
        found = filed.assemble(list(chain.from_iterable(requests)))
        responses = iter([unanswered if response is None else response for response in found])
        one_each = {1}.issuperset(map(len, requests))
        own = zip(responses) if one_each else [tuple(islice(responses, len(entries))) for entries in requests]
        yield list(map(Answered, batch, own))
