"""Names of lm-eval's scores: ``acc``, ``acc_stderr``, and with a filter pipeline ``acc,strict``."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.scoring.aggregations import NO_ERROR
from proctor.scoring.flat_scores import COUNT, FAILED, Flat, bounds_of
from proctor.scoring.grading.protocols import Counts, Mark, ScoreNames
from proctor.scoring.metric_table import metric_table
from proctor.scoring.named_table import LM_EVAL
from proctor.scoring.scores import Score, Unit

OF_HUNDRED = frozenset({"bleu", "chrf", "ter"})
"""Metrics that lm-eval itself gives of 100, as sacrebleu does; every other score of its is of 1."""
ONLY = "none"
"""The pipeline of tasks without ``filter_list``; no name of a score shows it."""

_SHARES = ("acc", "exact_match", "em", "f1", "pass@", "avg@", "maj@")
"""How names of shares begin that code of tasks makes up (``acc_hard``, ``f1_macro``)."""


def score_key(metric: str, pipeline: str) -> str:
    """Return the name of a score: the metric, and the filter pipeline where that has a name."""
    return metric if pipeline in ("", ONLY) else f"{metric},{pipeline}"


def error_key(metric: str, pipeline: str) -> str:
    """Return the name of a score's standard error."""
    return score_key(f"{metric}_stderr", pipeline)


def unit_of(metric: str) -> Unit:
    """Return the unit of a score: as the table of metrics says, of names that it does not know by how they begin."""
    known = metric_table().find(metric, LM_EVAL, {LM_EVAL})
    if known is not None:
        return known.unit
    return "share" if metric.startswith(_SHARES) else "raw"


class TaskNames(ScoreNames):
    """The names of a task's scores; each has its standard error, its interval and its n beside it."""

    def key(self, name: str, grading: str) -> str:
        """Return under which name a score of a filter pipeline is listed."""
        return score_key(name, grading)

    def flat(self, marks: Sequence[Mark], table: Sequence[Score], main: Score | None, counts: Counts) -> Flat:
        """Return the flat dictionary, as lm-eval lists scores."""
        del marks
        flat: Flat = {}
        for score in table:
            flat.update(listed(score))
            flat[f"{score.name}_n"] = score.n
        if main is not None:
            flat.update(score_name=main.name, score=main.value, score_ci_low=main.low, score_ci_high=main.high)
        flat[COUNT] = counts.scored
        if counts.failed:
            flat[FAILED] = counts.failed
        return flat


def listed(score: Score) -> Flat:
    """Return a score with its standard error, ``"N/A"`` where lm-eval knows none, and its interval."""
    error = NO_ERROR if score.stderr is None else score.stderr
    bare = score.name.removesuffix(f",{score.grading}")
    return {score.name: score.value, error_key(bare, score.grading): error, **bounds_of(score, score.name)}
