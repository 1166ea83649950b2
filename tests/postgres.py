"""A PostgreSQL server of a test's own: in a temporary folder, on a port of its own, gone at the end.

It runs as ``nobody`` where tests run as root, which PostgreSQL refuses.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

USER, PASSWORD = "examiner", "the-password-of-tests"
_PLACES = "/usr/lib/postgresql"  # where Debian has the programs that no path names


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs; ``None`` where there are none."""
    found = sorted(Path(_PLACES).glob("*/bin/initdb"), key=lambda each: float(each.parts[-3]))
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


def why_not() -> str:
    """Return why there can be no server here; nothing where there can."""
    if programs() is None:
        return "PostgreSQL is not installed (Debian: apt install postgresql)"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL refuses to run as root, and there is no setpriv"
    return ""


class PostgresServer:
    """A server, from the start of a block to its end."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="proctor-postgres-"))
        self._data, self._count = self.folder / "data", 0
        self.port = _free_port()

    def __enter__(self) -> Self:
        (self.folder / "password").write_text(PASSWORD)
        if os.geteuid() == 0:
            for each in (self.folder, self.folder / "password"):
                shutil.chown(each, "nobody", "nogroup")
        login = ["-U", USER, "--auth=scram-sha-256", "--pwfile", str(self.folder / "password")]
        self._do("initdb", "-D", str(self._data), *login, "--no-sync", "-E", "UTF8", "--locale=C")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(subprocess.CalledProcessError):
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=200"
        self._do("pg_ctl", "-D", str(self._data), "-w", "-o", options, "-l", str(self.folder / "log"), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: ``fast`` ends connections, ``immediate`` is a crash."""
        self._do("pg_ctl", "-D", str(self._data), "-w", "-m", mode, "stop")

    def kill(self) -> None:
        """Kill all of it at once, as a machine does that loses its power."""
        first = int((self._data / "postmaster.pid").read_text().split()[0])
        os.kill(first, signal.SIGSTOP)  # it starts no more of them
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for each in (first, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        while any(Path(f"/proc/{each}").exists() and not _is_dead(int(each)) for each in (first, *children)):
            time.sleep(0.01)
        (self._data / "postmaster.pid").unlink()  # where nobody buries orphans, it would be taken for alive

    def address(self, *, password: bool = True) -> str:
        """Return the address of a new database."""
        import psycopg

        self._count += 1
        name = f"log{os.getpid()}_{self._count}"
        with psycopg.connect(self.of("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.of(name, password=password)

    def of(self, database: str, *, password: bool = True) -> str:
        """Return the address of a database."""
        login = f"{USER}:{PASSWORD}" if password else USER
        return f"postgresql://{login}@127.0.0.1:{self.port}/{database}"

    def _do(self, program: str, *arguments: str) -> None:
        as_nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        folder = programs()
        assert folder is not None
        call = [*as_nobody, str(folder / program), *arguments]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)


def _is_dead(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    return True


def _free_port() -> int:
    """Return a port that no client is given for its own end: one that tries again and again would meet itself."""
    while True:
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", random.randrange(20_000, 32_000)))
            return int(found.getsockname()[1])
