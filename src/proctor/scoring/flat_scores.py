"""The flat dictionary of scores (``f1``, ``f1_ci_low``, ``score``, ``score_name`` …): a view of typed scores.

Files, Unitxt programs and tables know this shape. It is written here, from :class:`~proctor.scoring.scores.Score`, and
read back in one place only: :func:`read_flat`, for operators that get and return such a dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.ir import Failure
from proctor.scoring.grades import Measured
from proctor.scoring.grading.answer_endings import COUNTED, LAST_RESORT
from proctor.scoring.scores import Score, Unit

COUNT, FAILED = "num_of_instances", "num_of_failures"
WITHOUT = "without"
"""Members of a group that its main score is not made of, as they have none of that kind: a list of names."""
NOWHERE = "in_no_exam"
"""Scores that a group was to have, and none of its members has: a list of names."""
COPIES = "copies"
"""In a file of results: how often each question stands among the samples, where that is more than once."""
CRITERIA = "criteria"
"""In a file of results: what judges decided of, by the names of scores that do not say it."""
CLUSTERS = "clusters"
NO_CLUSTER = "instances_without_key"
"""In results: by which field questions belong together, how many clusters there are, the main score's standard error,
and ``without``, the scores whose interval is not of clusters."""
BEHIND = "_n"
"""What the name of a score that is of some instances alone ends with, where files say of how many."""
LOW, HIGH = "_ci_low", "_ci_high"
MAIN_BOUNDS = (f"score{LOW}", f"score{HIGH}")

Flat = dict[str, Any]


@dataclass(slots=True)
class MetricScores(Measured):
    """What a metric returns: typed scores, and their flat view in the order in which Unitxt lists them.

    Attributes:
        overall: The flat view.
    """

    overall: Flat = field(default_factory=dict)


@dataclass(slots=True)
class ScoreSheet:
    """Takes scores while a metric makes them; the flat view lists them in the order in which they come.

    Attributes:
        metric: Name of the metric.
        n: Instances behind the scores.
        unit: Unit of the scores.
        higher_is_better: Whether more is better, where that is known.
        raw: Names of scores that have no unit, whatever the others have.
        scores: The scores by name.
        main: Name of the main score.
        flat: The view.
    """

    metric: str
    n: int
    unit: Unit = "raw"
    higher_is_better: bool | None = None
    raw: frozenset[str] = frozenset()
    scores: dict[str, Score] = field(default_factory=dict)
    main: str = ""
    flat: Flat = field(default_factory=dict)

    def count(self) -> None:
        """List the number of instances."""
        self.flat[COUNT] = self.n

    def put(self, name: str, value: object) -> None:
        """List a score."""
        is_raw = name in self.raw
        self.scores[name] = Score(
            name,
            value,
            n=self.n,
            unit="raw" if is_raw else self.unit,
            higher_is_better=None if is_raw else self.higher_is_better,
            metric=self.metric,
        )
        self.flat[name] = value

    def bound(self, name: str, low: float, high: float) -> None:
        """List the interval of a score."""
        if name in self.scores:
            self.scores[name] = replace(self.scores[name], low=low, high=high)
        self.flat[f"{name}{LOW}"], self.flat[f"{name}{HIGH}"] = low, high

    def name_main(self, name: str, *, backwards: bool = False) -> None:
        """List a score as the main one; ``backwards`` its name before its value, as Unitxt's reducing metrics do."""
        self.main = name
        entries = [("score", self.scores[name].value), ("score_name", name)]
        self.flat.update(reversed(entries) if backwards else entries)

    def bound_main(self, *, backwards: bool = False) -> None:
        """List the interval of the main score, where it has one; ``backwards`` its upper bound first."""
        bounds = list(bounds_of(self.scores[self.main], "score").items())
        self.flat.update(reversed(bounds) if backwards else bounds)

    def measured(self, failures: dict[int, Failure] | None = None, failure: Failure | None = None) -> MetricScores:
        """Return what is listed."""
        return MetricScores(
            list(self.scores.values()), self.main, failures=failures or {}, failure=failure, overall=self.flat
        )


def flat_view(measured: Measured) -> Flat:
    """Return the flat view of what any scorer measured."""
    if isinstance(measured, MetricScores):
        return measured.overall
    flat: Flat = {}
    for score in measured.scores:
        flat[score.name] = score.value
        flat.update(bounds_of(score, score.name))
    main = measured.score(measured.main)
    return flat if main is None else {**flat, "score": main.value, "score_name": main.name, **bounds_of(main, "score")}


