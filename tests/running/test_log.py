"""The response log: what is filed, what is found, and what is said when it cannot be used."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests_logged import put_many

from proctor.errors import LogError
from proctor.ir import Failure, Response
from proctor.running.log import Key, ResponseLog
from proctor.running.log_file import default_log_path
from proctor.running.log_schema import SCHEMA_VERSION


def key(number: int, repeat: int = 0) -> Key:
    return Key(number.to_bytes(16, "big"), repeat)


def words(text: str) -> Response:
    return Response(texts=(text,))


def failed(reason: str) -> Response:
    return Response(failure=Failure("timeout", reason))


@pytest.fixture
def log(log_place):
    with ResponseLog(log_place) as opened:
        yield opened


@pytest.fixture
def engine(log) -> int:
    return log.engine_number("engine", "an engine", {"model": "m"})


def test_what_was_put_is_found(log, engine):
    put_many(log, engine, [(key(1), words("one")), (key(2), words("two")), (key(2, 1), words("two again"))])
    assert log.get(engine, key(2, 1)) == words("two again")
    assert log.get(engine, key(3)) is None
    assert log.get_many(engine, [key(2), key(1), key(9)]) == {key(2): words("two"), key(1): words("one")}
    assert log.has_many(engine, [key(1), key(1, 1), key(2, 1)]) == {key(1), key(2, 1)}


def test_engines_do_not_share_answers(log, engine):
    other = log.engine_number("other")
    put_many(log, engine, [(key(1), words("one"))])
    assert log.get(other, key(1)) is None
    assert log.engine_number("other") == other != engine == log.engine_number("engine")


def test_the_first_answer_stays(log, engine):
    put_many(log, engine, [(key(1), words("first"))])
    put_many(log, engine, [(key(1), words("second"))])
    assert log.get(engine, key(1)) == words("first")


def test_a_failure_is_no_answer_and_gives_way_to_one(log, engine):
    put_many(log, engine, [(key(1), failed("slow")), (key(2), failed("slow"))])
    assert log.get(engine, key(1)) is None
    assert log.has_many(engine, [key(1)]) == set()
    assert log.has_many(engine, [key(1)], failures=True) == {key(1)}
    put_many(log, engine, [(key(1), failed("slower"))])
    assert log.get_many(engine, [key(1)], failures=True) == {key(1): failed("slower")}
    put_many(log, engine, [(key(1), words("at last"))])
    assert log.get_many(engine, [key(1)], failures=True) == {key(1): words("at last")}
    assert (log.stats().responses, log.stats().failures) == (1, 1)


def test_a_late_failure_does_not_hide_an_answer(log, engine):
    put_many(log, engine, [(key(1), words("answer"))])
    put_many(log, engine, [(key(1), failed("late"))])
    assert log.get_many(engine, [key(1)], failures=True) == {key(1): words("answer")}


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 700), st.integers(0, 2), st.text("ab")), max_size=40), st.integers(0, 3))
def test_it_behaves_like_a_dict_that_keeps_the_first(tmp_path_factory, entries, size):
    expected: dict[Key, Response] = {}
    with ResponseLog(tmp_path_factory.mktemp("log") / "log.db") as log:
        engine = log.engine_number("engine")
        for number, repeat, text in entries:
            put_many(log, engine, [(key(number, repeat), words(text))])
            expected.setdefault(key(number, repeat), words(text))
        everything = [key(number, repeat) for number in range(701) for repeat in range(size)]
        found = log.get_many(engine, everything)
        assert found == {each: expected[each] for each in everything if each in expected}
        assert log.has_many(engine, everything) == found.keys()


def test_it_is_still_there_after_closing(tmp_path):
    with ResponseLog(tmp_path / "log.db") as log:
        put_many(log, log.engine_number("engine"), [(key(1), words("one"))])
    with ResponseLog(tmp_path / "log.db", read_only=True) as log:
        assert log.get(log.engine_number("engine"), key(1)) == words("one")
        assert log.check() == []
        assert log.stats().responses == 1


@pytest.mark.parametrize("named", [False, True])
def test_the_default_is_in_the_user_s_state_and_for_his_eyes(monkeypatch, tmp_path, named):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PROCTOR_CACHE_DIR" if named else "XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "state" if named else tmp_path / "data" / "proctor"
    assert default_log_path() == folder / "log" / "responses.db"
    with ResponseLog() as log:
        assert log.path == default_log_path()
        assert {each.stat().st_mode & 0o777 for each in (folder / "log").iterdir()} == {0o600}
        assert {each.stat().st_mode & 0o777 for each in (folder, folder / "log")} == {0o700}


def test_a_log_in_the_cache_is_moved_once_with_everything_in_it_and_said(monkeypatch, tmp_path, heard):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    old, new = tmp_path / "cache" / "proctor" / "responses.db", tmp_path / "data" / "proctor" / "log" / "responses.db"
    with ResponseLog(old) as log:
        put_many(log, log.engine_number("engine"), [(key(1), words("one"))])
        assert default_log_path() == new  # somebody has it open
        assert old.exists()
    with ResponseLog() as log:
        assert log.path == new
        assert log.get(log.engine_number("engine"), key(1)) == words("one")
    assert not list(old.parent.iterdir())
    assert new.stat().st_mode & 0o777 == 0o600
    assert [each.message for each in heard.records] == [f"{old} was moved to {new}, where exams cannot write"]
    old.write_text("not a log")
    assert default_log_path() == new
    assert old.read_text() == "not a log"


def test_what_is_not_a_log_stays_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    old = tmp_path / "cache" / "proctor" / "responses.db"
    old.parent.mkdir(parents=True)
    old.write_text("not a log")
    assert default_log_path() != old
    assert old.read_text() == "not a log"


def test_threads_share_one_log(log, engine):
    put_many(log, engine, [(key(number), words(str(number))) for number in range(1000)])
    wrong = []

    def look(start: int) -> None:
        numbers = range(start, 1000, 4)
        wrong.extend(number for number in numbers if log.get(engine, key(number)) != words(str(number)))

    threads = [threading.Thread(target=look, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


WRITER = """
import sys
from proctor.ir import Response
from proctor.running.log import Key, ResponseLog
from proctor.running.log_writer import LogWriter
path, me = sys.argv[1], int(sys.argv[2])
with ResponseLog(path) as log:
    engine = log.engine_number("engine")
    with LogWriter(log, engine) as writer:
        for number in range(2000):
            writer.put(Key((number + me * 500).to_bytes(16, "big")), Response(texts=(str(me),)))
