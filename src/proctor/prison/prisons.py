"""The kinds of prison, from the strongest to none, and how each starts a prisoner.

All of them run the same scripts (``inside/``), which talk over standard input and output. A prison says which command
starts a prisoner, and nothing else; limits, messages and time are the same everywhere.
"""

from __future__ import annotations

import compileall
import json
import os
import secrets
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from proctor.prison.limits import Limits

INSIDE = Path(__file__).resolve().parent
"""The folder whose ``inside`` runs in the prison."""

_SYSTEM = (
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/share/zoneinfo"),
    *("/usr/share/fonts", "/usr/share/locale", "/etc/ld.so.cache", "/etc/fonts", "/etc/localtime"),
)
"""Libraries of the system and what they read. No program: there is no shell in a prison."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Places:
    """Paths of this machine.

    Attributes:
        python: The interpreter itself, without links.
        readable: Everything that it reads.
        site: Folders of installed packages.
    """

    python: str
    readable: tuple[str, ...]
    site: tuple[str, ...]


@cache
def compile_inside() -> None:
    """Compile what runs in the prison, once: prisoners may not write, and would each compile it again."""
    compileall.compile_dir(INSIDE / "inside", quiet=2)


@cache
def places() -> Places:
    """Return the files that a prisoner on this machine may read."""
    python = os.path.realpath(sys.executable)
    paths = sysconfig.get_paths()
    site = tuple(dict.fromkeys(path for path in (paths["purelib"], paths["platlib"]) if Path(path).is_dir()))
    own = [python, paths["stdlib"], paths["platstdlib"], *site, str(INSIDE / "inside"), *_libraries_of(sys.base_prefix)]
    real = [os.path.realpath(path) for path in own]
    return Places(python, _without_inner([*_SYSTEM, *own, *real]), site)


def _libraries_of(prefix: str) -> list[str]:
    """Return where a Python that is not the system's keeps its libraries."""
    return [] if prefix in ("/", "/usr") else [str(Path(prefix) / "lib")]


def _without_inner(paths: list[str]) -> tuple[str, ...]:
    """Return existing paths, without those that lie below another."""
    existing = sorted({path for path in paths if Path(path).exists()})
    kept: list[str] = []
    for path in existing:
        linked = Path(path).is_symlink()
        if linked or not any(path.startswith(f"{other}/") and not Path(other).is_symlink() for other in kept):
            kept.append(path)
    return tuple(kept)


Role = Literal["candidate", "judge", "together"]

_START = "import sys; sys.path.insert(0, {path!r}); from inside.warden import main; main()"
_FLAGS = ("-I", "-S", "-B")
"""Python without environment, user's folders, site-packages' start-up files, and without writing compiled files."""
_PROCESSES = 256
"""Processes and threads of a prisoner where they are counted for itself."""
_WORK = "/proctor-work"
"""The folder that a program starts in, where the prison has a root of its own."""
_IMAGE = f"python:{sys.version_info.major}.{sys.version_info.minor}-slim"


_ENVIRONMENT: Mapping[str, str] = {
    "PATH": os.defpath,
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "LANG": "C.UTF-8",
}
"""For each program one thread: as many programs run at once as there are processors."""


@dataclass(frozen=True, slots=True)
class Start:
    """The command that starts a prisoner.

    Attributes:
        command: The command line.
        folder: A folder of this machine that it may write, to be measured and deleted; empty where it has none.
        stop: A command that ends it where ending the started process does not.
        environment: Variables of the started process; those of this one reach no prisoner.
    """

    command: list[str]
    folder: str = ""
    stop: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: _ENVIRONMENT)


_OF_CONTAINERS = ("HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS", "PATH")
"""What docker and podman need to find their server; the container itself gets none of it."""


class Prison:
    """A kind of prison.

    Attributes:
        name: As ``--sandbox`` names it.
        what: What it does, for people.
        needs_shield: Whether programs in it could look at this process.
    """

    name = ""
    what = ""
    needs_shield = False

    def missing(self) -> str:
        """Return the reason why there is none here, as far as it is known without trying; else empty."""
        return ""

    def start(self, role: Role, limits: Limits) -> Start:
        """Return how to start a prisoner."""
        raise NotImplementedError


def _config(walls: str, role: Role, limits: Limits, **more: Any) -> str:
    judging = role == "judge"
    config = {
        "walls": walls,
        "role": role,
        "seconds": limits.seconds,
        "memory_bytes": limits.memory_bytes,
        "file_bytes": limits.file_bytes,
        "disk_bytes": limits.disk_bytes,
        "processes": 0,
        "starting": judging,
        "readable": list(places().readable),
        "writable": [],
        "site": list(places().site),
        "inside": str(INSIDE),
        "work": _WORK,
        "folder": "",
        **more,
    }
    return json.dumps(config)


def _python(config: str) -> list[str]:
    compile_inside()
    return [places().python, *_FLAGS, "-c", _START.format(path=str(INSIDE)), config]


