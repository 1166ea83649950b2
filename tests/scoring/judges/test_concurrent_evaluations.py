"""Evaluations that ask in the middle ask together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

import pytest

from proctor.errors import EngineError
from proctor.scoring.judges.llama_index import ConcurrentEvaluations


class Asked:
    """Answers a question with itself in capitals, and keeps the rounds."""

    def __init__(self) -> None:
        self.rounds: list[list[str]] = []

    def __call__(self, questions: Sequence[str]) -> list[str]:
        self.rounds.append(list(questions))
        return [each.upper() for each in questions]


def evaluations(rounds: ConcurrentEvaluations[str, str]) -> list[Callable[[], Coroutine[Any, Any, str]]]:
    async def asks(times: int, name: str) -> str:
        said = name
        for _ in range(times):
            await asyncio.sleep(0)
            said += await rounds.answer(said)
        return said

    return [partial(asks, times, name) for times, name in ((1, "a"), (0, "b"), (2, "c"))]


def test_what_all_wait_for_is_asked_at_once() -> None:
    asked = Asked()
    rounds = ConcurrentEvaluations(asked)
    assert rounds.run(evaluations(rounds)) == ["aA", "b", "cCCC"]
    assert [each for each in asked.rounds if each] == [["a", "c"], ["cC"]]


def test_nothing_to_evaluate_asks_nothing() -> None:
    asked = Asked()
    assert ConcurrentEvaluations(asked).run([]) == []
    assert asked.rounds == []


def test_an_evaluation_that_fails_is_a_value_and_the_others_go_on() -> None:
    rounds = ConcurrentEvaluations(Asked())

    async def fails() -> str:
        raise ValueError(await rounds.answer("why"))

    found = rounds.run([fails, *evaluations(rounds)])
    assert isinstance(found[0], ValueError)
    assert str(found[0]) == "WHY"
    assert found[1:] == ["aA", "b", "cCCC"]


def test_whoever_cannot_ask_ends_all() -> None:
    def broken(questions: Sequence[str]) -> list[str]:
        raise EngineError(f"no answer to {len(questions)}")

    rounds = ConcurrentEvaluations(broken)
    with pytest.raises(EngineError, match="no answer to 2"):
        rounds.run(evaluations(rounds))


def test_a_notebook_runs_a_loop_already() -> None:
    rounds = ConcurrentEvaluations(Asked())

    async def cell() -> list[Any]:
        return rounds.run(evaluations(rounds))

    assert asyncio.run(cell()) == ["aA", "b", "cCCC"]
