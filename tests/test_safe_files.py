"""Files are written whole or not at all, and never through what somebody put in their place."""

from __future__ import annotations

import ast
import os
import stat
import threading
from pathlib import Path

import pytest

from proctor.safe_files import (
    opened,
    own_file,
    read_bytes,
    remove_leftovers,
    scratch,
    subfolder,
    write_for_user,
    write_text,
    written,
)

PRECIOUS = "precious"


def plant(kind: str, place: Path, elsewhere: Path) -> None:
    """Put something in a file's place that leads to another file."""
    elsewhere.write_text(PRECIOUS)
    match kind:
        case "link":
            place.symlink_to(elsewhere)
        case "relative link":
            place.symlink_to(os.path.relpath(elsewhere, place.parent))
        case "link to nothing":
            elsewhere.unlink()
            place.symlink_to(elsewhere)
        case "link to itself":
            place.symlink_to(place)
        case "hard link":
            os.link(elsewhere, place)
        case "pipe":
            os.mkfifo(place)
        case "file":
            place.write_text("earlier")


KINDS = ("nothing", "file", "link", "relative link", "link to nothing", "link to itself", "hard link", "pipe")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("write", [write_text, write_for_user])
def test_what_is_in_the_place_is_replaced_and_not_written_through(tmp_path, kind, write):
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "folder" / "file.txt"
    place.parent.mkdir()
    plant(kind, place, elsewhere)
    if kind == "pipe" and write is write_for_user:  # a pipe that the user named is written to, if somebody reads it
        with pytest.raises(OSError, match="No such device"):
            write(place, "new")
        return
    write(place, "new")
    assert (place.read_text(), stat.S_ISREG(place.lstat().st_mode)) == ("new", True)
    assert not elsewhere.exists() if kind == "link to nothing" else elsewhere.read_text() == PRECIOUS
    assert [each.name for each in place.parent.iterdir()] == ["file.txt"]


def test_a_folder_in_the_place_is_an_error(tmp_path):
    (tmp_path / "file").mkdir()
    for write in (write_text, write_for_user):
        with pytest.raises(IsADirectoryError):
            write(tmp_path / "file", "new")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_file_that_is_not_finished_leaves_the_earlier_one(tmp_path):
    (tmp_path / "file").write_text("earlier")

    def stumble() -> None:
        with written(tmp_path / "file") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stumble()
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"file": "earlier"}


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_permissions_are_those_of_the_user_s_mask(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "open", "x")
        write_text(tmp_path / "private", "x", mode=0o600)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("open", "private")]
    assert modes == [0o666 & ~mask, 0o600 & ~mask]


@pytest.mark.parametrize("name", ["x" * 255, "ä" * 127, "-rf", "a b\nc", ".hidden"])
def test_any_name_can_be_written(tmp_path, name):
    write_text(tmp_path / name, "new")
    assert {each.name for each in tmp_path.iterdir()} == {name}


