"""What a page may read, list, write and start, event by event."""

import os
import sys
from pathlib import Path

import pytest

from proctor.settings import settings
from proctor.web import confinement
from proctor.web.confinement import MOST_BYTES, _Bounds, _current, _hook, _is_below


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders of a page, of the user's settings, of caches, and one of nobody's; with links out of each."""
    for name in ("shown/deep", "runs/one", "named", "cache/state", "away", "tmp", "hub"):
        (tmp_path / name).mkdir(parents=True)
    for name in (
        "shown/a",
        "shown/deep/a",
        "named/a",
        "cache/a",
        "cache/state/a",
        "away/a",
        "runs/one/samples.jsonl",
        "hub/a",
    ):
        (tmp_path / name).write_text("12345678")
    for name in ("shown", "named"):
        (tmp_path / name / "link").symlink_to(tmp_path / "away" / "a")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setattr(confinement, "_temporary", lambda: str(tmp_path / "tmp"))
    monkeypatch.setattr(confinement, "state_folder", lambda: tmp_path / "cache" / "state")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "search")])
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.chdir(tmp_path / "shown")
    with settings.context(cache_dir=tmp_path / "cache"):
        yield tmp_path


def bounds(places, left=100):
    folders = (str(places / "shown"), str(places / "runs"))
    return _Bounds(folders, (str(places / "runs"),), (str(places / "named"),), left)


def refused(found, event, *arguments):
    try:
        found.check(event, arguments)
    except PermissionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "name, is_read, is_written",
    [
        ("shown/a", True, False),
        ("shown/deep/a", True, False),
        ("shown/deep/../a", True, False),
        ("shown/link", False, False),
        ("shown/none", True, False),
        ("shownother", False, False),
        ("named/a", True, False),
        ("named/link", True, False),
        ("away/a", False, False),
        ("cache/a", False, True),
        ("cache/state/a", False, False),
        ("hub/a", False, True),
        ("tmp/other", False, False),
    ],
)
def test_files_that_a_page_reads_and_writes(places, name, is_read, is_written):
    found, path = bounds(places), f"{places}/{name}"
    said = refused(found, "open", path, "r", os.O_RDONLY)
    assert (said == "") is is_read
    assert is_read or "lies outside the folders that proctor view was started with" in said
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_APPEND):
        said = refused(found, "open", path, "w", flags)
        assert (said == "") is is_written
        assert is_written or "no page writes files" in said
    assert (refused(found, "os.remove", path, -1) == "") is is_written
    assert (refused(found, "os.rename", str(places / "cache" / "a"), path, -1, -1) == "") is is_written


def test_what_is_open_already_and_nothing_are_not_looked_at(places):
    found = bounds(places)
    for path in (3, None, os.devnull):
        assert refused(found, "open", path, "w", os.O_WRONLY) == ""
    assert refused(found, "open", 3, "r", os.O_RDONLY) == ""
    assert refused(found, "socket.connect", None, ("10.0.0.1", 80)) == ""


def test_temporary_files_are_those_that_the_page_made(places):
    found = bounds(places)
    mine = str(places / "tmp" / "mine")
    assert refused(found, "open", mine, "r", os.O_RDONLY)
    assert refused(found, "open", mine, "w", os.O_RDWR | os.O_CREAT | os.O_EXCL) == ""
    for flags in (os.O_RDONLY, os.O_WRONLY):
        assert refused(found, "open", mine, "", flags) == ""
    assert refused(found, "os.mkdir", str(places / "tmp" / "folder"), 0o700, -1) == ""
    assert refused(found, "open", str(places / "tmp" / "folder" / "inner"), "w", os.O_WRONLY) == ""
    assert refused(found, "os.listdir", str(places / "tmp" / "folder")) == ""
    assert refused(found, "open", str(places / "away" / "new"), "w", os.O_RDWR | os.O_CREAT | os.O_EXCL)
    assert refused(found, "os.mkdir", str(places / "away" / "new"), 0o700, -1)
    assert refused(found, "os.mkdir", str(places), 0o700, -1) == ""  # a cache lies below


@pytest.mark.parametrize(
    "name, is_listed",
    [("shown", True), ("shown/deep", True), ("named", True), ("away", False), ("search", True), ("", False)],
)
def test_folders_that_a_page_lists(places, name, is_listed):
    assert (refused(bounds(places), "os.listdir", f"{places}/{name}") == "") is is_listed
    assert refused(bounds(places), "os.listdir", None) == ""  # where it stands


def test_a_page_starts_nothing(places):
    assert "would start git" in refused(bounds(places), "subprocess.Popen", "git", [], None, None)


def test_a_page_reads_so_much_data_and_samples_without_an_end(places):
    found = bounds(places, 20)
    for _ in range(3):
        assert refused(found, "open", str(places / "runs" / "one" / "samples.jsonl"), "r", os.O_RDONLY) == ""
        assert refused(found, "open", str(places / "shown"), "r", os.O_RDONLY) == ""
    (places / "shown" / "samples.jsonl").write_text("12345678")
    said = [
        refused(found, "open", str(places / "shown" / name), "r", os.O_RDONLY) for name in ("a", "samples.jsonl", "a")
    ]
    assert said[:2] == ["", ""]
    assert f"a page reads {MOST_BYTES >> 30} GiB of data" in said[2]
    os.mkfifo(places / "shown" / "pipe")
    assert "is not an ordinary file" in refused(
        bounds(places), "open", str(places / "shown" / "pipe"), "r", os.O_RDONLY
    )


def test_outside_of_pages_nothing_is_looked_at_nor_what_the_check_itself_does(places):
    away = (str(places / "away" / "a"), "r", os.O_RDONLY)
    _hook("open", away)
    token = _current.set(bounds(places))
    try:
        with pytest.raises(PermissionError):
            _hook("open", away)
        _hook("import", away)
        assert _current.get() is not None
    finally:
        _current.reset(token)


@pytest.mark.parametrize(
    "place, below",
    [("/a", True), ("/a/b", True), ("/ab", False), ("/", False), ("/c/d", True), ("/c", True), ("/d", False)],
)
def test_what_lies_below(place, below):
    assert _is_below(place, ["/a", "/c"]) is below
    assert _is_below(Path("/x").as_posix(), ["/"])
