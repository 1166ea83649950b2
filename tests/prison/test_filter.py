"""The filter for system calls, run call by call by an interpreter of the kernel's instructions; nothing is installed."""

import errno
import os
import struct

import pytest

from proctor.prison.inside import seccomp

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, KILLED = 0x7FFF0000, 0x80000000
REFUSED, MISSING = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
CALLS = {
    name: dict(zip(MACHINES, numbers, strict=True))
    for name, numbers in {
        "read": (0, 63), "openat": (257, 56), "execve": (59, 221), "clone": (56, 220), "clone3": (435, 435),
        "kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261), "socket": (41, 198), "connect": (42, 203), "ptrace": (101, 117),
        "mount": (165, 40), "unshare": (272, 97), "io_uring_setup": (425, 425), "shmget": (29, 194), "fchmodat": (268, 53),
        "process_vm_readv": (310, 270), "tkill": (200, 130),
    }.items()
}  # fmt: skip
"""From the tables of the kernel (``arch/x86/entry/syscalls/syscall_64.tbl``, ``include/uapi/asm-generic/unistd.h``)."""


def verdict(program, call, first=0, architecture=None):
    """What a filter says of a system call."""
    data = {0: call, 4: architecture, 16: first}
    value = place = 0
    while True:
        code, then, otherwise, constant = struct.unpack("HBBI", program[place])
        place += 1
        if code == 0x06:
            return constant
        if code == 0x20:
            value = data[constant]
            continue
        holds = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[code]
        place += then if holds else otherwise


@pytest.fixture(params=MACHINES)
def says(request, monkeypatch):
    """What the filter of a machine says of a call by its name."""
    monkeypatch.setattr(seccomp, "MACHINE", request.param)
    installed = []

    def say(name, first=0, *, starting=False, modes=True, programs_only=False, architecture=None):
        monkeypatch.setattr(seccomp, "_install", lambda make: installed.append(make()))
        if programs_only:
            seccomp.refuse_programs()
        else:
            seccomp.restrict(starting=starting, modes=modes)
        number = CALLS[name][request.param] if isinstance(name, str) else name
        return verdict(installed[-1], number, first, architecture or MACHINES[request.param])

    return say


@pytest.mark.parametrize(
    "name", ["socket", "connect", "ptrace", "mount", "unshare", "io_uring_setup", "shmget", "process_vm_readv", "tkill"]
)
@pytest.mark.parametrize("starting", [True, False])
def test_others_the_network_and_the_machine_are_out_of_reach(says, name, starting):
    assert says(name, starting=starting) == REFUSED


@pytest.mark.parametrize("name", ["read", "openat"])
def test_ordinary_calls_are_let(says, name):
    assert says(name) == says(name, modes=False) == says(name, starting=True) == ALLOWED


def test_programs_are_started_by_the_judge_alone(says):
    assert (says("execve"), says("execve", starting=True)) == (REFUSED, ALLOWED)


@pytest.mark.parametrize("fork", [57, 58])
@pytest.mark.parametrize("starting, said", [(False, REFUSED), (True, ALLOWED)])
def test_older_ways_to_fork_are_no_way_around(monkeypatch, fork, starting, said):
    monkeypatch.setattr(seccomp, "MACHINE", "x86_64")
    assert verdict(seccomp._program(starting=starting, modes=True), fork, 0, MACHINES["x86_64"]) == said


def test_threads_are_let_and_new_namespaces_never(says):
    assert says("clone3") == MISSING
    assert (says("clone", 0x10000), says("clone", 0x11)) == (ALLOWED, REFUSED)
    assert says("clone", 0x11, starting=True) == ALLOWED
    for namespace in (0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x80):
        assert says("clone", 0x10000 | namespace) == says("clone", namespace, starting=True) == REFUSED


@pytest.mark.parametrize("name", ["kill", "tgkill"])
def test_a_program_signals_itself_alone_and_the_judge_whom_it_started(says, name):
    assert (says(name, os.getpid()), says(name, os.getpid() + 1), says(name, 0)) == (ALLOWED, REFUSED, REFUSED)
    assert says(name, os.getpid() + 1, starting=True) == ALLOWED


def test_limits_are_those_of_the_process_itself(says):
    for starting in (True, False):
        assert says("prlimit64", 0, starting=starting) == says("prlimit64", os.getpid(), starting=starting) == ALLOWED
        assert says("prlimit64", os.getpid() + 1, starting=starting) == REFUSED


def test_modes_of_files_are_kept_where_landlock_is_the_wall(says):
    assert (says("fchmodat"), says("fchmodat", modes=False)) == (ALLOWED, REFUSED)


def test_other_tables_of_numbers_are_no_way_around(says):
    assert says("read", architecture=0x40000003) == KILLED
    assert says(0x40000000) == says(0x40000000 | 41) == REFUSED


def test_behind_the_wall_only_programs_and_looks_into_others_are_refused(says):
    refused = {
        name
        for name in ("execve", "ptrace", "process_vm_readv", "socket", "clone", "kill", "mount")
        if says(name, programs_only=True) == REFUSED
    }
    assert refused == {"execve", "ptrace", "process_vm_readv"}


def test_a_filter_is_handed_to_the_kernel_whole(monkeypatch):
    told = []
    monkeypatch.setattr(seccomp, "prctl", lambda *given: told.append(given))
    monkeypatch.setattr(seccomp, "MACHINE", "x86_64")
    seccomp.restrict(starting=True, modes=True)
    assert [each[:2] for each in told] == [(seccomp.PR_SET_SECCOMP, seccomp.SECCOMP_MODE_FILTER)]
    monkeypatch.setattr(seccomp, "MACHINE", "riscv64")
    with pytest.raises(OSError, match="system calls of riscv64 are not known"):
        seccomp.refuse_programs()
