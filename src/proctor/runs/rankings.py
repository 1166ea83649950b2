"""The places that runs may hold in an exam that all of them sat."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from proctor.results.comparison import bounded_test
from proctor.runs.exam_comparison import ALPHA, Evidence, ExamComparison
from proctor.statistics.arrays import Floats
from proctor.statistics.paired_tests import signs_of
from proctor.statistics.rank_sets import Place, level_of_pairs, places_of

_FEWEST = 2  # other runs, and questions: of two runs the comparison says it all


def with_places(found: Sequence[Sequence[ExamComparison]]) -> list[list[ExamComparison]]:
    """Return comparisons with the places that the run and the baseline may hold among all runs, exam by exam.

    Only in exams that all runs sat, whose scores are means of instances of one unit and say which way is better; on the
    instances that all have. No pair is decided here that the comparison with the baseline leaves open.

    Args:
        found: For each run its comparisons with the baseline.
    """
    made = [list(rows) for rows in found]
    for task in dict.fromkeys(row.task for rows in found for row in rows):
        at = [(run, place) for run, rows in enumerate(found) for place, row in enumerate(rows) if row.task == task]
        places = _places([found[run][place] for run, place in at]) if len(at) == len(found) >= _FEWEST else []
        for (run, place), own in zip(at, places[1:], strict=False):
            made[run][place] = replace(made[run][place], places=own, baseline_places=places[0])
    return made


def _places(rows: Sequence[ExamComparison]) -> list[Place]:
    """Return the places of the baseline and of each run; nothing where they cannot be compared with each other."""
    evidence = [row.evidence for row in rows if row.evidence is not None and row.direction is not None]
    alike = {(row.unit, row.direction) for row in rows}
    if len(evidence) < len(rows) or len(alike) > 1 or any(not each.numbers.size for each in evidence):
        return []
    common = reduce(np.intersect1d, [each.numbers for each in evidence])
    if len(common) < _FEWEST:
        return []
    orders = [np.argsort(each.numbers) for each in evidence]
    kept = [order[np.searchsorted(each.numbers[order], common)] for each, order in zip(evidence, orders, strict=True)]
    pairs = list(zip(evidence, kept, strict=True))
    columns = np.array([evidence[0].first[kept[0]], *(each.second[own] for each, own in pairs)])
    groups = next(([each.groups[place] for place in own] for each, own in pairs if each.groups is not None), None)
    return _ranked(columns, groups, evidence[0], rows)


def _ranked(
    columns: Floats, groups: Sequence[Hashable] | None, evidence: Evidence, rows: Sequence[ExamComparison]
) -> list[Place]:
    is_whole = np.asarray(~np.isnan(columns).any(axis=0))
    inside = None if groups is None else [key for key, kept in zip(groups, is_whole, strict=True) if kept]
    level = min(level_of_pairs(columns[:, is_whole], inside, ALPHA), ALPHA / max(row.comparisons for row in rows))
    direction = rows[0].direction or 1

    def sign(one: int, two: int) -> int:
        if np.isnan(columns[one] + columns[two]).sum() > columns.shape[1] - _FEWEST:
            return 0
        low, high = signs_of(bounded_test(columns[one], columns[two], groups, evidence.whole), 1.0 - level)
        return direction * low if low == high else 0

    return places_of(len(columns), sign)
