"""Metrics of summaries and free text: ROUGE, METEOR."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from proctor.errors import MissingExtraError, ScoringError, needed
from proctor.logs import get_logger
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.map_reduce import ReductionInstanceMetric
from proctor.scoring.reductions import AggregationReduction, MeanReduction
from proctor.scoring.scores import Unit

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])")


class Rouge(InstanceMetric):
    """ROUGE F-measures (Lin 2004) by the package ``rouge-score``, without stemming; the best over the references.

    Attributes:
        rouge_types: Scores to compute.
        sent_split_newline: Cut texts into sentences for ``rougeLsum``.
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "rougeL"
    prediction_type: object = str
    rouge_types: list[str] = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    reduction_map: dict[str, Any] = {"mean": ["rouge1", "rouge2", "rougeL", "rougeLsum"]}
    ci_scores: list[str] | None = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    sent_split_newline: bool = True

    @cached_property
    def _scorer(self) -> Any:
        with needed("rouge-score", "text", self.name):
            from rouge_score.rouge_scorer import RougeScorer
        return RougeScorer(rouge_types=self.rouge_types, use_stemmer=False)

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of an instance."""
        if not references:
            raise ScoringError("ROUGE needs a reference")
        if self.sent_split_newline:
            prediction = "\n".join(sentences(prediction.strip()))
            references = ["\n".join(sentences(reference.strip())) for reference in references]
        found = self._scorer.score_multi(references, prediction)
        return {name: score.fmeasure for name, score in found.items()}


class RougeHF(Rouge):
    """An old name of :class:`Rouge`."""


def sentences(text: str) -> list[str]:
    """Cut English text into sentences: by NLTK's Punkt where its data is here, else by a rule."""
    tokenizer = _punkt()
    if tokenizer is not None:
        return list(tokenizer.tokenize(text))
    return [part for part in _SENTENCE_END.split(text) if part]


@lru_cache(maxsize=1)
def _punkt() -> Any:
    try:
        from nltk.tokenize import PunktTokenizer
    except ImportError:
        get_logger().warning("sentences are cut by a simple rule: pip install 'proctor[text]' for NLTK's Punkt")
        return None
    try:
        return PunktTokenizer("english")
    except LookupError:
        get_logger().warning("sentences are cut by a simple rule: python -m nltk.downloader punkt_tab for NLTK's Punkt")
        return None


class MeteorFast(ReductionInstanceMetric[str, dict[str, float]]):
    """METEOR (Banerjee & Lavie 2005) by NLTK, which needs its data ``wordnet`` and ``punkt_tab``.

    Attributes:
        alpha: Weight of precision against recall.
        beta: Shape of the penalty for fragments.
        gamma: Weight of the penalty.
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "meteor"
    prediction_type: object = str
    reduction: AggregationReduction = MeanReduction()  # type: ignore[type-arg]
    alpha: float = 0.9
    beta: float = 3
    gamma: float = 0.5

    def map(self, prediction: str, references: list[str], task_data: dict[str, Any]) -> dict[str, float]:
        """Return the score of an instance."""
        return {self.main_score: meteor(prediction, references, self.alpha, self.beta, self.gamma)}


class Meteor(InstanceMetric):
    """METEOR as an instance metric."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "meteor"
    prediction_type: object = str
    reduction_map: dict[str, Any] = {"mean": ["meteor"]}
    ci_scores: list[str] | None = ["meteor"]
    alpha: float = 0.9
    beta: float = 3
    gamma: float = 0.5

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        return {self.main_score: meteor(prediction, references, self.alpha, self.beta, self.gamma)}


def meteor(prediction: str, references: list[str], alpha: float, beta: float, gamma: float) -> float:
    """Return the best METEOR of a text over its references.

    Raises:
        MissingExtraError: NLTK or its data is missing.
    """
    with needed("nltk", "text", "METEOR"):
        from nltk import word_tokenize
        from nltk.translate.meteor_score import meteor_score
    try:
        wanted = [word_tokenize(reference) for reference in references]
        return float(meteor_score(wanted, word_tokenize(prediction), alpha=alpha, beta=beta, gamma=gamma))
    except LookupError as error:
        raise MissingExtraError(
            "METEOR needs data of NLTK that is not here", hint="python -m nltk.downloader wordnet omw-1.4 punkt_tab"
        ) from error
