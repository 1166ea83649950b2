"""Metrics of answers to questions about texts, pages and charts."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from proctor.scoring.columns import Columns
from proctor.scoring.distances import normalize_answer
from proctor.scoring.global_metric import CountedMetric, Counts, Finished, ratio
from proctor.scoring.metrics.strings import token_overlap, websrc_f1
from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Floats

TOLERANCE = 0.05  # relaxed accuracy of ChartQA (Masry et al., 2022): within 5% of a number


class Squad(CountedMetric):
    """SQuAD's exact match and F1, from 0 to 1; the best over the references.

    Predictions and references are texts, or the dicts of SQuAD's own script (``prediction_text``; ``answers`` with
    ``text``).
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "f1"

    def inputs(self, columns: Columns) -> Columns:
        """Return the columns; a dict of references counts as one of them."""
        if not any(isinstance(each, dict) for each in columns.references):
            return columns
        return replace(columns, references=[[each] if isinstance(each, dict) else each for each in columns.references])

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return matches and F1 of each instance."""
        rows = [
            _squad(_text(prediction), _texts(each)) for prediction, each in zip(predictions, references, strict=True)
        ]
        return Counts(np.array([[*row, 1.0] for row in rows]), self._finish)

    @staticmethod
    def _finish(sums: Floats) -> Finished:
        return {"exact_match": ratio(sums[:, 0], sums[:, 2]), "f1": ratio(sums[:, 1], sums[:, 2])}


def _text(prediction: Any) -> str:
    return str(prediction["prediction_text"] if isinstance(prediction, dict) else prediction)


def _texts(references: list[Any]) -> list[str]:
    texts: list[str] = []
    for reference in references:
        texts += reference["answers"]["text"] if isinstance(reference, dict) else [str(reference)]
    return texts


def _squad(prediction: str, references: list[str]) -> tuple[float, float]:
    normal = normalize_answer(prediction)
    exact = max(float(normal == normalize_answer(reference)) for reference in references)
    return exact, max(token_overlap(prediction, reference)[2] for reference in references)


class RelaxedCorrectness(CountedMetric):
    """Equality of texts, or of numbers within 5% (ChartQA, Masry et al. 2022, 5.1), by split of ``type``."""

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "relaxed_overall"
    prediction_type: object = str

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return what is right, over all and by split."""
        rows = []
        for prediction, each, fields in zip(predictions, references, task_data, strict=True):
            right, human = float(_is_close(prediction, each[0])), float(fields["type"] == "human_test")
            rows.append([right, 1.0, right * human, human, right * (1 - human), 1 - human])
        return Counts(np.array(rows), self._finish)

    @staticmethod
    def _finish(sums: Floats) -> Finished:
        names = ("relaxed_overall", "relaxed_human_split", "relaxed_augmented_split")
        found = {name: ratio(sums[:, 2 * i], sums[:, 2 * i + 1], np.nan) for i, name in enumerate(names)}
        return {name: values for name, values in found.items() if not np.isnan(values).all()}


def _is_close(prediction: str, target: str) -> bool:
    given, wanted = _number(prediction), _number(target)
    if given is not None and wanted:
        return abs(given - wanted) / abs(wanted) <= TOLERANCE
    return prediction.lower() == target.lower()


def _number(text: str) -> float | None:
    try:
        return float(text.rstrip("%")) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        return None


class WebsrcSquadF1(CountedMetric):
    """F1 of words and marks in answers about web pages, rounded to three places (WebSRC)."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "websrc_squad_f1"

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return F1 of each instance."""
        scores = [websrc_f1(str(given), str(each[0])) for given, each in zip(predictions, references, strict=True)]
        return Counts(np.array([[score, 1.0] for score in scores]), self._finish)

    @staticmethod
    def _finish(sums: Floats) -> Finished:
        return {"websrc_squad_f1": np.round(sums[:, 0] / sums[:, 1], 3)}
