"""The fields that Unitxt's engines share, as bases for engines that programs define themselves.

Engines of this package have such fields of their own; these add the same names, types and defaults to another class.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL, Artifact
from proctor.guests.unitxt.engines.hf import UnitxtHFEngine as HFInferenceEngineBase
from proctor.guests.unitxt.engines.lmms import LMMSEvalInferenceEngine as LMMSEvalBaseInferenceEngine

if TYPE_CHECKING:
    import torch

__all__ = ["HFInferenceEngineBase", "LMMSEvalBaseInferenceEngine"]

CredentialsWML = dict[
    Literal["url", "username", "password", "api_key", "project_id", "space_id", "instance_id"],
    str,
]


class StandardAPIParamsMixin(Artifact):
    """The parameters that most providers take; ``None`` leaves the choice to them."""

    model: str
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_logprobs: int | None = None
    logit_bias: dict[str, int] | None = None
    logprobs: bool | None = None
    n: int | None = None
    parallel_tool_calls: bool | None = None
    service_tier: Literal["auto", "default"] | None = None
    credentials: dict[str, str] | None = None
    extra_headers: dict[str, str] | None = None


class OpenAiInferenceEngineParamsMixin(Artifact):
    """The parameters of OpenAI's interface."""

    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_logprobs: int | None = 20
    logit_bias: dict[str, int] | None = None
    logprobs: bool | None = True
    n: int | None = None
    parallel_tool_calls: bool | None = None
    service_tier: Literal["auto", "default"] | None = None


class TogetherAiInferenceEngineParamsMixin(Artifact):
    """The parameters of Together's interface."""

    max_tokens: int | None = None
    stop: list[str] | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    logprobs: int | None = None
    echo: bool | None = None
    n: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None


class WMLGenerationParamsMixin(Artifact):
    """The parameters of watsonx.ai where it goes on with a text."""

    decoding_method: Literal["greedy", "sample"] | None = None
    length_penalty: dict[str, int | float] | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    random_seed: int | None = None
    repetition_penalty: float | None = None
    min_new_tokens: int | None = None
    max_new_tokens: int | None = None
    stop_sequences: list[str] | None = None
    time_limit: int | None = None
    truncate_input_tokens: int | None = None
    prompt_variables: dict[str, Any] | None = None
    return_options: dict[str, bool] | None = None


class WMLInferenceEngineParamsMixin(WMLGenerationParamsMixin):
    """:class:`WMLGenerationParamsMixin` under its old name."""


class WMLChatParamsMixin(Artifact):
    """The parameters of watsonx.ai where it answers messages."""

    frequency_penalty: float | None = None
    top_logprobs: int | None = None
    presence_penalty: float | None = None
    response_format: dict[str, Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    time_limit: int | None = None
    top_p: float | None = None
    n: int | None = None
    seed: int | None = None
    logit_bias: dict[str, Any] | None = None
    stop: list[str] | None = None


class VLLMParamsMixin(Artifact):
    """The sampling parameters of vLLM, with its defaults."""

    model: str
    n: int = 1
    best_of: int | None = None
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = -1
    min_p: float = 0.0
    seed: int | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    bad_words: list[str] | None = None
    ignore_eos: bool = False
    max_tokens: int | None = 16
    min_tokens: int = 0
    logprobs: int | None = None
    prompt_logprobs: int | None = None


class HFGenerationParamsMixin(Artifact):
    """The parameters of generation by a model on this machine."""

    max_new_tokens: int | None = None
    do_sample: bool = False
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    num_beams: int | None = None
    repetition_penalty: float | None = None
    pad_token_id: int | None = None
    eos_token_id: int | None = None


class LazyLoadMixin(Artifact):
    """Base of engines that load their model when they are made, or with ``lazy_load`` when they are first asked."""

    lazy_load: Annotated[bool, NON_POSITIONAL] = False

    @abstractmethod
    def _is_loaded(self) -> bool:
        """Return whether the model is loaded."""


class MockModeMixin(Artifact):
    """Base of engines that may answer without a model."""

    mock_mode: bool = False


class TorchDeviceMixin(Artifact):
    """Base of what runs on a device of torch.

    Attributes:
        device: Its name; by default the best that is here: ``mps``, ``cuda:0``, ``cpu``.
    """

    device: str | None = Field(default=None)

    def get_device_id(self) -> str:
        """Return the name of the device."""
        if self.device is not None:
            return self.device
        import torch

        if torch.backends.mps.is_available():
            return "mps"
        return "cuda:0" if torch.cuda.is_available() else "cpu"

    def get_device(self) -> torch.device:
        """Return the device."""
        import torch

        return torch.device(self.get_device_id())
