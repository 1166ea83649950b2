"""The kernel's own words on Linux, as far as a prison needs them: system calls and constants, by ctypes."""

from __future__ import annotations

import ctypes
import os
import struct
import sys

MACHINE = os.uname().machine if sys.platform == "linux" else ""

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

_CAPSET = {"x86_64": 126, "aarch64": 91}
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # the same on every architecture
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _checked(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def prctl(option: int, value: int = 0, pointer: int | None = None) -> int:
    """Set something about this process.

    Raises:
        OSError: The kernel refuses.
    """
    if _libc is None:
        raise OSError("there is no prctl here")
    arguments = [ctypes.c_ulong(value), ctypes.c_void_p(pointer), ctypes.c_ulong(0), ctypes.c_ulong(0)]
    return _checked(_libc.prctl(option, *arguments), f"prctl {option}")


def call(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call.

    Raises:
        OSError: The kernel refuses.
    """
    if _libc is None:
        raise OSError("there are no such system calls here")
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *given), f"system call {number}")


def unshare(flags: int) -> None:
    """Leave namespaces.

    Raises:
        OSError: The kernel refuses.
    """
    if _libc is None:
        raise OSError("there are no namespaces here")
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Mount something.

    Raises:
        OSError: The kernel refuses.
    """
    if _libc is None:
        raise OSError("there is no mount here")
    encoded = [None if each is None else os.fsencode(each) for each in (source, target, kind, options)]
    _checked(_libc.mount(*encoded[:3], ctypes.c_ulong(flags), encoded[3]), f"mount {target}")


def unmount(target: str, flags: int) -> None:
    """Take away what is mounted.

    Raises:
        OSError: The kernel refuses.
    """
    if _libc is None:
        raise OSError("there is no umount here")
    _checked(_libc.umount2(os.fsencode(target), flags), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make another folder the root.

    Raises:
        OSError: The kernel refuses.
    """
    call(_PIVOT_ROOT[MACHINE], os.fsencode(new), os.fsencode(old))


def drop_capabilities() -> None:
    """Give up every capability, now and for whatever is started.

    Raises:
        OSError: The kernel refuses.
    """
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # not one that this kernel has, or there is nothing to give up
            break
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    call(_CAPSET[MACHINE], header, bytes(24))


# -- landlock: which files a process may open, whoever it is --------------------------------------------------

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_BY_VERSION = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""Rights over files by the first version of landlock that knows them."""
_NETWORK, _NETWORK_SINCE = 3, 4
_SCOPES, _SCOPES_SINCE = 3, 6
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ONLY_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15
_RULE_PATH, _RULE_PORT = 1, 2
_CONNECT = 2


def landlock_version() -> int:
    """Return the kernel's version of landlock, 0 where it has none."""
    try:
        return call(_LANDLOCK_CREATE, None, 0, 1)
    except OSError:
        return 0


def landlock(readable: list[str], writable: list[str], listed: tuple[str, ...] = (), *, network: bool = True) -> None:
    """Let this thread, and what it starts, open nothing but what lies below some paths, and no network.

    Args:
        readable: Read, listed and executed.
        writable: Written, too, and not executed.
        listed: Only listed.
        network: Whether connections are refused, too.

    Raises:
        OSError: The kernel has no landlock, or refuses.
    """
    version = _version()
    rights = sum(bits for since, bits in _BY_VERSION if version >= since)
    rules = _rule_set(rights, _NETWORK if network else 0)
    try:
        for paths, allowed in ((readable, _READ), (writable, rights & ~_EXECUTE), (listed, _READ_DIR)):
            for path in paths:
                _allow(rules, path, allowed & rights)
        call(_LANDLOCK_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def landlock_ports(ports: tuple[int, ...]) -> None:
    """Let this thread, and what it starts, connect to some ports of TCP and to no others.

    Raises:
        OSError: The kernel has no landlock that knows ports, or refuses.
    """
    rules = _rule_set(0, _CONNECT)
    try:
        for port in ports:
            call(_LANDLOCK_ADD, rules, _RULE_PORT, struct.pack("=QQ", _CONNECT, port), 0)
        call(_LANDLOCK_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _version() -> int:
    if not (version := landlock_version()):
        raise OSError("the kernel has no landlock")
    return version


def _rule_set(rights: int, network: int) -> int:
    """Return a handle of an empty set of rules: what is in ``rights`` and ``network`` is refused by it."""
    version = _version()
    scopes = _SCOPES if version >= _SCOPES_SINCE else 0
    size = 24 if scopes else 16 if version >= _NETWORK_SINCE else 8
    return call(_LANDLOCK_CREATE, struct.pack("QQQ", rights, network, scopes)[:size], size, 0)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # what cannot be opened now needs no permission
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib would be one more import for each program
            rights &= _ONLY_FILES
        call(_LANDLOCK_ADD, rules, _RULE_PATH, struct.pack("=Qi", rights, handle), 0)
    finally:
        os.close(handle)
