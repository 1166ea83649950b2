"""Runs one program of a model's and says how it ended. A script of its own: ``python -I program_runner.py REPORT_FD``.

It reads one JSON object from its standard input (``parts``: sources that run one after the other with the same names,
``seconds``, ``memory_bytes``, ``token``) and writes how they ended to the file descriptor. It knows nothing of Proctor
and needs the standard library only.
"""

from __future__ import annotations

import builtins
import importlib
import io
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

_DISABLED = {
    "os": (
        "kill killpg system remove removedirs rmdir setuid fork forkpty rename renames truncate replace unlink fchmod "
        "fchown chmod chown chroot lchflags lchmod lchown"
    ),
    "shutil": "rmtree move chown",
    "subprocess": "Popen",
}
"""What a program may not do: it would end, or damage, more than itself."""

_OPEN_FILES, _FILE_BYTES = 64, 16 * 1024 * 1024


class _OutOfTimeError(BaseException):
    """Not an ``Exception``, so that a program that catches these does not catch it."""


def _limit(seconds: float, memory: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # Windows has no limits; some systems refuse some of them
        import resource

        for name, value in (
            ("RLIMIT_AS", memory),
            ("RLIMIT_CPU", int(seconds) + 2),
            ("RLIMIT_FSIZE", _FILE_BYTES),
            ("RLIMIT_NOFILE", _OPEN_FILES),
            ("RLIMIT_CORE", 0),
        ):
            with suppress(AttributeError, ValueError, OSError):
                hard = value + 1 if name == "RLIMIT_CPU" else value  # at the soft limit the process learns why it ends
                resource.setrlimit(getattr(resource, name), (value, hard))


def _guard() -> None:
    for module, names in _DISABLED.items():
        found = importlib.import_module(module)
        for name in names.split():
            if hasattr(found, name):
                setattr(found, name, None)
    for name in ("exit", "quit", "help"):
        if hasattr(builtins, name):
            setattr(builtins, name, None)


def _ring(*_: Any) -> NoReturn:
    raise _OutOfTimeError


def same_value(actual: Any, expected: Any) -> bool:
    """Whether two values are of one type and equal all the way down, so that no ``__eq__`` of a program's decides."""
    if type(actual) is not type(expected):
        return False
    if isinstance(actual, (list, tuple)):
        return len(actual) == len(expected) and all(map(same_value, actual, expected))
    if isinstance(actual, dict):
        return _paired(list(actual.items()), list(expected.items()))
    if isinstance(actual, (set, frozenset)):
        return _paired(list(actual), list(expected))
    try:
        equal = actual == expected
    except Exception:  # noqa: BLE001 - a value that cannot be compared is not the same
        return False
    return type(equal) is bool and equal


def _paired(actual: list[Any], expected: list[Any]) -> bool:
    """Whether each item has a partner of its own."""
    if len(actual) != len(expected):
        return False
    for item in actual:
        place = next((i for i, other in enumerate(expected) if same_value(item, other)), None)
        if place is None:
            return False
        del expected[place]
    return True


def _run(task: dict[str, Any]) -> tuple[str, str]:
    names: dict[str, Any] = {}
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _ring)
        signal.setitimer(signal.ITIMER_REAL, task["seconds"])
    try:
        for part in task["parts"]:
            exec(part, names)  # noqa: S102 - what this process is for: its caller was told to trust code
            names["__same_value"] = same_value
    except _OutOfTimeError:
        return "timeout", ""
    except AssertionError as error:
        return "wrong_answer", f"AssertionError: {error}"[:500]
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is how it ended
        return "failed", f"{type(error).__name__}: {error}"[:500]
    return "pass", ""


def main() -> None:
    """Run the program and report."""
    os.set_inheritable(int(sys.argv[1]), False)
    report = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")
    task = json.loads(sys.stdin.read())
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - until the process ends
    _limit(task["seconds"], task["memory_bytes"])
    write, ended = report.write, os._exit
    close, dumps, token = report.close, json.dumps, task.pop("token")
    _guard()
    how, why = _run(task)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    write(dumps({"token": token, "how": how, "why": why}))
    close()
    ended(0)


if __name__ == "__main__":
    main()
