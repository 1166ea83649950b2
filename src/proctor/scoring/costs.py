"""Costs of single answers: said by whoever knows prices, and asked by whoever scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from proctor.ir import Response

CostOf = Callable[[Sequence[Response]], float | None]
"""From the responses behind an answer to US dollars; ``None`` where nobody knows."""
cost_of: ContextVar[CostOf] = ContextVar("cost_of", default=lambda _: None)


@contextmanager
def reckoned_by(function: CostOf) -> Iterator[None]:
    """Let a function tell what answers cost within a block."""
    token = cost_of.set(function)
    try:
        yield
    finally:
        cost_of.reset(token)
