"""What single answers cost: said by whoever knows prices, and asked by whoever scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from proctor.ir import Response

_reckoned: ContextVar[Callable[[Sequence[Response]], float | None] | None] = ContextVar("reckoned", default=None)


@contextmanager
def reckoned_by(reckon: Callable[[Sequence[Response]], float | None]) -> Iterator[None]:
    """Let a function tell what answers cost, in US dollars, within a block; ``None`` where it does not know."""
    token = _reckoned.set(reckon)
    try:
        yield
    finally:
        _reckoned.reset(token)


def cost_of_answer(responses: Sequence[Response]) -> float | None:
    """Return what the responses behind an answer cost in US dollars; ``None`` where nobody knows."""
    reckon = _reckoned.get()
    return None if reckon is None or not responses else reckon(responses)
