"""Raises the wall around this process, and says what of it stands."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proctor.prison.inside import kernel, seccomp
from proctor.wall import watch
from proctor.wall.rules import Rules, rules_for


@dataclass(frozen=True, slots=True)
class Wall:
    """What of the wall stands.

    Attributes:
        files: Whether the kernel refuses files.
        ports: Whether the kernel refuses connections to other ports.
        programs: Whether the kernel refuses to start programs.
        why_not: The reason why something of it is missing.
    """

    files: bool = False
    ports: bool = False
    programs: bool = False
    why_not: str = ""

    def __str__(self) -> str:
        parts = {"files": self.files, "ports": self.ports, "programs": self.programs}
        held = [name for name, stands in parts.items() if stands]
        kernel_part = f"the kernel holds {', '.join(held)}; " if held else ""
        return f"{kernel_part}a watch over Python{f' ({self.why_not})' if self.why_not else ''}"


_standing: list[Wall] = []


def standing() -> Wall | None:
    """Return the wall around this process; ``None`` where there is none."""
    return _standing[-1] if _standing else None


def what_can_stand() -> Wall:
    """Return the wall that this machine can have; nothing is raised."""
    version = kernel.landlock_version()
    known = seccomp.is_known_machine()
    why = [] if version else [_no_landlock()]
    why += [] if known else ["system calls of this machine are not known"]
    return Wall(bool(version), version >= _PORTS_SINCE, known, "; ".join(why))


_PORTS_SINCE = 4  # version of landlock


def _no_landlock() -> str:
    return "the kernel has no landlock" if sys.platform == "linux" else f"{sys.platform} has no landlock"


def raise_wall(words: Sequence[str]) -> Wall:
    """Raise the wall around this process, and whatever it starts; it ends with the process.

    Args:
        words: What the user typed.

    Returns:
        What of it stands.
    """
    scratch = tempfile.mkdtemp(prefix="proctor-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    tempfile.tempdir = scratch
    os.environ["TMPDIR"] = scratch
    _take_token()
    rules = rules_for(words, scratch)
    wall = _raised(rules)
    watch.begin(rules)
    _standing.append(wall)
    sys.dont_write_bytecode = True  # each attempt would be refused
    return wall


def _take_token() -> None:
    """Let libraries have the token of the hub, whose file nobody reads behind the wall."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    place = Path(os.environ.get("HF_TOKEN_PATH") or home / "token")
    with suppress(OSError, UnicodeDecodeError):
        if not os.environ.get("HF_TOKEN") and (token := place.read_text(encoding="utf-8").strip()):
            os.environ["HF_TOKEN"] = token


def _raised(rules: Rules) -> Wall:
    found = what_can_stand()
    files = ports = held = False
    why = [found.why_not] if found.why_not else []
    if found.files or found.programs:
        with suppress(OSError):
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if found.files:
        try:
            kernel.landlock([*rules.readable, *rules.entries()], list(rules.writable), rules.shown, rules.ports)
            files, ports = True, found.ports
        except OSError as error:
            why.append(str(error))
    if found.programs:
        try:
            seccomp.refuse_programs()
            held = True
        except OSError as error:
            why.append(str(error))
    return Wall(files, ports, held, "; ".join(why))
