"""What the kernel is told when walls are built; nobody tells it."""

import errno
import os
import struct
from pathlib import Path

import pytest

from proctor.prison.inside import kernel, walls


class Libc:
    """The library of C, which notes what it is told."""

    def __init__(self, result=0):
        self.told, self.result = [], result

    def __getattr__(self, name):
        def note(*given):
            self.told.append((name, *(getattr(each, "value", each) for each in given)))
            return self.result

        return note


@pytest.fixture
def libc(monkeypatch):
    found = Libc()
    monkeypatch.setattr(kernel, "_libc", found)
    monkeypatch.setattr(kernel, "MACHINE", "x86_64")
    return found


def test_the_kernel_is_told_what_is_asked(libc):
    libc.result = 3
    assert (kernel.prctl(4), kernel.prctl(22, 2, 99), kernel.call(5, b"x", None, -1)) == (3, 3, 3)
    kernel.unshare(7)
    kernel.mount("none", "/a", None, 9)
    kernel.mount("s", "/b", "tmpfs", 2, "size=1")
    kernel.unmount("/a", 2)
    kernel.pivot_root("/new", "/new/old")
    assert libc.told == [
        ("prctl", 4, 0, None, 0, 0), ("prctl", 22, 2, 99, 0, 0), ("syscall", 5, b"x", None, -1), ("unshare", 7),
        ("mount", b"none", b"/a", None, 9, None), ("mount", b"s", b"/b", b"tmpfs", 2, b"size=1"), ("umount2", b"/a", 2),
        ("syscall", 155, b"/new", b"/new/old"),
    ]  # fmt: skip


CALLS = {
    "prctl 4": lambda: kernel.prctl(4), "system call 5": lambda: kernel.call(5), "unshare": lambda: kernel.unshare(7),
    "mount /a": lambda: kernel.mount("none", "/a", None, 9), "umount /a": lambda: kernel.unmount("/a", 2),
}  # fmt: skip


@pytest.mark.parametrize("what", CALLS)
def test_what_the_kernel_refuses_or_lacks_is_an_error(libc, monkeypatch, what):
    libc.result = -1
    monkeypatch.setattr(kernel.ctypes, "get_errno", lambda: errno.EPERM)
    with pytest.raises(PermissionError, match=rf"{what}: Operation not permitted"):
        CALLS[what]()
    monkeypatch.setattr(kernel, "_libc", None)
    with pytest.raises(OSError, match="there (is|are) no .* here"):
        CALLS[what]()


def test_every_capability_is_given_up(monkeypatch):
    told = []

    def refused(option, capability):
        told.append((option, capability))
        if capability == 41:
            raise OSError("there are no more")

    monkeypatch.setattr(kernel, "MACHINE", "aarch64")
    monkeypatch.setattr(kernel, "call", lambda *given: told.append(given))
    monkeypatch.setattr(kernel, "prctl", refused)
    kernel.drop_capabilities()
    last = (91, struct.pack("=Ii", 0x20080522, 0), bytes(24))  # capset of version 3, of the process itself: none
    assert told == [*((24, capability) for capability in range(42)), last]
    told.clear()
    monkeypatch.setattr(kernel, "prctl", lambda *given: told.append(given))
    kernel.drop_capabilities()
    assert told == [*((24, capability) for capability in range(64)), last]


# -- landlock: numbers are those of the kernel's linux/landlock.h ---------------------------------------------------------


class Landlock:
    """A kernel with a version of landlock, which notes the rules it is given."""

    def __init__(self, version, descriptor):
        self.version, self.descriptor = version, descriptor
        self.sets, self.rules, self.restricted = [], [], []

    def call(self, number, *given):
        if number == 444 and given == (None, 0, 1):
            if not self.version:
                raise OSError("none")
            return self.version
        if number == 444:
            attributes, size, flags = given
            assert (len(attributes), flags) == (size, 0)
            self.sets.append(struct.unpack(f"={size // 8}Q", attributes))
            return os.dup(self.descriptor)
        rules, *rest = given
        os.fstat(rules)
        if number == 445:
            kind, rule, flags = rest
            assert flags == 0
            self.rules.append((kind, *self.read(kind, rule)))
        else:
            assert (number, rest) == (446, [0])
            self.restricted.append(rules)
        return 0

    @staticmethod
    def read(kind, rule):
        first, second = struct.unpack("=Qi" if kind == 1 else "=QQ", rule)
        return first, os.fstat(second).st_ino if kind == 1 else second


