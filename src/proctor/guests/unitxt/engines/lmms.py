"""The engines that Unitxt users know from lmms-eval, as thin names over transformers models that read pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from proctor.artifacts import NON_POSITIONAL
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.loading import Family, ModelSource
from proctor.engines.inference import OnFailure, Predictions, Row
from proctor.guests.unitxt.engines.words import ToldInUnitxtWords, engine_id, in_unitxt_words

_CONVERTED = {
    "liuhaotian/llava-v1.5-7b": "llava-hf/llava-1.5-7b-hf",
    "liuhaotian/llava-v1.5-13b": "llava-hf/llava-1.5-13b-hf",
    "liuhaotian/llava-v1.6-mistral-7b": "llava-hf/llava-v1.6-mistral-7b-hf",
    "liuhaotian/llava-v1.6-vicuna-7b": "llava-hf/llava-v1.6-vicuna-7b-hf",
    "lmms-lab/llava-onevision-qwen2-7b-ov": "llava-hf/llava-onevision-qwen2-7b-ov-hf",
    "lmms-lab/llava-onevision-qwen2-0.5b-ov": "llava-hf/llava-onevision-qwen2-0.5b-ov-hf",
}
"""Models that lmms-eval loads with code of their own, under the names that transformers can load."""


class LMMSEvalInferenceEngine(ToldInUnitxtWords, HFEngine):
    """A model that reads text and pictures, by the arguments that lmms-eval takes.

    Attributes:
        model_type: lmms-eval's name of the kind of model; transformers finds it out by itself.
        model_args: Its arguments; ``pretrained`` names the model.
        generate_until: Strings that end an answer.
        do_sample, image_token, lazy_load, use_cache, cache_batch_size: Kept so that saved engines load; pictures are
            where the messages have them.
    """

    transient_fields: ClassVar[frozenset[str]] = HFEngine.transient_fields | {
        "cache_batch_size",
        "image_token",
        "lazy_load",
        "use_cache",
    }

    model: str = ""
    family: Family | None = "image-text"
    batch_size: int | str = 1
    max_new_tokens: int = 32
    model_type: Annotated[str, NON_POSITIONAL] = ""
    model_args: Annotated[dict[str, Any], NON_POSITIONAL] = {}
    do_sample: Annotated[bool, NON_POSITIONAL] = False
    generate_until: Annotated[list[str], NON_POSITIONAL] = ["\n\n"]
    image_token: Annotated[str, NON_POSITIONAL] = "<image>"  # noqa: S105 - a placeholder
    lazy_load: Annotated[bool, NON_POSITIONAL] = False
    use_cache: Annotated[bool, NON_POSITIONAL] = True
    cache_batch_size: Annotated[int, NON_POSITIONAL] = 100

    @model_validator(mode="before")
    @classmethod
    def _model_of_arguments(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("model"):
            return values
        return {**values, "model": _model_in(values.get("model_args") or {})}

    def get_engine_id(self) -> str:
        """Return the name that Unitxt would file this engine under: the kind of model."""
        return engine_id(self.model_type, "lmms-eval")

    def to_dict(self) -> dict[str, Any]:
        """Return the engine as data, with Unitxt's names."""
        return in_unitxt_words(super().to_dict(), {}, self._given, {"model": _model_in(self.model_args)})

    def decoding_defaults(self) -> Mapping[str, Any]:
        """Return the decoding that the fields ask for."""
        return {**super().decoding_defaults(), "stop": tuple(self.generate_until) or None}

    def source(self) -> ModelSource:
        """Return what to load: the model under the name that transformers knows."""
        return replace(super().source(), name=_CONVERTED.get(self.model, self.model))


def _model_in(arguments: Mapping[str, Any]) -> str:
    """Return the model that lmms-eval's arguments name."""
    return str(arguments.get("pretrained") or arguments.get("model") or "")


class LMMSEvalLoglikelihoodInferenceEngine(LMMSEvalInferenceEngine):
    """Predicts the option in ``task_data["options"]`` that is most likely after the source.

    Attributes:
        request_type: The one kind of request there is; kept so that saved engines load.
    """

    transient_fields: ClassVar[frozenset[str]] = LMMSEvalInferenceEngine.transient_fields | {"request_type"}
    request_type: Annotated[Literal["loglikelihood"], NON_POSITIONAL] = "loglikelihood"

    def infer(
        self, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return the chosen option of each row, or the rows themselves with details."""
        chosen = self.select(dataset, on_failure)
        found = chosen if return_meta_data else [row["prediction"] for row in chosen]
        return Predictions(found, {"inference_engine_type": type(self).__name__, "init_dict": self.to_dict()})
