"""Groups of datasets with scores of their own, made of theirs: means, weighted means, sums, deviations.

The rules are those of OpenCompass' summarizer: a group with a dataset that has no score has none, and metrics that all
of its datasets share are combined, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.errors import DataError, ScoringError
from proctor.safe_python import compile_expression
from proctor.scoring.evaluators.evaluation import METRIC_ORDER
from proctor.scoring.evaluators.runs import meant_by, tabled
from proctor.scoring.flat_scores import UNIT, read_flat
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Unit

HIDDEN = ("bp", "sys_len", "ref_len", "type")
"""Metrics that tables leave out."""


@dataclass(frozen=True, slots=True)
class SummaryGroup:
    """A named group of datasets with scores of its own, made of theirs.

    Attributes:
        name: Under which tables show it.
        members: Its datasets by ``abbr``, those of groups inside it included.
        config: How its scores are made.
        before: Groups that stand before it, of which it may consist.
    """

    name: str
    members: tuple[str, ...]
    config: Mapping[str, Any]
    before: tuple[SummaryGroup, ...] = ()

    @property
    def main_metric(self) -> str:
        """The name of the group's own score."""
        return _default_metric(self.config)

    def score(self, grades: Mapping[str, Grade]) -> dict[str, Any]:
        """Return the group's scores from those of its datasets; empty where one of them is missing.

        Args:
            grades: The grade of each dataset, by ``abbr``.

        Raises:
            ScoringError: The group cannot mean anything.
        """
        board = SummaryBoard.of({"": _values_of([name for name in self.members if name in grades], grades)}, {})
        for group in (*self.before, self):
            board.add(group.config, "")
        found = board.scores[""].get(self.name)
        if not found:
            return {}
        main = self.main_metric
        return {**found, "score": found[main], "score_name": main, **self._unit(main, grades)}

    def _unit(self, main: str, grades: Mapping[str, Grade]) -> dict[str, Unit]:
        """Return the unit of means of scores in percent, or of shares; sums and transformed scores have none."""
        mains = [grade.main for name in self.members if (grade := grades.get(name)) is not None]
        units: set[Unit] = {each.unit for each in mains if each is not None}
        if main not in _MEANS or self.config.get("transforms") or not units <= {"share", "percent"}:
            return {}
        return {UNIT: "percent" if "percent" in units else "share"} if units else {}


_MEANS = frozenset({"naive_average", "weighted_average", "harmonic_mean"})


def _values_of(members: Sequence[str], grades: Mapping[str, Grade]) -> dict[str, Mapping[str, Any]]:
    """Return the scores of datasets by name; shares of 1 as percent where other members are in percent."""
    mains = {grade.main.unit for name in members if (grade := grades[name]).main is not None}
    factor = 100.0 if {"share", "percent"} <= mains else None
    return {name: _values(grades[name], factor) for name in members}


def _values(grade: Grade, factor: float | None) -> Mapping[str, Any]:
    values = {score.name: score.value for score in grade.table}
    if factor is not None:
        shares = ((score.name, score.number) for score in grade.table if score.unit == "share")
        values |= {name: factor * number for name, number in shares if number is not None}
    if "repeats" in grade.scores and grade.main is not None:
        values = {**values, "repeats": grade.scores["repeats"], "score_name": grade.main.name}
    return values or grade.scores


def summary_groups(summarizer: Mapping[str, Any] | None) -> list[SummaryGroup]:
    """Return the groups of a summarizer, in order.

    Raises:
        ScoringError: They are not a list, or one has no name or no datasets.
    """
    groups: list[SummaryGroup] = []
    listed = (summarizer or {}).get("summary_groups") or []
    if not isinstance(listed, list | tuple):
        raise ScoringError("summary_groups is not a list", location=getattr(summarizer, "location", None))
    for config in listed:
        subsets = config.get("subsets") if isinstance(config, Mapping) else None
        if not isinstance(subsets, list | tuple) or "name" not in config or not all(map(_is_subset, subsets or [[]])):
            raise ScoringError(
                "a group of the summarizer has no name or no subsets", location=getattr(config, "location", None)
            )
        inside = {group.name: group.members for group in groups}
        datasets = [_subset(each)[0] for each in subsets]
        members = dict.fromkeys(member for each in datasets for member in inside.get(each, (each,)))
        groups.append(SummaryGroup(str(config["name"]), tuple(members), config, tuple(groups)))
    return groups


