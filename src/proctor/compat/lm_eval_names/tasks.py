"""``lm_eval.tasks``: which tasks there are, and tasks by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from enum import Enum, auto
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Final

from proctor.dialects.lm_eval.classes.configurable_task import UNASKED, ConfigurableTask
from proctor.dialects.lm_eval.classes.task import Task
from proctor.dialects.lm_eval.code_draws import DEFAULT_SEED
from proctor.dialects.lm_eval.functions import resolve_function
from proctor.dialects.lm_eval.index import GROUP, PYTHON_TASK, TAG, TASK, TaskIndex, build_index
from proctor.dialects.lm_eval.index import Entry as Named
from proctor.dialects.lm_eval.reader import FunctionReference, TaskReader
from proctor.dialects.lm_eval.selection import TaskFinder
from proctor.dialects.lm_eval.tree import Group as Members
from proctor.dialects.lm_eval.tree import Leaf
from proctor.errors import UnknownArtifactError, UsageError
from proctor.guests.lm_eval.group import AggMetricConfig, ConfigurableGroup, Group, name_of
from proctor.guests.lm_eval.utils import pattern_match
from proctor.guests.overrides import Obeyed


@dataclass(eq=False)
class TaskHandle:
    """A task by its name, until it is evaluated or looked into: then it is one of lm-eval's ``Task`` (:attr:`task`).

    Attributes:
        name: Its name; of a task that is written out, that of its configuration.
        written: Its configuration, where it is written out.
        include_paths: Where names are looked for, too.
        metadata: More metadata.
        given: The task itself, where a program has made it.
        leaf: What its name meant when it was loaded: a member of a group has what the group says of it.
    """

    name: str
    written: Mapping[str, Any] | None = None
    include_paths: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    given: Any = None
    leaf: Leaf | None = None

    @property
    def task_name(self) -> str:
        """Its name."""
        return self.name

    @cached_property
    def task(self) -> Any:
        """The task with its documents, made when it is first looked into.

        Raises:
            UsageError: It is a group, or several tasks.
        """
        made = self._made()
        self.__dict__["_as_made"] = _state_of(made)
        return made

    def _made(self) -> Any:
        if self.given is not None:
            return self.given
        if self.written is not None:
            return made_task(self.name, self.written)
        if self.leaf is not None:
            return made_task(self.name, self.leaf.values)
        members = _finder(self).find(self.name)
        if len(members) != 1 or not isinstance(members[0], Leaf):
            raise UsageError(f"'{self.name}' is not one task", hint="TaskManager().load(NAME)['tasks'] has all of them")
        return made_task(members[0].name, _values(members[0]))

    @property
    def changed(self) -> Any:
        """The task, where a program has made or changed it; else ``None``: its name or its configuration says it."""
        if self.given is not None or "task" not in self.__dict__:
            return self.given
        return None if _state_of(self.task) == self.__dict__["_as_made"] else self.task

    def __setattr__(self, name: str, value: Any) -> None:
        """Set what the task has, for everybody who looks into it."""
        if name in self.__dataclass_fields__:
            object.__setattr__(self, name, value)
        else:
            setattr(self.task, name, value)

    @property
    def OUTPUT_TYPE(self) -> str | None:  # noqa: N802 - lm-eval's name
        """What the task asks for."""
        return str(self.task.config.output_type) if hasattr(self.task, "config") else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.task, name)


def _state_of(task: Any) -> tuple[Any, ...]:
    """Return what a program may change of a task: its keys, its splits, what it holds."""
    config = deepcopy(task.config.to_dict()) if hasattr(task, "config") else None
    kept = {
        name: value for name, value in vars(task).items() if name not in UNASKED and not name.startswith("fewshot_")
    }
    seed = getattr(task, "fewshot_seed", None)
    splits = dict(getattr(getattr(task, "dataset", None), "changed", {}))
    return config, splits, kept, None if seed == DEFAULT_SEED else seed


Task.register(TaskHandle)


class UnknownTaskError(UnknownArtifactError, KeyError):
    """There is no task of a name."""

    __str__ = UnknownArtifactError.__str__


class TaskTypeError(UsageError, TypeError):
    """Something that is not a task."""


@contextmanager
def unknown_as_key_error() -> Iterator[None]:
    """Raise what programs for lm-eval expect where a task is unknown.

    Raises:
        UnknownTaskError: It is.
    """
    try:
        yield
    except UnknownArtifactError as error:
        raise UnknownTaskError(error.diagnostics) from None


def made_task(name: str, values: Mapping[str, Any]) -> Any:
    """Return a task of its configuration: an object of its class, where it names one."""
    config = {key: _resolved(key, each) for key, each in values.items()} | {"task": name}
    for key in ("tag", "group", "task_list"):
        config.pop(key, None)
    kind = config.pop("class", ConfigurableTask)
    return kind(config=config) if "config" in signature(kind).parameters else kind()


def _resolved(key: str, value: Any, *, resolve: bool = True) -> Any:
    """Return a value of a task file, with its functions as functions, or as where they would be looked for."""
    if isinstance(value, FunctionReference):
        return resolve_function(value, key) if resolve else str(value.folder / value.name)
    if isinstance(value, Mapping):
        return {name: _resolved(name, each, resolve=resolve) for name, each in value.items()}
    return [_resolved(key, each, resolve=resolve) for each in value] if isinstance(value, list) else value


def load_yaml(path: str | Path, *, resolve_func: bool = True, recursive: bool = True) -> dict[str, Any]:
    """Return what a task file says; its functions as such, or as where they would be looked for.

    Raises:
        TaskFileError: It cannot be read.
        TrustError: It names code, and code is not trusted.
        UsageError: What it includes is to be left out.
    """
    if not recursive:
        raise UsageError("task files are read with what they include", hint="leave recursive out")
    said = TaskReader().read(str(path)).values
    return {key: _resolved(key, each, resolve=resolve_func) for key, each in said.items()}


class Kind(Enum):
    """What a name means."""

    TASK = auto()
    PY_TASK = auto()
    GROUP = auto()
    TAG = auto()


_KINDS = {TASK: Kind.TASK, PYTHON_TASK: Kind.PY_TASK, GROUP: Kind.GROUP, TAG: Kind.TAG}


class Entry(dict[str, Any]):
    """A name: its kind, its file, its tags (the tasks of a tag); its keys are those of older releases."""

    def __init__(self, named: Named) -> None:
        super().__init__(type=named.kind, yaml_path=named.file)
        self.name, self.kind, self.tags = named.name, _KINDS[named.kind], set(named.tags)
        self.yaml_path = Path(named.file) if named.file else None

    @cached_property
    def cfg(self) -> dict[str, Any] | None:
        """What its file says, functions by name; ``None`` of tags."""
        return None if self.yaml_path is None else load_yaml(self.yaml_path, resolve_func=False)


def _finder(handle: TaskHandle) -> TaskFinder:
    return TaskFinder(handle.include_paths, metadata=dict(handle.metadata) or None)


def _values(member: Leaf | Members) -> dict[str, Any]:
    return dict(member.values) if isinstance(member, Leaf) else {}


class TaskManager(Obeyed):
    """Knows the tasks of an installed or fetched lm-eval, and those of folders.

    Args:
        verbosity: How much is logged; nothing depends on it.
        include_path: A folder with tasks, or several.
        include_defaults: Whether lm-eval's own tasks count.
        metadata: More metadata for every task.
    """

    uncalled: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("initialize_tasks", "_get_task_and_group"),
            "TaskManager(include_path=…, include_defaults=False) says which folders have tasks",
        ),
        "_load_individual_task_or_group": "give evaluate the tasks themselves",
    }

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
    def task_index(self) -> dict[str, Entry]:
        """What each name means."""
        return {name: Entry(each) for name, each in self.index.entries.items()}

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

    def load_task_or_group(self, task_list: str | Mapping[str, Any] | Sequence[Any] | None = None) -> dict[Any, Any]:
        """Return tasks by name, and by group those of the group, for :func:`evaluate`; tags are their tasks."""
        listed = [task_list] if isinstance(task_list, str | Mapping | Task) else list(task_list or ())
        found: dict[Any, Any] = {}
        for each in (item for spec in listed for item in self._built(spec)):
            found |= _nested(each)
        return found

    def load(self, task_list: Any) -> dict[str, Any]:
        """Return tasks by name, groups by name, and the names of each group's members.

        Raises:
            UnknownArtifactError: A name means nothing.
            UsageError: A task is named twice: alone and in a group, or in two groups.
        """
        listed = [task_list] if isinstance(task_list, str | Mapping | Task | Group) else list(task_list)
        built = [each for spec in listed for each in self._built(spec)]
        tasks: dict[str, Any] = {}
        groups: dict[str, Group] = {}
        owners: dict[str, str] = {}
        for item in built:
            inner = [item, *item.get_all_groups()] if isinstance(item, Group) else []
            groups |= {each.name: each for each in inner}
            for task in item.get_all_tasks() if isinstance(item, Group) else [item]:
                owner = owners.setdefault(task.task_name, name_of(item))
                if owner != name_of(item):
                    raise UsageError(
                        f"Duplicate task '{task.task_name}': found in both '{owner}' and '{name_of(item)}'"
                    )
                tasks[task.task_name] = task
        return {
            "tasks": tasks, "groups": groups, "group_map": {each.name: each.child_names for each in groups.values()},
        }  # fmt: skip

    def _built(self, spec: Any) -> Iterator[Any]:
        if isinstance(spec, TaskHandle | Group | Task):
            yield spec if isinstance(spec, Group) else self.handle(spec)
        elif isinstance(spec, Mapping):
            if "task" not in spec and isinstance(spec.get("group"), str):
                yield from self._changed_group(spec)
                return
            if "task" not in spec:
                raise UsageError("Invalid config dict: must contain 'task' or 'group' key", hint="or name a file")
            yield self.handle(spec)
        else:
            handle = self.handle(spec)
            with unknown_as_key_error():
                members = _finder(handle).find(handle.name)
            for member in members:
                yield self._built_member(member)

    def _changed_group(self, spec: Mapping[str, Any]) -> Iterator[Any]:
        """Yield a group by its name, whose tasks have other keys of the mapping instead of their own."""
        changes = {key: value for key, value in spec.items() if key != "group"}
        handle = self.handle(str(spec["group"]))
        with unknown_as_key_error():
            members = _finder(handle).find(handle.name)
        for member in members:
            for leaf in [member] if isinstance(member, Leaf) else member.leaves():
                leaf.values = {**leaf.values, **changes}
            built = self._built_member(member)
            for task in built.get_all_tasks() if isinstance(built, Group) else [built]:
                task.given = task.task  # by the group's name it would be found as it was
            yield built

    def _built_member(self, member: Leaf | Members) -> Any:
        if isinstance(member, Leaf):
            return TaskHandle(member.name, None, self.include_paths, self.metadata, leaf=member)
        metrics = [
            AggMetricConfig(
                each.metric, None if each.filters is None else list(each.filters), each.aggregation, each.weight_by_size
            )
            for each in member.metrics
        ]
        found = Group(member.name, member.alias or None, metrics or None, {**member.metadata, **self.metadata})
        for each in member.members:
            found.add(self._built_member(each))
        return found

    def _with_keys(self, spec: Mapping[str, Any]) -> TaskHandle:
        """Return a task that there is, with other keys, as releases of lm-eval before 0.4.12 read it."""
        (found,) = _finder(TaskHandle("", None, self.include_paths, self.metadata)).find(spec["task"])
        if not isinstance(found, Leaf):
            raise UsageError(f"'{spec['task']}' is a group", hint="{'group': NAME, …} changes all of its tasks")
        found.values = {**found.values, **{key: value for key, value in spec.items() if key != "task"}}
        return TaskHandle(found.name, None, self.include_paths, self.metadata, leaf=found)

    def handle(self, spec: Any) -> TaskHandle:
        """Return a task by its name, its file, its configuration, or itself.

        Raises:
            UsageError: It is none of these.
        """
        if isinstance(spec, TaskHandle):
            return spec
        if isinstance(spec, Task):
            return TaskHandle(get_task_name_from_object(spec), given=spec)
        if not isinstance(spec, str | Mapping | Path):
            raise TaskTypeError(
                f"{spec!r} is not a task", hint="a name, a file, a configuration, or an object of a class of tasks"
            )
        if isinstance(spec, Mapping) and "group" in spec and not isinstance(spec.get("task"), str):
            raise UsageError(
                f"a group is written out: {spec['group']!r}",
                why="what is evaluated is a name, a file, or the configuration of one task",
                hint="name the group, or write it into a file of an include_path",
            )
        if isinstance(spec, Mapping) and not _WHOLE & spec.keys() and spec.get("task") in self.index.entries:
            return self._with_keys(spec)
        config = dict(spec) if isinstance(spec, Mapping) else None
        name = str(spec if config is None else config.get("task") or config.get("task_alias") or "task")
        return TaskHandle(name, config, self.include_paths, self.metadata)


LOAD = TaskManager.load
"""How tasks are loaded, unless a program says otherwise."""


_WHOLE: Final = frozenset(("class", "custom_dataset", "dataset_path", "include"))
"""Keys of configurations that say all of a task; without them they change a task that there is."""


def _nested(item: Any) -> dict[Any, Any]:
    """Return a task, or a group with what is in it, as releases before 0.4.12 have it."""
    if not isinstance(item, Group):
        return {item.task_name: item}
    inner: dict[Any, Any] = {}
    for each in item:
        inner |= _nested(each)
    listed = [asdict(each) for each in item.aggregate_metric_list or ()]
    told = {"group": item.name, "group_alias": item.alias, "aggregate_metric_list": listed or None}
    return {ConfigurableGroup({**told, "metadata": item.metadata}): inner}


def get_task_dict(task_name_list: Any, task_manager: TaskManager | None = None) -> dict[Any, Any]:
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
