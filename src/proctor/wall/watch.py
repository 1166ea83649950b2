"""A watch over what Python opens, changes, starts and connects to, in every thread of the process."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from proctor.effects import Effect, is_allowed
from proctor.safe_files import is_part_of
from proctor.starter import is_starting
from proctor.wall.rules import Rules, granted

_NONE = 99  # no argument
STARTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"})
CHANGES: dict[str, tuple[tuple[int, int], ...]] = {
    **dict.fromkeys(("os.remove", "os.rmdir", "shutil.rmtree"), ((0, 1),)),
    **dict.fromkeys(("os.mkdir", "os.chmod"), ((0, 2),)),
    **dict.fromkeys(("os.chown", "os.utime"), ((0, 3),)),
    **dict.fromkeys(("os.truncate", "os.setxattr", "os.removexattr"), ((0, _NONE),)),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.rename": ((0, 2), (1, 3)),
}
"""Events that change files: which of their arguments are paths, and which is the open folder that each counts from."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LOOKS_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_CONNECTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_inside = threading.local()


class Places:
    """Files and folders; asked for each file that Python opens."""

    def __init__(self, places: tuple[str, ...]) -> None:
        self._exact = frozenset(places)
        self.below = tuple(f"{each}{os.sep}" for each in places)

    def hold(self, place: str) -> bool:
        """Whether a place is one of them, or lies below one."""
        return place.startswith(self.below) or place in self._exact


