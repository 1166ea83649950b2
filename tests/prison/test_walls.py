"""What a program in a prison can reach: nothing of the user's, nobody else, and not much of the machine."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.prison import Court, Limits, Trial, examined
from proctor.prison.prisons import KINDS, Prison, Role, Start

SECRET = "the-secret-of-the-user-4711"

TRIES = """
import os
def attempt(do):
    try:
        return repr(do())
    except BaseException as error:
        return 'refused ' + type(error).__name__
"""

READS = {
    "a file": "open({file!r}).read()",
    "a file through a link": "(os.symlink({file!r}, 'link'), open('link').read())",
    "a file through a hard link": "(os.link({file!r}, 'hard'), open('hard').read())",
    "a folder": "os.listdir({folder!r})",
    "the way up": "open('/'.join(['..'] * 20) + {file!r}).read()",
    "through its own root": "open('/proc/self/root' + {file!r}).read()",
    "through the root of others": "[open(f'/proc/{{p}}/root' + {file!r}).read() for p in os.listdir('/proc') if p.isdigit()]",
    "the environment": "dict(os.environ)",
    "the environment of the parent": "open(f'/proc/{{os.getppid()}}/environ').read()",
    "the environment of everybody": "[open(f'/proc/{{p}}/environ').read() for p in os.listdir('/proc') if p.isdigit()]",
    "the environment of the engine": "open('/proc/{process}/environ').read()",
    "handles of the engine": "os.listdir('/proc/{process}/fd')",
    "memory of the engine": "open('/proc/{process}/mem', 'rb').read(1)",
    "a library of C": "__import__('ctypes').CDLL(None).system(b'cat {file}')",
    "mapping": "__import__('mmap').mmap(os.open({file!r}, os.O_RDONLY), 0, prot=1)[:]",
    "a container": "__import__('ctypes').CDLL(None).unshare(0x10000000)",
    "another root": "(os.chroot('/'), open({file!r}).read())",
    "inherited handles": "[os.pread(fd, 99, 0) for fd in range(3, 32)]",
    "home": "os.listdir(os.path.expanduser('~root'))",
    "passwords": "open('/etc/shadow').read()",
}

WRITES = {
    "write": "open({file!r}, 'w').write('')",
    "append": "open({file!r}, 'a').write('x')",
    "a new file beside": "open({file!r} + '.new', 'w').close()",
    "posix.unlink": "__import__('posix').unlink({file!r})",
    "os.remove": "os.remove({file!r})",
    "rename": "os.rename({file!r}, {file!r} + '.moved')",
    "truncate": "os.truncate({file!r}, 0)",
    "mode": "os.chmod({file!r}, 0o777)",
    "owner": "os.chown({file!r}, 1, 1)",
    "times": "os.utime({file!r}, (1, 1))",
    "extended attributes": "os.setxattr({file!r}, 'user.x', b'x')",
    "rmtree": "__import__('shutil').rmtree({folder!r})",
    "unlink by system call": "__import__('ctypes').CDLL(None).unlink({file!r}.encode())",
    "through a link": "(os.symlink({folder!r}, 'd'), open('d/file', 'w').write(''))",
    "the package": "open({package!r}, 'r+').close()",
    "its own library": "open(os.__file__, 'r+').close()",
    "mount": "__import__('ctypes').CDLL(None).mount(b'none', {folder!r}.encode(), b'tmpfs', 0, None)",
    "a device": "os.mknod('disk', 0o60600, os.makedev(254, 0))",
    "kernel settings": "open('/proc/sys/kernel/hostname', 'r+').close()",
}

OTHERS = {
    "fork": "os.fork()",
    "forkpty": "os.forkpty()",
    "posix_spawn": "os.posix_spawn('/bin/sh', ['sh', '-c', 'true'], {{}})",
    "spawn of Python": "os.posix_spawn({python!r}, ['python', '-c', 'pass'], {{}})",
    "exec": "os.execv({python!r}, ['python', '-c', 'pass'])",
    "system": "os.system('touch {file}') and 1 / 0",
    "popen": "__import__('subprocess').run(['true'])",
    "multiprocessing": "__import__('multiprocessing').get_context('fork').Process(target=print).start()",
    "clone": "__import__('ctypes').CDLL(None).syscall(56, 17, 0, 0, 0, 0) >= 0 or 1 / 0",
    "kill the engine": "os.kill({process}, 0)",
    "kill everybody": "os.kill(-1, 0)",
    "kill the parent": "os.kill(os.getppid() or {process}, 0)",
    "ptrace": "__import__('ctypes').CDLL(None).ptrace(16, {process}, 0, 0) == 0 or 1 / 0",
    "priority of others": "os.setpriority(os.PRIO_PROCESS, {process}, 0)",
    "limits of others": "__import__('resource').prlimit({process}, 7)",
    "a connection": "__import__('socket').create_connection(('127.0.0.1', {port}), 1)",
    "a connection by name": "__import__('urllib.request').request.urlopen('http://localhost:{port}/', timeout=1)",
    "a socket of the file system": "__import__('socket').socket(1).connect({folder!r} + '/socket')",
    "a server": "__import__('socket').create_server(('127.0.0.1', 0))",
    "datagrams": "__import__('socket').socket(2, 2).sendto(b'x', ('127.0.0.1', {port}))",
    "packets": "__import__('socket').socket(17, 3)",
    "shared memory": "__import__('ctypes').CDLL(None).shmget(1, 100, 0o1600) >= 0 or 1 / 0",
    "the kernel's keys": "__import__('ctypes').CDLL(None).syscall(250, 0, -3, 0) >= 0 or 1 / 0",
    "a ring of calls": "__import__('ctypes').CDLL(None).syscall(425, 8, bytes(120)) >= 0 or 1 / 0",
    "programs for the kernel": "__import__('ctypes').CDLL(None).syscall(321, 0, bytes(120), 120) >= 0 or 1 / 0",
}


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """A file, an environment variable and a server that no program may reach."""
    folder = tmp_path / "planted"
    folder.mkdir()
    (folder / "file").write_text(SECRET, encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    import proctor

    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        with contextlib.suppress(OSError):  # the path may be too long for a socket
            local.bind(str(folder / "socket"))
            local.listen()
        server.settimeout(0.2)
        yield {
            "file": str(folder / "file"),
            "folder": str(folder),
            "process": os.getpid(),
            "python": sys.executable,
            "port": server.getsockname()[1],
            "package": proctor.__file__,
        }
        with pytest.raises(TimeoutError):
            server.accept()


def _answers(walled: str, table: dict[str, str], planted: dict[str, object]) -> dict[str, str]:
    """Return what a program says that tries everything, each in a call."""
    calls = {name: expression.format(**planted) for name, expression in table.items()}
    source = TRIES + "".join(
        f"\ndef try_{place}(): return attempt(lambda: {each})" for place, each in enumerate(calls.values())
    )
    found = {}
    court = Court(KINDS[walled](), Limits())
    try:
        for place, name in enumerate(calls):  # a process for each: one may end it
            tests = f"raise ValueError(try_{place}())"
            found[name] = court.outcome(Trial(source, tests, limits=Limits(seconds=5))).why
    finally:
        court.close()
    return found


def test_nothing_of_the_user_is_read(walled: str, planted: dict[str, object]):
    found = _answers(walled, READS, planted)
    assert {name: why for name, why in found.items() if SECRET in why or "root:" in why or not why} == {}
    assert "refused" in found["a file"]
    assert "refused" in found["a folder"]


def test_nothing_of_the_user_is_changed(walled: str, planted: dict[str, object]):
    file = Path(str(planted["file"]))
    before = file.stat(), sorted(file.parent.iterdir()), Path(str(planted["package"])).read_bytes()
    found = _answers(walled, WRITES, planted)
    assert (file.stat(), sorted(file.parent.iterdir()), Path(str(planted["package"])).read_bytes()) == before
    assert file.read_text(encoding="utf-8") == SECRET
    by_call = {"mount", "unlink by system call"}  # these return what the kernel says, and raise nothing
    assert {name: why for name, why in found.items() if "refused" not in why and name not in by_call} == {}
    assert {found[name] for name in by_call} == {"ValueError: -1"}


def test_nobody_else_is_reached(walled: str, planted: dict[str, object]):
    found = _answers(walled, OTHERS, planted)
    harmless = {"kill everybody", "kill the parent"} if walled != "landlock" else set()  # there is nobody else
    assert {name: why for name, why in found.items() if "refused" not in why and name not in harmless} == {}


ESCAPES = {
    "daemon": "import os\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n        os.execv('/bin/sleep', ['{name}', '60'])\n    os._exit(0)",
    "spawned": "import os\nos.posix_spawn('/bin/sleep', ['{name}', '60'], {{}}, setsid=True)",
    "by a library": "import ctypes\nctypes.CDLL(None).system(b'setsid sh -c \"exec -a {name} sleep 60\" &')",
    "fork bomb": "import os\nwhile True: os.fork()",
    "threads": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_nothing_outlives_its_program(court: Court, name: str):
    if name == "fork bomb" and court.prison.name == "none":
        pytest.skip("without a prison nothing but a missing function stands between this and the machine")
    mark = f"proctor-left-behind-{os.getpid()}"
    start = time.monotonic()
    court.outcome(Trial(ESCAPES[name].format(name=mark), "", limits=Limits(seconds=2.0)))
    court.close()
    assert time.monotonic() - start < 30
    assert mark not in _processes()
    assert "inside.warden" not in "\n".join(line for line in _processes().splitlines() if str(os.getpid()) in line)


def _processes() -> str:
    return subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "source",
    [
        "open('big', 'wb').write(b'x' * 2**26)",
        "for i in range(10**6):\n    open(f'f{i}', 'wb').write(b'x' * 2**22)",
        "import os\nfor i in range(10**7):\n    os.mkdir(str(i))",
        "x = 'a' * 10**12",
        "x = []\nwhile True: x.append('a' * 10**8)",
        "import os\nfds = [os.pipe() for _ in range(10**5)]",
    ],
)
def test_memory_disk_and_handles_are_limited(walled: str, source: str, tmp_path: Path):
    assert any(_used(walled, source, tmp_path) < 2**30 for _ in range(3))  # others write to the disk at the same time


def _used(walled: str, source: str, disk: Path) -> int:
    """Return the bytes of a disk that a program took, and whatever else was written meanwhile."""
    free = os.statvfs(disk)
    court = Court(KINDS[walled](), Limits())
    try:
        found = court.outcome(Trial(source, "", limits=Limits(seconds=5, memory_bytes=1 << 29)))
    finally:
        court.close()
    assert found.how in ("failed", "timeout")
    return (free.f_bfree - os.statvfs(disk).f_bfree) * free.f_frsize


def test_a_program_starts_in_an_empty_folder_that_it_may_use(walled: str):
    source = (
        "import os, tempfile\ndef before(): return os.listdir('.')\n"
        "def write():\n    open('x', 'w').write('y')\n    tempfile.TemporaryFile().close()\n    return open('x').read()\n"
    )
    court = Court(KINDS[walled](), Limits())
    try:
        for _ in range(2):  # and finds nothing of the one before
            found = court.outcome(Trial(source, "assert before() == []\nassert write() == 'y'"))
            assert found.how == "pass", found.why
    finally:
        court.close()


def test_libraries_work_in_a_prison(walled: str):
    source = (
        "import numpy as np\ndef f(n): return np.linalg.inv(np.eye(n)), np.float64(1.5), np.arange(n) @ np.arange(n)"
    )
    tests = "a, b, c = f(3)\nassert a.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\nassert b == 1.5 and c == 5"
    court = Court(KINDS[walled](), Limits())
    try:
        found = court.outcome(Trial(source, tests, limits=Limits(seconds=20)))
    finally:
        court.close()
    assert found.how == "pass", found.why


class _Open(Prison):
    """Looks like a prison, and is none."""

    def start(self, role: Role, limits: Limits) -> Start:
        return KINDS["none"]().start(role, limits)


def test_a_prison_that_lets_programs_out_is_not_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(KINDS, "open", _Open)
    finding = examined.__wrapped__("open")
    assert not finding.works
    assert "a program got out of it" in finding.reason


def test_without_a_prison_the_keys_of_this_process_are_closed(planted: dict[str, object]):
    found = _answers("none", {name: READS[name] for name in READS if "environment" in name}, planted)
    assert {name: why for name, why in found.items() if SECRET in why} == {}
    assert "refused" in found["the environment of the engine"]
    assert SECRET in Path("/proc/self/environ").read_text(encoding="utf-8") or os.environ["OPENAI_API_KEY"] == SECRET


def test_a_container_has_no_network_no_rights_and_is_read_only(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name == "podman" else None)
    start = KINDS["docker"]("python:3.11").start("candidate", Limits())  # type: ignore[call-arg]
    text = " ".join(start.command)
    assert start.command[0] == "/usr/bin/podman"
    for option in (
        "--network none",
        "--read-only",
        "--cap-drop ALL",
        "no-new-privileges",
        "--pull=never",
        "65534:65534",
    ):
        assert option in text
    assert start.stop[:3] == ("/usr/bin/podman", "rm", "--force")
    assert start.stop[3] in start.command
    assert ":ro --workdir" in text
    assert " python:3.11 python -I -S" in text
    assert "OPENAI" not in text
