"""Group commit: what counts is committed, and errors reach whoever writes."""

from __future__ import annotations

import sqlite3
import threading
import time

import pytest

from proctor.errors import LogError
from proctor.ir import Response
from proctor.running import log_writer
from proctor.running.log import Key, ResponseLog
from proctor.running.log_writer import LogWriter


def key(number: int) -> Key:
    return Key(number.to_bytes(16, "big"))


@pytest.fixture
def log(tmp_path):
    with ResponseLog(tmp_path / "log.db") as opened:
        yield opened


def test_a_flushed_answer_is_in_the_log_and_no_longer_held(log):
    engine = log.engine_number("engine")
    with LogWriter(log, engine) as writer:
        for number in range(100):
            writer.put(key(number), Response(texts=(str(number),)))
        writer.flush()
        assert not any(writer.holds(key(number)) for number in range(100))
        assert log.get(engine, key(99)) == Response(texts=("99",))


def test_an_answer_is_committed_without_being_asked_to(log):
    engine = log.engine_number("engine")
    with LogWriter(log, engine) as writer:
        writer.put(key(1), Response(texts=("one",)))
        until = time.monotonic() + 10
        while writer.holds(key(1)) and time.monotonic() < until:
            time.sleep(0.001)
        assert log.get(engine, key(1)) == Response(texts=("one",))


def test_closing_commits_the_rest(log):
    engine = log.engine_number("engine")
    with LogWriter(log, engine) as writer:
        for number in range(5000):
            writer.put(key(number), Response(texts=(str(number),)))
    assert log.stats().responses == 5000


def test_closing_after_an_error_of_somebody_else_commits_the_rest(log):
    engine = log.engine_number("engine")

    def write_and_stumble():
        with LogWriter(log, engine) as writer:
            writer.put(key(1), Response(texts=("one",)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_stumble()
    assert log.stats().responses == 1


def test_a_held_answer_is_known_before_it_is_committed(log, monkeypatch):
    gate = threading.Event()
    original = log_writer.write

    def slow_write(*arguments):
        gate.wait(10)
        original(*arguments)

    monkeypatch.setattr(log_writer, "write", slow_write)
    engine = log.engine_number("engine")
    with LogWriter(log, engine) as writer:
        writer.put(key(1), Response(texts=("one",)))
        assert writer.holds(key(1))
        assert log.get(engine, key(1)) is None
        gate.set()


def fail_from(monkeypatch, first: int, last: int = 10**9) -> None:
    """Let commits number ``first`` to ``last`` meet a full disk."""
    original, calls = log_writer.write, iter(range(1, 10**9))

    def failing_write(*arguments):
        if first <= next(calls) <= last:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        original(*arguments)

    monkeypatch.setattr(log_writer, "write", failing_write)


def put_many(writer: LogWriter, numbers: range) -> None:
    for number in numbers:
        writer.put(key(number), Response(texts=("more",)))


def test_a_full_disk_reaches_the_writer_and_says_how_much_was_not_stored(log, monkeypatch):
    fail_from(monkeypatch, 2)
    writer = LogWriter(log, log.engine_number("engine"))
    writer.put(key(1), Response(texts=("one",)))
    writer.flush()
    with pytest.raises(LogError, match="disk is full"):
        put_many(writer, range(2, 10**6))
    with pytest.raises(LogError, match=r"\d+ answers could not be stored") as caught:
        writer.close()
    assert "free some space" in str(caught.value)
    assert log.stats().responses == 1


def test_what_failed_once_is_tried_again_at_the_end(log, monkeypatch):
    fail_from(monkeypatch, 1, 1)
    writer = LogWriter(log, log.engine_number("engine"))
    writer.put(key(1), Response(texts=("one",)))
    with pytest.raises(LogError, match="disk is full"):
        writer.flush()
    writer.close()
    assert log.stats().responses == 1


def test_a_writer_that_is_ahead_of_the_disk_waits(log, monkeypatch):
    monkeypatch.setattr(log_writer, "_MOST_WAITING", 10)
    most = []
    with LogWriter(log, log.engine_number("engine")) as writer:
        for number in range(500):
            writer.put(key(number), Response(texts=("x",)))
            most.append(len(writer._waiting))
    assert max(most) <= 10
    assert log.stats().responses == 500
