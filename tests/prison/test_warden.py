"""How a warden starts a prisoner of each kind, waits for it, and ends what it left behind; no process is started."""

import io
import json
import os
import signal
import sys
from types import SimpleNamespace

import pytest

from proctor.prison.inside import guard, kernel, lock, walls, warden


class LeftError(BaseException):
    """The process would have ended here."""


@pytest.fixture
def told(monkeypatch):
    """What happened, in order."""
    found = []

    def leave(code):
        found.append(("exit", code))
        raise LeftError

    def noting(place, name, answer=None):
        monkeypatch.setattr(place, name, lambda *given: found.append((name, *given)) or answer)

    monkeypatch.setattr(os, "_exit", leave)
    noting(os, "fork", 0)
    noting(os, "close")
    noting(os, "kill")
    noting(os, "chdir")
    noting(kernel, "prctl")
    noting(signal, "signal")
    monkeypatch.setattr(kernel, "MACHINE", "x86_64")
    return found


def ended(do, *given):
    with pytest.raises(LeftError):
        do(*given)


@pytest.mark.parametrize(
    "kind, done",
    [
        ("bubblewrap", "_serve"),
        ("docker", "_serve"),
        ("namespaces", "_in_namespaces"),
        ("landlock", "_watched"),
        ("none", "_watched"),
    ],
)
def test_walls_are_built_by_the_kind_of_prison(told, monkeypatch, kind, done):
    for name in ("_serve", "_in_namespaces", "_watched"):
        monkeypatch.setattr(warden, name, lambda config, name=name: told.append((name, config)))
    monkeypatch.setattr(sys, "argv", ["-c", json.dumps({"walls": kind})])
    ended(warden.main)
    assert told == [(done, {"walls": kind}), ("exit", 97)]
    assert sys.argv == ["-c"]


def test_a_prison_that_cannot_be_built_says_so(told, monkeypatch):
    def refuse(config):
        raise PermissionError(1, "not here")

    monkeypatch.setattr(warden, "_watched", refuse)
    monkeypatch.setattr(os, "write", lambda *given: told.append(given))
    monkeypatch.setattr(sys, "argv", ["-c", '{"walls": "landlock"}'])
    ended(warden.main)
    assert told == [(2, b"the prison cannot be built: [Errno 1] not here\n"), ("exit", 97)]


@pytest.mark.parametrize(
    "kind, role, is_guarded", [("none", "candidate", True), ("none", "judge", False), ("landlock", "candidate", False)]
)
def test_a_prisoner_is_locked_in_before_it_serves(told, monkeypatch, kind, role, is_guarded):
    module = SimpleNamespace(serve=lambda *given: told.append(("serve", *given)))
    monkeypatch.setitem(sys.modules, "inside", SimpleNamespace(**{role: module}))
    monkeypatch.setitem(sys.modules, f"inside.{role}", module)
    monkeypatch.setattr(sys, "path", ["/prison", "/lib"])
    monkeypatch.setattr(warden, "_private_handles", lambda: (40, 41))
    monkeypatch.setattr(lock, "limit", lambda config: told.append(("limit", config)))
    monkeypatch.setattr(lock, "lock", lambda config: told.append(("lock", config)))
    monkeypatch.setattr(guard, "guard", lambda: told.append(("guard",)))
    config = {"walls": kind, "role": role, "work": "/work", "inside": "/prison", "site": ["/site"]}
    ended(warden._serve, config)
    guarded = [("guard",)] if is_guarded else []
    assert told == [
        ("chdir", "/work"), ("limit", config), ("lock", config), *guarded, ("serve", 40, 41, config), ("exit", 0)
    ]  # fmt: skip
    assert sys.path == ["/lib", "/site"]


def test_the_channel_lies_where_no_program_reads_or_prints(told, monkeypatch):
    import fcntl

    monkeypatch.setattr(fcntl, "fcntl", lambda handle, what, least: told.append((handle, what, least)) or least + 2)
    monkeypatch.setattr(os, "open", lambda *given: told.append(given) or 9)
    monkeypatch.setattr(os, "dup2", lambda *given: told.append(given))
    assert warden._private_handles() == (42, 43)
    closed_on_exec = fcntl.F_DUPFD_CLOEXEC
    assert told == [
        (0, closed_on_exec, 40), (1, closed_on_exec, 41), ("/dev/null", os.O_RDWR), (9, 0), (9, 1), (9, 2), ("close", 9)
    ]  # fmt: skip


@pytest.fixture
def inner(told, monkeypatch):
    """Note what the prisoner and its warden do."""
    for place, name in ((warden, "_serve"), (warden, "_wait"), (walls, "enclose")):
        monkeypatch.setattr(place, name, lambda given, name=name: told.append((name, given)))
    monkeypatch.setattr(walls, "leave", lambda: told.append("leave"))

    def start(function, child):
        monkeypatch.setattr(os, "fork", lambda: child)
        told.clear()
        function({"a": 1})
        return [each for each in told if child or each != ("_wait", 0)]

    return start


