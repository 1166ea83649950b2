"""Drops a prisoner's rights before anything runs: memory, time, capabilities, system calls, files."""

from __future__ import annotations

import contextlib
import os
import resource
from typing import Any

from . import kernel, seccomp

_OPEN_FILES = 64


def limit(config: dict[str, Any]) -> None:
    """Limit what this process uses. Systems that lack a limit, or refuse it, go without.

    Args:
        config: ``memory_bytes``, ``seconds`` of processor time, ``file_bytes``, ``processes`` (0: not limited here).
    """
    seconds = int(config["seconds"]) + 2
    table = {
        "RLIMIT_AS": (config["memory_bytes"], config["memory_bytes"]),
        "RLIMIT_CPU": (seconds, seconds + 1),
        "RLIMIT_FSIZE": (config["file_bytes"], config["file_bytes"]),
        "RLIMIT_NOFILE": (_OPEN_FILES, _OPEN_FILES),
        "RLIMIT_CORE": (0, 0),
    }
    if config["processes"]:
        table["RLIMIT_NPROC"] = (config["processes"], config["processes"])
    for name, values in table.items():
        number = getattr(resource, name, None)
        if number is not None:
            try:
                resource.setrlimit(number, values)
            except (ValueError, OSError):
                continue


def lock(config: dict[str, Any]) -> None:
    """Give up everything; there is no way back.

    Args:
        config: ``walls``: which prison this is; ``starting``: whether processes may be started; ``readable``,
            ``writable``: paths, where landlock is the wall.

    Raises:
        OSError: The kernel refuses what this prison rests on.
    """
    os.umask(0o077)
    walls = config["walls"]
    if walls == "none":
        with contextlib.suppress(OSError):  # as far as this system can
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
            kernel.drop_capabilities()
        return
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if walls == "landlock":
        kernel.landlock(config["readable"], config["writable"])
    kernel.drop_capabilities()
    if walls == "landlock" or seccomp.is_known_machine():
        seccomp.restrict(starting=config["starting"], modes=walls != "landlock")
