"""Python programs and the command ``proctor`` from a process that has imported the slow packages once.

Importing them takes most of the time of a program. Each call is a child of that process, with its own arguments, folder,
environment and streams: a process of its own in everything but its start. What a test holds about the start (which
modules are imported, variables of the interpreter such as ``PYTHONHASHSEED``, signals) needs a process from scratch.

``python(*arguments)`` runs what ``python *arguments`` would. ``started(folder)`` writes a command ``proctor`` into the
folder, for the front of ``PATH``.
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, NoReturn

PROGRAMS = (
    "datasets",
    "numpy",
    "pandas",
    "scipy.stats",
    "proctor.cli.run",
    "proctor.cli.lm_eval_words",
    "proctor.dialects.lm_eval.asker",
    "proctor.dialects.lm_eval.class_grader",
    "proctor.dialects.lm_eval.python_task",
    "proctor.dialects.lm_eval.results_file",
    "proctor.dialects.resolve",
    "proctor.engines.engine_registry",
    "scipy.io",
    "proctor.recipes.own_definition",
    "proctor.results.evaluate",
    "proctor.running.run",
    "proctor.scoring.pipeline",
)
COMMANDS = ("aiohttp", "numpy", "proctor.running.run", "proctor.cli.run")
MODELS = (*COMMANDS, "torch", "transformers.models.llama.modeling_llama")
"""What commands import that load a model of their own: children of so large a process begin slowly."""
TYPED = (
    "run samples.sentiment --model scripted --model-args answer=positive --limit 2 --output run",
    "show samples.science --docs 1",
    "compare run run",
    "report run",
)
"""Commands that say what most commands import on their way."""
_CALLER = """#!{python} -IS
import array, json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({models!r} if "smollm2" in sys.argv else {place!r})
    said = json.dumps([["-m", "proctor", *sys.argv[1:]], os.getcwd(), dict(os.environ)]).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    line.sendmsg([len(said).to_bytes(4, "big")], rights)
    line.sendall(said)
    line.recv(4)
    os._exit((line.recv(1) or b"\\x89")[0])
"""


# -- who calls ------------------------------------------------------------------------------------------------------


@contextmanager
def started(folder: Path) -> Iterator[None]:
    """Serve the command ``proctor`` in a folder until the block ends."""
    with _served(folder / "line", COMMANDS) as place, _served(folder / "models", MODELS) as models:
        command = folder / "proctor"
        command.write_text(_CALLER.format(python=sys.executable, place=place, models=models), encoding="utf-8")
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
        yield


def python(
    *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run what ``python`` with these arguments would; return its exit code and what it wrote, as ``subprocess.run`` does.

    Args:
        arguments: A program, ``-m`` and a module, or ``-c`` and code; then its own arguments.
        cwd: Where it runs.
        env: Its environment; that of the test where it is not given.
        timeout: Seconds after which it is killed.
    """
    typed = list(map(str, arguments))
    said = json.dumps([typed, str(cwd or Path.cwd()), dict(env or os.environ)]).encode()
    with (
        socket.socket(socket.AF_UNIX) as line,
        Path(os.devnull).open("rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        line.connect(_programs())
        streams = array.array("i", [nothing.fileno(), out.fileno(), err.fileno()])
        line.sendmsg([len(said).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
        line.sendall(said)
        line.settimeout(timeout)
        number = int.from_bytes(line.recv(4), "big")
        try:
            code = line.recv(1)
        except TimeoutError:
            os.kill(number, signal.SIGKILL)
            raise subprocess.TimeoutExpired([sys.executable, *typed], timeout, _read(out), _read(err)) from None
        written = [_read(stream).decode("utf-8").replace("\r\n", "\n") for stream in (out, err)]
    return subprocess.CompletedProcess([sys.executable, *typed], code[0] if code else -signal.SIGKILL, *written)


def _read(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


@cache
def _programs() -> str:
    """Start the process for programs of this session; return where it listens."""
    serving = _served(Path(tempfile.mkdtemp(prefix="proctor-warm-")) / "line", PROGRAMS)
    place = serving.__enter__()  # until this process ends
    atexit.register(serving.__exit__, None, None, None)
    return place


@contextmanager
def _served(place: Path, modules: Sequence[str]) -> Iterator[str]:
    with subprocess.Popen([sys.executable, __file__, str(place), *modules], stdin=subprocess.PIPE) as process:
        try:
            for _ in range(12_000):
                if place.exists() or process.poll() is not None:
                    break
                time.sleep(0.01)
            yield str(place)
        finally:
            process.terminate()


# -- who answers ----------------------------------------------------------------------------------------------------


def serve(place: str, modules: Sequence[str]) -> None:
    """Answer calls, each in a child."""
    for name in modules:
        with suppress(ImportError):
            import_module(name)
    for name in imported_by(TYPED):
        with suppress(ImportError):
            import_module(name)
    gc.freeze()  # children that collect would copy all of it
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(f"{place}.new")
        line.listen()
        Path(f"{place}.new").rename(place)
        while (
            line in select.select([line, sys.stdin], [], [])[0]
        ):  # standard input ends with the process that started this
            caller, _ = line.accept()
            if not os.fork():
                line.close()
                answer(caller)
            caller.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def imported_by(commands: Sequence[str]) -> list[str]:
    """Return the modules of a process that ran the commands: a child, so that nothing else of them is left."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as names:
        if not (child := os.fork()):
            with suppress(BaseException):
                os.chdir(folder)
                os.environ.update(XDG_CACHE_HOME=folder, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder)
                silence = os.open(os.devnull, os.O_RDWR)
                for stream in (1, 2):
                    os.dup2(silence, stream)
                for each in commands:
                    import_module("proctor.cli.__main__").main([*each.split(), "--no-wall"])
                names.write("\n".join(sys.modules))
                names.flush()
            os._exit(0)
        os.waitpid(child, 0)
        names.seek(0)
        return [name for name in names.read().split("\n") if name.startswith("proctor.")]


def answer(caller: socket.socket) -> NoReturn:
    """Be the program of one call, and tell its exit code."""
    streams = array.array("i")
    size, rights, _, _ = caller.recvmsg(4, socket.CMSG_SPACE(3 * streams.itemsize))
    streams.frombytes(rights[0][2])
    said = b""
    while len(said) < int.from_bytes(size, "big"):
        said += caller.recv(1 << 16)
    arguments, folder, environment = json.loads(said)
    caller.sendall(os.getpid().to_bytes(4, "big"))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, errors="backslashreplace")  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    code = _ended(arguments)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    caller.sendall(bytes([code & 255]))
    os._exit(0)


def _ended(arguments: list[str]) -> int:
    """Run a program to its very end, threads and all; return its exit code."""
    code: object = 0
    try:
        _run(arguments)
    except SystemExit as error:
        code = error.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    return int(code or 0)


def _run(arguments: list[str]) -> None:
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    paths = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *sys.path[1:]]
    if arguments[0] == "-m":
        sys.path[:], sys.argv = ["", *paths], [arguments[1], *arguments[2:]]
        runpy._run_module_as_main(arguments[1])  # type: ignore[attr-defined]
    elif arguments[0] == "-c":
        sys.path[:], sys.argv = ["", *paths], ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), main.__dict__)
    else:
        sys.path[:], sys.argv = [str(Path(arguments[0]).parent), *paths], arguments
        main.__dict__["__file__"] = arguments[0]
        exec(compile(Path(arguments[0]).read_bytes(), arguments[0], "exec"), main.__dict__)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
