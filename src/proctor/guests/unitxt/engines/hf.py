"""The local engines that Unitxt users know, each a thin name over :class:`~proctor.engines.hf.hf_engine.HFEngine`.

Fields keep their names and meaning. What differs: models load at the first request, whatever ``lazy_load`` says; code
that a model brings along runs only under ``settings.trust_code``; at most 256 tokens are written where nobody says how
many; batches are formed by length, so ``batch_size`` and ``padding`` change no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from proctor.artifacts import NON_POSITIONAL
from proctor.data.hub_access import is_local_only
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.loading import Family, ModelSource
from proctor.engines.inference import OnFailure, Predictions, Row
from proctor.errors import EngineError, UnsupportedRequestError, ValidationError
from proctor.foreign_text import parse_json
from proctor.guests.unitxt.engines.words import ToldInUnitxtWords, engine_id, in_unitxt_words
from proctor.ir import Answers, Generate
from proctor.settings import model_folder, settings

_GENERATION = ("num_beams", "repetition_penalty", "pad_token_id", "eos_token_id")
_TASKS: dict[str, Family] = {
    "text-generation": "causal",
    "text2text-generation": "seq2seq",
    "image-text-to-text": "image-text",
}


class UnitxtHFEngine(ToldInUnitxtWords, HFEngine):
    """What the engines in this module share.

    Attributes:
        do_sample: Sampling is off unless this says so; ``temperature`` alone does nothing.
        use_fp16: Load in bfloat16.
        n_top_tokens: Alternatives for each token of ``infer_log_probs``.
        inference_label: ``inference_type`` of detailed predictions; saved engines call it ``label``.
        lazy_load, use_cache, cache_batch_size, use_fast_tokenizer, low_cpu_mem_usage: Without effect; kept so that
            saved engines load.
    """

    other_names: ClassVar[dict[str, str]] = HFEngine.other_names | {
        "tokenizer_name": "tokenizer",
        "label": "inference_label",
        "chat_kwargs_dict": "chat_template_args",
        "max_generated_tokens": "max_new_tokens",
        "parameters": "generation_kwargs",
    }
    saved_names: ClassVar[dict[str, str]] = {
        "model": "model_name",
        "tokenizer": "tokenizer_name",
        "inference_label": "label",
        "chat_template_args": "chat_kwargs_dict",
    }
    """What Unitxt calls our fields, in engines that are saved."""
    transient_fields: ClassVar[frozenset[str]] = HFEngine.transient_fields | {
        *("inference_label", "lazy_load", "use_cache", "cache_batch_size", "use_fast_tokenizer"),
        *("low_cpu_mem_usage", "n_top_tokens"),
    }

    device: str | None = None  # type: ignore[assignment]
    max_new_tokens: int | None = None  # type: ignore[assignment]
    use_fp16: Annotated[bool, NON_POSITIONAL] = True
    do_sample: Annotated[bool, NON_POSITIONAL] = False
    num_beams: Annotated[int | None, NON_POSITIONAL] = None
    repetition_penalty: Annotated[float | None, NON_POSITIONAL] = None
    pad_token_id: Annotated[int | None, NON_POSITIONAL] = None
    eos_token_id: Annotated[int | None, NON_POSITIONAL] = None
    n_top_tokens: Annotated[int, NON_POSITIONAL] = 5
    inference_label: Annotated[str, NON_POSITIONAL] = ""
    lazy_load: Annotated[bool, NON_POSITIONAL] = False
    use_cache: Annotated[bool, NON_POSITIONAL] = True
    cache_batch_size: Annotated[int, NON_POSITIONAL] = 100
    use_fast_tokenizer: Annotated[bool, NON_POSITIONAL] = True
    low_cpu_mem_usage: Annotated[bool, NON_POSITIONAL] = True

    def verify(self) -> None:
        """Check that the place is said once."""
        super().verify()
        if self.device is not None and self.device_map is not None:
            raise ValidationError(
                "both 'device' and 'device_map' are given", why=f"{self.device} and {self.device_map}", hint="give one"
            )

    @property
    def model_name(self) -> str:
        """The model, as Unitxt calls the field."""
        return self.model

    @property
    def top_tokens(self) -> int:
        """How many alternatives to each token are asked for: ``n_top_tokens``."""
        return self.n_top_tokens or super().top_tokens

    def to_dict(self) -> dict[str, Any]:
        """Return the engine as data, with Unitxt's names."""
        return in_unitxt_words(super().to_dict(), self.saved_names, self._given, {})

    def get_engine_id(self) -> str:
        """Return the name that Unitxt would file this engine under."""
        return engine_id(self.model, self.inference_label)

    def _is_loaded(self) -> bool:
        return self._loaded is not None  # the model is loaded when it is asked first, whatever ``lazy_load`` says

    def decoding_defaults(self) -> Mapping[str, Any]:
        """Return the decoding that the fields ask for."""
        given = {name: value for name in _GENERATION if (value := getattr(self, name)) is not None}
        defaults = {**super().decoding_defaults(), "extra": {**given, **self.generation_kwargs}}
        sampled = {"temperature": 1.0 if self.temperature is None else self.temperature} if self.do_sample else {}
        return {**defaults, "temperature": None, **sampled, "max_tokens": self.max_new_tokens or 256}

    def source(self) -> ModelSource:
        """Return what to load: bfloat16 where ``use_fp16`` says so, the model's own code only where it is trusted."""
        return replace(
            super().source(),
            dtype=self._dtype_name(),
            device=self.device or "auto",
            trust_remote_code=bool(settings.trust_code),
        )

    def _dtype_name(self) -> str:
        if self.dtype != "auto":
            return self.dtype
        return "bfloat16" if self.use_fp16 and not self.load_in_8bit else "float32"


