"""Metrics that compare texts: containment, overlap of tokens, edit distances."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from proctor.data.operator import FieldOperator
from proctor.errors import MissingFieldError, ValidationError
from proctor.scoring.distances import levenshtein, normalize_answer
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.map_reduce import ReductionInstanceMetric
from proctor.scoring.metric import present
from proctor.scoring.reductions import AggregationReduction, MeanReduction
from proctor.scoring.scores import Unit

_MEMORY = 10_000  # texts, some tens of MB: labels and references come again, and long answers need not stay


class StringContainment(ReductionInstanceMetric[Any, dict[str, float]]):
    """1 where a reference is part of the prediction."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "string_containment"
    reduction: AggregationReduction = MeanReduction()  # type: ignore[type-arg]

    def map(self, prediction: Any, references: list[Any], task_data: dict[str, Any]) -> dict[str, float]:
        """Return the score of an instance."""
        text = str(prediction)
        return {self.main_score: float(any(str(reference) in text for reference in present(references)))}


class StringContainmentOld(InstanceMetric):
    """1 where a reference is part of the prediction; a base for grouped reductions."""

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "string_containment"
    reduction_map: dict[str, Any] = {"mean": ["string_containment"]}
    ci_scores: list[str] | None = ["string_containment"]

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        text = str(prediction)
        return {self.main_score: float(any(str(reference) in text for reference in present(references)))}


class StringContainmentRatio(InstanceMetric):
    """The share of the values of a field of the task that are part of the prediction."""

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "string_containment"
    reduction_map: dict[str, Any] = {"mean": ["string_containment"]}
    ci_scores: list[str] | None = ["string_containment"]
    field: str | None = None

    def verify(self) -> None:
        """Check that a field is named."""
        super().verify()
        if self.field is None:
            raise ValidationError("StringContainmentRatio needs a 'field'", hint="name the field with the values")

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        if self.field not in task_data:
            raise MissingFieldError(f"the task data has no field '{self.field}'")
        values = task_data[self.field]
        return {self.main_score: sum(str(value) in str(prediction) for value in values) / len(values)}


class JaccardIndex(ReductionInstanceMetric[Any, dict[str, float]]):
    """The best ratio of intersection to union of prediction and a reference, as sets."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "jaccard_index"
    prediction_type: object = list | set
    reduction: AggregationReduction = MeanReduction()  # type: ignore[type-arg]

    def map(self, prediction: Any, references: list[Any], task_data: dict[str, Any]) -> dict[str, float]:
        """Return the score of an instance."""
        given = set(prediction)
        return {self.main_score: max(len(given & set(each)) / len(given | set(each)) for each in references)}


class JaccardIndexString(JaccardIndex):
    """The Jaccard index of texts, cut by ``splitter``."""

    splitter: FieldOperator
    prediction_type: object = str

    def map(self, prediction: Any, references: list[Any], task_data: dict[str, Any]) -> dict[str, float]:
        """Return the score of an instance."""
        cut = self.splitter.process_value
        return super().map(cut(prediction), [cut(reference) for reference in references], task_data)


class TokenOverlap(InstanceMetric):
    """Precision, recall and F1 of normalised tokens; each the best over the references (SQuAD)."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "f1"
    prediction_type: object = str
    reduction_map: dict[str, Any] = {"mean": ["f1", "precision", "recall"]}
    ci_scores: list[str] | None = ["f1", "precision", "recall"]

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of an instance."""
        found = [token_overlap(str(prediction), str(reference)) for reference in references]
        return dict(zip(("precision", "recall", "f1"), map(max, zip(*found, strict=True)), strict=True))


def token_overlap(prediction: str, reference: str) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the normalised tokens of two texts."""
    given, wanted = _tokens(prediction), _tokens(reference)
    same = sum((Counter(given) & Counter(wanted)).values())
    if not same:
        return 0.0, 0.0, 0.0
    precision, recall = same / len(given), same / len(wanted)
    return precision, recall, 2 * precision * recall / (precision + recall)


