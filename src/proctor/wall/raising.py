"""Raises the wall around this process, and says what of it stands."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from proctor import starter
from proctor.effects import Effect, port_of
from proctor.prison.inside import kernel, seccomp
from proctor.state import kept_table, secret
from proctor.wall import watch
from proctor.wall.rules import Needs, Rules, granted, rules_for
from proctor.wall.watch import Watch


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


@dataclass(slots=True)
class _Standing:
    """The wall around this process, and what is still to be known of it: which servers and programs are needed."""

    wall: Wall
    watch: Watch
    rules: Rules
    is_closed: bool = False
    ports: frozenset[int] | None = None
    """The ports that the kernel lets be connected to; ``None`` where it refuses none."""


_standing: list[_Standing] = []


def standing() -> Wall | None:
    """Return the wall around this process; ``None`` where there is none."""
    return _standing[-1].wall if _standing else None


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


def raise_wall(words: Sequence[str], needs: Needs = Needs()) -> Wall:  # noqa: B008 - it is frozen
    """Raise the wall around this process, and whatever it starts; it ends with the process.

    Args:
        words: What the user typed.
        needs: What the command needs beside that.

    Returns:
        What of it stands. Of a command that asks models, :func:`open_for` raises the rest.
    """
    scratch = tempfile.mkdtemp(prefix="proctor-")
    made = [str(each) for folder in needs.folders for each in _made_folders(folder)]
    found = what_can_stand()
    if found.programs and hasattr(os, "fork"):
        programs = {*granted("run"), "bwrap", "docker", "podman"}
        starter.stand_outside(scratch, made, programs, str(kept_table("allowed.json")))
    else:
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    tempfile.tempdir = scratch
    os.environ["TMPDIR"] = scratch
    _take_token()
    rules = rules_for(words, scratch, needs)
    with suppress(OSError):  # a home that cannot be written: whoever needs the key says so
        secret()
    wall = _with_files(found, rules)
    _standing.append(_Standing(wall, watch.begin(rules), rules))
    sys.dont_write_bytecode = True  # each attempt would be refused
    return wall if needs.asks else open_for([])


def open_for(engines: Iterable[Needing]) -> Wall:
    """Raise what is left of the wall around a command that asks models, now that it is known whom it asks.

    Args:
        engines: Whoever is asked.

    Returns:
        What of it stands; nothing where there is no wall, or none is left to be raised.
    """
    if not _standing:
        return Wall()
    mine = _standing[-1]
    if mine.is_closed:
        return mine.wall
    mine.is_closed = True
    engines = list(engines)
    targets = [each.target for engine in engines for each in engine.would_do() if each.kind == "net"]
    mine.watch.let(targets)
    if workers := [engine.label for engine in engines if engine.starts_programs]:
        mine.watch.is_open = True
        why = f"'{workers[0]}' starts programs, which speak to each other: the wall holds their files alone"
    elif mine.rules.trusts:
        why = "trusted code starts programs and asks servers"
    else:
        ports = (*mine.rules.ports, *map(port_of, targets))
        mine.wall = _with_ports_and_programs(mine.wall, ports)
        mine.ports = frozenset(ports) if mine.wall.ports else None
        return mine.wall
    mine.wall = replace(mine.wall, why_not="; ".join(filter(None, (mine.wall.why_not, why))))
    return mine.wall


def let_ask(target: str) -> bool:
    """Let a further server be asked, which the user names meanwhile.

    Args:
        target: Its host and port.

    Returns:
        Whether it can be connected to: the kernel lets no further port be.
    """
    if not _standing:
        return True
    mine = _standing[-1]
    mine.watch.let([target])
    return mine.ports is None or port_of(target) in mine.ports


class Needing(Protocol):
    """Whoever is asked, as far as the wall is concerned."""

    @property
    def label(self) -> str:
        """Its name, for people."""

    @property
    def starts_programs(self) -> bool:
        """Whether it starts programs, or workers that speak to each other."""

    def would_do(self) -> list[Effect]:
        """Return what it does besides answering."""


def _made_folders(folder: Path) -> list[Path]:
    """Make a folder; return what was made, the innermost first."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    with suppress(OSError):  # whoever writes there says so
        folder.mkdir(parents=True, exist_ok=True)
    return missing


def _take_token() -> None:
    """Let libraries have the token of the hub, whose file nobody reads behind the wall."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    place = Path(os.environ.get("HF_TOKEN_PATH") or home / "token")
    with suppress(OSError, UnicodeDecodeError):
        if not os.environ.get("HF_TOKEN") and (token := place.read_text(encoding="utf-8").strip()):
            os.environ["HF_TOKEN"] = token


def _with_files(found: Wall, rules: Rules) -> Wall:
    """Let the kernel refuse files; return what stands."""
    if not found.files:
        return Wall(why_not=found.why_not)
    writable = [*rules.writable, *{os.path.dirname(each) for each in rules.files}]  # noqa: PTH120 - real already
    try:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.landlock([*rules.readable, *rules.entries()], writable, rules.shown, network=False)
    except OSError as error:
        return Wall(why_not=str(error))
    return Wall(files=True, why_not=found.why_not)


def _with_ports_and_programs(wall: Wall, ports: tuple[int, ...]) -> Wall:
    """Let the kernel refuse connections to other ports, and programs; return what stands."""
    found = what_can_stand()
    try:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        if found.ports:
            kernel.landlock_ports(ports)
            wall = replace(wall, ports=True)
        if found.programs:
            seccomp.refuse_programs()
            wall = replace(wall, programs=True)
    except OSError as error:
        return replace(wall, why_not="; ".join(filter(None, (wall.why_not, str(error)))))
    return wall
