"""A file that is changed twice within one tick of its file system's clock is read twice."""

import os
import py_compile
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from proctor import safe_files
from proctor.artifacts.catalogs import read_json
from proctor.data.files import check_lines
from proctor.data.mapped_folder import aliases
from proctor.dialects.aisbench.index import config_entries
from proctor.dialects.aisbench.reader import read_config
from proctor.dialects.lm_eval.functions import module_of_file
from proctor.dialects.lm_eval.index import folder_index
from proctor.dialects.tables.reader import read_table
from proctor.errors import DataError
from proctor.guests.beside import room_beside
from proctor.recipes.held_code import code_of_file
from proctor.running.budget import price_table
from proctor.runs.kept_labels import LABELS, kept_labels
from proctor.safe_files import is_unchanged, stamp_of


def _checked(path: Path) -> str:
    try:
        check_lines(str(path))
    except DataError as error:
        return str(error)
    return "fine"


def _imported(path: Path) -> object:
    if not (task := path.parents[1] / "utils.py").exists():
        task.write_text("from lm_eval.tasks.own.parts import value\n")
    return module_of_file(task).value


def _beside(path: Path) -> object:
    return room_beside(path.parent, path.parent).of_file(path).value


READERS: dict[str, tuple[str, str, str, Callable[[Path], object]]] = {
    "a table": ("t.csv", "q,a\n1,2\n", "q,a\n3,4\n", lambda path: [dict(row) for row in read_table(str(path))]),
    "an artifact": ("x.json", '{"a": 1}', '{"a": 2}', read_json),
    "lines": ("x.jsonl", '{"a": 1}\n', '{"a": 1]\n', _checked),
    "other ids": ("aliases.json", '{"a": "b"}', '{"a": "c"}', lambda path: dict(aliases(path.parent))),
    "a config": ("c.py", "value = 1\n", "value = 2\n", read_config),
    "a helper of a task": ("utils.py", "value = 1\n", "value = 2\n", lambda path: module_of_file(path).value),
    "what a helper of a task imports": ("lm_eval/tasks/own/parts.py", "value = 1\n", "value = 2\n", _imported),
    "a module beside a config": ("own.py", "value = 1\n", "value = 2\n", _beside),
    "prices": (
        "p.json",
        '{"date": "2026-01-31", "models": {"m": {"input": 1, "output": 1}}}',
        '{"date": "2026-01-31", "models": {"m": {"input": 2, "output": 1}}}',
        lambda path: price_table(path).price_of("m"),
    ),
    "code in a fingerprint": ("own.py", "value = 1\n", "value = 2\n", code_of_file),
    "names of tasks": (
        "t.yaml",
        "task: one\ndataset_path: d\n",
        "task: two\ndataset_path: d\n",
        lambda path: [each.name for each in folder_index(str(path.parent)).entries],
    ),
    "names of configs": (
        "c.py",
        "datasets = []\n",
        "models = [  ]\n",
        lambda path: [each.kind for each in config_entries([str(path.parent.parent)]).values()],
    ),
    "labels of people": (
        LABELS,
        '{"answer": "a", "label": 1.0, "who": "me"}\n',
        '{"answer": "a", "label": 0.0, "who": "me"}\n',
        lambda path: str(kept_labels(path.parent).given),
    ),
}


def write(path: Path, text: str, at: int) -> None:
    path.write_text(text)
    os.utime(path, ns=(at, at))


@pytest.mark.parametrize("what", READERS)
def test_second_change_within_a_tick_is_seen(what: str, tmp_path: Path) -> None:
    name, before, after, read = READERS[what]
    assert len(before) == len(after)
    path, now = tmp_path / "folder" / name, (tmp_path / "clock")
    path.parent.mkdir(parents=True)
    now.touch()
    at = now.stat().st_mtime_ns
    write(path, before, at)
    first, inode = read(path), path.stat().st_ino
    write(path, after, at)
    assert path.stat().st_ino == inode
    assert read(path) != first
    write(path, before, at)
    assert read(path) == first


@pytest.mark.parametrize("what", ["a helper of a task", "a module beside a config"])
def test_compiled_files_beside_code_are_not_run(what: str, tmp_path: Path) -> None:
    name, source, other, read = READERS[what]
    (tmp_path / name).write_text(source)
    (tmp_path / "other.py").write_text(other)
    compiled = cache_from_source(str(tmp_path / name))
    # A file that is never compared with its source, as anybody may put it into a repository.
    py_compile.compile(
        str(tmp_path / "other.py"), compiled, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    assert read(tmp_path / name) == 1


def test_stamp_of_what_is_settled_needs_no_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    write(path, "a", 1_000)
    monkeypatch.setattr(safe_files, "opened", None)
    assert stamp_of(path) == (1_000, 1, path.stat().st_ino)


def test_a_stamp_holds_when_the_file_has_grown_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_text("a")
    stamp, at = stamp_of(path), path.stat().st_mtime_ns
    monkeypatch.setattr(safe_files.time, "time_ns", lambda: at + 10**10)
    assert is_unchanged(path, stamp)
    assert is_unchanged(path, stamp_of(path))
    write(path, "b", at)
    assert not is_unchanged(path, stamp)
    path.unlink()
    assert not is_unchanged(path, stamp)
    assert is_unchanged(path, ())


def test_folder_of_now_is_known_by_its_names(tmp_path: Path) -> None:
    at = tmp_path.stat().st_mtime_ns
    stamp = stamp_of(tmp_path)
    (tmp_path / "new").touch()
    os.utime(tmp_path, ns=(at, at))
    assert not is_unchanged(tmp_path, stamp)


def test_large_file_of_now_counts_as_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_files, "_MOST_LOOKED_INTO", 3)
    (tmp_path / "x").write_text("abcd")
    assert not is_unchanged(tmp_path / "x", stamp_of(tmp_path / "x"))


def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert stamp_of(tmp_path / "pipe")
