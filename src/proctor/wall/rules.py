"""What a command that looks at exams may touch, made of what the user typed, set and mapped."""

from __future__ import annotations

import json
import os
import re
import site
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from proctor.effects import CREDENTIALS, grants, named_folders
from proctor.settings import settings
from proctor.state import data_home, state_folder

SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/nix/store", "/sys/devices/system", "/proc/sys"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/loadavg", "/proc/version"),
    *(f"/proc/self/{name}" for name in ("status", "stat", "statm", "cgroup", "mountinfo", "mounts", "maps", "task")),
    *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty"),
    *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/var/lib/ca-certificates", "/etc/ld.so.cache", "/etc/fonts"),
    *("/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf"),
    *("/etc/nsswitch.conf", "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/httpd/mime.types"),
    *("/etc/os-release", "/etc/lsb-release", "/etc/debian_version"),
)
"""What Python and its libraries read of a machine: nothing of its users, nothing of other processes."""

_OF_LIBRARIES = ("~/nltk_data", "~/.cache/torch", "~/.config/matplotlib")
"""What libraries read in a home: models of words, settings of pictures."""

_KEPT_BY_LIBRARIES = ("~/.cache/matplotlib", "/dev/shm")  # noqa: S108 - locks that processes share
"""What libraries write: a list of fonts, which takes seconds to make."""

_PORTS = (443, 80, 53)
"""Of the hubs, of redirects to them, and of the names of hosts."""
_MOST_ENTRIES = 1000
"""Entries of a folder that are allowed one by one, to leave out what is hidden: ten microseconds each."""
_PROXIES = ("https_proxy", "http_proxy", "all_proxy")
_HUB_FOLDERS = ("hub", "datasets", "assets", "xet", "modules")


@dataclass(frozen=True, slots=True)
class Rules:
    """What a process may touch; all places are absolute and real.

    Attributes:
        readable: What may be read, with everything below.
        shown: Folders that may be listed, and in which everything may be read that is not hidden.
        writable: What may be written and read, with everything below.
        ports: Ports of TCP that may be connected to.
        hosts: Further hosts than the gate allows: proxies, another hub.
    """

    readable: tuple[str, ...]
    shown: tuple[str, ...]
    writable: tuple[str, ...]
    ports: tuple[int, ...] = _PORTS
    hosts: frozenset[str] = frozenset()

    def entries(self) -> Iterator[str]:
        """Yield what is not hidden in the shown folders; links are left out, for they lead elsewhere."""
        for folder in self.shown:
            with suppress(OSError):
                found = [each for each in os.scandir(folder) if not each.is_symlink()]
                hidden = [each for each in found if each.name.startswith(".")]
                if not hidden or len(found) > _MOST_ENTRIES:  # the watch knows what is hidden, too
                    yield folder
                else:
                    yield from (each.path for each in found if not each.name.startswith("."))


def rules_for(words: Sequence[str], scratch: str) -> Rules:
    """Return what a command may touch.

    Args:
        words: As the user typed them: files and folders among them are his.
        scratch: A folder for temporary files.
    """
    readable = [*SYSTEM, *_OF_LIBRARIES, *installed(), *_named(), *_granted("read")]
    typed = list(_typed(words))
    shown = [Path.cwd(), *(each if each.is_dir() else each.parent for each in typed)]
    readable += [each for each in typed if each.is_file()]
    writable = [scratch, os.devnull, *_KEPT_BY_LIBRARIES, settings.cache_dir, *_hub_caches(), *_granted("write")]
    hosts, ports = _proxies()
    return Rules(_real(readable), _real(shown), _real(writable), (*_PORTS, *ports, *_ports_of_grants()), hosts)


def _real(places: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    found = (os.path.realpath(os.path.expanduser(each)) for each in dict.fromkeys(places))  # noqa: PTH111 - a hundred
    return tuple(dict.fromkeys(each for each in found if each != os.sep))


def _typed(words: Sequence[str]) -> Iterator[Path]:
    """Yield the files and folders that the user named."""
    for word in words:
        for part in {word, *re.split(r"[=,;:@]", word)}:
            with suppress(OSError, ValueError, RuntimeError):
                place = Path(part).expanduser()
                if part and place.exists():
                    yield place


def installed() -> Iterator[str]:
    """Yield the folders of Python, of installed packages and of this one; never the working folder."""
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.__file__))  # noqa: PTH120
    yield str(Path(__file__).resolve().parents[1])
    own = {os.path.realpath(each) for each in ("", Path.home())}
    yield from (each for each in (*sys.path, *site.getsitepackages()) if each and os.path.realpath(each) not in own)


def _named() -> Iterator[str | Path]:
    """Yield the folders of data, models and catalogs, and what their order links to; no credentials in them."""
    kept = (state_folder() / "packages", data_home() / "catalog", data_home() / "allowed.json")
    yield from kept
    for folder in named_folders():
        if folder.is_dir():
            yield from _entries_of(folder)


def _entries_of(folder: Path) -> Iterator[str]:
    """Yield what a folder holds, and for links in its order what they lead to."""
    for entry in os.scandir(folder):
        if entry.name in CREDENTIALS or entry.name in ("state", "key") or entry.name.startswith("responses.db"):
            continue
        yield entry.path
        if entry.is_dir() and not entry.is_symlink():
            with suppress(OSError):
                yield from (each.path for each in os.scandir(entry) if each.is_symlink() and each.is_dir())


def _hub_caches() -> Iterator[Path]:
    """Yield the folders in which libraries keep what they load, made where they are missing."""
    home = Path(
        os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    )
    named = [Path(value) for name in ("HF_HUB_CACHE", "HF_DATASETS_CACHE") if (value := os.environ.get(name))]
    for folder in (*(home / name for name in _HUB_FOLDERS), *named, Path(settings.cache_dir)):
        with suppress(OSError):
            folder.expanduser().mkdir(parents=True, exist_ok=True)
        yield folder


def _granted(kind: str) -> Iterator[str]:
    """Yield what the user allowed, now or before; to which exam is the gate's business."""
    yield from (each.partition(":")[2] for each in grants().union(_remembered()) if each.startswith(f"{kind}:"))


def _remembered() -> Iterator[str]:
    with suppress(OSError, ValueError, AttributeError):  # what is wrong with the file is said where it counts
        for each in json.loads((data_home() / "allowed.json").read_bytes()).values():
            yield from map(str, each.get("allowed", ()))


def _ports_of_grants() -> Iterator[int]:
    for target in _granted("net"):
        port = target.rpartition(":")[2]
        if port.isdecimal():
            yield int(port)


def _proxies() -> tuple[frozenset[str], list[int]]:
    """Return hosts and ports of proxies, and of the hub where it is another than the usual one."""
    values = [os.environ.get(spelled, "") for name in _PROXIES for spelled in (name, name.upper())]
    parts = [urlsplit(each) for each in (*values, os.environ.get("HF_ENDPOINT", "")) if "://" in each]
    return frozenset(each.hostname or "" for each in parts), [each.port for each in parts if each.port]
