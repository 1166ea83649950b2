"""``lm_eval.tasks._index`` and ``_yaml_loader``: what names of task files mean, and what the files say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.functions import resolve_function
from proctor.dialects.lm_eval.index import GROUP, PYTHON_TASK, TAG, TASK, folder_index
from proctor.dialects.lm_eval.index import Entry as Named
from proctor.dialects.lm_eval.reader import FunctionReference, TaskReader
from proctor.errors import UsageError
from proctor.logs import get_logger


class Kind(Enum):
    """What a name means."""

    TASK = auto()
    PY_TASK = auto()
    GROUP = auto()
    TAG = auto()
    UNKNOWN = auto()


_KINDS = {TASK: Kind.TASK, PYTHON_TASK: Kind.PY_TASK, GROUP: Kind.GROUP, TAG: Kind.TAG}


class Entry(dict[str, Any]):
    """A name: ``kind``, ``yaml_path``, ``cfg`` and ``tags``; its keys are those of older releases.

    Args:
        name: The name.
        kind: What it means.
        yaml_path: The file that defines it; ``None`` of tags.
        cfg: What the file says; by default it is read when somebody asks.
        tags: Tags of a task; the tasks that have a tag.
    """

    def __init__(
        self,
        name: str,
        kind: Kind,
        yaml_path: Path | None,
        cfg: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
    ) -> None:
        super().__init__(type=next(own for own, each in _KINDS.items() if each is kind), yaml_path=str(yaml_path or ""))
        self.name, self.kind, self.yaml_path, self.tags = name, kind, yaml_path, set(tags)
        self._cfg = None if cfg is None else dict(cfg)

    @classmethod
    def of(cls, entry: Named) -> Entry:
        """Return an entry of our index as one of lm-eval's."""
        return cls(entry.name, _KINDS[entry.kind], Path(entry.file) if entry.file else None, tags=entry.tags)

    @property
    def cfg(self) -> dict[str, Any] | None:
        """What its file says, functions by name; ``None`` of tags."""
        if self._cfg is None and self.yaml_path is not None:
            self._cfg = load_yaml(self.yaml_path, resolve_func=False)
        return self._cfg


class TaskIndex:
    """What the task files of some folders define.

    Args:
        meta: More metadata; nothing depends on it.
    """

    def __init__(self, *, meta: Mapping[str, Any] | None = None) -> None:
        del meta

    @staticmethod
    def build(paths: Iterable[str | Path], *, resolve_includes: bool = True) -> dict[str, Entry]:
        """Return entries by name; of two folders with one name the later wins, of two files of one folder the first.

        Raises:
            UsageError: Includes are to be left out.
        """
        if not resolve_includes:
            raise UsageError("an index is made of whole files", hint="leave resolve_includes out")
        found: dict[str, Entry] = {}
        for path in paths:
            stored = folder_index(str(Path(path).expanduser().resolve()))
            entries = {each.name: Entry.of(each) for each in stored.entries}
            for name, kept, lost in stored.duplicates:
                is_group = name in entries and entries[name].kind is Kind.GROUP
                say = get_logger().debug if is_group else get_logger().warning
                say("Duplicate %s name '%s': %s counts, %s does not", "group" if is_group else "task", name, kept, lost)
            for name in entries.keys() & found.keys():
                get_logger().warning("'%s' of %s counts instead of an earlier folder's", name, path)
            found |= entries
        return found

    @staticmethod
    def _kind_of(cfg: Mapping[str, Any]) -> Kind:
        for key, kind in (("class", Kind.PY_TASK), ("group", Kind.GROUP), ("task", Kind.TASK)):
            if key in cfg:
                return kind
        raise UsageError(f"Unknown config shape: keys={list(cfg)}", hint="a task has 'task', a group 'group'")

    @staticmethod
    def entry_from_path(path: str | Path) -> Entry | None:
        """Return the entry of a file; ``None`` where there is none."""
        place = Path(path).expanduser().resolve()
        return TaskIndex._entry_of(load_yaml(place, resolve_func=False), place) if place.is_file() else None

    @staticmethod
    def entry_from_config(cfg: Mapping[str, Any]) -> Entry | None:
        """Return the entry of a configuration; ``None`` where it has no name."""
        return TaskIndex._entry_of(cfg, None)

    @staticmethod
    def _entry_of(cfg: Mapping[str, Any], path: Path | None) -> Entry | None:
        kind = TaskIndex._kind_of(cfg)
        name = cfg.get("group") if kind is Kind.GROUP else cfg.get("task")
        return Entry(name, kind, path, cfg) if isinstance(name, str) else None


def load_yaml(path: str | Path, *, resolve_func: bool = True) -> dict[str, Any]:
    """Return what a task file says, with what it includes.

    Args:
        path: The file.
        resolve_func: Whether ``!function`` is the function; else it is where it would be looked for.

    Raises:
        TaskFileError: It cannot be read.
        TrustError: It names code, and code is not trusted.
    """
    return {key: resolved(key, each, resolve=resolve_func) for key, each in TaskReader().read(str(path)).values.items()}


def resolved(key: str, value: Any, *, resolve: bool) -> Any:
    """Return a value of a task file, with its functions as functions, or as where they would be looked for."""
    if isinstance(value, FunctionReference):
        return resolve_function(value, key) if resolve else str(value.folder / value.name)
    if isinstance(value, Mapping):
        return {name: resolved(name, each, resolve=resolve) for name, each in value.items()}
    return [resolved(key, each, resolve=resolve) for each in value] if isinstance(value, list) else value
