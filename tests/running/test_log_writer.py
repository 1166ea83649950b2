"""Group commit: what counts is committed, and errors reach whoever writes."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

import pytest

from proctor.errors import LogError
from proctor.ir import Response
from proctor.running import log_file, log_writer
from proctor.running.log import Key, ResponseLog
from proctor.running.log_schema import transaction as log_transaction
from proctor.running.log_writer import LogWriter


def key(number: int) -> Key:
    return Key(number.to_bytes(16, "big"))


@pytest.fixture
def log(log_place):
    with ResponseLog(log_place) as opened:
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


def test_whoever_waits_for_many_answers_does_not_wait_for_more_to_gather(log, monkeypatch):
    monkeypatch.setattr(log_writer, "_SPACING_OF_MANY_SECONDS", 3600)
    with LogWriter(log, log.engine_number("engine")) as writer:
        for start in range(0, 400, 100):
            for number in range(start, start + 100):
                writer.put(key(number), Response(texts=("a",)))
            writer.flush()
            assert not any(writer.holds(key(number)) for number in range(start + 100))


def test_many_answers_gather_and_few_do_not(log, monkeypatch):
    rests: list[int] = []
    rested = LogWriter._rest
    monkeypatch.setattr(LogWriter, "_rest", lambda self, count: (rests.append(count), rested(self, count)))
    monkeypatch.setattr(log_writer, "_COMMIT_SPACING_SECONDS", 0.0)
    monkeypatch.setattr(log_writer, "_SPACING_OF_MANY_SECONDS", 3600)
    engine = log.engine_number("engine")
    with LogWriter(log, engine) as writer:
        for number in range(3):  # each by itself: one that is committed lets the next one in
            writer.put(key(number), Response(texts=("a",)))
            wait_until(lambda number=number: log.get(engine, key(number)) is not None)
        with writer._lock:  # the writer sees all of these at once
            for number in range(100, 200):
                writer.put(key(number), Response(texts=("a",)))
        wait_until(lambda: log.get(engine, key(199)) is not None)
        writer.put(key(300), Response(texts=("a",)))
        wait_until(lambda: rests and rests[-1] >= 100)
        time.sleep(0.05)
        assert writer.holds(key(300))
    assert rests == [1, 1, 1, 100]
    assert log.get(engine, key(300)) is not None


def wait_until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


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

    def slow_write(*arguments, **named):
        gate.wait(10)
        original(*arguments, **named)

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

    def failing_write(*arguments, **named):
        if first <= next(calls) <= last:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        original(*arguments, **named)

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


class TestALongJournal:
    LIMIT = 200_000

    @pytest.fixture
    def log(self, tmp_path):
        with ResponseLog(tmp_path / "log.db") as opened:
            yield opened

    @pytest.fixture(autouse=True)
    def _short(self, monkeypatch):
        monkeypatch.setattr(log_file, "_JOURNAL_BYTES", self.LIMIT)

    @staticmethod
    def fill(log, engine, numbers):
        with LogWriter(log, engine) as writer:
            for number in numbers:
                writer.put(key(number), Response(texts=("x" * 500,)))
                if number % 50 == 0:
                    writer.flush()

    @staticmethod
    def journal_bytes(log):
        return Path(f"{log.path}-wal").stat().st_size

    def test_is_moved_into_the_file_while_others_write(self, log):
        other = log.connect()
        other.execute("PRAGMA wal_autocheckpoint = 0")
        sizes = []
        engine = log.engine_number("engine")
        for part in range(20):
            self.fill(log, engine, range(part * 100, part * 100 + 100))
            with log_transaction(other):
                other.execute("UPDATE engines SET label = ?", (str(part),))
            sizes.append(self.journal_bytes(log))
        other.close()
        assert max(sizes) < 2 * self.LIMIT
        assert log.stats().responses == 2000

    def test_waits_for_readers_no_longer_than_a_moment(self, log):
        engine = log.engine_number("engine")
        self.fill(log, engine, range(10))
        reader = log.connect()
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM responses").fetchone()
        began = time.monotonic()
        self.fill(log, engine, range(10, 1000))
        assert time.monotonic() - began < 20
        assert self.journal_bytes(log) > self.LIMIT
        reader.execute("ROLLBACK")
        reader.close()
        self.fill(log, engine, range(1000, 1100))
        assert self.journal_bytes(log) < self.LIMIT
        assert log.stats().responses == 1100
