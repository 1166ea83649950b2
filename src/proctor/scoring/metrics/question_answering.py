"""Metrics of answers to questions about texts, pages and charts."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

# ruff: noqa: ARG002 - metrics are called with all there is
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from proctor.data.hub_access import is_local_only
from proctor.errors import Diagnostic, ScoringError, TrustError, needed
from proctor.scoring.columns import Columns
from proctor.scoring.distances import normalize_answer
from proctor.scoring.global_metric import CountedMetric, Counts, Finished, ratio
from proctor.scoring.instance_metric import BulkInstanceMetric
from proctor.scoring.metrics.models import MODELS_KEPT, LoadsModel, device, loading, place_of
from proctor.scoring.metrics.strings import token_overlap, websrc_f1
from proctor.scoring.scores import Unit
from proctor.settings import settings
from proctor.statistics.arrays import Floats

_HINT = "--trust-code (settings.trust_code, PROCTOR_TRUST_CODE=1) lets it run; read the model's repository first"


class FaithfulnessHHEM(LoadsModel, BulkInstanceMetric):
    """How sure HHEM-2.1 is that an answer (the prediction) follows from its contexts (the references), 0 to 1.

    The model brings the code that scores pairs along, so that it runs only where code of exams may.
    Source: Unitxt's metric of this name, and the model's card.

    Attributes:
        batch_size: Pairs that the model reads at once.
        max_context_words: Words, as blanks separate them, of the joined contexts that the model is shown.
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "hhem_score"
    prediction_type: object = str
    reduction_map: dict[str, Any] = {"mean": ["hhem_score"]}
    model_name: str = "vectara/hallucination_evaluation_model"
    batch_size: int = 2
    max_context_words: int = 4096

    def check(self) -> Iterator[Diagnostic]:
        """Yield that the model's code may not run."""
        if not settings.trust_code:
            yield Diagnostic(f"{self.model_name} brings code of its own along", why=f"{self.name} runs it", hint=_HINT)

    def compute(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the score of each instance.

        Raises:
            TrustError: Nobody said that the model's code may run.
            ScoringError: The model's code scores no pairs.
        """
        pairs = [[self._context(contexts), answer] for contexts, answer in zip(references, predictions, strict=True)]
        model = _hhem(self.used_model(), trusted=bool(settings.trust_code))
        scores: list[float] = []
        for start in range(0, len(pairs), self.batch_size):
            scores += map(float, model.predict(pairs[start : start + self.batch_size]).cpu().tolist())
        return [{self.main_score: score} for score in scores]

    def _context(self, contexts: Sequence[Any]) -> str:
        return " ".join("\n".join(map(str, contexts)).split(" ")[: self.max_context_words])


@lru_cache(maxsize=MODELS_KEPT)
def _hhem(name: str, *, trusted: bool) -> Any:
    if not trusted:
        raise TrustError(f"the model '{name}' brings code of its own along", hint=_HINT)
    with needed("transformers", "hf", "faithfulness by HHEM"):
        from transformers import AutoConfig, AutoModelForSequenceClassification
    place = place_of(name)
    with loading(name):
        shared: dict[str, Any] = {"trust_remote_code": True, "local_files_only": is_local_only(place)}
        config = AutoConfig.from_pretrained(place, **shared)  # fails at once where nothing is there
        model = AutoModelForSequenceClassification.from_pretrained(place, config=config, **shared)
    if not hasattr(model, "predict"):
        raise ScoringError(
            f"the model '{name}' scores no pairs", why=f"{type(model).__name__} has no method 'predict', which HHEM has"
        )
    return model.to(device())


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
            _squad(str(prediction["prediction_text"] if isinstance(prediction, dict) else prediction), _texts(each))
            for prediction, each in zip(predictions, references, strict=True)
        ]
        return Counts(np.array([[*row, 1.0] for row in rows]), self._finish)

    @staticmethod
    def _finish(sums: Floats) -> Finished:
        return {"exact_match": ratio(sums[:, 0], sums[:, 2]), "f1": ratio(sums[:, 1], sums[:, 2])}


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
