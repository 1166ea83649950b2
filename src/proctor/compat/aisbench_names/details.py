"""What became of each answer, as AISBench writes it beside scores (``--dump-eval-details``)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

_LABEL = "label: "
_Rows = Sequence[Mapping[str, Any]]


def formatted(
    predictions: Sequence[Any],
    references: Sequence[Any],
    details: _Rows | None,
    model_details: _Rows | None,
    said: _Rows,
) -> dict[str, Any]:
    """Return what became of each answer, by its position, and the ``type``: ``PPL`` or ``GEN``.

    Args:
        predictions: After their post-processors.
        references: The right answers.
        details: What the evaluator says of each answer.
        model_details: What it says of what a model read out of each.
        said: The answers as they were written down.
    """
    found: dict[str, Any] = {}
    for place, prediction in enumerate(predictions):
        answer = said[place]
        labels = [key for key in answer if key.startswith(_LABEL.rstrip())]
        found["type"] = "PPL" if labels else "GEN"
        plain = {"predictions": str(prediction), "references": str(references[place])}
        if labels:
            shown = {
                "origin_prediction": _labelled(answer),
                **plain,
                "correct": str(prediction) == str(references[place]),
            }
        else:
            shown = {"prompt": answer["origin_prompt"] if details is None else answer.get("origin_prompt")}
            shown["origin_prediction"] = answer["prediction"]
            shown |= plain if details is None else _judged(details[place], model_details, place)
        found[str(place)] = shown
    return found


def _judged(detail: Mapping[str, Any], model_details: _Rows | None, place: int) -> dict[str, Any]:
    shown = {"predictions": detail["pred"], "references": detail["answer"], "correct": detail["correct"]}
    if model_details is None:
        return shown
    read = model_details[place]
    return {**shown, "model_extract_predictions": read["pred"], "model_extract_correct": read["correct"]}


def _labelled(answer: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in answer.items():
        if key.startswith(_LABEL.rstrip()):
            found[key.replace(_LABEL, "")] = {name: each for name, each in value.items() if name != "testing input"}
        elif key not in ("in-context examples", "prediction"):
            found[key] = value
    return found


def bits_per_byte(said: _Rows) -> tuple[float, float]:
    """Return the bits per byte of the labels with the fewest, and of the others on average, times 100.

    Raises:
        StatisticsError: No answer has any.
    """
    best, others = [], []
    for answer in said:
        bits = [value["BPB"] for key, value in answer.items() if key.startswith(_LABEL)]
        best.append(min(bits))
        others.append((sum(bits) - min(bits)) / (len(bits) - 1))
    return 100 * _mean(best), 100 * _mean(others)


def _mean(values: Sequence[float]) -> float:
    return statistics.mean(value for value in values if not math.isnan(value))
