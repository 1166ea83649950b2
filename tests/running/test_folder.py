"""The run folder: one run at a time, and nothing that lies in it leads a run's files elsewhere."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running_fakes import ToyEngine, ToyExam

from proctor.errors import OutputError, UsageError
from proctor.running import folder_lock, process_notes, run_exams
from proctor.running.folder import RunFolder
from proctor.running.folder_lock import HELD, LOCK, STALE_SECONDS

RACE = Path(__file__).parent / "folder_race.py"
FILES = ["results.json", "run.yaml", "samples.jsonl"]
PRECIOUS = "precious"


def run(folder: Path, count: int = 5):
    return run_exams([ToyExam("toy", count)], ToyEngine(), log=folder / "log.db", output=folder / "out")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "arguments, ends",
    [
        ([], "[0, 3] whole"),
        (["--no-locks"], "[0, 3] whole"),
        (["--log", "log.db"], "[0, 0] whole"),
        (["--no-locks", "--log", "log.db"], "[0, 0] whole"),
    ],
)
def test_of_two_runs_at_once_one_completes_and_one_is_refused_or_helps(memory_folder, arguments, ends):
    command = [sys.executable, str(RACE), "--rounds", "8", "--folder", str(memory_folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(done.stdout) == {ends: 8}


def test_of_two_runs_with_a_database_one_completes_and_one_helps(memory_folder, postgres):
    logs = [postgres.address() for _ in range(3)]
    command = [sys.executable, str(RACE), "--rounds", "3", "--folder", str(memory_folder), "--log", *logs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(done.stdout) == {"[0, 0] whole": 3}


def test_who_is_refused_is_told_who_holds_the_folder_and_asks_nobody(tmp_path):
    engine = ToyEngine()
    with RunFolder(tmp_path / "out").held(), pytest.raises(OutputError, match="another run is going on") as caught:
        run_exams([ToyExam()], engine, log=tmp_path / "log.db", output=tmp_path / "out")
    assert f"process {os.getpid()} on {platform.node()} since " in str(caught.value)
    assert "--output" in str(caught.value)
    assert not engine.asked
    assert names(tmp_path / "out") == []
    run(tmp_path)
    assert names(tmp_path / "out") == FILES


HOLDER = """
import sys, time
from proctor.running.folder import RunFolder
from proctor.safe_files import written
folder = RunFolder(sys.argv[1])
with folder.held(), written(folder.path / "results.json") as file:
    file.write(b"half")
    file.flush()
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("locks", [True, False])
def test_a_killed_run_holds_nothing_and_leaves_nothing(tmp_path, monkeypatch, locks):
    program = (
        HOLDER
        if locks
        else f"import sys; sys.path.insert(0, {str(RACE.parent)!r})\n"
        + ("from folder_race import without_locks; without_locks()\n" + HOLDER)
    )
    holder = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "out")], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    if not locks:
        monkeypatch.setattr(folder_lock, "_flock", lambda _: None)
    with pytest.raises(OutputError, match=f"process {holder.pid} "):
        run(tmp_path)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    run(tmp_path)
    assert names(tmp_path / "out") == FILES


def test_a_child_that_outlives_the_run_does_not_hold_the_folder(tmp_path):
    read, write = os.pipe()
    with RunFolder(tmp_path / "out").held():
        child = os.fork()
        if child == 0:
            os.read(read, 1)  # until the parent says so
            os._exit(0)
    try:
        run(tmp_path)
    finally:
        os.write(write, b"x")
        os.waitpid(child, 0)
        os.close(read)
        os.close(write)


def plant(kind: str, place: Path, elsewhere: Path) -> None:
    elsewhere.write_text(PRECIOUS)
    match kind:
        case "link":
            place.symlink_to(elsewhere)
        case "link to nothing":
            place.symlink_to(elsewhere.with_name("nothing"))
        case "link to itself":
            place.symlink_to(place)
        case "hard link":
            os.link(elsewhere, place)
        case "pipe":
            os.mkfifo(place)
        case "file":
            place.write_text("whatever")


PLACES = [
    *("results.json", "samples.jsonl", ".progress.json", LOCK, HELD),
    *(".results.json.part", ".run.yaml.part", ".samples.jsonl.part", ".samples.jsonl.spool", ".progress.part"),
]


@pytest.mark.parametrize("kind", ["link", "link to nothing", "link to itself", "hard link", "pipe", "file"])
@pytest.mark.parametrize("name", PLACES)
def test_what_lies_in_the_folder_leads_nothing_elsewhere(tmp_path, name, kind):
    (tmp_path / "out").mkdir()
    plant(kind, tmp_path / "out" / name, tmp_path / "elsewhere")
    result = run(tmp_path)
    assert (tmp_path / "elsewhere").read_text() == PRECIOUS
    assert sorted(each.name for each in tmp_path.iterdir() if "log.db" not in each.name) == ["elsewhere", "out"]
    for file in FILES:
        assert (tmp_path / "out" / file).is_file()
        assert not (tmp_path / "out" / file).is_symlink()
    assert len((tmp_path / "out" / "samples.jsonl").read_text().splitlines()) == result.results["toy"]["n"] == 5