@pytest.fixture
def landlock(monkeypatch, tmp_path):
    """Give this process a kernel of a version."""
    handle = os.open(tmp_path, os.O_RDONLY)

    def version(number):
        found = Landlock(number, handle)
        monkeypatch.setattr(kernel, "call", found.call)
        return found

    yield version
    os.close(handle)


FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1, 6: (1 << 16) - 1}
"""Rights over files that each version knows."""


@pytest.mark.parametrize("version", FILES)
def test_all_rights_that_landlock_knows_are_taken_and_those_below_paths_given_back(landlock, tmp_path, version):
    file = tmp_path / "file"
    file.touch()
    found = landlock(version)
    inodes = [each.stat().st_ino for each in (tmp_path, file)]
    kernel.landlock([str(tmp_path), str(tmp_path / "gone"), str(file)], [str(tmp_path), str(file)], (str(tmp_path),))
    network, scopes = (3,) if version >= 4 else (), (3,) if version >= 6 else ()
    assert found.sets == [(FILES[version], *network, *scopes)]
    changes = (2 | 1 << 14 | 1 << 15) & FILES[version]  # of a file: write, truncate, devices' own calls
    assert found.rules == [
        (1, 1 | 4 | 8, inodes[0]), (1, 1 | 4, inodes[1]),
        (1, FILES[version] & ~1, inodes[0]), (1, 4 | changes, inodes[1]), (1, 8, inodes[0]),
    ]  # fmt: skip
    assert len(found.restricted) == 1
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(found.restricted[0])


def test_the_network_can_be_left_open_or_to_some_ports(landlock):
    found = landlock(4)
    kernel.landlock([], [], network=False)
    kernel.landlock_ports((80, 443))
    assert found.sets == [(FILES[4], 0), (0, 2)]
    assert found.rules == [(2, 2, 80), (2, 2, 443)]
    assert len(found.restricted) == 2
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(found.restricted[1])


def test_a_kernel_without_landlock_says_so(landlock):
    landlock(0)
    assert kernel.landlock_version() == 0
    for build in (lambda: kernel.landlock([], []), lambda: kernel.landlock_ports(())):
        with pytest.raises(OSError, match="the kernel has no landlock"):
            build()


# -- namespaces ----------------------------------------------------------------------------------------------------------


def test_a_prisoner_leaves_every_namespace_as_a_user_without_rights(monkeypatch):
    told = []
    monkeypatch.setattr(os, "getuid", lambda: 7)
    monkeypatch.setattr(os, "getgid", lambda: 8)
    monkeypatch.setattr(walls, "unshare", told.append)
    monkeypatch.setattr(walls, "_write", lambda *given: told.append(given))
    walls.leave()
    # linux/sched.h: CLONE_NEWCGROUP, NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
    assert told == [
        0x7E020000, ("/proc/self/setgroups", "deny"), ("/proc/self/uid_map", "1000 7 1"), ("/proc/self/gid_map", "1000 8 1"),
    ]  # fmt: skip


def test_a_word_is_written_to_a_file_that_is_there(tmp_path):
    (tmp_path / "map").write_text("before")
    walls._write(str(tmp_path / "map"), "after")
    assert (tmp_path / "map").read_text() == "aftere"
    with pytest.raises(FileNotFoundError):
        walls._write(str(tmp_path / "none"), "x")


@pytest.fixture
def mounted(monkeypatch):
    """What was mounted, in order."""
    found = []
    monkeypatch.setattr(walls, "mount", lambda *given: found.append(given))
    return found


