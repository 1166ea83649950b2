"""Index of every task file below some folders, kept on disk.

The index of a folder is filed under the folder and checked against name, size and modification time of every file,
so a warm start reads no YAML; where some files changed, only those are read again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from proctor.dialects.dialect import Entry as Listed
from proctor.dialects.dialect import Named
from proctor.effects import is_confined
from proctor.errors import NotAllowedError, ProctorError, UsageError
from proctor.packages import package_folder
from proctor.safe_files import Stamp, stamp_of, written
from proctor.settings import settings

if TYPE_CHECKING:
    from proctor.dialects.lm_eval.reader import TaskFile

FORMAT = 7
"""Raised whenever what an index holds changes."""

IGNORED_FOLDERS = frozenset({"__pycache__", ".ipynb_checkpoints", ".git"})

TASK, PYTHON_TASK, GROUP, TAG = "task", "python task", "group", "tag"


class Entry(msgspec.Struct, array_like=True, frozen=True):
    """A name and what it stands for.

    Attributes:
        name: What to type.
        kind: ``task``, ``python task``, ``group`` or ``tag``.
        file: The file that defines it; empty for tags.
        tags: Tags of a task; names of the tasks with a tag.
        members: What a group lists directly, by name.
        item: Which entry of ``task_list`` or which child of ``children`` this is, as a path; empty for a whole file.
        alias: How it is called in tables.
        output_type: As the file says.
    """

    name: str
    kind: str
    file: str
    tags: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    item: str = ""
    alias: str = ""
    output_type: str = ""


class _FileRecord(msgspec.Struct, array_like=True):
    stamp: str
    files: tuple[tuple[str, str], ...]
    entries: tuple[Entry, ...]
    problem: str = ""


class _Stored(msgspec.Struct, array_like=True):
    version: int
    folder: str
    stamp: bytes
    outside: tuple[tuple[str, str], ...]
    entries: tuple[Entry, ...]
    duplicates: tuple[tuple[str, str, str], ...]
    problems: tuple[tuple[str, str], ...]


class _Records(msgspec.Struct, array_like=True):
    version: int
    records: dict[str, _FileRecord]


@dataclass(slots=True)
class TaskIndex:
    """Names below some folders; of two folders with one name the later wins.

    Attributes:
        entries: Entry by name.
        duplicates: Name, the file that won, the file that lost: two files of one folder with one name.
        problems: Files that could not be read, with the reason.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    duplicates: list[tuple[str, str, str]] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def names(self, kind: str | None = None) -> list[str]:
        """Return all names, or those of one kind, sorted."""
        return sorted(name for name, entry in self.entries.items() if kind is None or entry.kind == kind)

    def add(self, stored: _Stored) -> None:
        """Add the names of one more folder."""
        for entry in stored.entries:
            self.entries[entry.name] = entry
        self.duplicates.extend(stored.duplicates)
        self.problems.update(stored.problems)


def installed_tasks() -> Path | None:
    """Return the task folder of ``lm_eval``, installed or fetched, which is not imported; ``None`` without one."""
    package = package_folder("lm_eval")
    folder = None if package is None else package / "tasks"
    return folder if folder is not None and folder.is_dir() else None


def build_index(include_paths: Iterable[str | Path] = (), *, installed: bool = True) -> TaskIndex:
    """Return the index of the installed tasks and of more folders.

    Raises:
        UsageError: An include path is not a folder.
    """
    index = TaskIndex()
    folders = [folder] if installed and (folder := installed_tasks()) is not None else []
    for path in include_paths:
        given = Path(path).expanduser().resolve()
        if not given.is_dir():
            raise UsageError(f"'{path}' is not a folder", why="--include-path names folders with task files")
        folders.append(given)
    for folder in folders:
        index.add(folder_index(str(folder)))
    return index


def folder_index(folder: str) -> _Stored:
    """Return the index of one folder, from disk where that is up to date."""
    place = _cache_file(folder)
    files = dict(_task_files(folder))
    stamp = _digest(files)
    stored: _Stored | None = _load(place, _Stored)
    if stored is not None and stored.stamp == stamp and all(_stamp_of(path) == seen for path, seen in stored.outside):
        return stored
    known: _Records | None = _load(place.with_suffix(".records"), _Records)
    records = _records(folder, files, known.records if known is not None else {})
    stored = _combine(folder, stamp, records)
    if stored.problems and is_confined():  # what a page must not read, a command may: that is not kept
        _save(
            place.with_suffix(".records"),
            _Records(FORMAT, {path: each for path, each in records.items() if not each.problem}),
        )
        return stored
    _save(place.with_suffix(".records"), _Records(FORMAT, records))
    _save(place, stored)
    return stored


# -- files ------------------------------------------------------------------------------------------------------------