@dataclass(slots=True)
class SummaryBoard:
    """Scores so far: of datasets, then of groups.

    Attributes:
        scores: By model, dataset and metric.
        raw: What the raw part of the text file shows.
        metrics: Of each dataset, the most telling first.
        modes: Of each dataset.
        with_default: Whether a group has a score of its own name beside several metrics that its datasets share.
    """

    scores: dict[str, dict[str, dict[str, float]]]
    raw: dict[str, dict[str, Any]]
    metrics: dict[str, list[str]]
    modes: dict[str, str]
    with_default: bool = True

    @classmethod
    def of(cls, results: Mapping[str, Mapping[str, Mapping[str, Any]]], modes: Mapping[str, str]) -> SummaryBoard:
        """Return the scores in results, by model and dataset, before any group.

        Args:
            results: As ``results.json`` has them, by model and dataset.
            modes: How each dataset was asked.
        """
        board = cls({}, {}, {}, dict(modes))
        for model, datasets in results.items():
            board.scores[model], board.raw[model] = {}, {}
            for name, found in datasets.items():
                board.raw[model][name] = {key: value for key, value in found.items() if key != "details"}
                numbers = {} if "error" in found else _numbers(found)
                if numbers:
                    board.scores[model][name] = numbers
                    ordered = list(numbers) if _is_repeated(found) else sorted(numbers, key=_rank)
                    board._list(name, ordered)
        return board

    def _list(self, name: str, metrics: Sequence[str]) -> None:
        known = self.metrics.setdefault(name, [])
        known += [metric for metric in metrics if metric not in known]

    def add(self, group: Mapping[str, Any], model: str) -> None:
        """Add a group's scores; nothing where the model has none of its datasets."""
        name, subsets = str(group["name"]), [_subset(each) for each in group["subsets"]]
        missing = [
            written for written, each in zip(group["subsets"], subsets, strict=True) if not self._has(model, each)
        ]
        if len(missing) == len(subsets):
            return
        if missing:
            self.raw[model][name] = {"error": f"missing metrics: {missing}"}
            return
        default = _default_metric(group)
        parts = self._parts(model, subsets, default, name)
        if not self.with_default and "metric" not in group and len(parts) > 2:  # noqa: PLR2004 - two shared, and its own
            del parts[default]
        elif not self.with_default:
            parts = {default: parts[default]}
        result = {metric: _combined(group, default, _transformed(group, each)) for metric, each in parts.items()}
        self.scores[model].setdefault(name, {}).update(result)
        self.raw[model].setdefault(name, {}).update(result)
        self._list(name, list(result))
        kinds = {self.modes.get(dataset, "unknown") for dataset, _ in subsets}
        self.modes[name] = kinds.pop() if len(kinds) == 1 else "mixed"

    def _has(self, model: str, subset: tuple[str, str | None]) -> bool:
        dataset, metric = subset
        found = self.scores[model].get(dataset)
        return found is not None and (metric is None or metric in found)

    def _parts(
        self, model: str, subsets: Sequence[tuple[str, str | None]], default: str, group: str
    ) -> dict[str, dict[str, float]]:
        """Return the scores that each metric of a group is made of, named ``dataset@metric``."""
        scores = self.scores[model]
        chosen = {metric is None for _, metric in subsets}
        if chosen == {True, False}:
            raise ScoringError(
                f"the group '{group}' names some datasets with a metric and some without", hint="name a metric for all"
            )
        if chosen == {False}:
            return {default: {f"{dataset}@{metric}": scores[dataset][str(metric)] for dataset, metric in subsets}}
        names = [dataset for dataset, _ in subsets]
        common = [metric for metric in self.metrics[names[0]] if all(metric in scores[each] for each in names)]
        parts = {metric: {f"{each}@{metric}": scores[each][metric] for each in names} for metric in common}
        first = {each: self.metrics[each][0] for each in names}
        parts.pop(default, None)
        return {**parts, default: {f"{each}@{first[each]}": scores[each][first[each]] for each in names}}

    def table(self, wanted: Sequence[Any] | None, versions: Mapping[str, str]) -> list[list[str]]:
        """Return the cells of the table, the header first.

        Args:
            wanted: Datasets, or pairs of one and a metric; ``None`` for all.
            versions: The version of each dataset's prompts, in order.
        """
        models = list(self.scores)
        rows = [["dataset", "version", "metric", "mode", *models]]
        for dataset, metric in self._lines(wanted, versions):
            known = self.metrics.get(dataset, [])
            shown = known[0] if metric is None and known else metric
            if shown not in known:
                rows.append([dataset, "-", "-", "-", *("-" for _ in models)])
                continue
            cells = [self.scores[model].get(dataset, {}).get(str(shown)) for model in models]
            numbers = ["-" if value is None else f"{value:.02f}" for value in cells]
            rows.append([dataset, versions.get(dataset, "-"), str(shown), self.modes.get(dataset, "-"), *numbers])
        return rows

    def _lines(self, wanted: Sequence[Any] | None, versions: Mapping[str, str]) -> list[tuple[str, str | None]]:
        if wanted is not None:
            return [_subset(each) for each in wanted]
        lines: dict[tuple[str, str | None], None] = {}
        for dataset in versions:
            lines |= dict.fromkeys((dataset, metric) for metric in self.metrics.get(dataset, [None]))
        for dataset, metrics in self.metrics.items():
            lines |= dict.fromkeys((dataset, metric) for metric in metrics)
        return list(lines)


