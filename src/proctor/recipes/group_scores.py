"""Scores of groups of instances, and of benchmarks: what a run files beside the scores of its exams."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.data.fields import get_field
from proctor.recipes.recipe import DatasetRecipe
from proctor.scoring.combined import interval_of_mean
from proctor.scoring.grade import Columns, Grade
from proctor.scoring.pipeline import apply_metrics

VARIED = ("template", "num_demos")
"""Fields of the metadata that differ from instance to instance where a recipe has several templates or demo counts."""
MEAN = "subsets_mean"
_NO_GROUP = -1


def varied_of(recipe: DatasetRecipe) -> tuple[str, ...]:
    """Return which of :data:`VARIED` differ between the instances of a recipe."""
    varies = (len(recipe.chosen_templates()) > 1, isinstance(recipe.num_demos, list) and len(recipe.num_demos) > 1)
    return tuple(name for name, does in zip(VARIED, varies, strict=True) if does)


class Grouping:
    """Which group each instance belongs to, by the values of some fields of the task or its metadata.

    Args:
        names: The fields.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._numbers: dict[str, int] = {}
        self._values: list[dict[str, Any]] = []
        self._members = array("l")

    def add(self, instance: Mapping[str, Any] | None) -> None:
        """File the next instance; ``None`` is one that belongs to no group, because its row cannot be used."""
        if instance is None:
            self._members.append(_NO_GROUP)
            return
        values = values_of(instance, self.names)
        key = json.dumps(values, default=str)
        number = self._numbers.setdefault(key, len(self._values))
        if number == len(self._values):
            self._values.append(values)
        self._members.append(number)

    def scores(self, columns: Columns, metrics: Sequence[Any]) -> list[dict[str, Any]]:
        """Return the scores of each group, with its field values under ``by`` and its size under ``n``."""
        positions: list[list[int]] = [[] for _ in self._values]
        for position, number in enumerate(self._members):
            if number != _NO_GROUP:
                positions[number].append(position)
        return [
            {"by": values, "n": len(chosen), **apply_metrics(columns.select(chosen), metrics, instances=False).scores}
            for values, chosen in zip(self._values, positions, strict=True)
        ]


def values_of(instance: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the values of fields of a task or its metadata; the metadata wins.

    Raises:
        MissingFieldError: The instance has no such field.
    """
    known = {**instance, **(instance.get("metadata") or {})}
    return {name: get_field(known, name) for name in names}


class Groupings:
    """All groupings of an exam.

    Args:
        asked: The groupings that the recipe asks for: scored by every metric.
        varied: Fields that differ by themselves: scored by the main metric alone, so that nothing becomes slow unasked.
    """

    def __init__(self, asked: Iterable[str | Sequence[str]] = (), varied: Sequence[str] = ()) -> None:
        names = dict.fromkeys((each,) if isinstance(each, str) else tuple(each) for each in asked)
        self._asked = [Grouping(each) for each in names]
        self._varied = [Grouping(varied)] if varied and tuple(varied) not in names else []

    def __bool__(self) -> bool:
        return bool(self._asked or self._varied)

    def add(self, instance: Mapping[str, Any] | None) -> None:
        """File the next instance; ``None`` as in :meth:`Grouping.add`."""
        for grouping in (*self._asked, *self._varied):
            grouping.add(instance)

    def scores(self, grade: Grade, task_data: Sequence[Mapping[str, Any]], metrics: Sequence[Any]) -> list[Any]:
        """Return the scores of all groups of an exam that was graded as a whole."""
        columns = Columns(grade.processed_predictions, grade.processed_references, task_data)
        found = [each for grouping in self._asked for each in grouping.scores(columns, metrics)]
        return found + [each for grouping in self._varied for each in grouping.scores(columns, metrics[:1])]


@dataclass(frozen=True, slots=True)
class BenchmarkScores:
    """The score of a benchmark: the plain mean of its members' scores, whatever their size.

    Attributes:
        name: The name under which it is filed.
        members: Names of exams, and benchmarks within.
    """

    name: str
    members: tuple[str | BenchmarkScores, ...]

    def score(self, scores: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the score of the members that have one; its interval is that of a mean of independent scores."""
        each = [scores.get(name, {}) if isinstance(name, str) else name.score(scores) for name in self.members]
        having = [entry for entry in each if _is_number(entry.get("score"))]
        if not having:
            return {}
        value = sum(entry["score"] for entry in having) / len(having)
        found = {"score": value, MEAN: value, "score_name": MEAN}
        known = [interval for entry in having if (interval := _interval(entry)) is not None]
        if len(known) == len(having):
            low, high = interval_of_mean([entry["score"] for entry in having], known)
            for name in ("score", MEAN):
                found |= {f"{name}_ci_low": low, f"{name}_ci_high": high}
        return found | {"num_of_instances": sum(entry.get("num_of_instances", 0) for entry in each)}


def _interval(entry: Mapping[str, Any]) -> tuple[float, float] | None:
    low, high = entry.get("score_ci_low"), entry.get("score_ci_high")
    return (low, high) if _is_number(low) and _is_number(high) else None  # type: ignore[return-value]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
