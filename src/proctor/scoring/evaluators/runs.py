"""Scores over several runs of the same rows: pass@k, G-Pass@k, mG-Pass@k, cons@k, avg@n."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from proctor.lazy import np
from proctor.scoring.repeats import at_least_one_as_product

_THRESHOLDS = (0.0, 0.25, 0.5, 0.75, 1.0)  # OpenCompass' GPassKEvaluator reports these


def g_pass_at_k(n: int, c: int, k: int, threshold: float) -> float:
    """Return the chance that at least ``threshold`` of ``k`` runs are right (Liu et al. 2024)."""
    return _at_least(n, c, k, max(math.ceil(k * threshold), 1))


def mg_pass_at_k(n: int, c: int, k: int) -> float:
    """Return the mean of G-Pass@k over thresholds from one half to one (Liu et al. 2024)."""
    return 2 * sum(_at_least(n, c, k, m) for m in range(math.ceil(k * 0.5) + 1, k + 1)) / k


def _at_least(n: int, c: int, k: int, m: int) -> float:
    if m > min(c, k) or k > n or c < 0 or n <= 0 or m < 0:
        return 0.0
    ways = sum(math.comb(c, i) * math.comb(n - c, k - i) for i in range(m, min(c, k) + 1))
    return ways / math.comb(n, k)


def over_runs(project: str, groups: Mapping[str, Sequence[bool]], k: int | Sequence[int], n: int) -> dict[str, float]:
    """Return the scores over runs, in percent, as upstream names them.

    Args:
        project: Whose scores: OpenCompass gives G-Pass@k, AISBench pass@k, cons@k and avg@n.
        groups: Whether each run was right, for each row by ``<subdivision>_<position>``.
        k: How many runs are drawn.
        n: How many there are.
    """
    sizes = [k] if isinstance(k, int) else list(k)
    if n == 1 or max(sizes) == 1 or not groups:
        return {}
    of_row = _aisbench_row if project == "aisbench" else _opencompass_row
    rows = {name: of_row(sum(marks), sizes, n) for name, marks in groups.items()}
    divisions = sorted({name.split("_")[0] for name in rows})
    whole = _means(rows.values())
    parts = {
        f"{division}/{metric}": value
        for division in divisions
        for metric, value in _means(row for name, row in rows.items() if name.split("_")[0] == division).items()
    }
    if project == "aisbench":
        return {**whole, **(parts if len(divisions) > 1 else {})}
    return {**parts, **whole}


def _opencompass_row(right: int, sizes: Sequence[int], n: int) -> dict[str, float]:
    scores: dict[str, float] = {}
    for k in sizes:
        scores |= {f"G-Pass@{k}_{threshold}": g_pass_at_k(n, right, k, threshold) for threshold in _THRESHOLDS}
        scores[f"mG-Pass@{k}"] = mg_pass_at_k(n, right, k)
    return scores


def _aisbench_row(right: int, sizes: Sequence[int], n: int) -> dict[str, float]:
    scores = {f"avg@{n}": right / n}
    for k in sizes:
        scores |= {f"pass@{k}": at_least_one_as_product(n, right, k), f"cons@{k}": float(right > k / 2)}
    return scores


def _means(rows: Any) -> dict[str, float]:
    listed = list(rows)
    return {metric: 100.0 * float(np.mean([row[metric] for row in listed])) for metric in listed[0]}


def replica_positions(count: int, n: int, *, in_blocks: bool) -> list[list[int]]:
    """Return the positions of each run's rows: whole blocks (OpenCompass), or every ``n``-th row (AISBench)."""
    size = count // n
    if in_blocks:
        return [list(range(run * size, (run + 1) * size)) for run in range(n)]
    return [[row * n + run for row in range(size)] for run in range(n)]


_OF_RUNS: Final = re.compile(r"(pass|cons)@(\d+)")
_AVERAGE: Final = re.compile(r"(.+) \((\d+) runs average\)")


def tabled(names: Iterable[str]) -> list[str]:
    """Return the names of scores that upstream's tables and files have, those of several runs in its order.

    Where an evaluator tells nothing of single rows, upstream has the last run's scores only; the means that
    :func:`averaged` puts beside them are ours.

    >>> tabled(["accuracy", "accuracy (3 runs average)"])
    ['accuracy']
    >>> tabled(["accuracy (3 runs average)", "avg@3", "cons@3", "pass@3"])
    ['accuracy (3 runs average)', 'avg@3', 'pass@3', 'cons@3']
    """
    listed = list(names)

    def is_ours(name: str) -> bool:
        if (mean := _AVERAGE.fullmatch(name)) is None:
            return False
        renamed = mean[1] == "accuracy" and "pass@1" in listed and f"avg@{mean[2]}" not in listed
        return mean[1] in listed or renamed

    kept = [name for name in listed if not is_ours(name)]
    if not any(name.startswith("avg@") for name in kept):
        return kept
    runs = [each for name in kept if (each := _OF_RUNS.fullmatch(name))]
    ordered = iter(sorted(runs, key=lambda each: (int(each[2]), each[1] != "pass")))
    return [next(ordered)[0] if _OF_RUNS.fullmatch(name) else name for name in kept]


def mean_of_runs(name: str, count: int) -> str:
    """Return what upstream calls the mean of a score over runs."""
    return f"{name} ({count} runs average)"


def meant_by(name: str) -> str | None:
    """Return of what a score is the mean over runs; ``None`` where it is none."""
    found = _AVERAGE.fullmatch(name)
    return None if found is None else found[1]


def averaged(runs: Sequence[Mapping[str, Any]], project: str) -> dict[str, Any]:
    """Return the mean of each number over runs, named as upstream names it; other values as lists."""
    made: dict[str, Any] = {}
    for name in runs[0]:
        values = [run[name] for run in runs if name in run]
        if isinstance(values[0], bool) or not isinstance(values[0], int | float):
            made[name] = values
        else:
            shown = "accuracy" if name == "pass@1" and project == "aisbench" else name
            made[mean_of_runs(shown, len(runs))] = float(np.mean(values))
    return made