def test_threads_that_write_one_file_leave_one_of_theirs(tmp_path):
    texts = {str(number) * 50_000 for number in range(8)}
    threads = [threading.Thread(target=write_text, args=(tmp_path / "file", text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file").read_text() in texts
    assert len(list(tmp_path.iterdir())) == 1


def test_streams_that_the_user_names_are_written_to(tmp_path):
    read, write = os.pipe()
    try:
        write_for_user(f"/dev/fd/{write}", "to a pipe \ud800")
        assert os.read(read, 100) == rb"to a pipe \ud800"
    finally:
        os.close(read)
        os.close(write)
    before = Path("/dev/null").stat()
    write_for_user("/dev/null", "away")
    after = Path("/dev/null").stat()
    assert (before.st_ino, stat.S_ISCHR(after.st_mode)) == (after.st_ino, True)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_for_user(pipe, "to a named pipe")
    assert os.read(reader, 100) == b"to a named pipe"
    os.close(reader)


def test_leftovers_are_those_of_the_file_and_nothing_else(tmp_path):
    names = {".run.yaml.0123456789abcdef.part", ".run.yaml.bak.part", "run.yaml", ".other.0123456789abcdef.part"}
    for name in names:
        (tmp_path / name).write_text("x")
    remove_leftovers(tmp_path / "run.yaml")
    assert {each.name for each in tmp_path.iterdir()} == names - {".run.yaml.0123456789abcdef.part"}


def test_scratch_has_no_name(tmp_path):
    with scratch(tmp_path) as file:
        file.write(b"x")
        file.seek(0)
        assert (file.read(), list(tmp_path.iterdir())) == (b"x", [])


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/etc"])
def test_subfolders_have_names_of_folders(tmp_path, name):
    with pytest.raises(OSError, match="not the name"):
        subfolder(tmp_path, name)


def test_subfolders_are_not_reached_through_links_but_their_root_may_be_one(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "elsewhere")
    assert subfolder(tmp_path / "root", "a", "b").is_dir()
    (tmp_path / "elsewhere" / "c").symlink_to(tmp_path)
    with pytest.raises(NotADirectoryError):
        subfolder(tmp_path / "root", "c", "d")
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_its_own_is_no_other(tmp_path, kind):
    plant(kind, tmp_path / "lock", tmp_path / "elsewhere")
    handle = own_file(tmp_path / "lock")
    os.pwrite(handle, b"mine", 0)
    os.close(handle)
    assert kind == "link to nothing" or (tmp_path / "elsewhere").read_text() == PRECIOUS if kind != "nothing" else True
    assert (tmp_path / "lock").read_bytes().startswith(b"mine")


def test_reading_follows_links_inside_a_folder_and_none_out_of_it(tmp_path):
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("x")
    (folder / "in").symlink_to("inner/file")
    (folder / "out").symlink_to("../secret")
    (folder / "far").symlink_to("/etc/hostname")
    (folder / "above").symlink_to("..")
    os.mkfifo(folder / "pipe")
    assert read_bytes(folder / "in", 10, within=folder) == b"x"
    for name in ("out", "far", "above/secret", "../secret"):
        with pytest.raises(OSError, match=r"leads out|No such file"):
            opened(folder / name, within=folder)
    for name in ("pipe", "inner"):
        with pytest.raises(OSError, match=r"not a file|directory"):
            opened(folder / name, within=folder)
    (tmp_path / "mine").symlink_to(folder)  # a folder that is a link is the user's choice
    assert read_bytes(tmp_path / "mine" / "in", 10, within=tmp_path / "mine") == b"x"
    with pytest.raises(OSError, match="more than"):
        read_bytes(tmp_path / "secret", 3)


WRITERS = {"write_text", "write_bytes", "mkstemp", "NamedTemporaryFile", "extractall", "copyfile", "copytree"}
ELSEWHERE = {
    "safe_files.py",
    "scoring/program_runner.py",  # the process of a program of a model
    "error_reporting.py",  # to /dev/null
    "cli/__main__.py",  # likewise
    "prison/choice.py",  # a secret in a temporary folder that a prison must keep from the program that tries it
    "proctor/state.py",  # the owner's key: made once, and never over a file that is there (O_EXCL)
    "web/serve.py",  # the page that leads to the viewer: a new temporary file of mode 600
}
"""Where files are written in another way, and why."""


def test_nothing_in_the_package_writes_files_past_this_module(repository):
    root = repository / "src" / "proctor"
    found = []
    for path in sorted(root.rglob("*.py")):
        if any(str(path).endswith(name) for name in ELSEWHERE):
            continue
        calls = [each for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(each, ast.Call)]
        found += [f"{path.relative_to(root)}:{call.lineno}" for call in calls if _writes(call)]
    assert found == []


def _writes(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in WRITERS:
        return isinstance(function, ast.Attribute)  # our own of these names are plain functions
    if name not in ("open", "fdopen"):
        return False
    modes = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    modes += [each.value.value for each in call.keywords if each.arg == "mode" and isinstance(each.value, ast.Constant)]
    return any(set(str(mode)) <= set("rwabxt+") and set(str(mode)) & set("wax+") for mode in modes)
