"""Evaluations that ask a model in the middle, run so that what all of them wait for is asked at once.

Evaluators of other packages are coroutines that send one question, read the answer, and may send another. One after
the other they would ask a model one question at a time. Here each runs until it waits for an answer; when all do, their
questions are one round.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")


class ConcurrentEvaluations(Generic[Q, A]):
    """Runs evaluations side by side, and asks their questions together.

    Args:
        ask: Answers the questions of a round, each; what it raises ends all evaluations.
    """

    def __init__(self, ask: Callable[[Sequence[Q]], Sequence[A]]) -> None:
        self._ask = ask
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._running = 0
        self._all_wait: asyncio.Event | None = None

    async def answer(self, question: Q) -> A:
        """Return the answer to a question of an evaluation that :meth:`run` runs."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        self._look()
        return await future

    def run(self, evaluations: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T | Exception]:
        """Return what each evaluation returns, or the exception that ended it."""
        loop = asyncio.new_event_loop()
        tasks = [loop.create_task(each()) for each in evaluations]
        self._running = len(tasks)
        for task in tasks:
            task.add_done_callback(self._done)
        try:
            while self._running:
                _turn(loop, self._until_all_wait())
                round_, self._waiting = self._waiting, []
                for (_, future), said in zip(round_, self._ask([each for each, _ in round_]), strict=True):
                    future.set_result(said)
        finally:
            for task in tasks:
                task.cancel()  # of those that are done nothing changes
            _turn(loop, asyncio.wait(tasks) if tasks else asyncio.sleep(0))
            loop.close()
        return [task.exception() or task.result() for task in tasks]  # type: ignore[misc]  # never BaseException alone

    async def _until_all_wait(self) -> None:
        self._all_wait = asyncio.Event()
        self._look()
        await self._all_wait.wait()

    def _done(self, task: asyncio.Task[Any]) -> None:
        del task
        self._running -= 1
        self._look()

    def _look(self) -> None:
        if self._all_wait is not None and len(self._waiting) == self._running:
            self._all_wait.set()


def _turn(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any]) -> None:
    """Run a loop until some work is done: in a thread where this one runs a loop of its own, as notebooks do."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        loop.run_until_complete(work)
        return
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(loop.run_until_complete, work).result()
