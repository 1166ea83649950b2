"""Messages to and from a prisoner over pipes, and what is measured of it; nobody is started."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from proctor.prison import cell as module
from proctor.prison.cell import Cell
from proctor.prison.inside import frames
from proctor.prison.limits import Limits
from proctor.prison.prisons import Start


class Process:
    """A started process that is only its pipes."""

    def __init__(self, command, *, cwd, env, start_new_session, **pipes):
        assert pipes == {"stdin": -1, "stdout": -1, "stderr": -1, "bufsize": 0}
        assert start_new_session
        self.command, self.cwd, self.env, self.done = command, cwd, env, []
        ends = [os.pipe() for _ in range(3)]
        self.heard, self.says, self.complains = ends[0][0], ends[1][1], ends[2][1]
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(end, mode, buffering=0)
            for end, mode in ((ends[0][1], "wb"), (ends[1][0], "rb"), (ends[2][0], "rb"))
        )

    def poll(self):
        return 0 if "terminate" in self.done else None

    def wait(self, seconds=None):
        self.done.append(("wait", seconds))
        if seconds is not None and "hangs" in self.command:
            raise subprocess.TimeoutExpired("x", seconds)

    def terminate(self):
        self.done.append("terminate")

    def kill(self):
        self.done.append("kill")


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Start a prisoner with some limits; every pipe is closed at the end."""
    monkeypatch.setattr(module, "Popen", Process)
    opened = []

    def start(folder="", command=("x",), stop=(), **limits):
        prison = SimpleNamespace(start=lambda *_: Start(list(command), folder, stop, {"A": "1"}))
        opened.append(Cell(prison, "judge", Limits(**limits)))
        return opened[-1], opened[-1]._process

    yield start
    for each in opened:
        process = each._process
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
        for handle in (process.heard, process.says, process.complains):
            os.close(handle)


def framed(*messages):
    return b"".join(len(each).to_bytes(4, "big") + each for each in messages)


def test_messages_go_and_come_whole(started):
    cell, process = started()
    assert (process.cwd, process.env, cell.has_outgoing, cell.is_running) == ("/", {"A": "1"}, False, True)
    assert (cell.writing, cell.reading) == (process.stdin.fileno(), process.stdout.fileno())
    cell.post(b"one")
    cell.post(b"")
    assert cell.has_outgoing
    cell.write()
    assert not cell.has_outgoing
    assert [frames.receive(process.heard), frames.receive(process.heard)] == [b"one", b""]
    said = framed(b"first", b"", b"second")
    for place in range(0, len(said), 3):
        cell.read()  # nothing is there
        os.write(process.says, said[place : place + 3])
        cell.read()
    assert cell.received_bytes == len(said)
    assert [cell.take() for _ in range(4)] == [b"first", b"", b"second", None]
    assert cell.is_open


def test_a_prisoner_that_is_gone_is_not_open(started):
    cell, process = started()
    os.write(process.says, b"\0\0\0")
    process.says = (os.close(process.says), os.open(os.devnull, os.O_RDONLY))[1]
    cell.read()
    assert (cell.is_open, cell.take()) == (True, None)
    cell.read()
    assert (cell.is_open, cell.is_running) == (False, False)
    other, process = started()
    process.heard = (os.close(process.heard), os.open(os.devnull, os.O_RDONLY))[1]
    other.post(b"x")
    other.write()
    assert (other.is_open, other.has_outgoing) == (False, False)


def test_a_pipe_that_is_full_is_written_later(started):
    cell, process = started()
    cell.post(b"x" * (1 << 20))
    for _ in range(3):
        cell.write()
    assert cell.has_outgoing
    assert cell.is_open
    left = len(framed(b"x" * (1 << 20)))
    while left:
        left -= len(os.read(process.heard, 1 << 20))
        cell.write()
    assert not cell.has_outgoing


