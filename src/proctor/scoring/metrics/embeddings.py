"""Metrics that embed texts: BERTScore, and cosines of sentence embeddings.

Models load when first used; ``sentence-transformers`` and ``bert-score`` (``proctor[embeddings]``) are optional.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from proctor.data.hub_access import is_local_only
from proctor.errors import ScoringError, needed
from proctor.scoring.map_reduce import EvaluationInput, MapReduceMetric
from proctor.scoring.metrics.models import (
    MODELS_KEPT,
    LoadsModel,
    MeanOfModelScores,
    device,
    loading,
    place_of,
    where_referenced,
)
from proctor.scoring.reductions import AggregationReduction, MeanReduction, matrix
from proctor.scoring.scores import Unit
from proctor.statistics.resampling import Means, Resampler


class BertScore(LoadsModel, MapReduceMetric[str, dict[str, float]]):
    """BERTScore (Zhang et al. 2020): tokens matched by contextual embeddings; the best over the references."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "raw"
    main_score: str = "f1"
    reduction: AggregationReduction = MeanReduction()  # type: ignore[type-arg]
    model_name: str
    batch_size: int = 32
    model_layer: int | None = None

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> list[Any]:
        """Return precision, recall and F1 of each instance."""
        return where_referenced(evaluation_inputs_stream, self._scores)

    def _scores(self, inputs: list[EvaluationInput]) -> list[Any]:
        scorer = bert_scorer(self.used_model(), self.model_layer, self.batch_size)
        found = scorer.score(
            cands=[each.prediction for each in inputs],
            refs=[list(each.references) for each in inputs],
            batch_size=self.batch_size,
        )
        names = ("precision", "recall", "f1")
        return [dict(zip(names, row, strict=True)) for row in zip(*(part.tolist() for part in found), strict=True)]

    def reduce(self, intermediates: list[dict[str, float]]) -> dict[str, Any]:
        """Return the means."""
        return self.reduction.reduce(intermediates)

    def reduce_one(self, intermidate: dict[str, float]) -> dict[str, Any]:
        """Return the scores of the instance."""
        return dict(intermidate)

    def resampler(self, intermediates: Sequence[dict[str, float]], names: Sequence[str]) -> Resampler:
        """Return resampled means."""
        return Means(matrix(intermediates, names))


@lru_cache(maxsize=MODELS_KEPT)
def bert_scorer(model: str, layer: int | None, batch_size: int) -> Any:
    """Return BERTScore's scorer with a model.

    Raises:
        MissingExtraError: ``bert-score`` is not installed.
        ScoringError: Nobody says which of the model's layers is meant.
    """
    with needed("bert-score", "embeddings", "BERTScore"):
        from bert_score import BERTScorer
    from bert_score.utils import model2layers

    layers = layer or model2layers.get(model)
    if layers is None:
        raise ScoringError(
            f"nobody says which layer of '{model}' BERTScore is to take", hint="set model_layer (the last but few)"
        )
    with loading(model):
        scorer = BERTScorer(model_type=place_of(model), num_layers=layers, batch_size=batch_size, device=device())
    tokenizer = scorer._tokenizer  # noqa: SLF001 - some models give it a limit that overflows
    if tokenizer.model_max_length > 1_000_000:  # noqa: PLR2004
        tokenizer.model_max_length = getattr(scorer._model.config, "max_position_embeddings", 512)  # noqa: SLF001
    if not hasattr(tokenizer, "build_inputs_with_special_tokens"):  # bert-score asks it about empty texts
        tokenizer.build_inputs_with_special_tokens = lambda _tokens: tokenizer.encode("", add_special_tokens=True)
    return scorer


class SentenceBert(LoadsModel, MeanOfModelScores):
    """The cosine of the sentence embeddings of prediction and reference; the best over the references."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "raw"
    main_score: str = "sbert_score"
    model_name: str
    batch_size: int = 32

    def encode(self, texts: Sequence[str]) -> Any:
        """Return an embedding for each text, as an array."""
        return sentence_model(self.used_model()).encode(list(texts), batch_size=self.batch_size)

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> list[Any]:
        """Return the best cosine of each instance."""
        return where_referenced(evaluation_inputs_stream, self._scores)

    def _scores(self, inputs: list[EvaluationInput]) -> list[float]:
        texts = [each.prediction for each in inputs] + [text for each in inputs for text in each.references]
        vectors = np.asarray(self.encode(texts), dtype=np.float64)
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        scores, start = [], len(inputs)
        for vector, each in zip(vectors, inputs, strict=False):
            stop = start + len(each.references)
            scores.append(float((vectors[start:stop] @ vector).max()))
            start = stop
        return scores


def cosine(model: str, first: str, second: str) -> float:
    """Return the cosine of the sentence embeddings of two texts.

    Raises:
        MissingExtraError: ``sentence-transformers`` is not installed.
    """
    vectors = np.asarray(sentence_model(model).encode([first, second]), dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1)
    return float(vectors[0] @ vectors[1] / max(float(norms.prod()), 1e-12))


@lru_cache(maxsize=MODELS_KEPT)
def sentence_model(model: str) -> Any:
    """Return a model of sentence-transformers.

    Raises:
        MissingExtraError: ``sentence-transformers`` is not installed.
    """
    with needed("sentence-transformers", "embeddings", "sentence embeddings"):
        from sentence_transformers import SentenceTransformer
    place = place_of(model)
    with loading(model):
        return SentenceTransformer(
            place, device=device(), trust_remote_code=False, local_files_only=is_local_only(place)
        )
