"""The reduction ``group_mean``: a function within each group of instances, then the mean over groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.errors import ScoringError
from proctor.scoring.arrays import Indices, as_floats
from proctor.scoring.resamplers import Means, Opaque, Resampler, nan_mean

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
