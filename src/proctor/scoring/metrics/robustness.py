"""Metrics by group of instances: how much paraphrases of a question change the score."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import new_class
from typing import Any, ClassVar

import numpy as np

from proctor.errors import ScoringError
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.metrics.accuracy import Accuracy
from proctor.scoring.metrics.strings import StringContainmentOld, TokenOverlap
from proctor.scoring.scores import Unit
from proctor.statistics.resampling import nan_mean

Subgroups = Mapping[str, Sequence[float]]
LARGEST_G = 5.0  # Unitxt cuts there: five standard deviations are as different as it gets
_SMALL = range(4, 50)  # numbers of scores for which Unitxt corrects Hedges' g; for 3 the factor would be 0


def _scores(subgroups: Subgroups, names: Sequence[str]) -> list[float]:
    found = (score for name in dict.fromkeys(names) for score in subgroups.get(name, ()))
    return [float(score) for score in found if not math.isnan(score)]


def mean_subgroup_score(subgroup_scores_dict: Subgroups, subgroup_types: Sequence[str]) -> float:
    """Return the mean score of some subgroups; NaN where they are empty."""
    return nan_mean(_scores(subgroup_scores_dict, subgroup_types))


def performance_drop_rate(
    subgroup_scores_dict: Subgroups, control_subgroup_types: Sequence[str], comparison_subgroup_types: Sequence[str]
) -> float:
    """Return by which share the mean falls from control to comparison (Zhu et al. 2023); NaN where undefined."""
    control, comparison = (
        _scores(subgroup_scores_dict, names) for names in (control_subgroup_types, comparison_subgroup_types)
    )
    if not control or not comparison:
        return math.nan
    before, after = nan_mean(control), nan_mean(comparison)
    if before == 0:
        return 0.0 if after == 0 else math.nan
    return 1 - after / before


def normalized_cohens_h(
    subgroup_scores_dict: Subgroups,
    control_subgroup_types: Sequence[str],
    comparison_subgroup_types: Sequence[str],
    interpret: bool = False,
) -> Any:
    """Return Cohen's h between two proportions, from -1 (the largest fall) to 1; with ``interpret`` also its name.

    Raises:
        ScoringError: A score is not from 0 to 1.
    """
    if any(not 0 <= score <= 1 for name in subgroup_scores_dict for score in _scores(subgroup_scores_dict, [name])):
        raise ScoringError("Cohen's h needs scores from 0 to 1")
    control, comparison = (
        _scores(subgroup_scores_dict, names) for names in (control_subgroup_types, comparison_subgroup_types)
    )
    effect = math.nan
    if control and comparison:
        effect = 2 * (math.asin(math.sqrt(nan_mean(comparison))) - math.asin(math.sqrt(nan_mean(control))))
    normalized = min(max(effect / math.pi, -1.0), 1.0) if not math.isnan(effect) else effect
    return (normalized, interpret_effect_size(effect)) if interpret else normalized


def normalized_hedges_g(
    subgroup_scores_dict: Subgroups,
    control_subgroup_types: Sequence[str],
    comparison_subgroup_types: Sequence[str],
    interpret: bool = False,
) -> Any:
    """Return Hedges' g between two means, from -1 to 1 (five standard deviations); with ``interpret`` also its name."""
    control, comparison = (
        _scores(subgroup_scores_dict, names) for names in (control_subgroup_types, comparison_subgroup_types)
    )
    effect = _hedges_g(control, comparison)
    normalized = effect / LARGEST_G
    return (normalized, interpret_effect_size(effect)) if interpret else normalized


def _hedges_g(control: list[float], comparison: list[float]) -> float:
    count = len(control) + len(comparison)
    if not control or not comparison or max(len(control), len(comparison)) <= 1:
        return math.nan
    difference = nan_mean(comparison) - nan_mean(control)
    squares = sum(float(np.var(group, ddof=1)) * (len(group) - 1) for group in (control, comparison) if len(group) > 1)
    deviation = math.sqrt(squares / (count - 2))
    effect = 0.0 if difference == 0 else difference / deviation if deviation else math.copysign(math.inf, difference)
    if count in _SMALL:
        effect *= (count - 3) / (count - 2.25) * math.sqrt((count - 2) / count)
    return min(max(effect, -LARGEST_G), LARGEST_G)


def interpret_effect_size(x: float) -> str:
    """Return the word for an effect size (Cohen 1988; Sawilowsky 2009)."""
    words = ((0.01, "essentially zero"), (0.2, "very small"), (0.5, "small"), (0.8, "medium"), (1.2, "large"))
    return next((word for limit, word in (*words, (2.0, "very large")) if abs(x) < limit), "huge")


