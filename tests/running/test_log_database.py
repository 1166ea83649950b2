"""A log in a PostgreSQL database: what it says when it cannot be used, what it survives, and that passwords stay here."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import tests_warm
from running_fakes import ToyEngine, ToyExam, question
from tests_cable import Cable
from tests_logged import put_many
from tests_postgres import PASSWORD, USER

from proctor.errors import LogError, UsageError
from proctor.ir import Response
from proctor.logs import get_logger
from proctor.running import log_database, run_exams
from proctor.running.claims import Claims
from proctor.running.log import Key, ResponseLog
from proctor.running.log_place import LogAddress
from proctor.running.log_writer import LogWriter
from proctor.running.maintenance import merge
from proctor.testing.server import FaultServer


def key(number: int) -> Key:
    return Key(number.to_bytes(16, "big"))


@pytest.fixture
def said(monkeypatch, caplog):
    monkeypatch.setattr(get_logger(), "propagate", True)
    caplog.set_level(logging.WARNING)
    return caplog


def test_it_is_shown_and_told_without_its_password():
    found = LogAddress(
        "postgresql://me:a%20long%20password@host:5433/exams?sslmode=require&sslpassword=another-long-one"
    )
    assert found == "postgresql://host:5433/exams?user=me&sslmode=require"
    assert found.target == "host:5433"
    assert LogAddress("postgres://host/exams").target == "host:5432"
    assert LogAddress("postgresql:///exams?host=/run/postgresql") == "postgresql:///exams?host=/run/postgresql"
    assert LogAddress("postgresql://[::1]:7/exams").target == "::1:7"


@pytest.mark.parametrize("address", ["postgresql://host", "postgresql://me:secret@host:port/exams"])
def test_an_address_that_cannot_be_one_is_refused(address):
    with pytest.raises(UsageError, match="--log: ") as refused:
        ResponseLog(address)
    assert "secret" not in str(refused.value)
    with pytest.raises(UsageError, match="is a text"):
        ResponseLog(Path("postgresql://me@host/exams"))


def test_what_cannot_be_reached_is_said_with_what_to_do(postgres):
    with pytest.raises(LogError, match="cannot be used") as refused:
        ResponseLog(postgres.of("postgres").replace(PASSWORD, "another-password"))
    assert "PGPASSWORD" in str(refused.value)
    assert "another-password" not in str(refused.value)
    with pytest.raises(LogError, match="does not exist"):
        ResponseLog(postgres.of("nowhere"))
    with pytest.raises(LogError, match="there is no response log in postgresql://127"):
        ResponseLog(postgres.address(), read_only=True)


@pytest.mark.parametrize("version, words", [(99, "pip install -U proctor"), (1, "start another log")])
def test_a_log_of_another_version_is_refused_with_what_to_do(postgres, version, words):
    place = postgres.address()
    with ResponseLog(place) as log:
        log._connection.execute("UPDATE about SET version = ?", (version,))
    with pytest.raises(LogError, match=f"version {version}") as refused:
        ResponseLog(place)
    assert words in str(refused.value)


def test_many_open_a_new_database_at_once(postgres):
    place, numbers = postgres.address(), []

    def use() -> None:
        with ResponseLog(place) as log:
            numbers.append(log.engine_number("e"))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(numbers) == 8
    assert len(set(numbers)) == 1


def test_answers_go_from_a_file_to_a_database_and_back(postgres, tmp_path):
    with ResponseLog(tmp_path / "log.db") as file, ResponseLog(postgres.address()) as database:
        put_many(file, file.engine_number("e", "m", {"model": "m"}), [(key(1), Response(("one",)))])
        assert merge(database, file).new == 1
        put_many(database, database.engine_number("e"), [(key(2), Response(("two",)))])
        assert (merge(file, database).new, merge(file, database).known) == (1, 2)
        assert file.get(file.engine_number("e"), key(2)) == Response(("two",))


def test_a_writer_waits_while_the_database_is_away_and_says_so(postgres, said):
    with ResponseLog(postgres.address()) as log:
        engine = log.engine_number("e")
        with Claims(log, engine).held() as claims, LogWriter(log, engine, claimed=True) as writer:
            for number in range(40):
                assert claims.granted([key(number)]) == {key(number)}
                writer.put(key(number), Response((str(number),)))
                if number == 20:
                    postgres.stop("immediate")
                    threading.Timer(1.0, postgres.start).start()
        assert len(log.has_many(engine, [key(number) for number in range(40)])) == 40
        assert log._connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    text = [each.getMessage() for each in said.records]
    assert [len([each for each in text if word in each]) for word in ("waiting for it", "reached again")] == [1, 1]
    assert PASSWORD not in said.text


def test_a_database_that_stays_away_ends_the_run_and_says_how_much_is_lost(postgres, monkeypatch):
    monkeypatch.setattr(log_database, "PATIENCE_SECONDS", 0.5)
    with ResponseLog(postgres.address()) as log:
        writer = LogWriter(log, log.engine_number("e"))
        postgres.stop("fast")
        try:
            writer.put(key(1), Response(("one",)))
            with pytest.raises(LogError, match="1 answers could not be stored: the response log postgresql://"):
                writer.close()
        finally:
            postgres.start()


def test_leases_hold_for_a_while_after_a_database_was_away(postgres):
    with ResponseLog(postgres.address()) as log:
        engine = log.engine_number("e")
        with Claims(log, engine).held() as one, Claims(log, engine).held() as other:
            one.granted([key(1)])
            postgres.stop("fast")
            postgres.start()
            log._connection.execute(f"UPDATE processes SET until = {log.store.now} - 300")
            assert other.granted([key(1)]) == set()


def test_times_are_those_of_the_database(postgres, monkeypatch):
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 600)
    with ResponseLog(postgres.address()) as log:
        assert abs(log.clock() - real()) < 5


COUNT = 60


def started(folder: Path, *more: str, **variables: str) -> subprocess.Popen[str]:
    rows = [json.dumps({"question": f"{number}?", "answer": "yes"}) for number in range(COUNT)]
    (folder / "q.jsonl").write_text("\n".join(rows))
    call = [sys.executable, "-m", "proctor", "run", "q.jsonl", "--model", "openai", *more]
    environment = {**os.environ, **variables}
    return subprocess.Popen(
        call, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def arguments(server: FaultServer) -> list[str]:
    return ["--model-args", f"model=m,base_url={server.url},max_concurrency=4"]


def test_processes_divide_an_exam_behind_the_wall_while_the_database_is_restarted(postgres, tmp_path):
    """One names the log with its password, one by the environment, one leaves the password to libpq."""
    place, public = postgres.address(), None
    public = place.replace(f":{PASSWORD}", "")
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.3) as server:
        three = [
            started(tmp_path, "--log", place, "--output", "a", *arguments(server)),
            started(tmp_path, "--output", "b", *arguments(server), PROCTOR_LOG=place),
            started(tmp_path, "--log", public, "--output", "c", *arguments(server), PGPASSWORD=PASSWORD),
        ]
        end = time.monotonic() + 60
        while server.statistics()["requests"] < 16 and time.monotonic() < end:
            time.sleep(0.02)
        postgres.stop("immediate")
        time.sleep(0.5)
        postgres.start()
        said = ["".join(each.communicate(timeout=120)) for each in three]
        assert [each.returncode for each in three] == [0, 0, 0], said
        assert server.statistics()["requests"] == COUNT
    assert "can be reached again" in "".join(said)
    assert len({(tmp_path / name / "samples.jsonl").read_bytes() for name in "abc"}) == 1
    written = [each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()]
    assert not [each for each in (*written, *(text.encode() for text in said)) if PASSWORD.encode() in each]
    log = json.loads((tmp_path / "a" / "results.json").read_text())["run"]["log"]
    assert log == public.replace(f"{USER}@", "") + f"?user={USER}"


def test_a_network_that_parts_processes_and_database_costs_no_question(postgres, tmp_path):
    """One is cut off without a word while the other goes on; then both find every connection reset, for seconds."""
    with (
        FaultServer(answer=lambda *_: "yes", latency_seconds=0.3) as server,
        Cable(postgres.port) as one,
        Cable(postgres.port) as other,
    ):
        place = postgres.address()
        both = [
            started(
                tmp_path,
                *("--log", place.replace(f":{postgres.port}/", f":{cable.port}/")),
                *("--output", name, *arguments(server)),
            )
            for name, cable in (("a", one), ("b", other))
        ]
        end = time.monotonic() + 60
        while server.statistics()["requests"] < 16 and time.monotonic() < end:
            time.sleep(0.02)
        one.cut(silently=True)
        time.sleep(0.6)
        one.mend()
        for each in (one, other):
            each.cut(silently=False)
        time.sleep(0.6)
        for each in (one, other):
            each.mend()
        said = ["".join(each.communicate(timeout=120)) for each in both]
        assert [each.returncode for each in both] == [0, 0], said
        assert server.statistics()["requests"] == COUNT
    assert "can be reached again" in "".join(said)
    assert (tmp_path / "a" / "samples.jsonl").read_bytes() == (tmp_path / "b" / "samples.jsonl").read_bytes()


def proctor(folder: Path, *words: str, code: int = 0) -> str:
    done = tests_warm.python("-m", "proctor", *words, cwd=folder, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_every_command_that_takes_a_log_takes_an_address(postgres, tmp_path):
    place = postgres.address()
    with FaultServer(answer=lambda *_: "yes") as server:
        run = ["--model", "openai", *arguments(server), "--log", place]
        rows = [json.dumps({"question": f"{number}?", "answer": "yes"}) for number in range(30)]
        (tmp_path / "q.jsonl").write_text("\n".join(rows))
        assert "exact_match = 1" in proctor(tmp_path, "run", "q.jsonl", *run, "--output", "a")
        assert "in the log" in proctor(tmp_path, "plan", "q.jsonl", *run)
        proctor(tmp_path, "gate", "q.jsonl", *run, "--at-least", "0.5")
        proctor(tmp_path, "gate", "q.jsonl", *run, "--baseline", place, "--margin", "0.5")
        assert "30 from the log" in proctor(tmp_path, "run", "q.jsonl", *run, "--batch", "--output", "b")
    assert "30 answers are new" in proctor(tmp_path, "log", "merge", place, "--log", "own.db")
    assert "30 were there" in proctor(tmp_path, "log", "merge", "own.db", "--log", place)
    assert "30 answers" in proctor(tmp_path, "log", "ls", "--log", place)
    assert "yes" in proctor(tmp_path, "log", "show", "--log", place)
    assert "30 entries" in proctor(tmp_path, "log", "export", "out.jsonl", "--log", place)
    assert "30 answers read, 0 damaged" in proctor(tmp_path, "log", "verify", "--log", place, "--salvage", "new.db")
    assert "no answers of other writers" in proctor(tmp_path, "log", "trust", place)
    assert "30 entries removed" in proctor(tmp_path, "log", "gc", "--all", "--log", place)
    assert PASSWORD not in proctor(tmp_path, "log", "ls", "--log", place.replace("log", "nolog"), code=3)


def test_python_takes_an_address(postgres, tmp_path):
    place = postgres.address()
    engine = ToyEngine()
    run_exams([ToyExam("plain", 5, question)], engine, log=place, output=tmp_path / "a")
    run_exams([ToyExam("plain", 5, question)], engine, log=place, output=tmp_path / "b")
    assert set(engine.asked.values()) == {1}


def test_a_connection_that_is_wanted_in_the_middle_waits_too(postgres):
    with ResponseLog(postgres.address()) as log:
        engine = log.engine_number("e")
        postgres.stop("fast")
        threading.Timer(0.5, postgres.start).start()
        with LogWriter(log, engine) as writer:
            writer.put(key(1), Response(("one",)))
        assert log.get(engine, key(1)) == Response(("one",))
