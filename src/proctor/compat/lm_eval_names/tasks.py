"""``lm_eval.tasks``: which tasks there are, and tasks by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.functions import resolve_function
from proctor.dialects.lm_eval.index import GROUP, PYTHON_TASK, TAG, TASK, TaskIndex, build_index
from proctor.dialects.lm_eval.package.utils import pattern_match
from proctor.dialects.lm_eval.reader import FunctionReference, TaskReader


@dataclass(frozen=True)
class TaskHandle:
    """A task by its name, until it is evaluated.

    Attributes:
        name: Its name; of a task that is written out, that of its configuration.
        config: Its configuration, where it is written out.
        include_paths: Where names are looked for, too.
        metadata: More metadata.
    """

    name: str
    config: Mapping[str, Any] | None = None
    include_paths: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


class TaskManager:
    """Knows the tasks of an installed or fetched lm-eval, and those of folders.

    Args:
        verbosity: How much is logged; nothing depends on it.
        include_path: A folder with tasks, or several.
        include_defaults: Whether lm-eval's own tasks count.
        metadata: More metadata for every task.
    """

    def __init__(
        self,
        verbosity: str | None = None,
        include_path: str | Iterable[str] | None = None,
        include_defaults: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        del verbosity
        listed = [] if include_path is None else include_path
        paths = [listed] if isinstance(listed, str) or not isinstance(listed, Iterable) else listed
        self.include_paths = tuple(str(each) for each in paths)
        self.include_defaults = include_defaults
        self.metadata = dict(metadata or {})

    @cached_property
    def index(self) -> TaskIndex:
        """The names there are."""
        return build_index(self.include_paths, installed=self.include_defaults)

    @property
    def task_index(self) -> dict[str, dict[str, Any]]:
        """By name: kind and file."""
        return {name: {"type": each.kind, "yaml_path": each.file} for name, each in self.index.entries.items()}

    @property
    def all_tasks(self) -> list[str]:
        """Every name: tasks, groups and tags."""
        return self.index.names()

    @property
    def all_groups(self) -> list[str]:
        """The names of groups."""
        return self.index.names(GROUP)

    @property
    def all_subtasks(self) -> list[str]:
        """The names of tasks."""
        return sorted([*self.index.names(TASK), *self.index.names(PYTHON_TASK)])

    @property
    def all_tags(self) -> list[str]:
        """The names of tags."""
        return self.index.names(TAG)

    def match_tasks(self, task_list: Iterable[str]) -> list[str]:
        """Return the names that match one of the patterns, sorted."""
        return pattern_match(list(task_list), self.all_tasks)

    def list_all_tasks(self, list_groups: bool = True, list_tags: bool = True, list_subtasks: bool = True) -> str:
        """Return the names as a table in Markdown."""
        rows = [
            *((name, "group") for name in self.all_groups if list_groups),
            *((name, "tag") for name in self.all_tags if list_tags),
            *((name, "task") for name in self.all_subtasks if list_subtasks),
        ]
        lines = [f"|{name}|{kind}|{self.index.entries[name].file}|" for name, kind in rows]
        return "\n".join(["|Name|Kind|File|", "|---|---|---|", *lines])

    def load_task_or_group(self, task_list: str | Mapping[str, Any] | Sequence[Any] | None = None) -> dict[str, Any]:
        """Return tasks by name, for :func:`evaluate`."""
        listed = [task_list] if isinstance(task_list, str | Mapping) else list(task_list or ())
        return {each.name: each for each in map(self.handle, listed)}

    load = load_task_or_group

    def handle(self, spec: Any) -> TaskHandle:
        """Return a task by its name, its file, or its configuration."""
        if isinstance(spec, TaskHandle):
            return spec
        config = dict(spec) if isinstance(spec, Mapping) else None
        name = str(spec if config is None else config.get("task") or config.get("task_alias") or "task")
        return TaskHandle(name, config, self.include_paths, self.metadata)


def get_task_dict(task_name_list: Any, task_manager: TaskManager | None = None) -> dict[str, Any]:
    """Return tasks by name, for :func:`evaluate`."""
    return (task_manager or TaskManager()).load_task_or_group(task_name_list)


def get_task_name_from_config(task_config: Mapping[str, Any]) -> str:
    """Return what a task is called: as it says, else its dataset's path and name.

    Raises:
        ValueError: It says neither.
    """
    if "task" in task_config:
        return str(task_config["task"])
    if "dataset_path" not in task_config:
        raise ValueError("a task without 'task' and without 'dataset_path' has no name")
    return "_".join(str(task_config[key]) for key in ("dataset_path", "dataset_name") if key in task_config)


def get_task_name_from_object(task_object: Any) -> str:
    """Return what a task is called: as its configuration says, else its class."""
    config = getattr(task_object, "config", None)
    named = config.get("task") if isinstance(config, Mapping) else getattr(config, "task", None)
    own = getattr(task_object, "EVAL_HARNESS_NAME", None) or getattr(task_object, "name", None)
    return str(named or own or type(task_object).__name__)


def get_sample_size(task: Any, limit: float | None) -> int | None:
    """Return how many documents a limit leaves: a number, or of less than 1 the share, rounded up."""
    if limit is None or limit >= 1:
        return None if limit is None else int(limit)
    return math.ceil(len(task.eval_docs) * limit)


def load_yaml(path: str | Path, *, resolve_func: bool = True) -> dict[str, Any]:
    """Return what a task file says, with what it includes.

    Args:
        path: The file.
        resolve_func: Whether ``!function`` is the function; else it is where it would be looked for.

    Raises:
        TaskFileError: It cannot be read.
        TrustError: It names code, and code is not trusted.
    """
    return {key: _resolved(key, each, resolve_func) for key, each in TaskReader().read(str(path)).values.items()}


def _resolved(key: str, value: Any, resolve: bool) -> Any:
    if isinstance(value, FunctionReference):
        return resolve_function(value, key) if resolve else str(value.folder / value.name)
    if isinstance(value, Mapping):
        return {name: _resolved(name, each, resolve) for name, each in value.items()}
    return [_resolved(key, each, resolve) for each in value] if isinstance(value, list) else value