def _reduction(name: str, function: Callable[..., Any], fixed: bool, **fields: Any) -> dict[str, Any]:
    return {"group_mean": {"agg_func": [name, function, fixed], **fields}}


_BASELINE = partial(mean_subgroup_score, subgroup_types=["original"])
_PARAPHRASE = partial(mean_subgroup_score, subgroup_types=["paraphrase"])
_SIDES: dict[str, Any] = {"control_subgroup_types": ["original"], "comparison_subgroup_types": ["paraphrase"]}
_DROP = partial(performance_drop_rate, **_SIDES)
_COHEN = partial(normalized_cohens_h, interpret=False, **_SIDES)
_HEDGES = partial(normalized_hedges_g, interpret=False, **_SIDES)


def _absolute_cohen(subgroups: Subgroups) -> float:
    return abs(float(_COHEN(subgroup_scores_dict=subgroups)))


def _absolute_hedges(subgroups: Subgroups) -> float:
    return abs(float(_HEDGES(subgroup_scores_dict=subgroups)))


class GroupMeanAccuracy(Accuracy):
    """Accuracy averaged within groups, then over them."""

    reduction_map: dict[str, Any] = _reduction("mean", nan_mean, fixed=False)


class FixedGroupMeanAccuracy(Accuracy):
    """The same, where whole groups are resampled."""

    reduction_map: dict[str, Any] = _reduction("mean", nan_mean, fixed=True)


class GroupMeanStringContainment(StringContainmentOld):
    """Containment averaged within groups, then over them."""

    reduction_map: dict[str, Any] = _reduction("mean", nan_mean, fixed=False)


class FixedGroupMeanStringContainment(StringContainmentOld):
    """The same, where whole groups are resampled."""

    reduction_map: dict[str, Any] = _reduction("mean", nan_mean, fixed=True)


class GroupMeanTokenOverlap(TokenOverlap):
    """Token overlap averaged within groups, then over them."""

    reduction_map: dict[str, Any] = _reduction(
        "mean", nan_mean, fixed=False, score_fields=["f1", "precision", "recall"]
    )


_OF_VARIANTS: dict[str, tuple[str, Callable[..., Any], str]] = {
    "MeanBaseline": ("mean_baseline", _BASELINE, "{} on the original questions"),
    "MeanParaphrase": ("mean_paraphrase", _PARAPHRASE, "{} on the paraphrased questions"),
    "PDRParaphrase": ("pdr_paraphrase", _DROP, "The share that paraphrases take away from {}"),
    "NormCohensHParaphrase": ("norm_cohens_h_paraphrase", _COHEN, "Cohen's h of paraphrases on {}"),
    "NormHedgesGParaphrase": ("norm_hedges_g_paraphrase", _HEDGES, "Hedges' g of paraphrases on {}"),
    "AbsvalNormCohensHParaphrase": (
        "absval_norm_cohens_h_paraphrase",
        _absolute_cohen,
        "The size of Cohen's h of paraphrases on {}",
    ),
    "AbsvalNormHedgesGParaphrase": (
        "absval_norm_hedges_g_paraphrase",
        _absolute_hedges,
        "The size of Hedges' g of paraphrases on {}",
    ),
}
"""What is compared, by the middle of a metric's name: the score's name, its function, and what it is."""


def _of_variants(name: str, base: type[InstanceMetric], middle: str, of_what: str) -> type[InstanceMetric]:
    """Return the metric that compares the scores of the variants of a question, averaged by group."""
    score, function, text = _OF_VARIANTS[middle]
    what = text.format(of_what)
    body: dict[str, Any] = {
        "__module__": __name__,
        "__qualname__": name,
        "__doc__": f"{what[0].upper()}{what[1:]}, averaged by group.",
        "__annotations__": {"subgroup_column": str | None, "reduction_map": dict[str, Any]},
        "subgroup_column": "variant_type",
        "reduction_map": _reduction(score, function, fixed=True),
    }
    if not middle.startswith("Mean"):
        body["__annotations__"]["unit"] = ClassVar[Unit | None]
        body["unit"] = "raw"
    return new_class(name, (base,), exec_body=lambda namespace: namespace.update(body))


_BASES: tuple[tuple[str, type[InstanceMetric], str], ...] = (
    ("Accuracy", Accuracy, "accuracy"),
    ("StringContainment", StringContainmentOld, "containment"),
)
for _middle in _OF_VARIANTS:
    for _end, _base, _of_what in _BASES:
        _name = f"FixedGroup{_middle}{_end}"
        globals()[_name] = _of_variants(_name, _base, _middle, _of_what)
