"""The result of a sweep of which a part was asked: estimates for the whole grid, marked as such wherever they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from proctor.statistics.arrays import Floats
from proctor.statistics.wording_model import FEW, few_of, modelled
from proctor.statistics.wording_spread import Bounded

METHOD: Final = "PromptEval: logistic wording and question effects"
_CAVEAT: Final = (
    "where a few wordings score far from the others, the median's interval held in two of three simulations"
)

_FEW: Final = 10  # wordings up to which it held in 93% to 100%, however far some score from the others


def estimates_of(
    result: Mapping[str, Any],
    part: Mapping[str, Any],
    table: Floats,
    factors: Mapping[str, Sequence[Any]],
    whole: float,
) -> dict[str, Any]:
    """Return the parts of a result that a model says.

    Args:
        result: What was measured: its ``cells`` get an ``estimate``.
        part: What was asked, as the design says it.
        table: The scores, a row for each wording; NaN where none is known.
        factors: The level of each wording by dimension.
        whole: The full score.
    """
    unasked = np.full((len(table), max(0, part["questions"] - table.shape[1])), np.nan)
    found = modelled(np.hstack([table, unasked]) / whole, factors)
    cells = [
        {**cell, "estimate": _scaled(each, whole)} for cell, each in zip(result["cells"], found.wordings, strict=True)
    ]
    order = sorted(cells, key=lambda cell: cell["estimate"]["score"], reverse=not result["higher_is_better"])
    alone = _scaled(found.alone, whole)
    over = {**_scaled(found.over, whole), "error": found.error * whole}
    levels = {name: len(set(values)) for name, values in factors.items()}
    return {
        "cells": cells,
        "notes": [*result["notes"], *[_CAVEAT] * (len(table) > _FEW), *few_note(factors)],
        "questions": part["questions"],
        "estimated": {
            "method": METHOD, "asked": part["asked"], "of": part["of"], "scored": int((~np.isnan(table)).sum()),
            "mean": _scaled(found.mean, whole),
        },
        "over_wordings": {
            "mean": over.pop("score"), **over, "naive_low": alone["low"], "naive_high": alone["high"],
            "questions": part["questions"], "levels": levels,
        },
        "distribution": {
            "quantiles": [{"of": q, **_scaled(each, whole)} for q, each in found.quantiles.items()],
            "worst": order[0]["name"],
        },
    }  # fmt: skip


def few_note(factors: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return what has to be known of an interval over wordings some dimensions of which have few levels."""
    few = few_of(factors)
    return [f"over wordings: for these levels of {few}; fewer than {FEW} do not say what others score"] * bool(few)


def _scaled(found: Bounded, whole: float) -> dict[str, float]:
    return {name: value * whole for name, value in zip(("score", "low", "high"), found, strict=True)}
