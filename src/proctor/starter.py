"""Starts programs for a process that may start none: from a process beside it, which stands outside the wall.

:mod:`proctor.wall` takes from this process the right to start programs. Some are needed nevertheless: prisons, which
no process behind a wall can build, the process that searches with expressions of strangers, git. They are asked for
with :class:`Popen`; where there is a wall, a child that was made before it starts them, these few and no others. It
removes what is temporary when this process ends, however that ends.
"""

from __future__ import annotations

import atexit
import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn

from proctor.safe_files import write_bytes, write_text

_LONGEST = 1 << 20  # bytes of a request: a command with its environment
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.02
"""Seconds between two looks at whether a program has ended."""


class _Outside:
    """The process outside the wall, as this one speaks to it."""

    def __init__(self, channel: socket.socket, child: int) -> None:
        self._channel, self._child = channel, child
        self._process, self._lock = os.getpid(), threading.Lock()

    def ask(self, request: dict[str, Any], handles: Iterable[int] = ()) -> Any:
        """Return its answer to a request.

        Raises:
            OSError: It cannot do what is wanted.
        """
        with self._lock:
            socket.send_fds(self._channel, [json.dumps(request).encode()], list(handles))
            answer = json.loads(self._channel.recv(_LONGEST) or b'{"error": [32, "the starter of programs has ended"]}')
        if "error" in answer:
            raise OSError(*answer["error"])
        return answer["value"]

    def end(self) -> None:
        """Let it end, and wait until it has: what is temporary is gone then."""
        if os.getpid() == self._process:  # a fork has the channel, too
            self._channel.close()
            with suppress(ChildProcessError):
                os.waitpid(self._child, 0)


_outside: _Outside | None = None
_here = threading.local()


def stand_outside(temporary: str, made: Iterable[str], programs: Iterable[str], kept: str) -> None:
    """Make the process that stays outside; it ends with this one.

    Args:
        temporary: A folder that is removed at the end, with what is in it.
        made: Folders that are removed at the end where they are empty, inner ones first.
        programs: Names of programs that it starts, beside Python.
        kept: The file that :func:`keep` writes.

    Raises:
        OSError: There can be none.
    """
    global _outside  # noqa: PLW0603 - a fact about the process
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        ours.close()
        _serve(theirs, temporary, tuple(made), _Few(frozenset(programs), kept))
    theirs.close()
    _outside = _Outside(ours, child)
    atexit.register(_outside.end)


def keep(text: str) -> bool:
    """Have the one file written that is kept outside of the wall; return whether there is anybody who does it.

    Raises:
        OSError: It cannot be written.
    """
    if _outside is None:
        return False
    place = os.path.join(tempfile.gettempdir(), "kept")  # noqa: PTH118 - before anything is imported
    write_text(place, text, mode=0o600)
    _outside.ask({"keep": place})
    return True


def browse(address: str) -> None:
    """Show an address in the user's browser."""
    if _outside is not None:
        _outside.ask({"browse": address})
        return
    import webbrowser  # few commands show anything

    _here.starting = True
    webbrowser.open(address)
    _here.starting = False


class Popen(subprocess.Popen[Any]):
    """:class:`subprocess.Popen` of a program that may be started, with a wall or without."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        if _outside is None:
            _here.starting = True
            try:
                super()._execute_child(args, *rest)  # type: ignore[misc]  # not in the stubs
            finally:
                _here.starting = False
            return
        cwd, env, pipes = rest[4], rest[5], rest[9:15]
        given = [pipes[number] for number in (0, 3, 5)]  # its ends of input, output and errors
        request = {
            "start": [os.fsdecode(each) for each in args],
            "cwd": os.fspath(cwd) if cwd else os.getcwd(),  # noqa: PTH109 - before anything is imported
            "env": dict(os.environ if env is None else env),
            "given": [each >= 0 for each in given],
        }
        try:
            self.pid = _outside.ask(request, [each for each in given if each >= 0])
        finally:
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]  # as above
        self._child_created = True

    def _internal_poll(self, *given: Any, **named: Any) -> int | None:
        if _outside is None:
            found: int | None = super()._internal_poll(*given, **named)  # type: ignore[misc]  # as above
            return found
        if self.returncode is None:
            try:
                self.returncode = _outside.ask({"signal": [self.pid, 0]})
            except OSError:  # whoever started it is gone, and it with him
                self.returncode = -signal.SIGKILL
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if _outside is None:
            return int(super()._wait(timeout))  # type: ignore[misc]  # as above
        end = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_PAUSE
        while self._internal_poll() is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return int(self.returncode)

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless the program has ended."""
        if _outside is None:
            super().send_signal(sig)
        elif self.poll() is None:
            _outside.ask({"signal": [self.pid, sig]})


