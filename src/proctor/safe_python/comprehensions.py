"""The loops of comprehensions: a frame for the names that they bind, and one round after another."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from proctor.safe_python.containers import each_of
from proctor.safe_python.scope import Frame

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

Clause = tuple[Callable[[Frame], Any] | None, Callable[[Frame, Any], None], Sequence[Callable[[Frame], Any]]]
"""What is gone through (``None`` in the first clause), what binds an item, and the conditions."""


class Loops:
    """The clauses of a comprehension.

    Attributes:
        first: The code of the first iterable; it runs at once, in the scope around, as in Python.
    """

    __slots__ = ("_clauses", "_entering", "_weight", "first")

    def __init__(
        self, first: Callable[[Frame], Any], clauses: Sequence[Clause], entering: Callable[[Frame], Frame], weight: int
    ) -> None:
        self.first = first
        self._clauses = clauses
        self._entering = entering
        self._weight = weight

    def run(self, frame: Frame, first: Any) -> Iterator[Frame]:
        """Yield the frame of the comprehension, its names bound, once for each element."""
        inner = self._entering(frame)
        if len(self._clauses) > 1:
            yield from self._rounds(inner, each_of(first, frame.budget), 0)
            return
        _, bind, tests = self._clauses[0]
        budget, weight = frame.budget, self._weight
        for item in each_of(first, budget):
            budget.steps -= weight
            if budget.steps < 0:
                budget.refill()
            bind(inner, item)
            for test in tests:
                if not test(inner):
                    break
            else:
                yield inner

    def _rounds(self, inner: Frame, items: Iterator[Any], level: int) -> Iterator[Frame]:
        _, bind, tests = self._clauses[level]
        budget, weight = inner.budget, self._weight
        following = self._clauses[level + 1][0] if level + 1 < len(self._clauses) else None
        for item in items:
            budget.spend(weight)
            bind(inner, item)
            if not all(test(inner) for test in tests):
                continue
            if following is None:
                yield inner
            else:
                yield from self._rounds(inner, each_of(following(inner), budget), level + 1)


def targets_of(node: Comprehension) -> frozenset[str]:
    """Return the names that a comprehension binds."""
    return frozenset(
        each.id
        for clause in node.generators
        for each in ast.walk(clause.target)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )
