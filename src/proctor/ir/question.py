"""The requests for one instance, and their responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from proctor.ir.exchange import Exchange
from proctor.ir.requests import Request
from proctor.ir.responses import Failure, Response


class Ask(Struct, frozen=True, gc=False):
    """One time that an instance is asked about.

    Attributes:
        place: Position among all rows of the exam, copies of a row included.
        number: Position of the instance; copies of one row share it.
        repeat: How often the same instance stands before this place.
        listed: Under which number samples list it: the instance's, or the how-many-eth it is where rows are copied.
    """

    place: int
    number: int
    repeat: int
    listed: int


class Question(Struct, frozen=True, gc=False):
    """One instance, ready to ask.

    Attributes:
        number: Under which samples list it; stable between runs.
        instance: ``input_fields`` and ``reference_fields`` flattened, with ``metadata``; or the row of the dialect.
        exchange: The instance in words.
        requests: What is asked about it; nearly always one request, none where :attr:`failure` says why.
        processors: What turns the answers into predictions, where instances differ in it: names or artifacts.
        labels: What is compared, in the order of the requests; empty for free answers.
        failure: Why the row cannot be asked about; it is then a failed instance of the results.
        digest: Digest of the row's content, before it was put in words; the core fills it in.
    """

    number: int
    instance: Mapping[str, Any]
    exchange: Exchange
    requests: tuple[Request, ...]
    processors: Sequence[Any] = ()
    labels: tuple[Any, ...] = ()
    failure: Failure | None = None
    digest: str = ""


class Answered(Struct, frozen=True, gc=False):
    """A question with its responses, in the order of its requests."""

    question: Question
    responses: Sequence[Response]

    @property
    def failure(self) -> Failure | None:
        """The reason why there is nothing to grade: the row's failure, else the first response's."""
        if self.question.failure is not None:
            return self.question.failure
        for response in self.responses:
            if response.failure is not None:
                return response.failure
        return None


class AnsweredBlocks:
    """Questions with their responses, to be read once: one by one, or some at a time, which costs less.

    Attributes:
        blocks: The same, some at a time.
    """

    def __init__(self, blocks: Iterable[Sequence[Answered]]) -> None:
        self.blocks = iter(blocks)

    def __iter__(self) -> Iterator[Answered]:
        """Yield them one by one."""
        return chain.from_iterable(self.blocks)
