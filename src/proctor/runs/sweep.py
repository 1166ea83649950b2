"""What a sweep came to, as JSON-like data: scores by wording, their distribution, where their variance comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from proctor.results.comparison import bounded_test
from proctor.running.sweeps import Design
from proctor.runs.sweep_scores import SweepScores, factors_of
from proctor.statistics.arrays import Floats
from proctor.statistics.decision_study import decisions_of
from proctor.statistics.paired_tests import signs_of
from proctor.statistics.variance_components import components_of
from proctor.statistics.wording_spread import Bounded, best_of, flips, most_flipped, spread_of

WHOLES: Final[Mapping[str, float]] = {"share": 1.0, "percent": 100.0}
"""Full scores by their unit."""
_MOST_FLIPS: Final = 50
"""Questions that are listed of those that flip: a page of them."""
_FEWEST: Final = 2  # wordings, or questions: of one nothing varies


def result_of(scores: SweepScores, design: Design) -> dict[str, Any]:
    """Return what a sweep came to, as JSON-like data; what cannot be said is left out, with its reason in ``notes``.

    ``cells`` are the wordings with their scores; ``over_wordings`` is the score of the exam over all of them, with an
    interval that holds for other wordings, too; ``distribution`` has the quantiles and the worst cases, ``flips`` the
    questions that wordings decide, ``components`` where the variance comes from, ``decisions`` what makes it smaller,
    ``best`` the best wording, corrected for having been chosen, and ``differences`` those of all others from it.
    """
    main, notes = scores.cells[0].score, list[str]()
    cells = [
        {"name": each.name, "folder": each.folder, "levels": dict(each.levels), "metric": each.score.name,
         "score": each.score.number, "low": each.score.low, "high": each.score.high, "n": len(each.values),
         "failures": each.failures}
        for each in scores.cells
    ]  # fmt: skip
    result: dict[str, Any] = {"metric": main.name, "unit": main.unit, "cells": cells, "notes": notes}
    result |= {"higher_is_better": main.higher_is_better is not False, "questions": len(scores.questions)}
    metrics = dict.fromkeys(each.score.name for each in scores.cells)
    if lacking := len(design.cells) * max(1, len(design.readings)) - len(cells):
        notes.append(f"{lacking} of the wordings have no score: the same command goes on with them")
    if len(metrics) > 1:
        notes.append(f"wordings are scored by different metrics: {', '.join(metrics)}")
    if not all(each.is_mean for each in scores.cells):
        notes.append(f"{main.name} is not a mean over questions: only the scores of the wordings are told")
        return result
    table = scores.table(list(scores.questions))
    whole = np.flatnonzero(~np.isnan(table).any(axis=0))
    result["shared"] = len(whole)
    if left_out := table.shape[1] - len(whole):
        notes.append(f"{left_out} questions lack a score under some wording, and count in the table of scores alone")
    if len(cells) < _FEWEST or len(whole) < _FEWEST:
        notes.append("one wording, or one question, says nothing of how wordings differ")
        return result
    kept = list(scores.questions.values())
    table = table[:, whole]
    return result | _spread(result, table, [kept[place] for place in whole]) | _components(result, scores, table)


def _bounded(found: Bounded) -> dict[str, float]:
    return dict(zip(("score", "low", "high"), found, strict=True))


def _spread(result: Mapping[str, Any], table: Floats, questions: Sequence[tuple[int, str]]) -> dict[str, Any]:
    """Return the distribution over wordings, the best of them, and what flips."""
    better, names = bool(result["higher_is_better"]), [each["name"] for each in result["cells"]]
    quantiles, worst_of_each = spread_of(table, higher_is_better=better)
    means, share, best = table.mean(axis=1), flips(table), best_of(table, higher_is_better=better)
    differences = []
    for place, name in enumerate(names):
        if place != best.place:
            test = bounded_test(table[best.place], table[place], None, WHOLES.get(result["unit"]))
            low, high = test.interval(1.0 - best.pair_level)
            decided = signs_of(test, 1.0 - best.pair_level)[0] != 0
            ends = {} if np.isnan(low + high) else {"low": float(low), "high": float(high)}
            differences.append({"name": name, "difference": test.difference, "decided": decided, **ends})
    return {
        "distribution": {
            "quantiles": [{"of": q, **_bounded(each)} for q, each in quantiles.items()],
            "worst": names[int(np.argmin(means) if better else np.argmax(means))],
            "worst_of_each": _bounded(worst_of_each),
        },
        "best": {"name": names[best.place], "observed": float(means[best.place]), **_bounded(best.corrected)},
        "differences": differences,
        "flipping": int((share > 0).sum()),
        "flips": [
            {"number": questions[place][0], "question": questions[place][1][:200], "flips": float(share[place]),
             "score": float(table[:, place].mean())}
            for place in most_flipped(table, _MOST_FLIPS)
        ],
    }  # fmt: skip


def _components(result: Mapping[str, Any], scores: SweepScores, table: Floats) -> dict[str, Any]:
    """Return where the variance comes from, the interval over wordings, and what would make it narrower."""
    found = components_of(table, factors_of(scores.cells), whole=WHOLES.get(result["unit"]))
    noises = [cell.noise for cell in scores.cells if cell.noise is not None]
    noise, repeats = sum(noises) / max(len(noises), 1), scores.cells[0].repeats
    return {
        "over_wordings": {
            "score": found.mean, "low": found.low, "high": found.high, "error": found.error,
            "of_questions_alone": {"low": found.naive_low, "high": found.naive_high},
        },
        "components": [asdict(each) for each in found.parts],
        "answer_noise": {"variance": noise, "repeats": repeats} if noises else None,
        "decisions": [each._asdict() for each in decisions_of(found, noise=noise, repeats=repeats)],
    }  # fmt: skip
