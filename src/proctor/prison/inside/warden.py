"""Starts a prisoner, waits for it, and ends everything that it left behind.

``main`` takes one JSON object as its only argument: ``walls`` (``bubblewrap`` and ``docker`` stand already;
``namespaces``, ``landlock`` and ``none`` are made here), ``role`` (``candidate`` or ``judge``), limits, and paths.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any, NoReturn

_SWEEP_SECONDS = 5.0
"""How long what a prisoner left behind is looked for; each round ends all that there is."""
_REFUSED = 97
"""Exit code where the prison could not be built."""


def main() -> NoReturn:
    """Do what the argument says."""
    config = json.loads(sys.argv[1])
    del sys.argv[1:]
    try:
        if config["walls"] in ("bubblewrap", "docker"):
            _serve(config)
        elif config["walls"] == "namespaces":
            _in_namespaces(config)
        else:
            _watched(config)
    except OSError as error:
        os.write(2, f"the prison cannot be built: {error}\n".encode())
    os._exit(_REFUSED)


def _serve(config: dict[str, Any]) -> NoReturn:
    from . import lock

    role = __import__(f"inside.{config['role']}", fromlist=["serve"])
    os.chdir(config["work"])
    handles = _private_handles()
    sys.path[:] = [each for each in sys.path if each != config["inside"]] + config["site"]
    lock.limit(config)
    lock.lock(config)
    if config["walls"] == "none" and config["role"] != "judge":
        from . import guard

        guard.guard()
    role.serve(*handles, config)
    os._exit(0)


def _private_handles() -> tuple[int, int]:
    """Move the channel away from where programs read and print."""
    import fcntl

    found = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 40), fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 41)
    nothing = os.open("/dev/null", os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    os.close(nothing)
    return found


def _in_namespaces(config: dict[str, Any]) -> NoReturn:
    from . import kernel, walls

    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    walls.leave()
    child = os.fork()
    if not child:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        walls.enclose(config)
        _serve(config)
    _wait(child)


def _watched(config: dict[str, Any]) -> NoReturn:
    from . import kernel

    if kernel.MACHINE:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    child = os.fork()
    if not child:
        if kernel.MACHINE:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        _serve(config)
    _wait(child)


class _EndedError(Exception):
    """Whoever started this wants it to end."""


def _wait(child: int) -> NoReturn:
    """Wait for the prisoner, or for the word to end, then end all that is below."""

    def end(*_: object) -> None:
        raise _EndedError

    signal.signal(signal.SIGTERM, end)
    for handle in (0, 1):  # only the prisoner holds the channel: it is closed when the prisoner is gone
        os.close(handle)
    status = 0
    try:
        _, status = os.waitpid(child, 0)
    except _EndedError:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.kill(child, signal.SIGKILL)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _sweep()
    os._exit(os.waitstatus_to_exitcode(status) & 255)


def _sweep() -> None:
    """End every process below this one, until there is none."""
    end = time.monotonic() + _SWEEP_SECONDS
    while time.monotonic() < end:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for process in _children():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.002)


def _children() -> list[int]:
    """Return the processes whose parent is this one; orphans below a reaper become its children."""
    me = os.getpid()
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - pathlib would be one more import for each program
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit() and _parent(name) == me]


def _parent(process: str) -> int:
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
