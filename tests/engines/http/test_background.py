"""The bridge between lazily read requests and an event loop in a thread."""

import asyncio
import threading
import time
from contextlib import asynccontextmanager
from queue import SimpleQueue

import pytest

from proctor.engines.http.background import APART, _Crew, answer_in_background
from proctor.ir import Response


def opening_of(answer, log=None):
    @asynccontextmanager
    async def opening():
        if log is not None:
            log.append("open")
        try:
            yield answer
        finally:
            if log is not None:
                log.append("close")

    return opening


async def echo(request):
    await asyncio.sleep(0)
    return Response(texts=(str(request),))


@pytest.fixture
def apart():
    before = APART.set(True)
    yield
    APART.reset(before)


def engine_threads():
    return [thread for thread in threading.enumerate() if thread.name == "proctor-engine"]


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
@pytest.mark.parametrize("concurrency", [1, 3, 64])
def test_every_request_is_answered_once(count, concurrency):
    answers = list(answer_in_background(range(count), opening_of(echo), concurrency))
    assert dict(answers) == {n: Response(texts=(str(n),)) for n in range(count)}
    assert len(answers) == count


def test_requests_are_read_only_as_fast_as_answers_are_taken():
    read = 0

    def requests():
        nonlocal read
        for number in range(10_000):
            read += 1
            yield number

    answers = answer_in_background(requests(), opening_of(echo), 4)
    for taken in range(1, 200):
        next(answers)
        assert read <= taken + 2 * 4 + 256  # what is asked now and next, and the stock
    answers.close()


def test_so_many_are_in_flight_and_no_more():
    busy = most = 0

    async def answer(request):
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.001)
        busy -= 1
        return Response()

    list(answer_in_background(range(200), opening_of(answer), 8))
    assert most == 8


def test_answers_come_while_requests_are_slow_to_read():
    def requests():
        for number in range(3):
            time.sleep(0.15)
            yield number

    began = time.monotonic()
    next(answer_in_background(requests(), opening_of(echo), 4))
    assert time.monotonic() - began < 0.42


def test_an_error_while_reading_requests_reaches_the_caller_and_ends_the_thread():
    def requests():
        yield 1
        raise KeyError("broken exam")

    log = []
    with pytest.raises(KeyError, match="broken exam"):
        list(answer_in_background(requests(), opening_of(echo, log), 4))
    assert log == ["open", "close"]
    assert not engine_threads()


def test_an_error_while_answering_reaches_the_caller():
    async def answer(request):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(answer_in_background(range(5), opening_of(answer), 2))
    assert not engine_threads()


def test_an_error_while_opening_reaches_the_caller():
    @asynccontextmanager
    async def opening():
        raise OSError("no sockets left")
        yield

    with pytest.raises(OSError, match="no sockets left"):
        list(answer_in_background(range(5), opening, 2))


def test_leaving_early_cancels_what_is_in_flight_and_closes_connections():
    log, cancelled = [], []

    async def answer(request):
        if request == 0:
            return Response()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(request)
            raise
        return Response()

    answers = answer_in_background(range(100), opening_of(answer, log), 4)
    next(answers)
    answers.close()
    assert cancelled
    assert log == ["open", "close"]
    assert not engine_threads()


def test_works_inside_a_running_event_loop():
    async def notebook():
        return dict(answer_in_background(range(20), opening_of(echo), 4))

    assert len(asyncio.run(notebook())) == 20


def test_works_in_several_threads_at_once():
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(len(list(answer_in_background(range(50), opening_of(echo), 4)))))
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [50] * 5


def test_an_answer_does_not_linger_while_requests_are_slow_to_answer():
    async def answer(request):
        await asyncio.sleep(0.02 if request == 0 else 60)
        return Response()

    answers = answer_in_background(range(1000), opening_of(answer), 4)
    began = time.monotonic()
    assert next(answers)[0] == 0
    assert time.monotonic() - began < 5
    answers.close()


def test_the_caller_wakes_for_many_answers_at_once(monkeypatch):
    batches = []
    take = _Crew.outcomes
    monkeypatch.setattr(_Crew, "outcomes", lambda crew: batches.append(found := take(crew)) or found)
    assert len(list(answer_in_background(range(5000), opening_of(echo), 32))) == 5000
    assert len(batches) < 1000


def test_requests_that_come_late_keep_no_answer_waiting(apart):
    """The second request is not there before the first one is answered."""
    answered: SimpleQueue[int] = SimpleQueue()

    def requests():
        yield 0
        for number in range(1, 5):
            answered.get(timeout=10)
            yield number

    found = []
    for position, response in answer_in_background(requests(), opening_of(echo), 2):
        found.append((position, response.texts))
        answered.put(position)
    assert found == [(number, (str(number),)) for number in range(5)]


def test_what_goes_wrong_where_requests_are_read_apart_is_raised(apart):
    def requests():
        yield 0
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(answer_in_background(requests(), opening_of(echo), 2))


def test_it_is_raised_where_reading_ends_after_the_last_answer_was_taken(apart):
    taken = threading.Event()

    def requests():
        yield 0
        taken.wait()
        raise ValueError("no more")

    answers = answer_in_background(requests(), opening_of(echo), 2)
    next(answers)
    taken.set()
    while any(thread.name == "proctor-requests" for thread in threading.enumerate()):
        time.sleep(0.001)
    with pytest.raises(ValueError, match="no more"):
        next(answers)