class Watch:
    """Refuses what is against the rules, with the words that allow it.

    Args:
        rules: What may be touched.
    """

    def __init__(self, rules: Rules) -> None:
        self._readable = Places((*rules.readable, *rules.writable, *rules.files))
        self._writable, self._files = Places(rules.writable), rules.files
        self._shown, self._hosts = rules.shown, rules.hosts
        self._below = self._readable.below[:_OFTEN]
        self._reads_everything = rules.trusts
        self.is_open = rules.trusts
        self._names: dict[str, set[str]] = {}

    def let(self, targets: Iterable[str]) -> None:
        """Let further hosts be asked, with or without a port."""
        self._hosts |= frozenset(targets)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Look at an event of :data:`_LOOKED_AT`.

        Raises:
            PermissionError: It is against the rules.
        """
        if event == "open" and self._is_ordinary(*arguments):
            return
        if getattr(_inside, "looking", False):
            return  # what the watch itself looks at
        _inside.looking = True
        try:
            self._check(event, arguments)
        finally:
            _inside.looking = False

    def _is_ordinary(self, path: Any, _: Any, flags: int | None) -> bool:
        """Whether a file is only read, and of what is read all the time."""
        is_read = not (flags or 0) & _WRITING and isinstance(path, str)
        return is_read and path.startswith(self._below) and "/." not in path and "//" not in path

    def _check(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if (place := place_of(path)) is not None:
                (self._check_writing if (flags or 0) & _WRITING else self._check_reading)(place)
        elif event == "os.mkdir" and self._is_above(next(changed(event, arguments), None)):
            return  # what the command needs lies below: the system says whether it can be made
        elif event in CHANGES:
            for place in changed(event, arguments):
                self._check_writing(place)
        elif event == "sqlite3.connect":
            self._check_database(os.fsdecode(arguments[0]))
        elif event in _LOOKS_UP:
            self._check_host(str(arguments[0] or ""))
        elif event in _CONNECTS:
            self._check_address(arguments[1])
        elif not (self.is_open or is_starting()):
            raise _refused(f"the program {_name_of(arguments[0])} is not started", "")

    def _check_reading(self, place: str) -> None:
        if self._reads_everything or self._readable.hold(place):
            return
        real = os.path.realpath(place)
        if self._readable.hold(real) or any(_is_shown(real, folder) for folder in self._shown):
            return
        raise _refused(f"{place} is not read", f"read:{real}")

    def _check_database(self, name: str) -> None:
        """Look at a database, which SQLite opens by itself: a path, an address with a path, or none of either."""
        parts = urlsplit(name) if name.startswith("file:") else None
        if name in ("", ":memory:") or (parts is not None and "mode=memory" in parts.query):
            return
        place = os.path.abspath(name if parts is None else unquote(parts.path))  # noqa: PTH100 - as in place_of
        is_read = parts is not None and "mode=ro" in parts.query
        (self._check_reading if is_read else self._check_writing)(place)

    def _check_writing(self, place: str) -> None:
        folder, name = os.path.split(place)
        real = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - a link is changed where it stands
        whole = os.path.realpath(place)
        if not (self._writable.hold(real) and self._writable.hold(whole)) and not any(
            whole == each or is_part_of(whole, each) for each in self._files
        ):
            raise _refused(f"{place} is not written", f"write:{real}")

    def _is_above(self, place: str | None) -> bool:
        return place is not None and any(each.startswith(f"{place}{os.sep}") for each in self._writable.below)

    def _check_host(self, host: str) -> None:
        """Let the name of a host be looked up, and remember which addresses are its."""
        name = host.lower().rstrip(".")
        if not name or self.is_open or ":" in name or name.replace(".", "").isdecimal():
            return  # an address: whether it may be connected to is asked then
        if name != "localhost" and not self._is_known(name):
            raise _refused(f"the server {host} is not asked", f"net:{host}")
        import socket

        try:
            found = {str(each[4][0]) for each in socket.getaddrinfo(host, None)}
        except OSError:
            return  # whoever looks it up says so
        for each in found:
            self._names.setdefault(each, set()).add(name)

    def _is_known(self, name: str) -> bool:
        """Whether a host may be asked, at whatever port."""
        known = {each.rpartition(":")[0] or each for each in self._hosts.union(granted("net"))} | self._hosts
        return name in known or is_allowed(Effect("net", name))

    def _check_address(self, address: Any) -> None:
        if address is None or self.is_open:
            return  # what is connected already
        if not isinstance(address, tuple):
            raise _refused(f"the socket {address!r} is not connected to", "")
        host, port = str(address[0]), address[1]
        bracketed = f"[{host}]" if ":" in host else host
        names = {bracketed, host, *self._names.get(host, ())}
        targets = names.union(f"{each}:{port}" for each in names)
        if self._hosts.isdisjoint(targets) and not any(is_allowed(Effect("net", each)) for each in targets):
            raise _refused(f"the server {bracketed}:{port} is not asked", f"net:{bracketed}:{port}")


_LOOKED_AT = STARTS | CHANGES.keys() | _LOOKS_UP | _CONNECTS | {"open", "sqlite3.connect"}
_OFTEN = 12  # folders of Python and of packages, which come first


def _refused(what: str, grant: str) -> PermissionError:
    allows = f"--allow {grant} lets it" if grant else "--no-wall lets it"
    return PermissionError(errno.EACCES, f"{what}: it lies behind the wall; {allows}")


def place_of(path: Any) -> str | None:
    """Return a path from the root; ``None`` for what is open already."""
    if path is None or isinstance(path, int):
        return None
    text = os.fsdecode(path)
    return text if text[:1] == os.sep and "/." not in text and "//" not in text else os.path.abspath(text)  # noqa: PTH100


def changed(event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
    """Yield what an event of :data:`CHANGES` changes, from the root."""
    for number, folder in CHANGES[event]:
        path = arguments[number]
        if folder < len(arguments) and isinstance(arguments[folder], int) and arguments[folder] >= 0:
            path = os.path.join(_folder_of(arguments[folder]), os.fsdecode(path))  # noqa: PTH118 - as in place_of
        if (place := place_of(path)) is not None:
            yield place


def _folder_of(handle: int) -> str:
    """Return the path of an open folder; the root, which nobody may write in, where the system does not tell it."""
    with suppress(OSError):
        return os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115 - as in place_of
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        return os.fsdecode(fcntl.fcntl(handle, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))  # type: ignore[attr-defined]
    return os.sep


def _name_of(program: Any) -> str:
    text = program[0] if isinstance(program, (list, tuple)) and program else program
    return os.path.basename(os.fsdecode(text)) if isinstance(text, (str, bytes, os.PathLike)) else str(text)  # noqa: PTH119


def _is_shown(place: str, folder: str) -> bool:
    return place == folder or (
        place.startswith(f"{folder.rstrip(os.sep)}{os.sep}") and f"{os.sep}." not in place[len(folder.rstrip(os.sep)) :]
    )


def begin(rules: Rules) -> Watch:
    """Begin to watch, and return the watch; it ends with the process."""
    found = Watch(rules)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:  # Python calls a function in a fifth of a method's time
        if event in _LOOKED_AT:
            found.hook(event, arguments)

    sys.addaudithook(hook)
    return found
