"""What the watch over Python lets through and what it refuses, event by event."""

import os
import shutil
import socket
import sys
from pathlib import Path

import pytest

from proctor.wall.rules import Rules
from proctor.wall.watch import CHANGES, Watch, place_of


@pytest.fixture
def places(tmp_path):
    for name in ("read", "write", "shown/.hidden", "away"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("read/a", "write/a", "shown/a", "shown/.hidden/a", "away/a", "single"):
        (tmp_path / name).touch()
    (tmp_path / "read" / "link").symlink_to(tmp_path / "away" / "a")
    (tmp_path / "write" / "link").symlink_to(tmp_path / "away" / "a")
    return tmp_path


def watch(places, **more):
    readable, shown, writable = ((str(places / name),) for name in ("read", "shown", "write"))
    return Watch(Rules(readable, shown, writable, files=(str(places / "single"),), **more))


def hears(found, event, *arguments):
    try:
        found.hook(event, arguments)
    except PermissionError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    "name, read, written",
    [
        ("read/a", True, False),
        ("read/../read/a", True, False),
        ("read/../away/a", False, False),
        ("write/a", True, True),
        ("write/new", True, True),
        ("write/link", True, False),
        ("shown/a", True, False),
        ("shown/.hidden/a", False, False),
        ("away/a", False, False),
        ("readable", False, False),
        ("single", True, True),
    ],
)
def test_files_are_read_and_written_where_the_rules_say(places, name, read, written):
    found, path = watch(places), f"{places}/{name}"
    refused = hears(found, "open", path, "r", os.O_RDONLY)
    assert (refused is None) is read
    assert read or f"--allow read:{os.path.realpath(path)} lets it" in refused
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_APPEND, os.O_TRUNC):
        refused = hears(found, "open", path, "w", flags)
        assert (refused is None) is written
    assert (hears(found, "os.remove", path, -1) is None) is written
    assert (hears(found, "os.rename", str(places / "write" / "a"), path, -1, -1) is None) is written


def test_what_is_open_already_is_not_looked_at(places):
    found = watch(places)
    assert hears(found, "open", 3, "r", os.O_RDONLY) is None
    assert hears(found, "open", None, "w", os.O_WRONLY) is None
    assert (place_of(3), place_of(None), place_of(b"/a/b"), place_of("/a/./b/../c")) == (None, None, "/a/b", "/a/c")
    assert place_of("a") == str(Path.cwd() / "a")


def test_folders_above_what_is_written_may_be_made(places):
    found = watch(places)
    assert hears(found, "os.mkdir", str(places), 0o777, -1) is None
    assert hears(found, "os.mkdir", str(places / "write" / "new"), 0o777, -1) is None
    assert "is not written" in hears(found, "os.mkdir", str(places / "away" / "new"), 0o777, -1)


@pytest.mark.parametrize(
    "address, allowed",
    [
        (":memory:", True),
        ("", True),
        ("file:x?mode=memory", True),
        ("{write}/a.db", True),
        ("{read}/a.db", False),
        ("file:{read}/a.db?mode=ro", True),
        ("file:{read}/a.db", False),
        ("file:{away}/a.db?mode=ro", False),
    ],
)
def test_databases_are_opened_as_files_are(places, address, allowed):
    name = address.format(**{each: places / each for each in ("read", "write", "away")})
    assert (hears(watch(places), "sqlite3.connect", name) is None) is allowed


def test_servers_are_asked_where_their_name_or_address_is_let(places, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [(2, 1, 6, "", ("10.0.0.7", 0))])
    found = watch(places, hosts=frozenset({"hub.example:443"}))
    assert "the server other.example is not asked" in hears(found, "socket.getaddrinfo", "other.example", 443)
    assert "--allow net:10.0.0.7:443 lets it" in hears(found, "socket.connect", None, ("10.0.0.7", 443))
    assert hears(found, "socket.getaddrinfo", "Hub.Example.", 443) is None
    assert hears(found, "socket.connect", None, ("10.0.0.7", 443)) is None
    assert "10.0.0.7:80 is not asked" in hears(found, "socket.connect", None, ("10.0.0.7", 80))
    assert "[::1]:443 is not asked" in hears(found, "socket.connect", None, ("::1", 443))
    found.let(["[::1]:443"])
    assert hears(found, "socket.connect", None, ("::1", 443)) is None
    assert hears(found, "socket.connect", None, None) is None
    assert "--no-wall lets it" in hears(found, "socket.connect", None, "/run/a.sock")
    for known in ("localhost", "10.0.0.9", "::1", ""):
        assert hears(found, "socket.getaddrinfo", known, 0) is None