def test_a_new_root_holds_what_may_be_read_and_replaces_the_old_one(monkeypatch):
    told = []
    with monkeypatch.context() as patched:
        for place, name in [
            *((os, name) for name in ("chdir", "makedirs", "mkdir", "rmdir")),
            *((walls, name) for name in ("mount", "unmount", "pivot_root", "_show", "_bind")),
        ]:
            patched.setattr(
                place, name, lambda *given, name=name, **named: told.append((name, *given, *named.values()))
            )
        walls.enclose({"folder": "/r", "work": "/work", "readable": ["/a", "/b"], "disk_bytes": 500})
    size = "size=500,nr_inodes=4096,mode=700"
    assert told == [  # linux/mount.h: private and below; no setuid, no devices; bound anew and read-only
        ("mount", "none", "/", None, 16384 | 1 << 18),
        ("mount", "tmpfs", "/r", "tmpfs", 2 | 4, "size=1m,mode=755"),
        ("chdir", "/r"),
        ("makedirs", "dev", True),
        *(("_bind", f"/dev/{name}", f"/r/dev/{name}", False) for name in ("null", "zero", "full", "random", "urandom")),
        ("mkdir", "old"),
        *(("mkdir", "/r/tmp"), ("mount", "tmpfs", "/r/tmp", "tmpfs", 6, size)),
        *(("mkdir", "/r/work"), ("mount", "tmpfs", "/r/work", "tmpfs", 6, size)),
        *(("_show", "/r", "/a"), ("_show", "/r", "/b")),
        ("pivot_root", "/r", "/r/old"),
        ("chdir", "/"),
        *(("unmount", "/old", 2), ("rmdir", "/old")),
        ("mount", "none", "/", None, 4096 | 32 | 1 | 2 | 4),
    ]


def test_links_stay_links_and_what_is_there_already_or_nowhere_is_not_bound(mounted, monkeypatch, tmp_path):
    monkeypatch.setattr(walls, "_kept_flags", lambda path: 1024)
    root = str(tmp_path / "root")
    for name in ("folder", "root"):
        (tmp_path / name).mkdir()
    file = tmp_path / "folder" / "file"
    file.touch()
    (tmp_path / "link").symlink_to(file)
    for path in (file, tmp_path / "folder", tmp_path / "none", tmp_path / "link"):
        walls._show(root, str(path))
    # the folder is there when its file was bound: it is not bound again
    bound = [(str(path), f"{root}{path}") for path in (file, tmp_path / "link")]
    assert mounted == [
        each for source, target in bound for each in ((source, target, None, 4096), (source, target, None, 4096 | 32 | 1 | 2 | 1024))
    ]  # fmt: skip
    assert Path(f"{root}{file}").is_file()
    assert not Path(f"{root}{tmp_path}/link").is_symlink()
    monkeypatch.setattr(os.path, "islink", lambda path: path == "/lib")
    monkeypatch.setattr(os, "readlink", lambda path: f"usr{path}")
    walls._show(root, "/lib")
    monkeypatch.undo()
    assert str(Path(f"{root}/lib").readlink()) == "usr/lib"
    assert len(mounted) == 4


def test_folders_and_files_are_bound_onto_their_like(mounted, monkeypatch, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "there").mkdir()
    for source, target in (("folder", "there"), ("folder", "new/deep"), ("file", "made")):
        walls._bind(str(tmp_path / source), str(tmp_path / target), read_only=False)
    assert (tmp_path / "new" / "deep").is_dir()
    assert ((tmp_path / "made").read_text(), (tmp_path / "made").stat().st_mode & 0o777) == ("", 0o600)
    assert [each[2:] for each in mounted] == [(None, 4096)] * 3


@pytest.mark.parametrize(
    "flag, is_kept", [(1, False), (2, False), (4, True), (8, True), (1024, True), (2048, True), (1 << 21, True)]
)
def test_flags_that_only_the_mounts_owner_may_take_away_are_kept(monkeypatch, flag, is_kept):
    asked = []

    class Found:
        f_flag = flag

    monkeypatch.setattr(os, "statvfs", lambda path: asked.append(path) or Found)
    assert walls._kept_flags("/x") == (flag if is_kept else 0)
    assert asked == ["/x"]
