"""Whether answers keep to the texts that they were written from, said by a model that was trained for it."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from proctor.data.hub_access import is_local_only
from proctor.errors import Diagnostic, MissingExtraError, ScoringError, TrustError
from proctor.scoring.instance_metric import BulkInstanceMetric
from proctor.scoring.metrics.models import MODELS_KEPT, LoadsModel, device, loading, place_of
from proctor.scoring.scores import Unit
from proctor.settings import settings

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
    try:
        from transformers import AutoConfig, AutoModelForSequenceClassification
    except ImportError as error:
        raise MissingExtraError.of("transformers", "hf", "faithfulness by HHEM") from error
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
