"""Conversations with any engine: many at once, each in order.

A conversation is asked one generated turn at a time. All conversations of a window take their next turn together, so
an engine sees as many requests as there are conversations, and what it says in one turn is part of the context of
the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from proctor.engines.engine import Engine
from proctor.engines.thoughts import turn_of
from proctor.ir import Answers, Converse, Generate, Prompt, Response, Timing, Usage, in_windows
from proctor.ir.conversation import count_asked, next_messages

WINDOW = 1024
"""Conversations in flight at once: enough for any engine to fill its batches, each with its messages in memory."""


def converse(engine: Engine, requests: Iterable[Converse], window: int = WINDOW) -> Answers:
    """Yield ``(position, response)``; a response has one text for each generated turn.

    Args:
        engine: Who answers.
        requests: Read lazily, ``window`` at a time.
        window: Conversations in flight at once.
    """
    for start, batch in in_windows(requests, window):
        for position, response in _hold(engine, batch):
            yield start + position, response


def _hold(engine: Engine, requests: Sequence[Converse]) -> Iterator[tuple[int, Response]]:
    open_talks = {position: _Talk(request, engine.keeps_thoughts) for position, request in enumerate(requests)}
    while open_talks:
        for position in [position for position, talk in open_talks.items() if talk.is_over]:
            yield position, open_talks.pop(position).response()
        order = list(open_talks)
        for place, reply in engine.generate(open_talks[position].request() for position in order):
            open_talks[order[place]].hear(reply)


class _Talk:
    """One conversation and how far it is."""

    def __init__(self, request: Converse, keeps_thoughts: bool) -> None:
        self._keeps_thoughts = keeps_thoughts
        self._decoding = request.decoding
        self._turns = request.turns
        self._replies: list[Response] = []

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to generate, or no sense in it."""
        failed = bool(self._replies) and self._replies[-1].failure is not None
        return failed or len(self._replies) == count_asked(self._turns)

    def request(self) -> Generate:
        """Return the request for the next turn: everything that was said before it."""
        heard = [turn_of(reply, with_thoughts=self._keeps_thoughts) for reply in self._replies]
        return Generate(Prompt(next_messages(self._turns, heard) or ()), self._decoding)

    def hear(self, reply: Response) -> None:
        """Take the answer to :meth:`request`."""
        self._replies.append(reply)

    def response(self) -> Response:
        """Return the whole answer, or the failure that ended it."""
        timing, usage = _sums(self._replies)
        if self._replies and (failure := self._replies[-1].failure) is not None:
            message = f"turn {len(self._replies)}: {failure.message}"
            response = joined(self._replies, timing, usage)
            return structs.replace(response, texts=(), failure=structs.replace(failure, message=message))
        return joined(self._replies, timing, usage)


def joined(replies: Sequence[Response], timing: Timing, usage: Usage) -> Response:
    """Return the first text of each of several replies as one response, with what was thought before each of them."""
    thoughts = tuple(next(iter(reply.thoughts), "") for reply in replies)
    return Response(
        texts=tuple(reply.text for reply in replies),
        finish_reasons=tuple(next(iter(reply.finish_reasons), "") for reply in replies),
        thoughts=thoughts if any(thoughts) else (),
        written=tuple(next(iter(reply.written), reply.text) for reply in replies)
        if any(reply.written for reply in replies)
        else (),
        usage=usage,
        timing=timing,
    )


def _sums(replies: Sequence[Response]) -> tuple[Timing, Usage]:
    started = replies[0].timing.started if replies else 0.0
    return Timing(started, sum(reply.timing.seconds for reply in replies)), sum(
        (reply.usage for reply in replies), Usage()
    )
