"""``lm_eval.evaluator_utils``: scores of values by document, for programs that put scores together themselves.

``simple_evaluate`` and ``evaluate`` here do not pass it: their scores come from the core.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from proctor.guests.lm_eval.group import Group, name_of
from proctor.logs import get_logger
from proctor.scoring.aggregations import BOOTSTRAP_RESAMPLES, mean, standard_error


class ResultAcc(TypedDict):
    """A task with its values: ``raw_metrics`` by (metric, filter pipeline)."""

    task: Any
    raw_metrics: dict[tuple[str, str], list[Any]]
    logged_samples: list[Any]


@dataclass
class EvalAcc:
    """Scores of tasks and groups, before they are results.

    Attributes:
        metrics: Scores by task and group.
        configs, versions, num_fewshot, higher_is_better: Of each task.
        samples: Of each task, where they are kept.
        n_samples: How many documents there are, and how many were scored.
        groups: Groups by name.
    """

    metrics: dict[str, Any] = field(default_factory=dict)
    configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    versions: dict[str, Any] = field(default_factory=dict)
    num_fewshot: dict[str, int] = field(default_factory=dict)
    higher_is_better: dict[str, Any] = field(default_factory=dict)
    samples: dict[str, list[Any]] = field(default_factory=dict)
    n_samples: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)

    def collect(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the scores of everything, and those of groups that have some of their own."""
        every = {name: dict(row) for name, row in self.metrics.items()}
        own = {name: dict(row) for name, row in self.metrics.items() if self._has_scores(name)}
        return every, own

    def _has_scores(self, name: str) -> bool:
        return name in self.groups and self.groups[name].has_aggregation

    def _to_eval_results(self, *, samples: Mapping[str, list[Any]] | None = None) -> dict[str, Any]:
        """Return results as ``evaluate`` returns them."""
        groups = list(self.groups.values())
        every, own = self.collect()
        directions, shots = dict(self.higher_is_better), dict(self.num_fewshot)
        _propagate_higher_is_better(groups, directions)
        _propagate_num_fewshot(groups, shots)
        return {
            "results": every,
            **({"groups": own} if own else {}),
            "group_subtasks": {each.name: each.child_names for each in groups},
            "configs": dict(sorted(self.configs.items())),
            "versions": dict(sorted(self.versions.items())),
            "n-shot": dict(sorted(shots.items())),
            "higher_is_better": dict(sorted(directions.items())),
            "n-samples": dict(self.n_samples),
            **({} if samples is None else {"samples": dict(samples)}),
        }


def _compute_task_aggregations(
    task: Any, raw_metrics: Mapping[tuple[str, str], list[Any]], bootstrap_iters: int | None = BOOTSTRAP_RESAMPLES
) -> tuple[dict[str, Any], int]:
    """Return a task's scores with standard errors, and of how many documents they are."""
    known = task.aggregation()
    found: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for (metric, pipeline), values in raw_metrics.items():
        if (aggregate := known.get(metric)) is None:
            get_logger().warning("%s: no aggregation of %s is defined; using mean", name_of(task), metric)
            aggregate = mean
        key = f"{metric},{pipeline}"
        found[key], counts[key] = aggregate(values), len(values)
        found[f"{metric}_stderr,{pipeline}"] = standard_error(metric, aggregate, values, bootstrap_iters or 0)
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{key}={count}" for key, count in sorted(counts.items()))
        get_logger().warning(
            "%s: metrics were not scored on the same number of documents (%s); groups weight them all by the largest",
            name_of(task), said,
        )  # fmt: skip
    return found, max(counts.values(), default=0)


