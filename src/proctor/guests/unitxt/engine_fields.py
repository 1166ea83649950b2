"""The fields that Unitxt's engines share, as bases for engines that programs define themselves.

Engines of this package have such fields of their own; these add the same names, types and defaults to another class.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL, Artifact
from proctor.guests.unitxt.engines.hf import UnitxtHFEngine as HFInferenceEngineBase
from proctor.guests.unitxt.engines.lmms import LMMSEvalInferenceEngine as LMMSEvalBaseInferenceEngine

if TYPE_CHECKING:
    import torch

__all__ = ["HFInferenceEngineBase", "LMMSEvalBaseInferenceEngine"]


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