def test_programs_and_servers_are_free_where_the_user_trusts_the_code(places):
    strict, open_ = watch(places), watch(places, trusts=True)
    assert "the program git is not started" in hears(
        strict, "subprocess.Popen", ["/usr/bin/git", "log"], [], None, None
    )
    assert "the program sh is not started: it lies behind the wall; --no-wall lets it" in hears(
        strict, "os.system", b"sh"
    )
    assert hears(open_, "subprocess.Popen", ["/usr/bin/git"], [], None, None) is None
    assert hears(open_, "socket.connect", None, ("10.0.0.7", 80)) is None
    assert hears(open_, "open", str(places / "away" / "a"), "r", os.O_RDONLY) is None
    assert "is not written" in hears(open_, "open", str(places / "away" / "a"), "w", os.O_WRONLY)


IN_OPEN_FOLDERS = {
    "os.remove": lambda folder: os.unlink("a", dir_fd=folder),
    "os.rmdir": lambda folder: os.rmdir("empty", dir_fd=folder),
    "os.mkdir": lambda folder: os.mkdir("new", dir_fd=folder),
    "os.chmod": lambda folder: os.chmod("a", 0o600, dir_fd=folder),
    "os.chown": lambda folder: os.chown("a", os.getuid(), os.getgid(), dir_fd=folder),
    "os.utime": lambda folder: os.utime("a", dir_fd=folder),
    "os.link": lambda folder: os.link("a", "new", src_dir_fd=folder, dst_dir_fd=folder),
    "os.symlink": lambda folder: os.symlink("a", "new", dir_fd=folder),
    "os.rename": lambda folder: os.rename("a", "new", src_dir_fd=folder, dst_dir_fd=folder),
    "shutil.rmtree": lambda folder: shutil.rmtree("empty", dir_fd=folder),
}
LISTENING = []


def _hook(event, arguments):
    if event in CHANGES:
        for listener in LISTENING:
            listener(event, arguments)


@pytest.fixture(scope="module", autouse=True)
def _hooked():
    sys.addaudithook(_hook)  # it cannot be taken away, and hears nothing where nobody listens


@pytest.fixture
def listen():
    yield LISTENING.append
    LISTENING.clear()


@pytest.mark.parametrize("event", IN_OPEN_FOLDERS)
def test_what_is_changed_in_an_open_folder_lies_there(event, places, monkeypatch, listen):
    """As Python itself says it, from a working folder in which all may be changed."""
    monkeypatch.chdir(places / "write")
    (places / "away" / "empty").mkdir()
    handle = os.open(places / "away", os.O_RDONLY)
    listen(watch(places).hook)
    try:
        with pytest.raises(PermissionError, match=f"--allow write:{places}/away/"):
            IN_OPEN_FOLDERS[event](handle)
    finally:
        os.close(handle)
    assert sorted(each.name for each in (places / "away").iterdir()) == ["a", "empty"]


def test_an_open_folder_that_the_system_does_not_tell_is_none_of_ours(places, monkeypatch):
    monkeypatch.chdir(places / "write")
    assert "write:/a lets it" in hears(watch(places), "os.remove", "a", 10_000)
    assert hears(watch(places), "os.remove", "a", -1) is None


def test_a_folder_of_our_own_goes_with_all_in_it(places, monkeypatch, listen):
    """From a working folder in which nothing may be changed."""
    monkeypatch.chdir(places / "away")
    (places / "write" / "inner").mkdir()
    (places / "write" / "inner" / "b").touch()
    listen(watch(places).hook)
    shutil.rmtree(places / "write" / "inner")
    assert not (places / "write" / "inner").exists()
