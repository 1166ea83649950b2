"""Public tools for testing exams and engines without a model or a network.

* :class:`FaultServer`: an OpenAI-compatible server on loopback that counts requests and misbehaves on request;
* :class:`Faults` and :class:`Fault`: when and how it misbehaves.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.testing.faults import Fault, Faults
    from proctor.testing.server import FaultServer

__all__ = ["Fault", "FaultServer", "Faults"]

_HOMES = {"Fault": "faults", "Faults": "faults", "FaultServer": "server"}


def __getattr__(name: str) -> Any:
    # On first use, so that `python -m proctor.testing.server` does not import its own module twice.
    if name not in _HOMES:
        raise AttributeError(f"module 'proctor.testing' has no attribute '{name}'")
    return getattr(import_module(f"proctor.testing.{_HOMES[name]}"), name)