class HFPipelineBasedInferenceEngine(UnitxtHFEngine):
    """A causal or sequence-to-sequence model.

    Attributes:
        task: ``text-generation`` or ``text2text-generation``; found out from the model by default.
    """

    inference_label: str = "hf_pipeline_inference_engine"
    task: Annotated[str | None, NON_POSITIONAL] = None

    def get_engine_id(self) -> str:
        """Return what Unitxt calls it in the names of scores."""
        return engine_id(self.model, "hf_pipeline")

    def source(self) -> ModelSource:
        """Return what to load, as the family that ``task`` names."""
        if self.task is not None and self.task not in _TASKS:
            raise EngineError(f"the task '{self.task}' is not one that writes text", hint=f"use {', '.join(_TASKS)}")
        return replace(super().source(), family=_TASKS[self.task] if self.task else self.family)


class HFAutoModelInferenceEngine(UnitxtHFEngine):
    """A causal or sequence-to-sequence model."""

    inference_label: str = "hf_auto_model"
    batch_size: int | str = 1
    torch_dtype: Annotated[str | None, NON_POSITIONAL] = None
    padding: Annotated[bool, NON_POSITIONAL] = True
    truncation: Annotated[bool, NON_POSITIONAL] = True
    padding_side: Annotated[str, NON_POSITIONAL] = "left"

    transient_fields: ClassVar[frozenset[str]] = UnitxtHFEngine.transient_fields | {
        "torch_dtype",
        "padding",
        "truncation",
        "padding_side",
    }


class HFPeftInferenceEngine(HFAutoModelInferenceEngine):
    """An adapter: ``model_name`` is its folder or hub id, and it says which model it belongs to."""

    inference_label: str = "hf_peft_auto_model"
    torch_dtype: str | None = "torch.float16"

    transient_fields: ClassVar[frozenset[str]] = HFAutoModelInferenceEngine.transient_fields - {"torch_dtype"}

    def source(self) -> ModelSource:
        """Return the base model and the adapter.

        Raises:
            EngineError: ``model_name`` is not an adapter.
        """
        base = _base_of(self.model)
        return replace(super().source(), name=base, adapter=self.model, tokenizer=self.tokenizer or base)

    def _dtype_name(self) -> str:
        return self.torch_dtype or super()._dtype_name()


class HFLlavaInferenceEngine(UnitxtHFEngine):
    """A model that reads text and pictures; sources must be chat messages."""

    inference_label: str = "hf_lava"
    lazy_load: bool = True
    family: Family | None = "image-text"
    torch_dtype: Annotated[str, NON_POSITIONAL] = "torch.float16"
    image_token: Annotated[str, NON_POSITIONAL] = "<image>"  # noqa: S105 - a placeholder

    def _dtype_name(self) -> str:
        return self.dtype if self.dtype != "auto" else self.torch_dtype


class HFOptionSelectingInferenceEngine(UnitxtHFEngine):
    """Predicts the option in ``task_data["options"]`` that is most likely after the source."""

    inference_label: str = "hf_option_selection"
    use_fp16: bool = False
    can_generate: ClassVar[bool] = False

    def generate(self, requests: Iterable[Generate]) -> Answers:  # noqa: ARG002 - the protocol
        """Refuse: this engine chooses.

        Raises:
            UnsupportedRequestError: Always.
        """
        raise UnsupportedRequestError(
            f"the engine '{self.label}' chooses between options and writes nothing",
            hint="use HFAutoModelInferenceEngine to generate",
        )

    def infer(
        self, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return the chosen option of each row."""
        if return_meta_data:
            raise UnsupportedRequestError("choosing between options gives no detailed predictions")
        chosen = [row["prediction"] for row in self.select(dataset, on_failure)]
        return Predictions(chosen, {"inference_engine_type": type(self).__name__, "init_dict": self.to_dict()})


def _base_of(adapter: str) -> str:
    """Return the model that an adapter belongs to."""
    folder = Path(model_folder(adapter) or adapter)
    try:
        if not folder.is_dir():
            from huggingface_hub import hf_hub_download

            folder = Path(
                hf_hub_download(adapter, "adapter_config.json", local_files_only=is_local_only(adapter))
            ).parent
        base = parse_json((folder / "adapter_config.json").read_text()).get("base_model_name_or_path")
    except (OSError, ValueError) as error:
        raise EngineError(
            f"'{adapter}' is not an adapter", why=str(error), hint="use HFAutoModelInferenceEngine for whole models"
        ) from None
    if not base:
        raise EngineError(f"the adapter '{adapter}' does not say which model it belongs to")
    return str(base)
