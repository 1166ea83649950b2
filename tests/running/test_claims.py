"""Processes that share a log: none asks what another has on its way, and whoever dies loses what it had."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from running_fakes import ToyEngine, ToyExam, choice, question, talk
from tests_logged import put_many
from tests_postgres import why_not

from proctor.errors import LogError
from proctor.ir import Decoding, Generate, Prompt, Response
from proctor.running import claims, log_schema, run_exams
from proctor.running.claims import Claims
from proctor.running.log import Key, ResponseLog, write
from proctor.running.log_database import LogDatabase
from proctor.testing.faults import Fault, Faults
from proctor.testing.server import FaultServer

KEYS = [Key.of(Generate(Prompt(f"{number}?"), Decoding()).key) for number in range(1_200)]


@pytest.fixture
def two(log_place, monkeypatch):
    """Two processes' claims on one engine, and their logs; in a database that was there long before."""
    monkeypatch.setattr(LogDatabase, "alive", f"until > {LogDatabase.now}")
    with ExitStack() as stack:
        logs = [stack.enter_context(ResponseLog(log_place)) for _ in range(2)]
        numbers = [log.engine_number("e") for log in logs]
        yield (
            [stack.enter_context(Claims(log, number).held()) for log, number in zip(logs, numbers, strict=True)],
            logs,
            numbers[0],
        )


def test_a_request_is_one_process_s_until_it_is_given_up(two):
    (one, other), _, _ = two
    assert one.granted(KEYS[:700]) == set(KEYS[:700])
    assert one.granted(KEYS[:700]) == set(KEYS[:700])
    assert other.granted(KEYS) == set(KEYS[700:])
    one.released(KEYS[:10])
    assert other.granted(KEYS[:20]) == set(KEYS[:10])


def test_an_answer_ends_its_claim_in_the_same_commit(two):
    (one, other), (log, _), number = two
    one.granted(KEYS[:2])
    connection = log.connect()
    write(log, connection, number, [(KEYS[0], Response(texts=("x",)))], claimed=True)
    connection.close()
    assert other.granted(KEYS[:2]) == {KEYS[0]}


def test_repeats_are_claimed_one_by_one(two):
    (one, other), _, _ = two
    again = KEYS[0]._replace(repeat=1)
    one.granted([KEYS[0]])
    assert other.granted([KEYS[0], again]) == {again}


def test_who_has_not_said_for_long_that_he_lives_loses_his_claims(two):
    (one, other), (log, _), _ = two
    one.granted(KEYS[:3])
    connection = log.connect()
    connection.execute(f"UPDATE processes SET until = {log.store.now} - 1 WHERE id = ?", (one.process,))
    connection.close()
    assert list(other.wait(KEYS[:3])) == []
    assert other.granted(KEYS[:3]) == set(KEYS[:3])


def test_a_process_of_this_machine_that_is_gone_is_not_waited_for(two):
    (one, other), (log, _), _ = two
    one.granted(KEYS[:3])
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    connection = log.connect()
    (note,) = connection.execute("SELECT note FROM processes WHERE id = ?", (one.process,)).fetchone()
    gone = json.dumps({**json.loads(note), "pid": ended.pid})
    connection.execute("UPDATE processes SET note = ? WHERE id = ?", (gone, one.process))
    connection.close()
    assert list(other.wait(KEYS[:3])) == []


@pytest.mark.parametrize("note", ["{", "[]", "[" * 4000, '{"pid": 1e999}'])
def test_a_damaged_note_of_a_process_ends_nobody(two, note):
    (one, other), (log, _), _ = two
    one.granted(KEYS[:1])
    connection = log.connect()
    connection.execute("UPDATE processes SET note = ? WHERE id = ?", (note, one.process))
    connection.close()
    assert other.granted(KEYS[:1]) == set()
    assert next(other.wait(KEYS[:1])).startswith("process ")


def test_whoever_waits_is_told_for_whom_and_goes_on_when_it_is_answered(two):
    (one, other), _, _ = two
    one.granted(KEYS[:3])
    threading.Timer(0.3, one.released, [KEYS[:3]]).start()
    seen = list(other.wait(KEYS[:5]))
    assert seen[0].startswith(f"process {os.getpid()} on ")


