"""Notes by which processes that share a folder or a log say who they are, and tell whether the others live."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def own_note(log: str = "") -> str:
    """Return who this process is, so that others can tell whether it lives, and where it files its answers."""
    since = datetime.now(UTC).isoformat(timespec="seconds")
    pid = os.getpid()
    note = {"pid": pid, "host": platform.node(), "since": since, "machine": _machine(), "ticks": _start_of(pid)}
    return json.dumps({**note, "log": log} if log else note)


def is_gone(note: Mapping[str, Any]) -> bool:
    """Whether the process of a note was one of this machine, and has ended."""
    return note.get("machine") == _machine() and _is_gone(note.get("pid"), note.get("ticks"))


def _machine() -> str:
    """Return what tells where a process number means something: the machine since its start, and the container."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))  # noqa: PTH115 - it is not a path
    return " ".join(parts)


def _is_gone(pid: Any, ticks: Any) -> bool:
    """Whether a process of this machine has ended; another one may have its number now."""
    if not isinstance(pid, int) or not 0 < pid < 1 << 31:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's
        return False
    return ticks is not None and _start_of(pid) not in (None, ticks)


def _start_of(pid: int) -> str | None:
    """Return when a process started, in ticks of the machine; ``None`` where that cannot be known."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[_START].decode()
    except (OSError, IndexError):
        return None


_START = 19  # the field after the name's closing bracket, proc(5)