@pytest.mark.parametrize(
    "said, most, is_open",
    [
        (framed(b"12345678"), 12, True),
        (framed(b"12345678"), 11, False),
        (frames.LONGEST.to_bytes(4, "big"), 100, True),
        ((frames.LONGEST + 1).to_bytes(4, "big"), 100, False),
        ((frames.LONGEST + 1).to_bytes(4, "big")[:3], 100, True),
    ],
)
def test_who_says_too_much_is_not_listened_to(started, said, most, is_open):
    cell, process = started(message_bytes=most)
    os.write(process.says, said)
    cell.read()
    assert cell.is_open is is_open


def test_what_it_writes_on_the_disk_is_measured(started, tmp_path, monkeypatch):
    folder = tmp_path / "own"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_bytes(b"x" * 8192)
    taken = sum(each.lstat().st_blocks * 512 for each in folder.rglob("*"))
    for most, fills in ((taken, False), (taken - 1, True)):
        cell, process = started(str(folder), disk_bytes=most)
        assert (process.cwd, cell.fills_disk) == (str(folder), fills)
    assert not started(disk_bytes=0)[0].fills_disk
    for most, fills in ((2, False), (1, True)):
        monkeypatch.setattr(module, "_MOST_FILES", most)
        assert started(str(folder))[0].fills_disk is fills


def test_its_complaint_is_read(started):
    cell, process = started()
    assert cell.complaint() == ""
    os.write(process.complains, b" the prison cannot be built: \xff\n")
    assert cell.complaint() == "the prison cannot be built: \ufffd"


def test_it_is_ended_with_what_it_started_and_wrote(started, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(module, "run", ran.append)
    (tmp_path / "own").mkdir()
    cell, process = started(str(tmp_path / "own"), stop=("docker", "rm"))
    cell.close()
    assert process.done == ["terminate", ("wait", 8.0)]
    assert (ran, (tmp_path / "own").exists(), process.stdin.closed) == ([["docker", "rm"]], False, True)
    cell, process = started(command=("hangs",))
    cell.close()
    assert process.done == ["terminate", ("wait", 8.0), "kill", ("wait", None)]
    assert len(ran) == 1


def test_a_folder_is_removed_where_nothing_can_be_started(started, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError("no")

    monkeypatch.setattr(module, "Popen", refuse)
    (tmp_path / "own").mkdir()
    with pytest.raises(OSError, match="no"):
        Cell(SimpleNamespace(start=lambda *_: Start(["x"], str(tmp_path / "own"))), "judge", Limits())
    assert not (tmp_path / "own").exists()


# -- the other end ---------------------------------------------------------------------------------------------------


def test_frames_are_read_as_they_are_written():
    reading, writing = os.pipe()
    frames.send(writing, b"one")
    os.write(writing, framed(b"", b"two") + b"\0\0\0\5ab")
    os.close(writing)
    assert [frames.receive(reading) for _ in range(3)] == [b"one", b"", b"two"]
    for _ in range(2):
        with pytest.raises(frames.ClosedError, match="the other side is gone"):
            frames.receive(reading)
    os.close(reading)
    for do in (lambda: frames.receive(reading), lambda: frames.send(reading, b"x")):
        with pytest.raises(frames.ClosedError, match="Bad file descriptor"):
            do()


def test_a_long_frame_comes_whole_and_one_that_is_too_long_does_not(tmp_path, monkeypatch):
    (tmp_path / "said").write_bytes(framed(b"x" * (3 << 20)) + framed(b"yy"))
    with (tmp_path / "said").open("rb", buffering=0) as file:
        assert frames.receive(file.fileno()) == b"x" * (3 << 20)
        monkeypatch.setattr(frames, "LONGEST", 1)
        with pytest.raises(frames.ClosedError, match="too long"):
            frames.receive(file.fileno())
    assert Limits() == Limits(10.0, None, 4 << 30, 16 << 20, 64 << 20, 256 << 20)
