"""The tree that a name of a task stands for: groups with metrics of their own, and tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from proctor.dialects.lm_eval.checks import task_from_values
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.reader import TaskFile
from proctor.errors import Diagnostic, problems_of
from proctor.scoring.grades import Grade

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GroupMetric:
    """The aggregation of a group's score over its tasks.

    Attributes:
        metric: The tasks' metric.
        filters: Filter pipelines to do it for; ``None`` finds them in the results.
        aggregation: ``mean``, or a function.
        weight_by_size: Whether larger tasks count more.
    """

    metric: str
    filters: tuple[str, ...] | None = None
    aggregation: Any = "mean"
    weight_by_size: bool = True


@dataclass(slots=True)
class Leaf:
    """A task, as it will run.

    Attributes:
        name: Its full name: ``group::child`` for tasks inside a group.
        values: Its keys, merged and overridden.
        source: The file.
        item: The path inside the file.
        alias: The name it has by itself, where a group refers to it.
        template: The template chosen by name.
    """

    name: str
    values: Values
    source: TaskFile | None = None
    item: str = ""
    alias: str = ""
    template: str | None = None

    def config(self) -> TaskConfig:
        """Return the checked task.

        Raises:
            ValidationError: With every problem of the file.
        """
        values = {key: value for key, value in self.values.items() if key not in {"tag", "group", "task_list"}}
        values["task"] = self.name
        return task_from_values(values, self.source, self.item, template=self.template)


@dataclass(slots=True)
class Group:
    """A named tree of tasks."""

    name: str
    members: list[Leaf | Group] = field(default_factory=list)
    metrics: tuple[GroupMetric, ...] = ()
    alias: str = ""
    metadata: Values = field(default_factory=dict)
    own_name: str = ""

    def score(self, grades: Mapping[str, Grade]) -> dict[str, Any]:
        """Return the group's scores from the grades of its tasks; empty where it aggregates none."""
        from proctor.dialects.lm_eval.groups import group_scores

        return group_scores(self, grades).flat() if self.metrics else {}

    def check(self) -> Iterator[Diagnostic]:
        """Yield what keeps its scores from being aggregated: code that is not trusted, or not there."""
        from proctor.dialects.lm_eval.fields import value_of

        for metric in self.metrics:
            yield from problems_of(partial(value_of, metric.aggregation, "aggregation"))

    def leaves(self) -> Iterator[Leaf]:
        """Yield all tasks below."""
        for member in self.members:
            yield from member.leaves() if isinstance(member, Group) else (member,)

    def groups(self) -> Iterator[Group]:
        """Yield this group and all groups below, parents first."""
        yield self
        for member in self.members:
            if isinstance(member, Group):
                yield from member.groups()


Member = Leaf | Group


def renamed(path: str, member: Member) -> Member:
    """Give what is referred to the path of the reference; its own name stays as an alias, or as the last part."""
    if isinstance(member, Leaf):
        member.alias, member.name = member.name, path
        return member
    member.own_name = member.own_name or member.name
    member.name = path
    member.members = [below(path, each) for each in member.members]
    return member


def below(path: str, member: Member) -> Member:
    """Give a member the path of the group above it and the last part of its own name."""
    return renamed(f"{path}::{member.name.rpartition('::')[2]}", member)


def group_metrics(given: object) -> Iterator[GroupMetric]:
    """Yield what ``aggregate_metric_list`` of a group file says."""
    for each in [given] if isinstance(given, dict) else given if isinstance(given, list) else ():
        filters = each.get("filter_list")
        yield GroupMetric(
            str(each["metric"]),
            None if filters is None else (filters,) if isinstance(filters, str) else tuple(filters),
            each.get("aggregation", "mean"),
            bool(each.get("weight_by_size", True)),
        )