def bounds_of(score: Score, name: str) -> Flat:
    """Return the interval of a score as entries of the flat view, nothing where it has none."""
    if score.low is None or score.high is None:
        return {}
    return {f"{name}{LOW}": score.low, f"{name}{HIGH}": score.high}


def merged(views: Iterable[Mapping[str, Any]]) -> Flat:
    """Return one flat view of several; of entries with one name the last counts, and the last one is the main score.

    The interval of a score goes with it: where the last has none, there is none.
    """
    flat: Flat = {}
    for view in views:
        for bound in (f"{name}{end}" for name in ("score", *view) for end in (LOW, HIGH)):
            if bound not in view:
                flat.pop(bound, None)
        flat.update(view)
    return flat


_COUNTED = frozenset(COUNTED)
"""What stands beside the scores in a file of results only, all of it or nothing; a metric may have such a name."""

_SUMMARY = frozenset({"score", "score_name", COUNT, FAILED, "metric_failures", "n", "failures", COPIES, *MAIN_BOUNDS})
UNIT, UNITS = "unit", "units"
DIRECTION = "higher_is_better"
"""Of the main score, in files, where it is known."""


def units_of(table: Iterable[Score], main: Score | None) -> Flat:
    """Return the units of scores as entries of a file: ``unit`` of the main one, ``units`` of those that differ."""
    if main is None:
        return {}
    others = {score.name: score.unit for score in table if score.unit != main.unit}
    return {UNIT: main.unit, UNITS: others} if others else {UNIT: main.unit}


def read_flat(flat: Mapping[str, Any], known: Iterable[Score] = ()) -> list[Score]:
    """Return the scores of a flat dictionary.

    This is the only place where one is read back: the steps of a ``MetricPipeline`` work on rows with
    ``score/global/…`` and may change them, and ``results.json`` has nothing else.

    Args:
        flat: The dictionary.
        known: The scores before somebody changed them: what the dictionary does not say (unit, n, direction) is taken
            from the one of a name. Without them the units are those of the file.
    """
    before = {score.name: score for score in known}
    model = next(iter(before.values()), Score("", None, unit=flat.get(UNIT, "raw")))
    others = flat.get(UNITS) or {}
    beside = _SUMMARY | _COUNTED | {LAST_RESORT} if not before and flat.keys() >= _COUNTED else _SUMMARY
    if flat.get("score_name") == "score":  # some evaluators call their score so
        beside -= {"score"}
    found = []
    for name, value in flat.items():
        if name in beside or (not before and not _is_number(value)) or _is_companion(name, flat, in_file=not before):
            continue
        base = before.get(name, replace(model, name=name, unit=others.get(name, model.unit)))
        low, high = flat.get(f"{name}{LOW}"), flat.get(f"{name}{HIGH}")
        found.append(replace(base, value=value, low=low, high=high))
    return found


def main_of(flat: Mapping[str, Any]) -> Score:
    """Return the main score of a flat dictionary; its value is ``None`` where there is none."""
    value = flat.get("score")
    return Score(
        str(flat.get("score_name") or "score"),
        value if _is_number(value) else None,
        flat.get(MAIN_BOUNDS[0]),
        flat.get(MAIN_BOUNDS[1]),
        unit=flat.get(UNIT, "raw"),
        higher_is_better=flat.get(DIRECTION) if isinstance(flat.get(DIRECTION), bool) else None,
    )


def _is_companion(name: str, flat: Mapping[str, Any], *, in_file: bool) -> bool:
    """Whether an entry stands beside a score: a bound; in files of tasks also a standard error or a count."""
    if name.endswith((LOW, HIGH)):
        return name.removesuffix(LOW).removesuffix(HIGH) in flat
    head, comma, grading = name.partition(",")
    return in_file and any(
        base.endswith(end) and f"{base.removesuffix(end)}{rest}" in flat
        for end, base, rest in (("_stderr", head, comma + grading), (BEHIND, name, ""))
    )


_ERRORS = re.compile(r"(^|_)(stderr|std_?err(or)?|standard_error)$")
_COUNTS = re.compile(r"(^|_)(count|counts|total|n)$|^(num|n|total)_|^sample_len$")


def is_beside_scores(name: str, value: object) -> bool:
    """Whether an entry is a standard error or a count, by its name: numbers that say something of scores.

    Args:
        name: Of the entry; a grading behind a comma does not count.
        value: Of the entry; a count is a whole number.
    """
    plain = name.partition(",")[0].lower()
    is_whole = isinstance(value, int | float) and float(value).is_integer()
    return _ERRORS.search(plain) is not None or (is_whole and _COUNTS.search(plain) is not None)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