"""


def test_processes_write_at_once_into_a_new_log(tmp_path):
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "log.db"), str(me)], stderr=subprocess.PIPE)
        for me in range(4)
    ]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    with ResponseLog(tmp_path / "log.db") as log:
        assert log.stats().responses == 2000 + 3 * 500
        assert log.stats().engines == 1
        assert log.check() == []


def test_a_log_from_a_newer_version_is_left_alone(tmp_path):
    path = tmp_path / "log.db"
    ResponseLog(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(LogError, match="newer Proctor") as caught:
        ResponseLog(path)
    assert "--log PATH" in str(caught.value)
    assert path.read_bytes() == before


def test_another_database_is_left_alone(tmp_path):
    path = tmp_path / "log.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE precious (x)")
    connection.close()
    with pytest.raises(LogError, match="not a response log"):
        ResponseLog(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("precious",)]
    connection.close()


def test_another_file_is_left_alone(tmp_path):
    path = tmp_path / "log.db"
    path.write_text("dear diary, " * 100)
    with pytest.raises(LogError, match="not a SQLite file"):
        ResponseLog(path)
    assert path.read_text() == "dear diary, " * 100


def test_a_missing_log_is_not_made_by_reading(tmp_path):
    with pytest.raises(LogError, match="there is no response log"):
        ResponseLog(tmp_path / "log.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_is_an_error(tmp_path):
    (tmp_path / "log.db").mkdir()
    with pytest.raises(LogError, match="--log PATH"):
        ResponseLog(tmp_path / "log.db")
    (tmp_path / "file").write_text("")
    with pytest.raises(LogError, match="--log PATH"):
        ResponseLog(tmp_path / "file" / "log.db")


def test_a_damaged_log_is_an_error_that_says_what_to_do(tmp_path):
    path = tmp_path / "log.db"
    with ResponseLog(path) as log:
        engine = log.engine_number("engine")
        put_many(log, engine, [(key(number), words("x" * 100)) for number in range(2000)])
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(os.urandom(path.stat().st_size - 8192))
    with pytest.raises(LogError, match="damaged") as caught, ResponseLog(path) as log:
        log.get_many(log.engine_number("engine"), [key(number) for number in range(2000)])
    assert "proctor log verify" in str(caught.value)


def test_a_full_log_keeps_what_it_has(tmp_path):
    with ResponseLog(tmp_path / "log.db") as log:
        engine = log.engine_number("engine")
        put_many(log, engine, [(key(1), words("kept"))])
        pages = log._connection.execute("PRAGMA page_count").fetchone()[0]
        log._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(LogError, match="the disk is full"):
            put_many(log, engine, [(key(number), words("y" * 100)) for number in range(2, 1000)])
        assert log.get(engine, key(1)) == words("kept")
        assert log.get(engine, key(2)) is None
        assert log.check() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_log_is_an_error_that_says_what_to_do(tmp_path):
    path = tmp_path / "log.db"
    ResponseLog(path).close()
    path.chmod(0o400)
    with pytest.raises(LogError, match="may not be written"), ResponseLog(path) as log:
        log.engine_number("engine")


def test_a_copy_of_a_log_in_use_can_be_read(tmp_path):
    path = tmp_path / "log.db"
    with ResponseLog(path) as log:
        engine = log.engine_number("engine")
        put_many(log, engine, [(key(1), words("one"))])
        for name in ("log.db", "log.db-wal"):
            (tmp_path / "copy").mkdir(exist_ok=True)
            shutil.copy(tmp_path / name, tmp_path / "copy" / name)
    with ResponseLog(Path(tmp_path / "copy" / "log.db")) as copy:
        assert copy.get(copy.engine_number("engine"), key(1)) == words("one")
