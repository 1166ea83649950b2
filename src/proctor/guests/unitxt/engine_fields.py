"""The fields that Unitxt's engines share, as bases for engines that programs define themselves.

Engines of this package have such fields of their own; these add the same names, types and defaults to another class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from proctor.artifacts import Artifact

if TYPE_CHECKING:
    import torch


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

    def to_dict(self, classes: Sequence[type[Artifact]] = (), keep_empty: bool = True) -> dict[str, Any]:
        """Return the artifact as it is saved; or the values of the fields that some of its bases have."""
        if not classes:
            return super().to_dict()
        named = [name for each in classes for name in each.model_fields if name in each.__annotations__]
        return {name: getattr(self, name) for name in named if keep_empty or getattr(self, name) is not None}


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