DIES_WITH, REAPS, DUMPABLE = 1, 36, 4


def test_in_namespaces_the_prisoner_is_the_first_process_of_its_own(inner):
    dies = ("prctl", DIES_WITH, signal.SIGTERM)
    assert inner(warden._in_namespaces, 7) == [dies, "leave", ("_wait", 7)]
    own = ("prctl", DIES_WITH, signal.SIGKILL), ("enclose", {"a": 1}), ("_serve", {"a": 1})
    assert inner(warden._in_namespaces, 0) == [dies, "leave", *own]


def test_without_namespaces_orphans_come_to_the_warden_which_nobody_looks_into(inner, monkeypatch):
    first = [("prctl", DIES_WITH, signal.SIGTERM), ("prctl", REAPS, 1), ("prctl", DUMPABLE, 0)]
    assert inner(warden._watched, 7) == [*first, ("_wait", 7)]
    assert inner(warden._watched, 0) == [*first, ("prctl", DIES_WITH, signal.SIGKILL), ("_serve", {"a": 1})]
    monkeypatch.setattr(kernel, "MACHINE", "")
    assert inner(warden._watched, 0) == [("_serve", {"a": 1})]


def test_a_prisoner_that_ends_is_followed_by_all_that_it_started(told, monkeypatch):
    monkeypatch.setattr(warden, "_sweep", lambda: told.append("sweep"))
    monkeypatch.setattr(os, "waitpid", lambda *given: told.append(given) or (7, 3 << 8))
    ended(warden._wait, 7)
    (_, number, end), *rest = told
    ignored = ("signal", signal.SIGTERM, signal.SIG_IGN)
    assert number == signal.SIGTERM
    assert rest == [("close", 0), ("close", 1), (7, 0), ignored, "sweep", ("exit", 3)]
    with pytest.raises(warden._EndedError):
        end(signal.SIGTERM, None)


def test_the_word_to_end_ends_the_prisoner_and_all_below_it(told, monkeypatch):
    def word(child, options):
        raise warden._EndedError

    monkeypatch.setattr(warden, "_sweep", lambda: told.append("sweep"))
    monkeypatch.setattr(os, "waitpid", word)
    ended(warden._wait, 7)
    ignored = ("signal", signal.SIGTERM, signal.SIG_IGN)
    assert told[3:] == [ignored, ("kill", 7, signal.SIGKILL), ignored, "sweep", ("exit", 0)]
    monkeypatch.setattr(os, "waitpid", lambda *given: (7, 9))
    ended(warden._wait, 7)
    assert told[-1] == ("exit", 256 - 9)


def test_what_is_left_is_ended_until_there_is_none_or_time_is_up(told, monkeypatch):
    now = [100.0]
    answers = [(5, 0), (0, 0), (0, 0), ChildProcessError()]

    def wait(process, options):
        assert (process, options) == (-1, os.WNOHANG)
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(process, number):
        told.append((process, number))
        if process == 8:
            raise ProcessLookupError

    def sleep(seconds):
        assert 0 < seconds < 0.1
        now[0] += 1.0

    monkeypatch.setattr(warden, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    monkeypatch.setattr(warden, "_children", lambda: [8, 9])
    monkeypatch.setattr(os, "waitpid", wait)
    monkeypatch.setattr(os, "kill", kill)
    warden._sweep()
    assert told == [(8, signal.SIGKILL), (9, signal.SIGKILL)] * 2
    assert now == [102.0]
    answers[:] = [(0, 0)]
    told.clear()
    warden._sweep()
    assert now == [107.0]
    assert len(told) == 10


def test_where_processes_are_not_shown_there_are_no_children(monkeypatch):
    def refuse(path):
        raise PermissionError(path)

    monkeypatch.setattr(os, "listdir", refuse)
    assert warden._children() == []
    monkeypatch.setattr(os, "listdir", lambda path: ["12", "13", "self"] if path == "/proc" else None)
    monkeypatch.setattr(warden, "_parent", lambda name: os.getpid() if name in ("13", "self") else 1)
    assert warden._children() == [13]


@pytest.mark.parametrize("stat, parent", [("7 (a) (b c) S 42 7", 42), ("7 (x)", 0), ("7 (x) S y", 0), ("", 0)])
def test_a_processs_parent_is_read_behind_its_name(monkeypatch, stat, parent):
    asked = []
    monkeypatch.setattr(warden, "open", lambda path, **_: asked.append(path) or io.StringIO(stat), raising=False)
    assert (warden._parent("7"), asked) == (parent, ["/proc/7/stat"])
