"""Time limits that share one timer."""

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests_virtual import VirtualLoop

from proctor.engines.http.transport import Deadlines


def run(coroutine):
    """Run on a virtual clock: no test waits."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


async def timed(deadlines, limit, work):
    """Return how long ``work`` seconds of work lasted, and whether the limit ended them."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        with deadlines.within(limit):
            await asyncio.sleep(work)
    except TimeoutError:
        return loop.time() - began, True
    return loop.time() - began, False


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50), st.integers(0, 50)), min_size=1, max_size=20))
def test_each_task_ends_at_its_own_limit(cases):
    cases = [(limit + 0.5, work, start) for limit, work, start in cases]

    async def all_at_once():
        deadlines = Deadlines()

        async def one(limit, work, start):
            await asyncio.sleep(start)
            return await timed(deadlines, limit, work)

        return await asyncio.gather(*(one(*case) for case in cases))

    for (limit, work, _), (lasted, was_ended) in zip(cases, run(all_at_once()), strict=True):
        assert was_ended == (work > limit)
        assert lasted == pytest.approx(min(limit, work))


def test_a_task_may_have_one_limit_after_the_other():
    async def one_by_one():
        deadlines = Deadlines()
        return [await timed(deadlines, limit, 5) for limit in (10, 1, 10, 2)]

    assert run(one_by_one()) == [(5, False), (1, True), (5, False), (2, True)]


def test_a_task_that_ran_out_of_time_can_go_on():
    async def once_more():
        deadlines = Deadlines()
        await timed(deadlines, 1, 5)
        assert asyncio.current_task().cancelling() == 0
        await asyncio.sleep(1)
        return "went on"

    assert run(once_more()) == "went on"


def test_somebody_elses_wish_to_cancel_counts_more():
    async def both():
        deadlines = Deadlines()
        task = asyncio.create_task(timed(deadlines, 5, 60))
        await asyncio.sleep(1)
        asyncio.get_running_loop().call_later(4, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        return task.cancelled()

    assert run(both())


def test_an_error_of_the_block_is_not_hidden():
    async def fails():
        deadlines = Deadlines()
        with deadlines.within(5):
            await asyncio.sleep(1)
            raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        run(fails())


def test_works_on_a_real_clock_and_leaves_no_timer():
    async def real():
        deadlines = Deadlines()
        found = await timed(deadlines, 0.05, 10)
        deadlines.close()
        return found

    began = time.monotonic()
    assert asyncio.run(real())[1]
    assert time.monotonic() - began < 5