def test_at_the_end_everything_is_free(log_place):
    with ResponseLog(log_place) as log:
        number = log.engine_number("e")
        with Claims(log, number).held() as mine:
            mine.granted(KEYS)
        with Claims(log, number).held() as other:
            assert other.granted(KEYS) == set(KEYS)


def test_who_lives_says_so_again_and_again(log_place, monkeypatch):
    monkeypatch.setattr(claims, "_BEAT_SECONDS", 0.02)
    monkeypatch.setattr(claims, "LEASE_SECONDS", 100.0)
    with ResponseLog(log_place) as log, Claims(log, log.engine_number("e")).held() as mine:
        connection = log.connect()
        connection.execute("DELETE FROM processes")  # as another process does that took it for dead
        end = time.monotonic() + 10
        while not (found := connection.execute("SELECT id FROM processes").fetchall()) and time.monotonic() < end:
            time.sleep(0.01)
        connection.close()
        assert found == [(mine.process,)]


MOUNTS = """22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
40 22 0:40 / /home rw shared:1 - nfs4 server:/home rw
41 40 8:2 / /home/me/disk\\040two rw - xfs /dev/sdb rw
"""


@pytest.mark.parametrize(
    "path, found", [("/home/me/log.db", "nfs4"), ("/home/me/disk two/log.db", ""), ("/homes/log.db", "")]
)
def test_network_file_systems_are_known(monkeypatch, path, found):
    monkeypatch.setattr(log_schema.Path, "read_text", lambda *_, **__: MOUNTS)
    assert log_schema.network_file_system(Path(path)) == found


def test_on_a_network_file_system_one_process_writes_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("proctor.running.log_file.network_file_system", lambda _: "nfs4")
    with ResponseLog(tmp_path / "log.db") as log, ResponseLog(tmp_path / "log.db") as again:
        number = log.engine_number("e")
        with Claims(log, number).held() as mine:
            assert mine.granted(KEYS[:2]) == set(KEYS[:2])
            put_many(log, number, [(KEYS[0], Response(texts=("x",)))])
            with (
                pytest.raises(LogError, match=r"network file system \(nfs4\), and process") as refused,
                Claims(again, number).held(),
            ):
                pass
            assert "proctor log merge" in str(refused.value)
        with Claims(again, number).held():
            assert again.has_many(number, KEYS[:2]) == {KEYS[0]}
    assert not (tmp_path / "log.db-wal").exists()


def test_a_log_that_was_moved_to_a_network_file_system_shares_no_memory_any_more(tmp_path, monkeypatch):
    """Several machines cannot share it: SQLite's write-ahead log would lose answers there."""
    place = tmp_path / "log.db"

    def mode():
        with closing(sqlite3.connect(place)) as connection:
            return connection.execute("PRAGMA journal_mode").fetchone()[0]

    with ResponseLog(place):
        assert mode() == "wal"
    monkeypatch.setattr("proctor.running.log_file.network_file_system", lambda _: "nfs4")
    with ResponseLog(place):
        pass
    assert mode() == "delete"


COUNT = 60


def started(server: FaultServer, folder, name: str) -> subprocess.Popen[str]:
    (folder / "q.jsonl").write_text(
        "".join(json.dumps({"question": f"{number}?", "answer": "yes"}) + "\n" for number in range(COUNT))
    )
    call = [sys.executable, "-m", "proctor", "run", "q.jsonl", "--model", "openai", "--model-args"]
    call += [f"model=m,base_url={server.url},max_concurrency=4", "--log", "log.db", "--output", name]
    return subprocess.Popen(call, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def asked_more_than(server: FaultServer, count: int) -> None:
    end = time.monotonic() + 60
    while server.statistics()["requests"] <= count and time.monotonic() < end:
        time.sleep(0.02)


REFUSED = Faults(lambda key, _: Fault("status", status=400) if int(key[:2], 16) % 3 == 0 else None)


@pytest.mark.parametrize("faults, code", [(Faults.none(), 0), (REFUSED, 1)])
def test_two_processes_divide_an_exam_and_write_the_same(tmp_path, faults, code):
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.1, faults=faults) as server:
        both = [started(server, tmp_path, name) for name in ("a", "b")]
        said = [each.communicate(timeout=120)[1] for each in both]
        assert [each.returncode for each in both] == [code, code], said
        extra = COUNT // 4 if code else 0  # what failed within the second in which both began is tried by both
        assert COUNT <= server.statistics()["requests"] <= COUNT + extra
    one, other = ((tmp_path / name / "samples.jsonl").read_bytes() for name in ("a", "b"))
    assert one == other


