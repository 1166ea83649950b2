"""Checks groups, their ``children`` and ``task_list``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from proctor.dialects.lm_eval.checks import TASK_KEYS, Locate, key_problems, nowhere, unknown_keys, value_problems
from proctor.dialects.lm_eval.index import refers_to_tag
from proctor.errors import Diagnostic, Location, did_you_mean

_GROUP_KEYS: Final = {
    "group": "text",
    "group_alias": "text",
    "task": "list name",
    "children": "mapping",
    "aggregate_metric_list": "list mapping",
    "metadata": "mapping text list",
    "tag": "text list",
}
_AGGREGATE_KEYS: Final = {
    "metric": "name function",
    "filter_list": "name list",
    "aggregation": "name function",
    "weight_by_size": "switch name count number",
}
_SPELLED_OFF: Final = frozenset(("false", "no", "off", "n", "f", "0", "none", "null", ""))
"""Texts that lm-eval takes for true, and nobody means so; others pass: its own files have ``weight_by_size: truez``."""


def group_problems(values: Mapping[str, Any], locate: Locate = nowhere, below: str = "") -> Iterator[Diagnostic]:
    """Yield what is wrong with a group's values; keys of tasks in a group replace those of its members.

    Args:
        values: What the group says.
        locate: Finds the place of a key.
        below: The place of the group in its file: ``children.b``.
    """
    more = {"include": "list name"}
    yield from key_problems(values, {**TASK_KEYS, **_GROUP_KEYS, **more}, locate, below)
    metrics = values.get("aggregate_metric_list")
    listed = [metrics] if isinstance(metrics, dict) else metrics if isinstance(metrics, list) else ()
    for number, each in enumerate(listed):
        path = f"{below}.aggregate_metric_list[{number}]" if below else f"aggregate_metric_list[{number}]"
        if not isinstance(each, dict) or "metric" not in each:
            yield Diagnostic("an entry names no metric", locate(path), f"$.{path}", hint="write - metric: acc")
            continue
        yield from key_problems(each, _AGGREGATE_KEYS, locate, path)
        if isinstance(by_size := each.get("weight_by_size"), str) and by_size.lower() in _SPELLED_OFF:
            place = f"{path}.weight_by_size"
            yield Diagnostic(
                f"weight_by_size is the text '{by_size}'", locate(place), f"$.{place}", hint="true or false"
            )
        how = each.get("aggregation", "mean")
        if isinstance(how, str) and how != "mean":
            what = f"there is no aggregation '{how}' for groups"
            yield Diagnostic(what, locate(f"{path}.aggregation"), f"$.{path}.aggregation", "there is 'mean'")


_WAYS: Final = "a child is a task, ref:, tag: or children:"


def children_problems(
    path: str, children: object, locate: Locate, known: Collection[str], item: str = ""
) -> Iterator[Diagnostic]:
    """Yield what is wrong with all children of a group, and with theirs: what they are, and what they refer to.

    Args:
        path: The path of the group: ``a::b``.
        children: What the group's ``children`` says.
        locate: Finds the place of a key.
        known: The names of all tasks, groups and tags.
        item: The place of the group in its file: ``children.b``.
    """
    for key, child in children.items() if isinstance(children, dict) else ():
        name, place = f"{path}::{key}", f"{item}.children.{key}" if item else f"children.{key}"
        if not isinstance(child, dict):
            yield Diagnostic(f"the child '{name}' is {child!r}", locate(place), f"$.{place}", hint=_WAYS)
            continue
        yield from children_problems(name, child.get("children"), locate, known, place)
        yield from _child_problems(name, child, locate, place)
        if isinstance(child.get("ref"), str) and child["ref"] not in known:
            yield unknown_reference(name, child["ref"], known, locate(f"{place}.ref"))
        tags = child.get("tag") if refers_to_tag(child) else ()
        for tag in [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else ():
            if tag not in known:
                what = f"'{name}' takes the tag '{tag}', which no task has"
                yield Diagnostic(what, locate(f"{place}.tag"), f"$.{place}.tag", hint=did_you_mean(str(tag), known))


def _child_problems(name: str, child: Mapping[str, Any], locate: Locate, place: str) -> Iterator[Diagnostic]:
    """Yield what a child says and would not be heard, or not be understood."""

    def problem(key: str, what: str, hint: str) -> Diagnostic:
        return Diagnostic(what, locate(f"{place}.{key}"), f"$.{place}.{key}", hint=hint)

    if "task_list" in child:
        yield problem(
            "task_list", f"the child '{name}' has a task_list, which is of whole files", "name them as children"
        )
    if isinstance(own := child.get("task"), str):
        what = f"the child '{name}' has its name from its key, and 'task' says '{own}'"
        yield problem("task", what, f"ref: {own} refers to a task; without 'task' it is one of its own")
    if "ref" not in child:
        is_group = "children" in child or isinstance(child.get("task"), list)
        yield from (
            group_problems(child, locate, place) if is_group else unknown_keys(child, _OF_CHILDREN, locate, place)
        )
        return
    yield from value_problems(child, {"ref": "name"}, locate, place)
    yield from unknown_keys(child, _OF_CHILDREN, locate, place)
    for key in sorted({"tag", "children", "task", "include"} & set(child)):
        yield problem(key, f"the child '{name}' has 'ref' and '{key}'", _WAYS)


_OF_CHILDREN: Final = (*TASK_KEYS, *_GROUP_KEYS, "ref", "include", "task_list")


def unknown_reference(path: str, target: str, known: Iterable[str], place: Location | None) -> Diagnostic:
    """Return the problem of a child that refers to nothing."""
    what = f"'{path}' refers to '{target}', which is not a task, group or tag"
    return Diagnostic(what, place, hint=did_you_mean(target, known))


def task_list_problems(listed: object, locate: Locate) -> Iterator[Diagnostic]:
    """Yield what is wrong with a ``task_list``: its form, names of entries, and keys that only whole files have.

    Args:
        listed: What ``task_list`` says.
        locate: Finds the place of a key.
    """
    if not isinstance(listed, list) or not listed:
        what = "task_list is empty" if not listed else f"task_list is a {type(listed).__name__}, not a list"
        yield Diagnostic(what, locate("task_list"), "$.task_list", hint="write - task: name")
        return
    seen: dict[str, str] = {}
    for number, each in enumerate(listed):
        path = f"task_list[{number}]"
        own: Any = {"task": each} if isinstance(each, str) else each
        if not isinstance(own, dict) or not isinstance(name := own.get("task"), str):
            yield Diagnostic(
                "an entry of task_list names no task", locate(path), f"$.{path}", hint="write - task: name"
            )
            continue
        if name in seen:
            what, why = f"task_list names '{name}' twice", f"first at {locate(seen[name])}"
            yield Diagnostic(what, locate(path), f"$.{path}", why, "rename one of them")
        seen.setdefault(name, path)
        for key in sorted({"task_list", "include", "group", "children"} & set(own)):
            what = f"the entry '{name}' of task_list has '{key}', which is of whole files"
            yield Diagnostic(what, locate(f"{path}.{key}"), f"$.{path}.{key}", hint="give the task a file of its own")
