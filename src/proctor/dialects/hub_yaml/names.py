"""Names of scores: ``accuracy`` or ``mean`` with its standard error, behind a comma the scorer's name."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.scoring.flat_scores import COUNT, FAILED, Flat, bounds_of
from proctor.scoring.grading.protocols import Counts, Mark, ScoreNames
from proctor.scoring.scores import Score


class HubNames(ScoreNames):
    """The names of a task's scores, as inspect calls them."""

    def flat(self, marks: Sequence[Mark], table: Sequence[Score], main: Score | None, counts: Counts) -> Flat:
        """Return the flat dictionary: each score with its standard error, its interval and its n."""
        del marks
        flat: Flat = {}
        for score in table:
            bare = score.name.removesuffix(f",{score.grading}")
            flat |= {score.name: score.value, self.key(f"{bare}_stderr", score.grading): score.stderr}
            flat |= {**bounds_of(score, score.name), f"{score.name}_n": score.n}
        if main is not None:
            flat.update(score_name=main.name, score=main.value, **bounds_of(main, "score"))
        flat[COUNT] = counts.scored
        if counts.failed:
            flat[FAILED] = counts.failed
        return flat