@pytest.mark.parametrize("kind", ["link", "link to itself", "pipe", "file"])
def test_a_run_file_that_is_none_is_one_message(tmp_path, kind):
    (tmp_path / "out").mkdir()
    plant(kind, tmp_path / "out" / "run.yaml", tmp_path / "elsewhere")
    if kind == "link to itself":  # leads nowhere, so there is no run here
        run(tmp_path)
    else:
        with pytest.raises(UsageError, match="run file|run.yaml") as caught:
            run(tmp_path)
        assert len(caught.value.diagnostics) == 1
        assert PRECIOUS not in str(caught.value)
    assert (tmp_path / "elsewhere").read_text() == PRECIOUS


@pytest.mark.parametrize("name", ["results.json", "samples.jsonl", "run.yaml", LOCK])
def test_a_folder_where_a_file_belongs_is_one_message(tmp_path, name):
    (tmp_path / "out" / name).mkdir(parents=True)
    with pytest.raises((OutputError, UsageError)) as caught:
        run(tmp_path)
    assert len(caught.value.diagnostics) == 1


def test_a_run_folder_may_be_a_link_itself(tmp_path):
    (tmp_path / "large disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "large disk")
    run(tmp_path)
    assert names(tmp_path / "large disk") == FILES


def note(**changes) -> str:
    return json.dumps({"pid": os.getpid(), "host": "h", "since": "s", "machine": process_notes._machine(), **changes})


GONE = subprocess.Popen([sys.executable, "-c", ""])
GONE.wait()


@pytest.mark.parametrize(
    "text, age, is_held",
    [
        (note(), 0, True),
        (note(pid=GONE.pid), 0, False),
        (note(ticks="1"), 0, False),  # another process has the number now
        (note(machine="another"), 0, True),
        (note(machine="another", pid=GONE.pid), 0, True),
        (note(machine="another"), STALE_SECONDS + 60, False),
        ("", 0, True),
        ("", STALE_SECONDS + 60, False),
        ("[" * 4000, 0, True),
        ('{"pid": -1, "host": 3, "since": []}', 0, True),
        ('{"pid": 1e999}', 0, True),
    ],
    ids=lambda _: "",  # texts have numbers of processes, which differ between workers
)
def test_without_locks_a_holder_that_is_gone_holds_nothing(tmp_path, monkeypatch, text, age, is_held):
    monkeypatch.setattr(folder_lock, "_flock", lambda _: None)
    monkeypatch.setattr(folder_lock, "_NOTE_SECONDS", 0.0)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / HELD).write_text(text)
    os.utime(tmp_path / "out" / HELD, (time.time() - age,) * 2)
    if is_held:
        with pytest.raises(OutputError, match="another run is going on"):
            run(tmp_path)
        assert names(tmp_path / "out") == [HELD]
    else:
        run(tmp_path)
        assert names(tmp_path / "out") == FILES


def test_a_lock_is_touched_while_it_is_held(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_lock, "_flock", lambda _: None)
    monkeypatch.setattr(folder_lock, "_TOUCH_SECONDS", 0.01)
    with RunFolder(tmp_path).held():
        before = (tmp_path / HELD).stat().st_mtime_ns
        give_up = time.monotonic() + 20
        while (tmp_path / HELD).stat().st_mtime_ns == before:
            assert time.monotonic() < give_up
            time.sleep(0.01)
    assert names(tmp_path) == []


def asked(folder, model: str, *fail: str, log="log.db"):
    engine = ToyEngine(model=model, fail=list(fail))
    return run_exams([ToyExam("toy", 2)], engine, log=folder / log, output=folder / "out")


def test_a_run_that_nobody_answered_gives_its_folder_to_the_next(tmp_path, heard):
    out = tmp_path / "out"
    asked(tmp_path, "wrong", "toy 0", "toy 1")
    failures = {name: (out / name).read_bytes() for name in FILES}
    assert asked(tmp_path, "half", "toy 1").results["toy"]["failures"] == 1
    assert names(out) == ["earlier-1", *FILES]
    assert {name: (out / "earlier-1" / name).read_bytes() for name in FILES} == failures
    assert f"is kept in {out / 'earlier-1'}" in heard.text
    with pytest.raises(UsageError, match="holds another run"):
        asked(tmp_path, "whole")
    assert json.loads((out / "results.json").read_text())["run"]["engine"]["label"] == "half"


def test_answers_are_not_replaced_where_the_same_run_gets_none_this_time(tmp_path):
    asked(tmp_path, "m")
    results = (tmp_path / "out" / "results.json").read_bytes()
    assert asked(tmp_path, "m").output == tmp_path / "out", "the log has the answers"
    assert names(tmp_path / "out") == FILES
    kept = (tmp_path / "out" / "results.json").read_bytes()
    assert asked(tmp_path, "m", "toy 0", "toy 1", log="lost.db").results["toy"]["failures"] == 2
    assert (tmp_path / "out" / "earlier-1" / "results.json").read_bytes() == kept != results
    assert len((tmp_path / "out" / "samples.jsonl").read_text().splitlines()) == 2


def test_results_of_which_nobody_knows_what_was_asked_are_kept(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.json").write_text("{}")
    asked(tmp_path, "m")
    assert (tmp_path / "out" / "earlier-1" / "results.json").read_text() == "{}"