def _numbers(found: Mapping[str, Any]) -> dict[str, float]:
    """Return the evaluator's own scores, without what Proctor's results have beside them."""
    own = {score.name for score in read_flat(found)} - set(HIDDEN)
    if found.get("score_name", "score") == "score":  # the evaluator itself calls one so
        own.add("score")
    numbers = {metric: value for metric, value in found.items() if metric in own and isinstance(value, int | float)}
    if _is_repeated(found):
        numbers = _of_repeats(numbers, str(found["score_name"]))
    return {metric: numbers[metric] for metric in tabled(numbers)}


def _is_repeated(found: Mapping[str, Any]) -> bool:
    """Whether ``--repeats`` made the main score; a config's own ``n`` leaves it the last run's, as upstream."""
    return "repeats" in found or meant_by(str(found.get("score_name") or "")) is not None


def _of_repeats(numbers: Mapping[str, float], main: str) -> dict[str, float]:
    """Return scores of which none is of the last run alone, but the mean of all: the main one first."""
    means = {base: value for name, value in numbers.items() if (base := meant_by(name)) is not None and base in numbers}
    made = {name: means.get(name, value) for name, value in numbers.items() if meant_by(name) not in means}
    first = main if main in made else meant_by(main)
    return {first: made[first], **made} if first in made else made


def _rank(metric: str) -> int:
    return METRIC_ORDER.index(metric) if metric in METRIC_ORDER else len(METRIC_ORDER)


def _is_subset(written: Any) -> bool:
    """Whether an entry names a dataset, perhaps with a metric."""
    return not isinstance(written, list | tuple) or len(written) == 2  # noqa: PLR2004 - a dataset and a metric


def _subset(written: Any) -> tuple[str, str | None]:
    return (str(written[0]), str(written[1])) if isinstance(written, list | tuple) else (str(written), None)


def _default_metric(group: Mapping[str, Any]) -> str:
    if "metric" in group:
        return str(group["metric"])
    if group.get("std"):
        return "standard_deviation"
    if group.get("sum"):
        return "sum"
    if group.get("weights"):
        return "weighted_average"
    return "harmonic_mean" if group.get("harmonic_mean") else "naive_average"


def _transformed(group: Mapping[str, Any], parts: Mapping[str, float]) -> dict[str, float]:
    transforms: Mapping[str, str] = group.get("transforms") or {}
    made = dict(parts)
    for name, value in parts.items():
        if (text := transforms.get(name.split("@")[0])) is not None:
            made[name] = compile_expression(text, ("math",))({"x": value})
    return made


def _combined(group: Mapping[str, Any], default: str, parts: Mapping[str, float]) -> float:
    """Return the score of a group from those of its datasets."""
    values = list(parts.values())
    if default == "standard_deviation":
        mean = sum(values) / len(values)
        return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    if default == "harmonic_mean":
        positive = all(value > 0 for value in values)
        return len(values) / sum(1 / (value if positive else max(value, 1)) for value in values)
    if not group.get("weights"):
        return sum(values) if default == "sum" else sum(values) / len(values)
    total, weight = _weighted(group, parts)
    return total if default == "sum" else total / weight


def _weighted(group: Mapping[str, Any], parts: Mapping[str, float]) -> tuple[float, float]:
    weights: Mapping[str, float] = group["weights"]
    by_dataset = {name.split("@")[0]: value for name, value in parts.items()}
    find: Callable[[str], float | None] = parts.get if all(name in parts for name in weights) else by_dataset.get
    total = 0.0
    for name, weight in weights.items():
        if weight == 0:
            continue
        value = find(name)
        if value is None:
            raise DataError(
                f"the group '{group['name']}' has a weight for '{name}', which is not one of its datasets",
                why=f"its datasets are {', '.join(by_dataset)}",
            )
        total += value * weight
    return total, sum(weights.values())
