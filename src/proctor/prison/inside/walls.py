"""Walls of namespaces: another user, no network, no processes but its own, and a root with libraries only."""

from __future__ import annotations

import os
from typing import Any

from .kernel import mount, pivot_root, unmount, unshare

_NEW_NAMESPACES = 0x02000000 | 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
"""Control groups, mounts, host name, messages between processes, users, processes, network."""
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _REMOUNT = 1, 2, 4, 32
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_DETACH = 2
_DEVICES = ("null", "zero", "full", "random", "urandom")
_INNER_USER = 1000


def leave() -> None:
    """Leave every namespace of the machine; a child process is the first in its own.

    Raises:
        OSError: The kernel refuses.
    """
    user, group = os.getuid(), os.getgid()
    unshare(_NEW_NAMESPACES)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{_INNER_USER} {user} 1")
    _write("/proc/self/gid_map", f"{_INNER_USER} {group} 1")


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode("ascii"))
    finally:
        os.close(handle)


def enclose(config: dict[str, Any]) -> None:
    """Make a new root of what may be read, with empty folders to work in, and let go of the old one.

    Args:
        config: ``folder``: an empty one, ``readable``: paths; ``disk_bytes``: of each folder to work in.

    Raises:
        OSError: The kernel refuses.
    """
    mount("none", "/", None, _RECURSIVE | _PRIVATE)
    root = config["folder"]
    mount("tmpfs", root, "tmpfs", _NO_SETUID | _NO_DEVICES, "size=1m,mode=755")
    os.chdir(root)
    os.makedirs("dev", exist_ok=True)  # noqa: PTH103 - pathlib would be one more import for each program
    for name in _DEVICES:
        _bind(f"/dev/{name}", f"{root}/dev/{name}", read_only=False)
    os.mkdir("old")  # noqa: PTH102
    for path in ("/tmp", config["work"]):  # noqa: S108 - of the new root
        os.mkdir(root + path)  # noqa: PTH102
        options = f"size={config['disk_bytes']},nr_inodes=4096,mode=700"
        mount("tmpfs", root + path, "tmpfs", _NO_SETUID | _NO_DEVICES, options)
    for path in config["readable"]:
        _show(root, path)
    pivot_root(root, f"{root}/old")
    os.chdir("/")
    unmount("/old", _DETACH)
    os.rmdir("/old")  # noqa: PTH106
    mount("none", "/", None, _BIND | _REMOUNT | _READ_ONLY | _NO_SETUID | _NO_DEVICES)


def _show(root: str, path: str) -> None:
    """Make a path of the machine readable below the new root; a link stays one."""
    target = root + path
    os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
    if os.path.islink(path) and os.path.dirname(path) == "/":  # noqa: PTH114, PTH120 - /lib -> usr/lib
        os.symlink(os.readlink(path), target)  # noqa: PTH115, PTH211
    elif os.path.exists(path) and not os.path.lexists(target):  # noqa: PTH110
        _bind(path, target, read_only=True)


def _bind(source: str, target: str, *, read_only: bool) -> None:
    if os.path.isdir(source):  # noqa: PTH112
        os.makedirs(target, exist_ok=True)  # noqa: PTH103
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    mount(source, target, None, _BIND)
    if read_only:
        kept = _kept_flags(target)
        mount(source, target, None, _BIND | _REMOUNT | _READ_ONLY | _NO_SETUID | kept)


def _kept_flags(path: str) -> int:
    """Return flags of a mount that only whoever made it may take away."""
    flags = os.statvfs(path).f_flag
    return flags & (_NO_DEVICES | 8 | 1024 | 2048 | 1 << 21)  # no devices, no programs, access times
