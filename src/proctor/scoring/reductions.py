"""Reductions: how instance scores become one number."""

# ruff: noqa: ARG002 - what subclasses override names all it is given

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from proctor.artifacts import Artifact
from proctor.errors import ScoringError
from proctor.lazy import np
from proctor.statistics.arrays import Floats, Indices, as_floats
from proctor.statistics.resampling import Maxima, Means, Opaque, Resampler, nan_mean

Intermediate = TypeVar("Intermediate")


def nan_max(values: Sequence[float]) -> float:
    """Return the largest value that is not NaN; NaN where nothing is left."""
    present = [float(value) for value in values if not math.isnan(value)]
    return max(present, default=math.nan)


def gather(dicts: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each key, in order of first appearance."""
    lists: dict[str, list[Any]] = {}
    for each in dicts:
        for key, value in each.items():
            lists.setdefault(key, []).append(value)
    return lists


def matrix(dicts: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Floats:
    """Return values as an array, one row per name; NaN where a dict lacks the name."""
    return np.array([[each.get(name, math.nan) for each in dicts] for name in names], dtype=np.float64)


class AggregationReduction(Artifact, Generic[Intermediate]):
    """Base of reductions."""

    def reduce(self, intermidates: list[Intermediate]) -> dict[str, Any]:
        """Return the scores of a sample."""
        return {}

    def resampler(self, intermediates: Sequence[Any], names: Sequence[str]) -> Resampler | None:
        """Return a fast way to recompute the scores ``names`` on resamples, or ``None``."""
        return None


class DictReduction(AggregationReduction[dict[str, float]]):
    """Reduces each score by itself: override :meth:`reduce_list`."""

    def reduce_list(self, lst: list[float]) -> Any:
        """Return one number for the values of one score."""
        return math.nan

    def reduce(self, intermidates: list[dict[str, float]]) -> dict[str, Any]:
        """Return the scores of a sample."""
        return {key: self.reduce_list(values) for key, values in gather(intermidates).items()}


class MeanReduction(DictReduction):
    """The mean of each score, NaN left out."""

    def reduce(self, intermidates: list[dict[str, float]]) -> dict[str, Any]:
        """Return the means of a sample."""
        if type(self).reduce_list is not MeanReduction.reduce_list:
            return super().reduce(intermidates)
        names = list(dict.fromkeys(name for each in intermidates for name in each))
        return dict(zip(names, Means(matrix(intermidates, names)).observed().tolist(), strict=True)) if names else {}

    def reduce_list(self, lst: list[float]) -> float:
        """Return the mean."""
        return nan_mean(lst)

    def resampler(self, intermediates: Sequence[Any], names: Sequence[str]) -> Resampler | None:
        """Return means."""
        return Means(matrix(intermediates, names))


class RootMeanReduction(DictReduction):
    """The square root of the mean of each score."""

    def reduce_list(self, lst: list[float]) -> float:
        """Return the root of the mean."""
        return math.sqrt(nan_mean(lst))

    def resampler(self, intermediates: Sequence[Any], names: Sequence[str]) -> Resampler | None:
        """Return roots of means."""
        return Means(matrix(intermediates, names), np.sqrt)


class MaxReduction(DictReduction):
    """The largest of each score."""

    def reduce_list(self, lst: list[float]) -> float:
        """Return the maximum."""
        return nan_max(lst)

    def resampler(self, intermediates: Sequence[Any], names: Sequence[str]) -> Resampler | None:
        """Return maxima."""
        return Maxima(matrix(intermediates, names))


class GroupReduction(AggregationReduction[tuple[str, dict[str, float]]]):
    """Reduces the scores of named items (turns of a dialog, dialogs of a set)."""

    def reduce_list(self, lst: list[tuple[str, float]]) -> Any:
        """Return one number for the named values of one score."""
        return math.nan

    def reduce(self, intermidates: list[tuple[str, dict[str, float]]]) -> dict[str, Any]:
        """Return the scores of a sample."""
        lists: dict[str, list[tuple[str, float]]] = {}
        for name, scores in intermidates:
            for key, value in scores.items():
                lists.setdefault(key, []).append((name, value))
        return {key: self.reduce_list(values) for key, values in lists.items()}


class GroupMean(GroupReduction):
    """The mean over items."""

    def reduce_list(self, lst: list[tuple[str, float]]) -> float:
        """Return the mean."""
        return nan_mean([value for _, value in lst])


class SequentialSuccess(GroupReduction):
    """The share of items, in order of their names, before the first that is not above the threshold."""

    threshold: float = 0.5

    def reduce_list(self, lst: list[tuple[str, float]]) -> float:
        """Return the share."""
        successful = 0
        for _, value in sorted(lst, key=lambda item: item[0]):
            if value <= self.threshold:
                break
            successful += 1
        return successful / len(lst)


# -- group_mean: a function within each group of instances, then the mean over groups ---------------------------------

_AGG_FUNC = ("name", "function", "fixed")


@dataclass(frozen=True, slots=True)
class GroupMeanReduction:
    """A function that reduces the scores of one group.

    Attributes:
        function: Takes the scores of a group: a list, or a dict of lists by subgroup.
        prefix: Put before the names of scores: ``group_<name>_``, or ``fixed_group_<name>_``.
        fixed: Whether whole groups are resampled, rather than instances.
        score_fields: Scores to reduce; ``None`` for the main score.
    """

    function: Callable[[Any], float]
    prefix: str
    fixed: bool
    score_fields: list[str] | None

    def resampler(
        self, values: Sequence[float], groups: Sequence[str], subgroups: Sequence[str] | None
    ) -> tuple[Resampler, Sequence[float]]:
        """Return how to recompute the mean over groups, and the scores of what is resampled."""
        if self.fixed:
            scores = self._group_scores(range(len(values)), values, groups, subgroups)
            return Means(as_floats(scores)), scores

        def statistic(rows: Indices) -> list[float]:
            return [nan_mean(self._group_scores([int(i) for i in rows], values, groups, subgroups))]

        return Opaque(len(values), statistic), values

    def _group_scores(
        self, rows: Sequence[int], values: Sequence[float], groups: Sequence[str], subgroups: Sequence[str] | None
    ) -> list[float]:
        found: dict[str, dict[str, list[float]]] = {}
        for row in rows:
            kind = subgroups[row] if subgroups is not None else ""
            found.setdefault(groups[row], {}).setdefault(kind, []).append(values[row])
        return [self.function(found[group] if subgroups is not None else found[group][""]) for group in sorted(found)]


def read_group_mean(parameters: Any, owner: str) -> GroupMeanReduction:
    """Read ``{"agg_func": [name, function, fixed], "score_fields": [...]}``.

    Raises:
        ScoringError: It has another shape.
    """
    function = parameters.get("agg_func") if isinstance(parameters, dict) else None
    if (
        not isinstance(function, (list, tuple))
        or len(function) != len(_AGG_FUNC)
        or not (isinstance(function[0], str) and callable(function[1]) and isinstance(function[2], bool))
    ):
        raise ScoringError(
            f"the group_mean of {owner} needs an 'agg_func'",
            hint="write {'agg_func': [name, function, whether groups are resampled as units]}",
        )
    prefix = f"group_{function[0]}_"
    return GroupMeanReduction(
        function[1], f"fixed_{prefix}" if function[2] else prefix, function[2], parameters.get("score_fields")
    )
