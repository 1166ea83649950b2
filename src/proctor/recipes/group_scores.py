"""Scores of benchmarks: what a run files beside the scores of its exams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.recipes.recipe import DatasetRecipe
from proctor.scoring.flat_scores import COUNT, WITHOUT, bounds_of, units_of
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score, mean_score

VARIED = ("template", "num_demos")
"""Fields of the metadata that differ from instance to instance where a recipe has several templates or demo counts."""
MEAN = "subsets_mean"


def varied_of(recipe: DatasetRecipe) -> tuple[str, ...]:
    """Return the members of :data:`VARIED` that differ between the instances of a recipe."""
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
        main = self.main(grades)
        if main is None:
            return {}
        flat = {"score": main.value, MEAN: main.value, "score_name": MEAN}
        flat |= bounds_of(main, "score") | bounds_of(main, MEAN)
        flat |= {COUNT: self.scored(grades)} | units_of([main], main)
        return flat | ({WITHOUT: lacking} if (lacking := list(self.lacking(grades))) else {})

    def lacking(self, grades: Mapping[str, Grade]) -> Iterator[str]:
        """Yield the exams below that have no score, and so no part in its."""
        for member in self.members:
            if isinstance(member, BenchmarkScores):
                yield from member.lacking(grades)
            elif not _has_score(_main(member, grades)):
                yield member

    def main(self, grades: Mapping[str, Grade]) -> Score | None:
        """Return the mean of the members that have a score, ``None`` where none has."""
        each = [_main(member, grades) for member in self.members]
        having = [score for score in each if score is not None and _has_score(score)]
        return mean_score(having, MEAN) if having else None

    def scored(self, grades: Mapping[str, Grade]) -> int:
        """Return how many instances are behind the score."""
        return sum(_scored(member, grades) for member in self.members)


def _main(member: str | BenchmarkScores, grades: Mapping[str, Grade]) -> Score | None:
    if isinstance(member, BenchmarkScores):
        return member.main(grades)
    return grades[member].main if member in grades else None


def _has_score(main: Score | None) -> bool:
    return main is not None and main.number is not None


def _scored(member: str | BenchmarkScores, grades: Mapping[str, Grade]) -> int:
    """Return how many instances are behind a member's score; none where it has no score."""
    if isinstance(member, BenchmarkScores):
        return member.scored(grades)
    return int(grades[member].scores.get(COUNT, 0)) if _has_score(_main(member, grades)) else 0