def _collect_results(
    eval_results_acc: Mapping[str, ResultAcc],
    groups: Mapping[str, Group] | None = None,
    bootstrap_iters: int | None = BOOTSTRAP_RESAMPLES,
) -> EvalAcc:
    """Return the scores of tasks."""
    made = EvalAcc(groups=dict(groups or {}))
    for name, each in eval_results_acc.items():
        task = each["task"]
        scores, count = _compute_task_aggregations(task, each["raw_metrics"], bootstrap_iters)
        config = dict(task.dump_config())
        made.metrics[name] = {
            "name": name, "alias": config.get("task_alias", name), "sample_len": count, **scores,
        }  # fmt: skip
        made.configs[name], made.versions[name] = config, task.VERSION
        made.num_fewshot[name] = config.get("num_fewshot", 0)
        made.higher_is_better[name] = task.higher_is_better()
        made.samples[name] = each["logged_samples"]
        made.n_samples[name] = {"original": len(task.eval_docs), "effective": count}
    return made


def aggregate_groups(results: EvalAcc) -> EvalAcc:
    """Add the scores of groups, those of inner groups first."""
    for each in _collect_groups_bottom_up(results.groups):
        results.metrics[each.name] = each.aggregate(results.metrics)
        results.versions[each.name] = each.version
    return results


def _process_results(
    eval_results_acc: Mapping[str, ResultAcc],
    groups: Mapping[str, Group] | None = None,
    bootstrap_iters: int | None = BOOTSTRAP_RESAMPLES,
) -> EvalAcc:
    """Return the scores of tasks and groups."""
    return aggregate_groups(_collect_results(eval_results_acc, groups, bootstrap_iters))


def _get_root_groups(groups: Mapping[str, Group]) -> list[Group]:
    """Return the groups that are in no other."""
    inner = {each.name for group in groups.values() for each in group.get_all_groups(recursive=False)}
    return [group for name, group in groups.items() if name not in inner]


def _collect_groups_bottom_up(groups: Mapping[str, Group]) -> list[Group]:
    """Return all groups, each once, those within others before these."""
    found: dict[str, Group] = {}

    def visit(group: Group) -> Iterator[Group]:
        if group.name not in found:
            for each in group.get_all_groups(recursive=False):
                yield from visit(each)
            yield group

    for root in _get_root_groups(groups):
        for each in visit(root):
            found.setdefault(each.name, each)
    return list(found.values())


def _propagate_num_fewshot(all_groups: list[Group], num_fewshot: dict[str, int]) -> None:
    """Give groups the number of demos that all their members have."""
    for group in all_groups:
        counts = {num_fewshot[name] for name in group.child_names if name in num_fewshot}
        if len(counts) == 1:
            num_fewshot[group.name] = counts.pop()


def _propagate_higher_is_better(all_groups: list[Group], higher_is_better: dict[str, Any]) -> None:
    """Give groups the directions of their members' metrics; ``None`` where members differ."""
    for group in all_groups:
        united: dict[str, bool | None] = {}
        for member in group.child_names:
            for metric, direction in higher_is_better.get(member, {}).items():
                if united.setdefault(metric, direction) is not None and united[metric] != direction:
                    get_logger().warning(
                        "group %s: higher_is_better of %s is not consistent; it is None", group.name, metric
                    )
                    united[metric] = None
        if united:
            higher_is_better[group.name] = united


def _handle_back_comp(nested_dict: Mapping[Any, Any]) -> tuple[dict[str, Group], dict[str, Any]]:
    """Return groups and tasks of the nested form that ``get_task_dict`` of older releases has."""
    groups: dict[str, Group] = {}
    tasks: dict[str, Any] = {}
    for key, each in nested_dict.items():
        if isinstance(key, Group):
            groups[key.name] = key
        if isinstance(each, Mapping):
            tasks.update(each)
        elif isinstance(key, str):
            tasks[key] = each
    return groups, tasks


def print_writeout(task: Any) -> None:
    """Log the first request of a task, and the answer that its document has."""
    for each in task.instances:
        if each.doc_id == 0:
            get_logger().info("%s: %s\nanswer: %s", task, each.args[0], task.doc_to_target(each.doc))
            return
