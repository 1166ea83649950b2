"""The seam between whatever asks (a run, a judge, a program) and models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol, TypeVar, runtime_checkable

from proctor.ir.requests import Generate, Score
from proctor.ir.responses import Failure, Response

_T = TypeVar("_T")
Answers = Iterator[tuple[int, Response]]
"""Position of a request in what was passed in, and its response; in the order in which answers arrive."""


@runtime_checkable
class Answerer(Protocol):
    """Whatever answers requests: at most these two methods."""

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests."""

    def score(self, requests: Iterable[Score]) -> Answers:
        """Answer requests for log-likelihoods."""


class KnownAnswerer(Answerer, Protocol):
    """An answerer that says who it is: what those need of an engine who are not engines themselves (judges)."""

    @property
    def label(self) -> str:
        """The answerer's name for people."""

    @property
    def policy(self) -> list[str] | None:
        """The classes of data that it may see; ``None`` where all."""

    @property
    def top_tokens(self) -> int:
        """The number of alternatives to a token, where log-probabilities are wanted."""

    def answering(self) -> KnownAnswerer:
        """Return the answerer: itself, or the one that the user put in its place."""

    def about(self, response: Response) -> Mapping[str, Any]:
        """Return facts about an answer: tokens, finish reason, model."""


def in_windows(requests: Iterable[_T], size: int) -> Iterator[tuple[int, list[_T]]]:
    """Cut a stream into lists, each with the position of its first request; reads no further than asked."""
    stream, start = iter(requests), 0
    while window := list(islice(stream, size)):
        yield start, window
        start += len(window)


def in_order(answers: Iterable[tuple[int, Response]], count: int) -> list[Response]:
    """Return ``count`` responses in the order of their requests; a failure for each request without an answer."""
    found = dict(answers)
    missing = Response(failure=Failure("engine", "the engine ended without answering this request"))
    return [found.get(position, missing) for position in range(count)]
