"""Rules for what a command may touch: what the user typed, set and mapped, and what the command writes."""

from __future__ import annotations

import os
import re
import site
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from proctor.effects import CREDENTIALS, grants, named_folders, port_of, ports_of
from proctor.settings import settings
from proctor.state import LOG_NAME, data_home, kept_table, read_table, state_folder

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

_OF_DATABASES = ("~/.pgpass", "~/.pg_service.conf", "~/.postgresql", os.environ.get("PGPASSFILE", os.devnull))
"""Passwords and certificates with which the user opens a database."""

_PORTS = (443, 80, 53)
"""Of the hubs, of redirects to them, and of the names of hosts."""

_DEVICES = ("nvidia*", "kfd", "dri", "dxg")
_OF_DEVICES = (
    "/proc/driver",
    "/proc/devices",
    "/proc/modules",
    "/sys/bus",
    "/sys/class",
    "/sys/devices",
    "/sys/module",
)
_COMPILED = ("~/.nv", "~/.triton", "~/.cache/vllm", "~/.config/vllm", "~/.cache/flashinfer", "~/.cache/torch")
_COMPILED_IN = ("CUDA_CACHE_PATH", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_HOME", "VLLM_CACHE_ROOT")
"""Where engines keep what they compile for an accelerator, and variables that name other places."""
_LIKE_VLLM = re.compile(r"(?:-[-\w]*=?)?vllm(?:/.*)?")
"""How the engine is typed that looks at a machine's devices and compiles, also where it finds no accelerator."""
_OF_CACHE = ("catalogs", "databases", "exams", "fetched", "indexes", "lm_eval", "models", "object_storage")
"""Folders of the cache that are written; what else lies there (``state``) is not."""
_BUNDLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_MOST_ENTRIES = 1000
"""Entries of a folder that are allowed one by one, to leave out what is hidden: ten microseconds each."""
_PROXIES = ("https_proxy", "http_proxy", "all_proxy")
_HUB_FOLDERS = ("hub", "datasets", "assets", "xet", "modules")


@dataclass(frozen=True, slots=True)
class Needs:
    """What a command needs beside what the user typed.

    Attributes:
        folders: Folders that it writes in; they are made where they are missing, and removed where they stay empty.
        files: Single files that it writes.
        asks: Whether it asks models: which servers and programs they need is known later (:func:`open_for`).
        trusts: Whether the user trusts the code of exams, which reads, asks and starts what it likes.
        databases: Hosts and ports of PostgreSQL databases that hold logs.
    """

    folders: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    asks: bool = False
    trusts: bool = False
    databases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """What a process may touch; all places are absolute and real.

    Attributes:
        readable: What may be read, with everything below.
        shown: Folders that may be listed, and in which everything may be read that is not hidden.
        writable: What may be written and read, with everything below.
        files: Single files that may be written: the kernel knows their folders alone.
        trusts: Whether programs are started, and servers asked, as code likes that the user trusts.
        ports: Ports of TCP that may be connected to.
        hosts: Further hosts than the gate allows: proxies, another hub.
    """

    readable: tuple[str, ...]
    shown: tuple[str, ...]
    writable: tuple[str, ...]
    files: tuple[str, ...] = ()
    trusts: bool = False
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


def rules_for(words: Sequence[str], scratch: str, needs: Needs = Needs()) -> Rules:
    """Return what a command may touch.

    Args:
        words: As the user typed them: files and folders among them are his.
        scratch: A folder for temporary files.
        needs: What it needs beside these.
    """
    readable: list[str | Path] = [*installed(), *SYSTEM, *_OF_LIBRARIES, *_named(), *granted("read"), *_bundles()]
    typed = list(_typed(words))
    shown = [Path.cwd(), *(each if each.is_dir() else each.parent for each in typed)]
    readable += [each for each in typed if each.is_file()]
    writable: list[str | Path] = [
        scratch,
        os.devnull,
        *_KEPT_BY_LIBRARIES,
        *_caches(),
        *granted("write"),
        *needs.folders,
    ]
    if (devices := accelerators()) or any(map(_LIKE_VLLM.fullmatch, words)):
        readable += _OF_DEVICES
        writable += [*devices, *_made([*_compiled(), *filter(None, map(os.environ.get, _COMPILED_IN))])]
    if needs.trusts:
        readable.append(_EVERYTHING)
        writable += [*_OF_LIBRARIES, *_other_caches()]
    hosts, ports = _proxies()
    if needs.databases:
        readable += _OF_DATABASES
        hosts |= {each.rpartition(":")[0] for each in needs.databases}
    everything = (*_PORTS, *ports, *_ports_of_grants(), *map(port_of, needs.databases))
    files = _real(needs.files)
    return Rules(_real(readable), _real(shown), _real(writable), files, needs.trusts, everything, hosts)


_EVERYTHING = os.path.join(os.sep, ".")  # noqa: PTH118 - the root, where somebody means it


def accelerators() -> list[str]:
    """Return the device nodes through which programs use GPUs."""
    return [str(each) for pattern in _DEVICES for each in Path("/dev").glob(pattern)]


def _compiled() -> Iterator[str]:
    """Yield where engines keep what they compile, also where the user keeps caches and settings elsewhere."""
    for place in _COMPILED:
        yield place
        for folder, variable in (("~/.cache", "XDG_CACHE_HOME"), ("~/.config", "XDG_CONFIG_HOME")):
            if place.startswith(f"{folder}/") and (own := os.environ.get(variable)):
                yield place.replace(folder, own, 1)


def _bundles() -> Iterator[str]:
    """Yield where variables say that certificates lie, and where installed packages lie that no search path names."""
    yield from filter(None, map(os.environ.get, _BUNDLES))
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):  # how setuptools installs a working copy
            yield from map(os.path.dirname, getattr(module, "MAPPING", {}).values())


