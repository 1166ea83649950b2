"""``lm_eval.api.group`` and ``lm_eval.config.group``: sets of tasks with scores of their own. lm-eval 0.4.13."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from proctor.errors import ValidationError


@dataclass
class AggMetricConfig:
    """How a group makes a score of those of its tasks.

    Attributes:
        metric: Which one.
        filter_list: The filter pipelines whose scores are taken; ``None`` takes those that the tasks have.
        aggregation: ``mean``, or a function.
        weight_by_size: Whether tasks count by their documents.
    """

    metric: str
    filter_list: list[str] | str | None = None
    aggregation: str | Callable[..., Any] = "mean"
    weight_by_size: bool = True

    def __post_init__(self) -> None:
        """Check the aggregation.

        Raises:
            ValidationError: There is none of that name.
        """
        if self.aggregation != "mean" and not callable(self.aggregation):
            raise ValidationError(
                f"the aggregation of a group is '{self.aggregation}'",
                why="only pre-defined aggregations are known by name",
                hint="mean, or a function",
            )
        if isinstance(self.filter_list, str):
            self.filter_list = [self.filter_list]


@dataclass
class GroupConfig:
    """What a group's file says.

    Attributes:
        group: Its name.
        group_alias: What tables call it.
        task: Its members.
        aggregate_metric_list: Its scores.
        metadata: Its version, and what else somebody wants to keep.
    """

    group: str
    group_alias: str | None = None
    task: Any = None
    aggregate_metric_list: Any = None
    metadata: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        """Make lists of what stands alone."""
        if isinstance(self.task, str):
            self.task = [self.task]
        if (listed := self.aggregate_metric_list) is not None:
            every = [listed] if isinstance(listed, Mapping | AggMetricConfig) else listed
            self.aggregate_metric_list = [
                AggMetricConfig(**each) if isinstance(each, Mapping) else each for each in every
            ]

    def to_dict(self, keep_callable: bool = False) -> dict[str, Any]:
        """Return it as a mapping; functions of metrics by name unless they are to be kept."""
        found = asdict(self)
        for each in () if keep_callable else found["aggregate_metric_list"] or ():
            if callable(each["aggregation"]):
                each["aggregation"] = each["aggregation"].__name__
        return found


@dataclass(repr=False)
class Group:
    """Tasks and further groups under one name.

    Attributes:
        name: Its name.
        alias: What tables call it.
        aggregate_metric_list: Its scores.
        metadata: Its version, and what else somebody wants to keep.
    """

    name: str
    alias: str | None = None
    aggregate_metric_list: list[AggMetricConfig] | None = None
    metadata: dict[str, Any] | None = None
    _children: dict[str, Any] = field(default_factory=dict, repr=False)
    _config: GroupConfig | None = field(default=None, repr=False)

    @classmethod
    def from_config(cls, config: GroupConfig | Mapping[str, Any]) -> Group:
        """Return a group without its members, from what its file says."""
        said = config if isinstance(config, GroupConfig) else GroupConfig(**config)
        return cls(said.group, said.group_alias, said.aggregate_metric_list, said.metadata, _config=said)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, alias={self.alias!r}, members={len(self)})"

    def add(self, item: Any) -> None:
        """Take a task or a group in."""
        self._children[name_of(item)] = item

    def __contains__(self, name: str) -> bool:
        return name in self._children

    def __iter__(self) -> Iterator[Any]:
        return iter(self._children.values())

    def __len__(self) -> int:
        return len(self._children)

    @property
    def child_names(self) -> list[str]:
        """The names of its members."""
        return list(self._children)

    def get_all_tasks(self, recursive: bool = True) -> list[Any]:
        """Return its tasks, those of groups within it where that is wanted."""
        found = []
        for each in self:
            if not isinstance(each, Group):
                found.append(each)
            elif recursive:
                found += each.get_all_tasks()
        return found

    def get_all_groups(self, recursive: bool = True) -> list[Group]:
        """Return the groups within it, and those within them where that is wanted."""
        found: list[Group] = []
        for each in self:
            if isinstance(each, Group):
                found += [each, *(each.get_all_groups() if recursive else ())]
        return found


class ConfigurableGroup(Group):
    """A group from what its file says, as programs for older releases make it."""

    def __init__(self, config: GroupConfig | Mapping[str, Any] | None = None) -> None:
        said = config if isinstance(config, GroupConfig) else GroupConfig(**(config or {}))
        super().__init__(said.group, said.group_alias, said.aggregate_metric_list, said.metadata, _config=said)

    @property
    def group(self) -> str:
        """Its name."""
        return self.name

    group_name = group

    @property
    def group_alias(self) -> str | None:
        """What tables call it."""
        return self.alias

    @property
    def config(self) -> dict[str, Any] | None:
        """What its file says."""
        return None if self._config is None else self._config.to_dict()

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, ConfigurableGroup) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)


def name_of(item: Any) -> str:
    """Return the name of a task or a group."""
    return str(item.task_name if hasattr(item, "task_name") else item.name)