def test_who_is_killed_leaves_the_rest_to_the_other(tmp_path):
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.2) as server:
        killed = started(server, tmp_path, "a")
        asked_more_than(server, 4)
        other = started(server, tmp_path, "b")
        asked_more_than(server, 16)
        killed.send_signal(signal.SIGKILL)
        killed.communicate(timeout=60)
        _, said = other.communicate(timeout=60)
        assert other.returncode == 0, said
        assert COUNT <= server.statistics()["requests"] <= COUNT + 4  # at most what was under way at the kill
    results = json.loads((tmp_path / "b" / "results.json").read_text())
    assert results["results"]["q"]["n"] == COUNT


def test_the_same_command_twice_is_one_run_with_two_processes(tmp_path):
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.2) as server:
        first = started(server, tmp_path, "a")
        asked_more_than(server, 4)
        second = started(server, tmp_path, "a")
        said = [each.communicate(timeout=60)[1] for each in (first, second)]
        assert [first.returncode, second.returncode] == [0, 0], said
        assert server.statistics()["requests"] == COUNT
    assert f"this run is going on already (process {first.pid} on " in said[1]
    assert sorted(each.name for each in (tmp_path / "a").iterdir()) == ["results.json", "run.yaml", "samples.jsonl"]


def test_who_helps_takes_over_when_the_writer_dies(tmp_path):
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.2) as server:
        first = started(server, tmp_path, "a")
        asked_more_than(server, 4)
        second = started(server, tmp_path, "a")
        asked_more_than(server, 16)
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=60)
        _, said = second.communicate(timeout=60)
        assert second.returncode == 0, said
    assert json.loads((tmp_path / "a" / "results.json").read_text())["results"]["q"]["n"] == COUNT


def test_another_run_in_the_folder_is_refused_as_ever(tmp_path):
    with FaultServer(answer=lambda *_: "yes", latency_seconds=2.0) as server:
        first = started(server, tmp_path, "a")
        asked_more_than(server, 3)
        (tmp_path / "q.jsonl").write_text('{"question": "other?", "answer": "yes"}\n')
        second = subprocess.run(
            [*first.args[:-3], "other.db", *first.args[-2:]], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        first.kill()
        first.communicate(timeout=60)
    assert second.returncode == 3
    assert "another run is going on in the folder" in second.stderr


@pytest.mark.parametrize("where", [[], ["--postgres"]])
def test_kills_at_any_time_ask_nothing_twice_but_what_was_under_way(tmp_path, where):
    if where and why_not():
        pytest.skip(why_not())
    program = Path(__file__).parent / "shared_log_kills.py"
    few = ["--processes", "3", "--kills", "5", "--questions", "120", "--folder", str(tmp_path), *where]
    done = subprocess.run([sys.executable, str(program), *few], capture_output=True, text=True, timeout=300, check=True)
    found = json.loads(done.stdout)
    assert (found["codes"], found["results"], found["once"]) == ([0], 1, True), found


@pytest.mark.parametrize("trial", range(3))
def test_threads_with_conversations_and_choices_share_them_too(tmp_path, log_place, trial):
    del trial
    engines = [ToyEngine() for _ in range(3)]

    def sit(number: int) -> None:
        exams = [ToyExam("plain", 60, question), ToyExam("choices", 30, choice), ToyExam("talks", 10, talk)]
        run_exams(exams, engines[number], log=log_place, output=tmp_path / f"o{number}")

    threads = [threading.Thread(target=sit, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    asked: Counter[object] = Counter()
    for engine in engines:
        asked.update(engine.asked)
    assert set(asked.values()) == {1}
    assert len({(tmp_path / f"o{number}" / "samples.jsonl").read_bytes() for number in range(3)}) == 1
