"""Which rights a prisoner gives up, and which processes are its warden's; this process keeps its own."""

import os
import resource
import sys

import pytest

from proctor.prison.inside import guard, kernel, lock, seccomp, warden

LIMITS = {"memory_bytes": 1000, "seconds": 2.7, "file_bytes": 50, "processes": 0}


def test_limits_are_set_as_far_as_the_system_has_them(monkeypatch):
    told = {}

    def set_limit(number, values):
        if number == resource.RLIMIT_CPU:
            raise ValueError("not here")
        told[number] = values

    monkeypatch.setattr(resource, "setrlimit", set_limit)
    lock.limit(LIMITS)
    assert told == {
        resource.RLIMIT_AS: (1000, 1000), resource.RLIMIT_FSIZE: (50, 50), resource.RLIMIT_NOFILE: (64, 64), resource.RLIMIT_CORE: (0, 0),
    }  # fmt: skip
    monkeypatch.setattr(resource, "setrlimit", told.__setitem__)
    lock.limit({**LIMITS, "processes": 7})
    assert (told[resource.RLIMIT_CPU], told[resource.RLIMIT_NPROC]) == ((4, 5), (7, 7))


@pytest.fixture
def told(monkeypatch):
    """What the kernel was told, in order."""
    found = []
    monkeypatch.setattr(os, "umask", lambda mask: found.append(("umask", mask)))
    monkeypatch.setattr(kernel, "prctl", lambda *given: found.append(("prctl", *given)))
    monkeypatch.setattr(kernel, "landlock", lambda *given: found.append(("landlock", *given)))
    monkeypatch.setattr(kernel, "drop_capabilities", lambda: found.append("capabilities"))
    monkeypatch.setattr(seccomp, "restrict", lambda **given: found.append(("seccomp", given)))
    return found


@pytest.mark.parametrize(
    "walls, known, wanted",
    [
        ("none", True, ["prctl", "capabilities"]),
        ("landlock", False, ["prctl", "landlock", "capabilities", "seccomp"]),
        ("bubblewrap", True, ["prctl", "capabilities", "seccomp"]),
        ("namespaces", False, ["prctl", "capabilities"]),
    ],
)
def test_rights_are_given_up_by_the_kind_of_prison(told, monkeypatch, walls, known, wanted):
    monkeypatch.setattr(seccomp, "is_known_machine", lambda: known)
    lock.lock({"walls": walls, "starting": True, "readable": ["/r"], "writable": ["/w"]})
    assert told[0] == ("umask", 0o077)
    assert [each if isinstance(each, str) else each[0] for each in told[1:]] == wanted
    assert ("prctl", kernel.PR_SET_NO_NEW_PRIVS, 1) in told
    if walls == "landlock":
        assert ("landlock", ["/r"], ["/w"]) in told
    if "seccomp" in wanted:
        assert told[-1] == ("seccomp", {"starting": True, "modes": walls != "landlock"})


def test_what_the_kernel_refuses_ends_a_prison_but_not_the_lack_of_one(told, monkeypatch):
    def refuse(*_):
        raise OSError("no")

    monkeypatch.setattr(kernel, "prctl", refuse)
    lock.lock({"walls": "none"})
    with pytest.raises(OSError, match="no"):
        lock.lock({"walls": "bubblewrap", "starting": False})


def test_without_a_prison_functions_that_do_harm_are_taken_away(monkeypatch):
    import builtins
    import shutil

    taken = []
    monkeypatch.setattr(guard, "_DISABLED", {"shutil": "rmtree none_such", "no_such_module": "x"})
    monkeypatch.setattr(shutil, "rmtree", shutil.rmtree)
    for name in ("exit", "quit", "help"):
        monkeypatch.setattr(builtins, name, taken.append, raising=False)
    guard.guard()
    assert shutil.rmtree is None
    assert not hasattr(shutil, "none_such")
    assert [getattr(builtins, each) for each in ("exit", "quit", "help")] == [None] * 3
    monkeypatch.undo()


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_a_warden_knows_its_children():
    assert warden._parent(str(os.getpid())) == os.getppid()
    assert (warden._parent("0"), warden._parent("self/none")) == (0, 0)
    child = os.posix_spawn("/bin/sleep", ["sleep", "5"], {})
    try:
        assert child in warden._children()
        assert os.getpid() not in warden._children()
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
