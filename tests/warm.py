"""The command ``proctor`` from a process that has imported the slow packages once: importing them takes most of its time.

``started(folder)`` starts that process and writes a command ``proctor`` into the folder, for the front of ``PATH``. Each
call of the command is a child of the process, with the caller's arguments, folder, environment and streams.
"""

from __future__ import annotations

import array
import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SLOW = (
    "torch",
    "transformers.models.llama.modeling_llama",
    "aiohttp",
    "numpy",
    "proctor.running.run",
    "proctor.cli.run",
)
_CALLER = """#!{python} -IS
import array, json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({place!r})
    said = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    line.sendmsg([len(said).to_bytes(4, "big")], rights)
    line.sendall(said)
    os._exit(line.recv(1)[0])
"""


@contextmanager
def started(folder: Path) -> Iterator[None]:
    """Serve the command ``proctor`` in a folder until the block ends."""
    place = folder / "line"
    command = folder / "proctor"
    command.write_text(_CALLER.format(python=sys.executable, place=str(place)), encoding="utf-8")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    with subprocess.Popen([sys.executable, __file__, str(place)]) as process:
        try:
            for _ in range(1200):
                if place.exists() or process.poll() is not None:
                    break
                time.sleep(0.1)
            yield
        finally:
            process.terminate()


def serve(place: str) -> None:
    """Answer calls, each in a child."""
    for name in SLOW:
        with suppress(ImportError):
            __import__(name)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(f"{place}.new")
        line.listen()
        Path(f"{place}.new").rename(place)
        while True:
            caller, _ = line.accept()
            if not os.fork():
                line.close()
                answer(caller)
            caller.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def answer(caller: socket.socket) -> None:
    """Be the command of one call, and tell its exit code; never returns."""
    streams = array.array("i")
    size, rights, _, _ = caller.recvmsg(4, socket.CMSG_SPACE(3 * streams.itemsize))
    streams.frombytes(rights[0][2])
    said = b""
    while len(said) < int.from_bytes(size, "big"):
        said += caller.recv(1 << 16)
    arguments, folder, environment = json.loads(said)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin, sys.stdout, sys.stderr = (open(n, mode, closefd=False) for n, mode in enumerate("rww"))  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    code = 1
    try:
        sys.argv = ["proctor", *arguments]
        from proctor.cli.__main__ import main

        code = main(arguments)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        caller.sendall(bytes([int(code or 0) & 255]))
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
