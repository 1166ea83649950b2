"""The engine for vLLM in this process that Unitxt users know, a thin name over Proctor's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL
from proctor.engines.vllm.vllm_engine import VLLMEngine
from proctor.guests.unitxt.engines.words import ToldInUnitxtWords, engine_id


class VLLMInferenceEngine(ToldInUnitxtWords, VLLMEngine):
    """The engine that Unitxt users know, with its fields: vLLM's own names for sampling."""

    transient_fields: ClassVar[frozenset[str]] = VLLMEngine.transient_fields | {"cache_batch_size", "use_cache"}

    max_tokens: Annotated[int | None, NON_POSITIONAL] = 16
    n: Annotated[int, NON_POSITIONAL, Field(ge=1)] = 1
    best_of: Annotated[int | None, NON_POSITIONAL] = None
    presence_penalty: Annotated[float | None, NON_POSITIONAL] = None
    frequency_penalty: Annotated[float | None, NON_POSITIONAL] = None
    repetition_penalty: Annotated[float | None, NON_POSITIONAL] = None
    min_p: Annotated[float | None, NON_POSITIONAL] = None
    stop_token_ids: Annotated[list[int] | None, NON_POSITIONAL] = None
    bad_words: Annotated[list[str] | None, NON_POSITIONAL] = None
    ignore_eos: Annotated[bool | None, NON_POSITIONAL] = None
    min_tokens: Annotated[int | None, NON_POSITIONAL] = None
    logprobs: Annotated[int | None, NON_POSITIONAL] = None
    prompt_logprobs: Annotated[int | None, NON_POSITIONAL] = None
    cache_batch_size: Annotated[int, NON_POSITIONAL] = 100
    use_cache: Annotated[bool, NON_POSITIONAL] = True

    def get_engine_id(self) -> str:
        """Return the name that Unitxt would file this engine under."""
        return engine_id(self.model, "vllm")

    def decoding_defaults(self) -> Mapping[str, Any]:
        """Return the decoding that the fields ask for."""
        defaults = dict(super().decoding_defaults())
        extra = defaults["extra"]
        if self.logprobs is not None:
            extra = {**extra, "logprobs": True, "top_logprobs": self.logprobs}
        if self.prompt_logprobs is not None:
            extra = {**extra, "prompt_logprobs": self.prompt_logprobs}
        return {**defaults, "count": self.n, "extra": extra}
