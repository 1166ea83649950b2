"""Coroutines that Unitxt's programs wait for."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from proctor.errors import UsageError
from proctor.guests.unitxt.coroutines import run_coroutine_synchronously as run


async def plus_one(number: int) -> int:
    await asyncio.sleep(0)
    return number + 1


def test_a_coroutine_is_waited_for_in_every_thread() -> None:
    assert run(plus_one(1)) == 2
    assert asyncio.run(plus_one(1)) == 2
    assert run(plus_one(2)) == 3
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: run(plus_one(3))).result() == 4


def test_what_waits_in_a_loop_may_be_used_by_later_calls() -> None:
    lock = asyncio.Semaphore(1)

    async def guarded(number: int) -> int:
        async with lock:
            return await plus_one(number)

    async def both() -> list[int]:
        return list(await asyncio.gather(guarded(1), guarded(2)))

    assert run(both()) == run(both()) == [2, 3]


def test_where_a_loop_runs_the_error_says_what_to_do() -> None:
    coroutine = plus_one(1)

    async def cell() -> int:
        return run(coroutine)

    with pytest.raises(UsageError, match=r"asyncio\.to_thread[\s\S]*nest_asyncio"):
        asyncio.run(cell())
    assert coroutine.cr_frame is None  # closed, so that Python does not warn of it


def test_a_loop_that_may_run_another_coroutine_does(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nested:
        _nest_patched = True

        def run_until_complete(self, coroutine: object) -> object:
            return coroutine

    monkeypatch.setattr(asyncio, "get_running_loop", Nested)
    assert run("the coroutine") == "the coroutine"  # type: ignore[arg-type, comparison-overlap]