def _made(folders: Iterable[str | Path]) -> Iterator[Path]:
    """Yield folders, made where they are missing and can be."""
    for each in folders:
        place = Path(each).expanduser()
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
        yield place


def _caches() -> Iterator[Path]:
    """Yield the folders of caches: of ours those that are written, and those in which libraries keep what they load."""
    cache = Path(settings.cache_dir)
    yield from _made([*(cache / each for each in _OF_CACHE), *_hub_caches()])
    with suppress(OSError):
        others = [each for each in os.scandir(cache) if each.name not in ("state", LOG_NAME, "packages")]
        yield from (Path(each.path) for each in others if each.is_dir(follow_symlinks=False))


def _other_caches() -> Iterator[str]:
    """Yield the caches of other programs, which trusted code may fill."""
    home, cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"), Path(settings.cache_dir)
    with suppress(OSError):
        yield from (each.path for each in os.scandir(home) if not cache.is_relative_to(each.path))


def _real(places: Collection[str | os.PathLike[str]]) -> tuple[str, ...]:
    found = (_real_place(os.path.abspath(os.path.expanduser(each))) for each in dict.fromkeys(places))  # noqa: PTH100, PTH111 - a hundred
    return tuple(dict.fromkeys(each for each in found if each != os.sep)) + (os.sep,) * (_EVERYTHING in places)


def _real_place(place: str) -> str:
    folder, name = os.path.split(place)
    beside = os.path.join(_real_folder(folder), name)  # noqa: PTH118 - as above
    return os.path.realpath(place) if os.path.islink(beside) else beside  # noqa: PTH114


@lru_cache(maxsize=64)
def _real_folder(folder: str) -> str:
    return os.path.realpath(folder)


def _typed(words: Sequence[str]) -> Iterator[Path]:
    """Yield the files and folders that the user named."""
    for word in words:
        for part in {word, *re.split(r"[=,;:@]", word)}:
            with suppress(OSError, ValueError, RuntimeError):
                place = Path(part).expanduser()
                if part and place.exists():
                    yield place


_PACKAGE = Path(__file__).resolve().parents[1]


def installed() -> Iterator[str]:
    """Yield the folders of Python, of installed packages and of this one; never the working folder."""
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.__file__))  # noqa: PTH120
    yield str(_PACKAGE)
    own = {os.path.realpath(each) for each in ("", Path.home())}
    yield from (each for each in (*sys.path, *site.getsitepackages()) if each and os.path.realpath(each) not in own)


def _named() -> Iterator[str | Path]:
    """Yield the folders of data, models and catalogs, and what their order links to; no credentials in them."""
    yield from (state_folder() / "packages", data_home() / "catalog", kept_table("allowed.json").parent)
    for folder in named_folders():
        if folder.is_dir() and folder != _PACKAGE:
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
    """Yield the folders in which libraries keep what they load."""
    home = Path(
        os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    )
    named = [Path(value) for name in ("HF_HUB_CACHE", "HF_DATASETS_CACHE") if (value := os.environ.get(name))]
    loaded = sys.modules.get("datasets.config")  # where a library that is there already keeps its files
    own = [Path(place) for place in (getattr(loaded, "HF_DATASETS_CACHE", None),) if place]
    yield from (*(home / name for name in _HUB_FOLDERS), *named, *own)


def granted(kind: str) -> Iterator[str]:
    """Yield what the user allowed, now or before; to which exam is the gate's business."""
    yield from (each.partition(":")[2] for each in grants().union(_remembered()) if each.startswith(f"{kind}:"))


def _remembered() -> Iterator[str]:
    with suppress(OSError, ValueError, AttributeError):  # what is wrong with the file is said where it counts
        for each in read_table(kept_table("allowed.json")).values():
            yield from map(str, each.get("allowed", ()))


def _ports_of_grants() -> Iterator[int]:
    for each in granted("net"):
        yield from ports_of(each)


def _proxies() -> tuple[frozenset[str], list[int]]:
    """Return hosts and ports of proxies, and of the hub where it is another than the usual one."""
    values = [os.environ.get(spelled, "") for name in _PROXIES for spelled in (name, name.upper())]
    parts = [urlsplit(each) for each in (*values, os.environ.get("HF_ENDPOINT", "")) if "://" in each]
    return frozenset(each.hostname or "" for each in parts), [each.port for each in parts if each.port]