@lru_cache(maxsize=_MEMORY)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(normalize_answer(text).split())


class ANLS(InstanceMetric):
    """Average normalised Levenshtein similarity; 0 below the threshold (Biten et al. 2019).

    Attributes:
        threshold: Least similarity that counts.
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "anls"
    prediction_type: object = str
    reduction_map: dict[str, Any] = {"mean": ["anls"]}
    threshold: float = 0.5

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        similarity = 1.0 - min(_normalized_distance(prediction, reference) for reference in references)
        return {self.main_score: similarity if similarity >= self.threshold else 0.0}


def anls_of(references: Sequence[str], predictions: Sequence[str], thresh_hold: float = 0.5) -> float:
    """Return :class:`ANLS` of an answer, 0 to 1, under lmms-eval's name of its threshold.

    Args:
        references: What is right; any of them.
        predictions: The answer.
        thresh_hold: Least similarity that counts.
    """
    return float(ANLS(threshold=thresh_hold).compute(list(references), predictions[0], {})["anls"])


@lru_cache(maxsize=_MEMORY)
def _normalized_distance(prediction: str, reference: str) -> float:
    length = max(len(prediction.upper()), len(reference.upper()))
    if not length:
        return 0.0
    first, second = (" ".join(text.strip().lower().split()) for text in (prediction, reference))
    return levenshtein(first, second) / length


class CharEditDistance(InstanceMetric):
    """Edits of characters that make the prediction the reference, white space left out."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "raw"
    higher_is_better: ClassVar[bool | None] = False
    main_score: str = "char_edit_distance"
    prediction_type: object = str
    single_reference_per_prediction: bool = True
    reduction_map: dict[str, Any] = {"mean": ["char_edit_distance"]}
    ci_scores: list[str] | None = ["char_edit_distance"]
    accuracy_metric: bool = False

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        given, wanted = "".join(prediction.split()), "".join(references[0].split())
        longest = max(len(given), len(wanted))
        if not longest:
            return {self.main_score: 0.0}
        distance = levenshtein(wanted, given)
        return {self.main_score: 1 - distance / longest if self.accuracy_metric else distance}


class CharEditDistanceAccuracy(CharEditDistance):
    """One minus the edits of characters by length."""

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "char_edit_dist_accuracy"
    reduction_map: dict[str, Any] = {"mean": ["char_edit_dist_accuracy"]}
    ci_scores: list[str] | None = ["char_edit_dist_accuracy"]
    accuracy_metric: bool = True


class PredictionLength(InstanceMetric):
    """The number of characters in the prediction."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "raw"
    main_score: str = "prediction_length"
    prediction_type: object = str
    single_reference_per_prediction: bool = True
    reduction_map: dict[str, Any] = {"mean": ["prediction_length"]}

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the length of an instance."""
        return {self.main_score: len(prediction)}


class F1Strings(InstanceMetric):
    """F1 of the tokens of the prediction and of all references together, in lower case, as spaCy cuts English."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    _requirements_list: ClassVar[Any] = {"spacy": "pip install 'proctor[text]'"}
    main_score: str = "f1_strings"
    prediction_type: object = str
    reduction_map: dict[str, Any] = {"mean": ["f1_strings"]}

    @cached_property
    def _tokenizer(self) -> Any:
        import spacy  # type: ignore[import-not-found,unused-ignore]

        return spacy.blank("en")

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        wanted, given = (
            Counter(token.text.lower() for token in self._tokenizer(text))
            for text in (" ".join(references), prediction)
        )
        same = sum((wanted & given).values())
        total = sum(wanted.values()) + sum(given.values())
        return {self.main_score: 2 * same / total if same else 0.0}


def websrc_f1(prediction: str, reference: str) -> float:
    """Return F1 of the sets of words and marks of two texts."""
    given, wanted = (set(re.findall(r"\w+|[^\w\s]", text.lower().strip())) for text in (prediction, reference))
    same = len(given & wanted)
    if not same:
        return 0.0
    precision, recall = same / len(given), same / len(wanted)
    return 2 * precision * recall / (precision + recall)
