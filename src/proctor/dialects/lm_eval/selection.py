"""From names to tasks: files, tags, groups, ``task_list``, ``children``, ``a::b`` and ``task@template``."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from proctor.data.read_once import once
from proctor.dialects.lm_eval.group_checks import (
    children_problems,
    group_problems,
    task_list_problems,
    unknown_reference,
)
from proctor.dialects.lm_eval.index import (
    GROUP,
    TAG,
    Entry,
    TaskIndex,
    build_index,
    file_entries,
    folder_index,
    installed_tasks,
    refers_to_tag,
)
from proctor.dialects.lm_eval.index import tag_names as index_tags
from proctor.dialects.lm_eval.reader import TaskFile, TaskFileError, TaskReader, repeated_children
from proctor.dialects.lm_eval.tree import Group, Leaf, Member, Values, below, group_metrics, renamed
from proctor.errors import Diagnostic, Location, UnknownArtifactError, UsageError, ValidationError, closest
from proctor.foreign_text import read_source
from proctor.foreign_yaml import MOST_BYTES

GROUP_FIELDS = frozenset({"group", "group_alias", "task", "aggregate_metric_list", "metadata", "children", "tag"})
_REFERENCE_KEYS = frozenset({"ref", "tag"})
_MARKS = "*?["
"""What makes a name a pattern."""


class UnreadableTaskError(UnknownArtifactError):
    """A name whose file is there, and cannot be read."""


def _may_define(file: str, name: str) -> bool:
    """Return whether a file that cannot be read looks as if it defined a name."""
    if Path(file).stem == name:
        return True
    try:
        text = read_source(file, MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    return re.search(rf"^(-\s*)?(task|group):\s*[\"']?{re.escape(name)}[\"']?\s*$", text, re.MULTILINE) is not None


class TaskFinder:
    """Finds tasks by name.

    Args:
        include_paths: More folders with task files; their names win over the installed ones.
        installed: Whether to look in the installed ``lm_eval`` package.
        template: The template to use for every task.
        metadata: More metadata for every task.
        arguments: More metadata for tasks whose code may read it, below the others: the model's arguments, as lm-eval
            has it (tasks of long texts count with the model's tokenizer).
    """

    def __init__(
        self,
        include_paths: Iterable[str | Path] = (),
        *,
        installed: bool = True,
        template: str | None = None,
        metadata: Values | None = None,
        arguments: Values | None = None,
    ) -> None:
        self._include_paths = tuple(include_paths)
        self._installed = installed
        self._template = template
        self._metadata = dict(metadata or {})
        self._arguments = dict(arguments or {})
        places = [str(Path(path).expanduser().resolve()) for path in self._include_paths]
        self._reader = TaskReader([*places, *filter(None, [str(installed_tasks() or "") if installed else ""])])
        self._extra: dict[str, Entry] = {}

    @cached_property
    def index(self) -> TaskIndex:
        """The names there are."""
        paths, installed = self._include_paths, self._installed
        return once(("names of tasks", paths, installed), lambda: build_index(paths, installed=installed))

    def entry(self, name: str) -> Entry | None:
        """Return what a name stands for."""
        return self._extra.get(name) or self.index.entries.get(name)

    # -- specifications ---------------------------------------------------------------------------------------

    def find(self, spec: str) -> list[Member]:
        """Return what a specification means: a name, glob, file, folder, ``a::b``, any of them with ``@template``.

        Raises:
            UnknownArtifactError: It means nothing.
            UsageError: A template is chosen twice.
        """
        found = self._find(spec)
        if self._template is not None:
            _choose_template(found, self._template)
        return found

    def _find(self, spec: str) -> list[Member]:
        if (entry := self.entry(spec)) is not None:
            return self._build(entry, {}, ())
        if (found := self._path(spec)) is not None:
            return found
        base, at, template = spec.rpartition("@")
        if at and base and template:
            return self._with_template(base, template)
        if (found := self._path_below(spec)) is not None:
            return found
        if any(mark in spec for mark in _MARKS):
            return self._matching(spec)
        if "::" in spec:
            return self._descend(spec)
        raise self._unknown(spec)

    def _unknown(self, spec: str) -> UnknownArtifactError:
        near = closest(spec, self.index.entries)
        hint = f"did you mean {' or '.join(repr(each) for each in near)}?" if near else "proctor ls lists the tasks"
        file = next((file for file in self.index.problems if _may_define(file, spec)), None)
        if file is None:
            return UnknownArtifactError(f"there is no task, group or tag '{spec}'", hint=hint)
        why = self.index.problems[file]
        hint = "" if "hint:" in why else "mend the file"
        return UnreadableTaskError(f"'{spec}' cannot be read", location=Location(file), why=why, hint=hint)

    def _with_template(self, base: str, template: str) -> list[Member]:
        if self._template is not None:
            raise UsageError(
                f"'{base}@{template}' and --template {self._template} both choose a template", hint="use one of the two"
            )
        found = self._find(base)
        if chosen := next((leaf.template for leaf in _leaves(found) if leaf.template is not None), None):
            raise UsageError(f"'{base}@{template}' chooses '{chosen}' and '{template}'", hint="use one of the two")
        _choose_template(found, template)
        return found

    def _matching(self, pattern: str) -> list[Member]:
        names = [name for name in self.index.names() if fnmatchcase(name, pattern)]
        if not names:
            raise UnknownArtifactError(f"no task, group or tag matches '{pattern}'", hint="proctor ls lists the tasks")
        return [member for name in names for member in self._build(self.index.entries[name], {}, ())]

    def _path(self, spec: str) -> list[Member] | None:
        path = Path(spec).expanduser()
        if path.is_dir() and ("/" in spec or self.entry(spec) is None):
            return self._folder(path.resolve())
        if not spec.endswith((".yaml", ".yml")):
            return None
        if path.is_file():
            return self._file(str(path.resolve()))
        if not any(mark in spec for mark in _MARKS):
            return None
        found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        return [member for each in found for member in self._file(str(each.resolve()))] or None

    def _path_below(self, spec: str) -> list[Member] | None:
        """Return what ``file.yaml::name`` means: the file's names are known once it is read, and come first."""
        path, mark, rest = spec.partition("::")
        if not mark or not path.endswith((".yaml", ".yml")) or (members := self._path(path)) is None:
            return None
        if (entry := self._extra.get(rest)) is not None:
            return self._build(entry, {}, ())
        if len(members) != 1 or isinstance(members[0], Leaf):
            names = [member.name for member in members]
            near = closest(rest, names)
            raise UnknownArtifactError(
                f"the file '{path}' defines no '{rest}'",
                hint=f"did you mean '{near[0]}'?" if near else f"it defines {', '.join(names[:20])}",
            )
        return self._walk(members, [path, *rest.split("::")], 1)

    def _folder(self, folder: Path) -> list[Member]:
        """Return what a folder defines: groups that no other group lists, and tasks that are in none of them."""
        entries = {entry.name: entry for entry in folder_index(str(folder)).entries}
        self._reader.roots.append(f"{folder}/")
        if not entries:
            raise UsageError(f"'{folder}' holds no task files", hint="task files end in .yaml")
        self._extra.update((name, entry) for name, entry in entries.items() if name not in self.index.entries)
        listed = {member for entry in entries.values() for member in entry.members}
        listed |= {
            name for entry in entries.values() if entry.kind == TAG and entry.name in listed for name in entry.tags
        }
        chosen = [each for each in entries.values() if each.kind != TAG and each.name not in listed]
        return [member for entry in chosen if "::" not in entry.name for member in self._build(entry, {}, ())]

    def _file(self, path: str) -> list[Member]:
        read = self._reader.read(path)
        entries = list(file_entries(read))
        if any(entry.members for entry in entries):  # a group's file, which lies beside its tasks
            beside = {entry.name: entry for entry in folder_index(str(Path(path).parent)).entries}
            self._extra.update((name, entry) for name, entry in beside.items() if name not in self.index.entries)
        if "task_list" in read.values:
            self._refuse(task_list_problems(read.values["task_list"], read.location))
        if not entries:
            raise TaskFileError(
                "the file defines no task and no group",
                location=Location(path),
                hint="a task file has 'task: name', a group file 'group: name'",
            )
        self._extra.update((entry.name, entry) for entry in entries)
        top = entries[:1] if entries[0].kind == GROUP else entries
        return [member for entry in top for member in self._build(entry, {}, ())]

    def _descend(self, spec: str) -> list[Member]:
        """Walk ``a::b::c`` from the longest prefix that is a name, through groups and what they refer to."""
        parts = spec.split("::")
        for count in range(len(parts) - 1, 0, -1):
            entry = self.entry("::".join(parts[:count]))
            if entry is not None:
                members = self._build(entry, {}, ())
                break
        else:
            raise self._unknown(spec)
        return self._walk(members, parts, count)

    def _walk(self, members: list[Member], parts: list[str], count: int) -> list[Member]:
        """Return what the parts from ``count`` on mean, one below the other, under the members of those before."""
        for number in range(count, len(parts)):
            members = [self._child(members, parts[number], "::".join(parts[:number]))]
        return members

    @staticmethod
    def _child(members: list[Member], part: str, path: str) -> Member:
        if len(members) > 1:
            names = [member.name for member in members][:20]
            raise UnknownArtifactError(f"'{path}' is a tag, not a group", hint=f"its tasks are {', '.join(names)}")
        if not members or not isinstance(members[0], Group):
            raise UnknownArtifactError(f"'{path}' is a task, so it has no '{part}'", hint="only groups have members")
        if not part:
            raise UnknownArtifactError(f"nothing is named behind '{path}::'", hint=f"'{path}' alone is the whole group")
        group = members[0]
        shorts = [_last_part(each) for each in (group.name, group.own_name) if each]
        for wanted in (part, *(f"{short}_{part}" for short in shorts)):
            for member in group.members:
                own = member.alias if isinstance(member, Leaf) else member.own_name
                if wanted in {member.name, _last_part(member.name), _last_part(own)}:
                    return member
        names = [member.name for member in group.members]
        near = closest(part, [_last_part(name) for name in names])
        hint = f"did you mean '{near[0]}'?" if near else f"its members are {', '.join(names[:20])}"
        raise UnknownArtifactError(f"the group '{path}' has no member '{part}'", hint=hint)

    # -- entries ----------------------------------------------------------------------------------------------

    def _build(self, entry: Entry, overrides: Values, above: tuple[str, ...]) -> list[Member]:
        if entry.name in above:
            circle = " → ".join([*above[above.index(entry.name) :], entry.name])
            raise ValidationError(
                f"the group '{entry.name}' contains itself", location=Location(entry.file), why=circle
            )
        self._refuse_duplicate(entry)
        if entry.kind == TAG:
            tasks = [each for name in entry.tags if (each := self.entry(name)) is not None]
            return [member for each in tasks for member in self._build(each, overrides, above)]
        read = self._reader.read(entry.file)
        values, locate = read.values, read.location
        known = ChainMap(self._extra, self.index.entries)
        if entry.item.startswith("children."):
            child, shared = _child_at(values, entry.item)
            (parent, _, key), item = entry.name.rpartition("::"), entry.item.rpartition("children.")[0].rstrip(".")
            self._refuse(children_problems(parent, {key: child}, locate, known, item))
            return [self._build_child(entry.name, child, entry, {**shared, **overrides}, above)]
        if entry.kind != GROUP:
            return [self._task(entry, read, overrides)]
        below = children_problems(entry.name, values.get("children"), locate, known)
        self._refuse((*group_problems(values, locate), *repeated_children(read), *below))
        return [self._group(entry.name, values, entry, overrides, (*above, entry.name))]

    @staticmethod
    def _refuse(found: Iterable[Diagnostic]) -> None:
        if problems := list(found):
            raise ValidationError(problems)

    def _refuse_duplicate(self, entry: Entry) -> None:
        for name, first, second in self.index.duplicates if "index" in self.__dict__ else ():
            read = self._reader.read(first) if name == entry.name else None
            if read is not None and read.values != self._reader.read(second).values:
                raise ValidationError(
                    f"two files define '{name}'",
                    location=read.location("task"),
                    why=f"{first} and {second}",
                    hint="rename one of them",
                )

    def _task(self, entry: Entry, read: TaskFile, overrides: Values) -> Leaf:
        values = dict(read.values)
        if entry.item:
            self._refuse(task_list_problems(values["task_list"], read.location))
            own = values["task_list"][int(entry.item[len("task_list[") : -1])]
            values = self._listed(values, {"task": own} if isinstance(own, str) else own)
        return self._leaf(entry.name, {**values, **overrides}, read, entry.item)

    @staticmethod
    def _listed(values: dict[str, Any], own: Values) -> dict[str, Any]:
        common = {key: value for key, value in values.items() if key != "task_list"}
        tags = list(dict.fromkeys((*index_tags(common.get("tag")), *index_tags(own.get("tag")))))
        return {**common, **own, "tag": tags}

    def _leaf(self, name: str, values: Values, read: TaskFile | None, item: str = "", alias: str = "") -> Leaf:
        values = dict(values)
        metadata = values.get("metadata")
        is_read = values.get("custom_dataset") is not None or "class" in values
        if more := {**(self._arguments if is_read else {}), **self._metadata}:
            values["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), **more}
        return Leaf(name, values, read, item, alias)

    # -- groups -----------------------------------------------------------------------------------------------

    def _group(self, name: str, values: Values, entry: Entry, overrides: Values, above: tuple[str, ...]) -> Group:
        shared = {key: value for key, value in values.items() if key not in GROUP_FIELDS}
        passed = {**shared, **overrides}
        group = Group(
            name,
            metrics=tuple(group_metrics(values.get("aggregate_metric_list"))),
            alias=str(values.get("group_alias") or ""),
            metadata=values.get("metadata") if isinstance(values.get("metadata"), dict) else {},  # type: ignore[arg-type]
        )
        members = values.get("task")
        for member in [members] if isinstance(members, str) else members or ():
            group.members += self._member(name, member, entry, passed, above)
        children = values.get("children")
        for key, child in (children or {}).items():
            group.members.append(self._build_child(f"{name}::{key}", child, entry, passed, above))
        return group

    def _member(
        self, group: str, member: object, entry: Entry, overrides: Values, above: tuple[str, ...]
    ) -> list[Member]:
        if isinstance(member, str):
            member = {"task": member}
        if not isinstance(member, dict) or not ("task" in member or "group" in member):
            raise ValidationError(
                f"a member of the group '{group}' is {member!r}",
                location=self._reader.read(entry.file).location("task"),
                hint="members are names, or mappings with 'task' or 'group'",
            )
        if "group" in member:
            known = self.entry(str(member["group"]))
            own = {key: value for key, value in member.items() if key != "group"}
            if known is not None and known.kind == GROUP:
                return self._build(known, {**overrides, **own}, above)
            return [self._group(f"{group}::{member['group']}", member, entry, overrides, above)]
        name = member["task"]
        own = {key: value for key, value in member.items() if key != "task"}
        known = self.entry(name) if isinstance(name, str) else None
        if known is not None:
            return self._build(known, {**overrides, **own}, above)
        if not own:
            near = closest(str(name), self.index.entries)
            raise UnknownArtifactError(
                f"the group '{group}' lists '{name}', which is not a task, group or tag",
                location=self._reader.read(entry.file).location("task"),
                hint=f"did you mean '{near[0]}'?" if near else "",
            )
        read = self._reader.read(entry.file)
        if "include" in own:
            read = self._included(own, read)
            overrides = {**read.values, **overrides}
            del own["include"]
        return [self._leaf(f"{group}::{name}", {**overrides, **own}, read)]

    def _build_child(self, path: str, child: object, entry: Entry, overrides: Values, above: tuple[str, ...]) -> Member:
        read = self._reader.read(entry.file)
        place = read.location("children") if read is not None else None
        if not isinstance(child, dict):
            raise ValidationError(
                f"the child '{path}' is {child!r}", location=place, hint="a child is a task, ref:, tag: or children:"
            )
        own = {key: value for key, value in child.items() if key not in _REFERENCE_KEYS}
        passed = {**overrides, **own}
        if "ref" in child:
            return self._reference(path, str(child["ref"]), passed, above, place)
        if "children" in child or isinstance(child.get("task"), list):
            return self._group(path, child, entry, overrides, (*above, path))
        if refers_to_tag(child):
            return self._tagged(path, child["tag"], passed, above)
        values, source = passed, read
        if "include" in own:
            source = self._included(own, read)
            values = {**overrides, **source.values, **{key: each for key, each in own.items() if key != "include"}}
        item = "" if "include" in own else ".".join(f"children.{part}" for part in path.split("::")[1:])
        return self._leaf(path, values, source, item if entry.name in path else "")

    def _included(self, own: Values, read: TaskFile) -> TaskFile:
        names = own["include"] if isinstance(own["include"], list) else [own["include"]]
        merged: dict[str, Any] = {}
        files: list[str] = []
        for name in names:
            base = self._reader.read(Path(read.path).parent / str(name))
            merged.update((key, value) for key, value in base.values.items() if key != "task_list")
            files[:0] = base.files
        return TaskFile(read.path, merged, (read.path, *files))

    def _reference(
        self, path: str, target: str, overrides: Values, above: tuple[str, ...], place: Location | None
    ) -> Member:
        entry = self.entry(target)
        if entry is None:
            raise UnknownArtifactError([unknown_reference(path, target, self.index.entries, place)])
        if path in above:
            raise ValidationError(f"the group '{path}' contains itself", location=place, why=" → ".join((*above, path)))
        found = self._build(entry, overrides, (*above, path))
        if len(found) != 1 or entry.kind == TAG:
            return Group(path, [below(path, each) for each in found])
        return renamed(path, found[0])

    def _tagged(self, path: str, tag: object, overrides: Values, above: tuple[str, ...]) -> Group:
        found: list[Member] = []
        for name in index_tags(tag):
            entry = self.entry(name)
            if entry is None:
                raise UnknownArtifactError(f"'{path}' takes the tag '{name}', which no task has")
            found += self._build(entry, overrides, (*above, path))
        return Group(path, [below(path, each) for each in found])


def _last_part(path: str) -> str:
    return path.rpartition("::")[2]


def _leaves(members: Iterable[Member]) -> list[Leaf]:
    return [leaf for member in members for leaf in ([member] if isinstance(member, Leaf) else member.leaves())]


def _choose_template(members: Iterable[Member], template: str) -> None:
    """Let tasks use a template; their names and those of their groups say so."""
    for leaf in _leaves(members):
        leaf.template = template
        leaf.name = f"{leaf.name}@{template}"
    for member in members:
        for group in member.groups() if isinstance(member, Group) else ():
            group.name = f"{group.name}@{template}"


def _child_at(values: Values, item: str) -> tuple[Any, dict[str, Any]]:
    """Return the child at ``children.a.children.b``, and the keys that the groups above it share with it."""
    found: Any = values
    shared: dict[str, Any] = {}
    for part in item.removeprefix("children.").split(".children."):
        shared.update((key, value) for key, value in found.items() if key not in GROUP_FIELDS)
        found = next(child for key, child in found["children"].items() if str(key) == part)
    return found, shared
