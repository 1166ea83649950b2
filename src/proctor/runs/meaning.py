"""Tells whether two scores mean the same: what they are made of, else their names; unit, direction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from proctor.recipes.fingerprint import Fingerprint
from proctor.scoring.scores import Score, Unit, comparable

SAME: Final = ({"acc", "accuracy", "exact_match", "correct", "match"},)
"""Names that systems give to one thing: the share of right answers. Which answers count as right each exam says itself,
so comparisons name both."""


def meaning_of(score: Score | None) -> str:
    """Return the name of a main score, empty where it is not known."""
    return "" if score is None else score.name


Prints = tuple[Fingerprint | None, Fingerprint | None]
"""Of both exams; ``None`` of one that was run before there were any."""

_LAYERS: Final = {"extraction": "answers are read in other ways", "metrics": "the metric is defined otherwise"}


def differences_of(
    first: Score | None, second: Score | None, prints: Prints, exams: tuple[object, object] = (None, None)
) -> list[str]:
    """Return what differs between two scores that are compared, and what could not be looked at.

    Args:
        first, second: The scores.
        prints: The fingerprints of their exams.
        exams: What ``run.yaml`` says of them.
    """
    if first is None or second is None:
        return []
    found = [f"scored as {first.name} and as {second.name}"] if first.name != second.name else []
    one, two = prints
    if one is None or two is None:
        who = "neither run says" if one is two else "one of the runs does not say"
        return [*found, f"{who} by which definitions answers were read and scored: only the names are compared"]
    for layer, words in _LAYERS.items():
        mine, theirs = getattr(one, layer), getattr(two, layer)
        if mine != theirs:
            found.append(f"{words}, which may be part of the difference ({layer} {mine or '?'} and {theirs or '?'})")
    one_said, two_said = (dict(_settings(exam)) for exam in exams)
    names = [name for name in {**one_said, **two_said} if one_said.get(name) != two_said.get(name)]
    if found and 0 < len(names) <= _MOST_NAMED and one_said.keys() & two_said.keys():
        pairs = [f"{name}: {one_said.get(name, 'not set')} and {two_said.get(name, 'not set')}" for name in names]
        found.append("; ".join(pairs))
    return found


_MOST_NAMED = 4  # settings: exams that differ in more are others altogether, as those of two dialects are
_READS = re.compile("metric|filter|process|eval|scor|extract")
"""Names of what reads and scores answers, in every dialect."""


def _settings(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield what an exam says of how answers are read and scored, by where it stands."""
    if isinstance(value, Mapping | list):
        for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _settings(each, f"{path}.{key}" if path else str(key))
    elif _READS.search(path):
        yield path, value


def why_not_comparable(
    first: Score | None, second: Score | None, units: tuple[Unit | None, Unit | None], prints: Prints = (None, None)
) -> str:
    """Return the reason why two main scores may not be compared; empty where they may or where it is not known.

    Scores of one definition are the same whatever they are called.
    """
    if first is not None and second is not None:
        one, two = prints
        is_same = one is not None and two is not None and one.metrics != "" and one.metrics == two.metrics
        if not is_same and _plain(first.name) != _plain(second.name):
            return f"one run is scored by {first.name}, the other by {second.name}"
        ways = {first.higher_is_better, second.higher_is_better} - {None}
        if len(ways) > 1:
            return f"in one run more {first.name} is better, in the other less"
    mine, theirs = (None if unit is None else Score("", None, unit=unit) for unit in units)
    if mine is not None and theirs is not None and not comparable(mine, theirs):
        return f"one run has a score in the unit '{mine.unit}', the other in the unit '{theirs.unit}'"
    return ""


_REPEATED = re.compile(r" \(\d+ runs average\)$")
"""What AISBench puts behind a score that is a mean over runs of the questions."""


def _plain(name: str) -> str:
    """Return a name without the filter that lm-eval puts behind it, and one name for all that mean the same."""
    plain = _REPEATED.sub("", name.partition(",")[0]).lower()
    return next((min(names) for names in SAME if plain in names), plain)
