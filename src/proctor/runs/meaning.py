"""Tells whether two scores mean the same: name, unit, direction."""

from __future__ import annotations

from typing import Final

from proctor.scoring.scores import Score, Unit, comparable

_SAME: Final = ({"acc", "accuracy", "exact_match"},)
"""Names that systems give to one thing: the share of right answers. Which answers count as right each exam says itself,
so comparisons name both."""


def meaning_of(score: Score | None) -> str:
    """Return the name of a main score, empty where it is not known."""
    return "" if score is None else score.name


def why_not_comparable(first: Score | None, second: Score | None, units: tuple[Unit | None, Unit | None]) -> str:
    """Return the reason why two main scores may not be compared; empty where they may or where it is not known."""
    if first is not None and second is not None:
        if _plain(first.name) != _plain(second.name):
            return f"one run is scored by {first.name}, the other by {second.name}"
        ways = {first.higher_is_better, second.higher_is_better} - {None}
        if len(ways) > 1:
            return f"in one run more {first.name} is better, in the other less"
    one, two = (None if unit is None else Score("", None, unit=unit) for unit in units)
    if one is not None and two is not None and not comparable(one, two):
        return f"one run has a score in the unit '{one.unit}', the other in the unit '{two.unit}'"
    return ""


def _plain(name: str) -> str:
    """Return a name without the filter that lm-eval puts behind it, and one name for all that mean the same."""
    plain = name.partition(",")[0].lower()
    return next((min(names) for names in _SAME if plain in names), plain)