class Bubblewrap(Prison):
    """The program ``bwrap``: namespaces, made by a program that many eyes have looked at."""

    name = "bubblewrap"
    what = "namespaces by bubblewrap: no network, no other processes, libraries only, filtered system calls"

    def missing(self) -> str:
        """Return that the program is not there, where it is not."""
        return "" if shutil.which("bwrap") else "bubblewrap is not installed"

    def start(self, role: Role, limits: Limits) -> Start:
        """Return how to start a prisoner."""
        size = ["--size", str(limits.disk_bytes)]
        command = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user", "--die-with-parent"]
        command += ["--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "prison"]
        command += [*size, "--tmpfs", "/tmp", *size, "--tmpfs", _WORK]  # noqa: S108 - before what may lie below
        for path in places().readable:
            is_link = Path(path).is_symlink() and Path(path).parent == Path("/")
            command += ["--symlink", str(Path(path).readlink()), path] if is_link else ["--ro-bind", path, path]
        for path in DEVICES:
            command += ["--dev-bind", path, path]
        command += ["--remount-ro", "/", "--chdir", _WORK]
        return Start([*command, *_python(_config("bubblewrap", role, limits, processes=_PROCESSES))])


class Namespaces(Prison):
    """The same namespaces, made by ourselves where users may make their own."""

    name = "namespaces"
    what = "namespaces of our own: no network, no other processes, libraries only, filtered system calls"

    def missing(self) -> str:
        """Return that this is not Linux, where it is not."""
        return _only_linux()

    def start(self, role: Role, limits: Limits) -> Start:
        """Return how to start a prisoner."""
        config = _config("namespaces", role, limits, processes=_PROCESSES, folder=_empty_folder())
        return Start(_python(config))


class Landlock(Prison):
    """The floor: the kernel refuses files outside, and system calls that reach other processes or the network."""

    name = "landlock"
    what = "landlock and filtered system calls: no files but libraries and its own, no network, no processes"

    def missing(self) -> str:
        """Return that the kernel has none, or that this machine's system calls are not known, where that is so."""
        if reason := _only_linux():
            return reason
        from proctor.prison.inside import kernel, seccomp

        if not kernel.landlock_version():
            return "the kernel has no landlock"
        return "" if seccomp.is_known_machine() else f"system calls of {kernel.MACHINE} are not known here"

    def start(self, role: Role, limits: Limits) -> Start:
        """Return how to start a prisoner."""
        folder = tempfile.mkdtemp(prefix="proctor-program-")
        writable = [folder, "/dev/null"]
        readable = [*places().readable, *DEVICES]
        config = _config("landlock", role, limits, work=folder, writable=writable, readable=readable)
        return Start(_python(config), folder)


class Docker(Prison):
    """A container of Docker or Podman, where the user asks for one.

    Args:
        image: One with Python.
    """

    name = "docker"
    what = "a container by docker or podman: no network, read-only, no capabilities"

    def __init__(self, image: str = _IMAGE) -> None:
        self.image = image

    def missing(self) -> str:
        """Return that neither program is there, where it is not."""
        return "" if self._program() else "neither docker nor podman is installed"

    def _program(self) -> str:
        return shutil.which("docker") or shutil.which("podman") or ""

    def start(self, role: Role, limits: Limits) -> Start:
        """Return how to start a prisoner."""
        container = f"proctor-{secrets.token_hex(8)}"
        options = ["run", "--rm", "-i", "--pull=never", "--name", container, "--network", "none", "--read-only"]
        options += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", str(_PROCESSES)]
        options += ["--user", "65534:65534", "--memory", str(limits.memory_bytes), "--ipc", "private"]
        for folder in (_WORK, "/tmp"):  # noqa: S108 - inside the container
            options += ["--tmpfs", f"{folder}:rw,mode=1777,size={limits.disk_bytes}"]
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LANG"):
            options += ["--env", f"{name}={_ENVIRONMENT[name]}"]
        options += ["--volume", f"{INSIDE / 'inside'}:/proctor/inside:ro", "--workdir", _WORK, self.image]
        config = _config("docker", role, limits, inside="/proctor", site=[])
        python = ["python", *_FLAGS, "-c", _START.format(path="/proctor"), config]
        wanted = {name: value for name, value in os.environ.items() if name.startswith(("DOCKER_", "CONTAINER"))}
        wanted |= {name: os.environ[name] for name in _OF_CONTAINERS if name in os.environ}
        stop = (self._program(), "rm", "--force", container)
        return Start([self._program(), *options, *python], stop=stop, environment=wanted)


class NoPrison(Prison):
    """None: a process with limits, an empty folder and no environment variables, where the user says so aloud."""

    name = "none"
    what = "none: a process with limits, which can read your files and reach the network"
    needs_shield = True

    def start(self, role: Role, limits: Limits) -> Start:
        """Return how to start a program."""
        folder = tempfile.mkdtemp(prefix="proctor-program-")
        return Start(_python(_config("none", role, limits, work=folder)), folder)


def _only_linux() -> str:
    return "" if sys.platform == "linux" else f"{sys.platform} has none; Linux has"


@cache
def _empty_folder() -> str:
    """Return a folder on which a new root can be put; it stays empty."""
    import atexit

    folder, owner = tempfile.mkdtemp(prefix="proctor-prison-"), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # a copy of this process leaves it to the original
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


KINDS: dict[str, type[Prison]] = {each.name: each for each in (Bubblewrap, Namespaces, Landlock, Docker, NoPrison)}
"""All kinds by name."""
BY_STRENGTH = ("bubblewrap", "namespaces", "landlock")
"""What ``auto`` tries, in order; containers and none have to be asked for."""