def is_starting() -> bool:
    """Whether this thread starts one of the few programs, where nobody stands outside."""
    return getattr(_here, "starting", False)


def run(command: list[str], *, timeout: float | None = None, **named: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, and return what it printed.

    Raises:
        CalledProcessError: It ends with another code than 0.
        TimeoutExpired: It has not ended in time.
        OSError: It cannot be started.
    """
    pipe = subprocess.PIPE
    with Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, **named) as process:
        try:
            printed, said = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, printed, said)
    return subprocess.CompletedProcess(command, 0, printed, said)


class _Few:
    """The few things that are done outside of the wall.

    Args:
        programs: Names of programs.
        kept: The file that may be written.
    """

    def __init__(self, programs: frozenset[str], kept: str) -> None:
        self._programs, self._kept = programs, kept
        self._started: dict[int, subprocess.Popen[bytes]] = {}

    def do(self, request: dict[str, Any], handles: list[int]) -> Any:
        """Do what is asked, and return the answer.

        Raises:
            OSError: It cannot be done, or is not among the few.
        """
        if "start" in request:
            return self._start(request, handles)
        if "keep" in request:
            with open(request["keep"], "rb") as file:  # noqa: PTH123 - before anything is imported
                os.makedirs(os.path.dirname(self._kept), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
                write_bytes(self._kept, file.read(), mode=0o600)
            return None
        if "browse" in request:  # some browsers take their time
            import webbrowser

            threading.Thread(target=webbrowser.open, args=[request["browse"]], daemon=True).start()
            return None
        number, sig = request["signal"]
        process = self._started[number]
        if sig:
            process.send_signal(sig)
        elif process.poll() is not None:
            del self._started[number]
        return process.returncode

    def _start(self, request: dict[str, Any], handles: list[int]) -> int:
        command, left = request["start"], iter(handles)
        is_python = os.path.realpath(command[0]) == os.path.realpath(sys.executable)
        if not is_python and os.path.basename(command[0]) not in self._programs:  # noqa: PTH119 - as above
            raise PermissionError(errno.EPERM, f"{command[0]} is not started from behind the wall")
        pipes = [next(left) if is_given else subprocess.DEVNULL for is_given in request["given"]]
        process = subprocess.Popen(  # noqa: S603 - one of the few
            command,
            stdin=pipes[0],
            stdout=pipes[1],
            stderr=pipes[2],
            cwd=request["cwd"],
            env=request["env"],
            start_new_session=True,
        )
        self._started[process.pid] = process
        return process.pid

    def end(self) -> None:
        """End what is left."""
        for process in self._started.values():
            process.kill()


def _serve(channel: socket.socket, temporary: str, made: tuple[str, ...], few: _Few) -> NoReturn:
    """Do what is asked until nobody can ask any more."""
    try:
        os.setsid()  # Ctrl-C is for the process that asks
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _let_go(channel.fileno())
        while True:
            text, handles, _, _ = socket.recv_fds(channel, _LONGEST, 3)
            if not text:
                break
            try:
                answer = {"value": few.do(json.loads(text), handles)}
            except OSError as error:
                answer = {"error": [error.errno, error.strerror]}
            finally:
                for each in handles:
                    os.close(each)
            channel.send(json.dumps(answer).encode())
        few.end()
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        for folder in made:
            with suppress(OSError):
                os.rmdir(folder)  # noqa: PTH106 - as above
        os._exit(0)


def _let_go(kept: int) -> None:
    """Close every handle but one: who reads our output waits for its end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    os.closerange(3, kept)
    os.closerange(kept + 1, max(kept + 1, nothing) + _HANDLES)


_HANDLES = 64
"""More than Python has open before a command begins."""
