"""Scores of benchmarks: what a run files beside the scores of its exams."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proctor.recipes.recipe import DatasetRecipe
from proctor.scoring.combined import interval_of_mean
from proctor.scoring.grade import Grade

VARIED = ("template", "num_demos")
"""Fields of the metadata that differ from instance to instance where a recipe has several templates or demo counts."""
MEAN = "subsets_mean"
_NO_GROUP = -1


def varied_of(recipe: DatasetRecipe) -> tuple[str, ...]:
    """Return which of :data:`VARIED` differ between the instances of a recipe."""
    varies = (len(recipe.chosen_templates()) > 1, isinstance(recipe.num_demos, list) and len(recipe.num_demos) > 1)
    return tuple(name for name, does in zip(VARIED, varies, strict=True) if does)


@dataclass(frozen=True, slots=True)
class BenchmarkScores:
    """The score of a benchmark: the plain mean of its members' scores, whatever their size.

    Attributes:
        name: The name under which it is filed.
        members: Names of exams, and benchmarks within.
    """

    name: str
    members: tuple[str | BenchmarkScores, ...]

    def score(self, grades: Mapping[str, Grade]) -> dict[str, Any]:
        """Return the score of the members that have one; its interval is that of a mean of independent scores."""
        each = [_scores_of(member, grades) for member in self.members]
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


def _scores_of(member: str | BenchmarkScores, grades: Mapping[str, Grade]) -> Mapping[str, Any]:
    if isinstance(member, BenchmarkScores):
        return member.score(grades)
    return grades[member].scores if member in grades else {}


def _interval(entry: Mapping[str, Any]) -> tuple[float, float] | None:
    low, high = entry.get("score_ci_low"), entry.get("score_ci_high")
    return (low, high) if _is_number(low) and _is_number(high) else None  # type: ignore[return-value]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
