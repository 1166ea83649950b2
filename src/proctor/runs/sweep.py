"""What a sweep came to, as JSON-like data: scores by wording, their distribution, what flips."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from proctor.running.sweeps import DEMOS, DRAW, Design
from proctor.runs.sweep_scores import CellScore, SweepScores
from proctor.statistics.arrays import Floats
from proctor.statistics.decision_study import decisions_of
from proctor.statistics.variance_components import components_of
from proctor.statistics.wording_spread import flips, most_flipped, spread_of

_MOST_FLIPS: Final = 50
"""Questions that are listed of those that flip: a page of them."""
_FEWEST: Final = 2  # wordings, or questions: of one nothing varies


def result_of(scores: SweepScores, design: Design) -> dict[str, Any]:
    """Return what a sweep came to, as JSON-like data; what cannot be said is left out, with its reason in ``notes``.

    ``cells`` are the wordings with their scores; ``over_wordings`` is the score of the exam over all of them, with an
    interval that holds for other wordings, too; ``distribution`` has the quantiles and the worst cases, ``flips`` the
    questions that wordings decide, ``components`` where the variance comes from, ``decisions`` what makes it smaller.
    """
    main = scores.cells[0].score
    result: dict[str, Any] = {
        "metric": main.name,
        "unit": main.unit,
        "higher_is_better": main.higher_is_better is not False,
        "questions": len(scores.questions),
        "cells": [_cell(each) for each in scores.cells],
        "notes": [],
    }
    if lacking := len(design.cells) * max(1, len(design.readings)) - len(scores.cells):
        result["notes"].append(f"{lacking} of the wordings have no score: the same command goes on with them")
    metrics = list(dict.fromkeys(each.score.name for each in scores.cells))
    if len(metrics) > 1:
        result["notes"].append(f"wordings are scored by different metrics: {', '.join(metrics)}")
    if not scores.is_mean:
        result["notes"].append(f"{main.name} is not a mean over questions: only the scores of the wordings are told")
        return result
    table = scores.table()
    whole: NDArray[np.bool_] = np.asarray(~np.isnan(table).any(axis=0))
    if left_out := int((~whole).sum()):
        result["notes"].append(
            f"{left_out} of {table.shape[1]} questions lack a score under some wording, and count in the table of "
            "scores alone"
        )
    result["shared"] = int(whole.sum())
    if len(scores.cells) < _FEWEST or result["shared"] < _FEWEST:
        result["notes"].append("one wording, or one question, says nothing of how wordings differ")
        return result
    kept = [each for each, is_kept in zip(scores.questions.values(), whole, strict=True) if is_kept]
    _add_spread(result, scores, table[:, whole], kept)
    _add_components(result, scores, table[:, whole])
    return result


def _cell(cell: CellScore) -> dict[str, Any]:
    score = cell.score
    return {
        "name": cell.name,
        "folder": cell.folder,
        "levels": dict(cell.levels),
        "metric": score.name,
        "score": score.number,
        "low": score.low,
        "high": score.high,
        "n": len(cell.values),
        "failures": cell.failures,
    }


def _add_spread(
    result: dict[str, Any], scores: SweepScores, table: Floats, questions: Sequence[tuple[int, str]]
) -> None:
    better = bool(result["higher_is_better"])
    spread = spread_of(table, higher_is_better=better)
    means = table.mean(axis=1)
    worst, best = (int(np.argmin(means)), int(np.argmax(means)))[:: 1 if better else -1]
    result["distribution"] = {
        "quantiles": [
            {"of": q, "score": v, "low": low, "high": high} for q, (v, low, high) in spread.quantiles.items()
        ],
        "worst": scores.cells[worst].name,
        "best": scores.cells[best].name,
        "worst_of_each": dict(zip(("score", "low", "high"), spread.worst_of_each, strict=True)),
    }
    share = flips(table)
    result["flips"] = [
        {"number": questions[place][0], "question": questions[place][1][:200], "flips": float(share[place]),
         "score": float(table[:, place].mean())}
        for place in most_flipped(table, _MOST_FLIPS)
    ]  # fmt: skip
    result["flipping"] = int((share > 0).sum())


def _add_components(result: dict[str, Any], scores: SweepScores, table: Floats) -> None:
    """Add where the variance of the scores comes from, the interval over wordings, and what would make it narrower."""
    factors = factors_of([cell.levels for cell in scores.cells])
    found = components_of(table, factors, whole=_WHOLES.get(result["unit"]))
    noises = [cell.noise for cell in scores.cells if cell.noise is not None]
    repeats = scores.cells[0].repeats
    noise = sum(noises) / len(noises) if noises else 0.0
    result["over_wordings"] = {
        "score": found.mean, "low": found.low, "high": found.high, "error": found.error,
        "of_questions_alone": {"low": found.naive_low, "high": found.naive_high},
    }  # fmt: skip
    result["components"] = [asdict(each) for each in found.parts]
    if noises:
        result["answer_noise"] = {"variance": noise, "repeats": repeats}
    result["decisions"] = [asdict(each) for each in decisions_of(found, noise=noise, repeats=repeats)]
    if all(len(set(levels)) < _FEWEST for levels in factors.values()):
        result["notes"].append("no dimension has two levels")


_WHOLES: Final[Mapping[str, float]] = {"share": 1.0, "percent": 100.0}


def factors_of(levels: Sequence[Mapping[str, str]]) -> dict[str, list[Hashable]]:
    """Return the level of each wording by dimension; a draw of demos is one of so many demos, and of no others."""
    found: dict[str, list[Hashable]] = {name: [each.get(name) for each in levels] for name in levels[0]}
    if DRAW in found and DEMOS in found:
        found[DRAW] = list(zip(found[DEMOS], found[DRAW], strict=True))
    return found


def level_means(result: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the mean score of the cells of each level, by dimension; dimensions of one level are left out."""
    found: dict[str, dict[str, list[float]]] = {}
    for cell in result["cells"]:
        if cell["score"] is not None:
            for factor, level in cell["levels"].items():
                found.setdefault(factor, {}).setdefault(level, []).append(cell["score"])
    return {
        factor: {level: sum(values) / len(values) for level, values in levels.items()}
        for factor, levels in found.items()
        if len(levels) > 1
    }