def _task_files(folder: str) -> Iterator[tuple[str, str]]:
    """Yield every task file below a folder with a stamp of its size and modification time."""
    waiting = [folder]
    while waiting:
        below = waiting.pop()
        try:
            handle = os.open(below, os.O_RDONLY)
        except OSError:
            continue
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    name = entry.name
                    if name.endswith(".yaml"):
                        seen = entry.stat()
                        yield f"{below}/{name}", _written(stamp_of(f"{below}/{name}", seen))
                    elif name not in IGNORED_FOLDERS and entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{below}/{name}")
        finally:
            os.close(handle)


def _stamp_of(path: str) -> str:
    try:
        return _written(stamp_of(path))
    except (OSError, ValueError):  # what can be no name
        return ""


def _written(stamp: Stamp) -> str:
    return ".".join(map(str, stamp))


def _digest(files: Mapping[str, str]) -> bytes:
    content = "\n".join([f"{path} {files[path]}" for path in sorted(files)])
    return blake2b(content.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _cache_file(folder: str) -> Path:
    name = blake2b(folder.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return Path(settings.cache_dir) / "lm_eval" / f"index-{name}.msgpack"


def _load(place: Path, kind: type[Any]) -> Any:
    try:
        stored = msgspec.msgpack.Decoder(kind).decode(place.read_bytes())
    except (OSError, msgspec.DecodeError):  # absent, half written by a machine that crashed, or another version's
        return None
    return stored if stored.version == FORMAT else None


def _save(place: Path, value: object) -> None:
    """Write a file whole or not at all, so that processes at the same time never see half of it."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with written(place) as file:
            file.write(msgspec.msgpack.encode(value))
    except OSError:  # a cache that cannot be written costs time, nothing else
        return


# -- entries ----------------------------------------------------------------------------------------------------------


_REFUSED = "refused"
"""Stamp of what nobody allowed to read: it equals no other, so that the next start asks again."""


def _records(folder: str, files: Mapping[str, str], known: Mapping[str, _FileRecord]) -> dict[str, _FileRecord]:
    from proctor.dialects.lm_eval.reader import TaskReader  # reads YAML, which a warm start does not

    reader = TaskReader([folder])
    stamps: dict[str, str] = {}

    def fresh(path: str) -> str:
        if path not in stamps:
            stamps[path] = files.get(path) or _stamp_of(path)
        return stamps[path]

    records = {}
    for path, stamp in files.items():
        old = known.get(path)
        if old is not None and old.stamp == stamp and all(fresh(base) == seen for base, seen in old.files):
            records[path] = old
            continue
        try:
            read = reader.read(path)
            bases = tuple((base, fresh(base)) for base in read.files[1:])
            records[path] = _FileRecord(stamp, bases, tuple(file_entries(read)))
        except NotAllowedError as error:
            records[path] = _FileRecord(_REFUSED, ((f"{path}/include", _REFUSED),), (), str(error.diagnostics[0]))
        except ProctorError as error:
            tried = tuple((base, fresh(base)) for base in reader.tried)  # the problem may be one of theirs
            records[path] = _FileRecord(stamp, tried, (), str(error.diagnostics[0]))
    return records


def _combine(folder: str, stamp: bytes, records: Mapping[str, _FileRecord]) -> _Stored:
    entries: dict[str, Entry] = {}
    tagged: dict[str, list[str]] = {}
    duplicates = []
    outside: dict[str, str] = {}
    problems = []
    for path in sorted(records):
        record = records[path]
        outside.update((base, seen) for base, seen in record.files if base not in records)
        if record.problem:
            problems.append((path, record.problem))
        for entry in record.entries:
            first = entries.setdefault(entry.name, entry)
            if first is not entry:
                if first.file != path:
                    duplicates.append((entry.name, first.file, path))
                continue
            if entry.kind in (TASK, PYTHON_TASK):
                for tag in entry.tags:
                    tagged.setdefault(tag, []).append(entry.name)
    for tag, names in tagged.items():
        if tag not in entries:
            entries[tag] = Entry(tag, TAG, "", tuple(sorted(names)))
    return _Stored(
        FORMAT, folder, stamp, tuple(outside.items()), tuple(entries.values()), tuple(duplicates), tuple(problems)
    )


def file_entries(read: TaskFile) -> Iterator[Entry]:
    """Yield what a task file defines: a task, a group with its children, or the tasks of a ``task_list``."""
    values = read.values
    if "class" in values and not isinstance(values.get("recipe"), str):  # a recipe runs without the class
        if "task" in values or "group" in values:
            yield _task_entry(values.get("task") or values["group"], values, read.path, PYTHON_TASK)
    elif "group" in values and not _is_base_of_tasks(values):
        yield from _group_entries(str(values["group"]), values, read.path, "", {})
    elif isinstance(values.get("task_list"), list):
        if isinstance(values.get("task"), str) and "task" in read.own:
            yield _task_entry(values["task"], values, read.path)
        yield from _listed(values, read.path)
    elif isinstance(values.get("task"), str):
        yield _task_entry(values["task"], values, read.path)


def _is_base_of_tasks(values: Mapping[str, Any]) -> bool:
    """Whether a file that names a group says how tasks are asked, and no tasks: it is there to be included."""
    return not {"task", "children"} & values.keys() and bool({"dataset_path", "doc_to_text"} & values.keys())


def _task_entry(name: object, values: Mapping[str, Any], path: str, kind: str = TASK, item: str = "") -> Entry:
    return Entry(
        str(name),
        kind,
        path,
        tag_names(values.get("tag")),
        (),
        item,
        str(values.get("task_alias") or ""),
        str(values.get("output_type") or "generate_until"),
    )


def _listed(values: Mapping[str, Any], path: str) -> Iterator[Entry]:
    common = tag_names(values.get("tag"))
    for number, each in enumerate(values["task_list"]):
        own: Mapping[str, Any] = {"task": each} if isinstance(each, str) else each if isinstance(each, dict) else {}
        if not isinstance(own.get("task"), str):
            continue
        tags = tuple(dict.fromkeys((*common, *tag_names(own.get("tag")))))
        entry = _task_entry(own["task"], {**values, **own, "tag": None}, path, item=f"task_list[{number}]")
        yield msgspec.structs.replace(entry, tags=tags)


def _group_entries(
    name: str, values: Mapping[str, Any], path: str, item: str, shared: Mapping[str, Any]
) -> Iterator[Entry]:
    children = values.get("children")
    below = {str(key): child for key, child in children.items()} if isinstance(children, dict) else {}
    members = [*_member_names(values.get("task")), *(f"{name}::{key}" for key in below)]
    alias = str(values.get("group_alias") or "")
    yield Entry(name, GROUP, path, tag_names(values.get("tag")), tuple(members), item, alias)
    common = {**shared, **{key: values[key] for key in _SHARED if values.get(key) is not None}}
    for key, child in below.items():
        if isinstance(child, dict):
            inner = f"{item}.children.{key}" if item else f"children.{key}"
            yield from _child_entries(f"{name}::{key}", child, path, inner, common)


_SHARED = ("output_type",)
"""Keys of a group that its children have too, as far as an index tells them."""


def _child_entries(
    name: str, child: Mapping[str, Any], path: str, item: str, shared: Mapping[str, Any]
) -> Iterator[Entry]:
    if "ref" in child:
        yield Entry(name, GROUP, path, (), (str(child["ref"]),), item)
    elif "children" in child or isinstance(child.get("task"), list):
        yield from _group_entries(name, child, path, item, shared)
    elif refers_to_tag(child):
        yield Entry(name, GROUP, path, (), tag_names(child["tag"]), item)
    else:
        yield _task_entry(name, {**shared, **child}, path, item=item)


def refers_to_tag(child: Mapping[str, Any]) -> bool:
    """Return whether a child stands for the tasks of its ``tag``; beside what makes a task, a tag is the task's own."""
    return "tag" in child and not {"ref", "children", "dataset_path", "doc_to_text", "include"} & set(child)


def _member_names(members: object) -> Iterator[str]:
    for member in [members] if isinstance(members, str) else members if isinstance(members, list) else ():
        if isinstance(member, str):
            yield member
        elif isinstance(member, dict) and (name := member.get("group") or member.get("task")):
            yield str(name)


def tag_names(tag: object) -> tuple[str, ...]:
    """Return the tags that a ``tag`` key names."""
    if isinstance(tag, str):
        return (tag,) if tag else ()
    return tuple(str(each) for each in tag) if isinstance(tag, list) else ()


def list_tasks(include_paths: Iterable[str], named: Named) -> Iterator[Listed]:
    """Yield tasks, groups and tags whose names are wanted."""
    known = build_index(include_paths).entries
    for entry in known.values():
        if named is not None and not named(entry.name.lower()):
            continue
        if entry.kind == GROUP and entry.item and len(entry.members) == 1:
            target = known.get(entry.members[0])
            if target is not None and target.kind not in {GROUP, TAG}:
                yield Listed(entry.name, "exam", f"lm-eval: means {target.name}", entry.file)
                continue
        if entry.kind in {GROUP, TAG}:
            count = len(entry.members or entry.tags)
            what = f"{count} task" + ("s" if count != 1 else "")
        else:
            what = f"{(entry.output_type or 'task').replace('_', ' ')}" + (f" ({entry.alias})" if entry.alias else "")
        note = ", needs --trust-code" if entry.kind == PYTHON_TASK else ""
        tags = {"tags": list(entry.tags)} if entry.tags and entry.kind not in {GROUP, TAG} else {}
        kind = {GROUP: "group", TAG: "tag"}.get(entry.kind, "exam")
        yield Listed(entry.name, kind, f"lm-eval: {what}{note}", entry.file or "lm-eval", tags)


def knows(name: str, include_paths: Iterable[str]) -> bool:
    """Whether a task, a group or a tag has a name, with ``::MEMBER`` or ``@TEMPLATE`` behind it or not."""
    entries = build_index(include_paths).entries
    base = name.partition("::")[0].partition("@")[0]
    return any(each in entries for each in (base, name, name.partition("@")[0]))
