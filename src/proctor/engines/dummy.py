"""An engine without a model: every request is answered at once, the same way each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Annotated, ClassVar

from proctor.artifacts import NON_POSITIONAL
from proctor.engines.engine import Engine
from proctor.ir import Answers, Generate, Pair, Prompt, Response, Rolling, Score, Scored, Usage

_DIGITS = 8  # bytes of a digest: more than the 53 bits that a float keeps of them


class DummyEngine(Engine):
    """Says the same to everything; the likelihood of a continuation is a number that derives from the text.

    For looking at an exam from end to end before a model is there. lm-eval's model of this name draws its likelihoods
    at random; these are the same in every run.

    Attributes:
        answer: What it says.
        model: What tables call the engine.
    """

    can_score: ClassVar[bool] = True

    answer: str = "lol"
    model: Annotated[str, NON_POSITIONAL] = "dummy"

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, in order."""
        hear = self.hearing()
        for position, request in enumerate(requests):
            count = request.decoding.count
            usage = Usage(len(request.prompt.text.split()), count * len(self.answer.split()))
            texts = (self.answer,) * count
            found = Response(texts=texts, finish_reasons=("stop",) * count, usage=usage)
            yield position, hear(found, request.prompt)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Score continuations, in order."""
        for position, request in enumerate(requests):
            yield position, Response(scores=tuple(_scored(request)))


def _scored(request: Score) -> Iterator[Scored]:
    pairs = (Pair(Prompt(""), request.text),) if isinstance(request, Rolling) else request.pairs
    for pair in pairs:
        digest = blake2b(f"{pair.context.text}\x00{pair.continuation}".encode(), digest_size=_DIGITS).digest()
        likelihood = -int.from_bytes(digest, "big") / 2 ** (8 * _DIGITS)
        yield Scored(likelihood, token_count=max(1, len(pair.continuation.split())))
