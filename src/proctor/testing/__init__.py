"""Public tools for testing exams and engines without a model or a network.

* :class:`FaultServer`: an OpenAI-compatible server on loopback that counts requests and misbehaves on request;
* :class:`Faults` and :class:`Fault`: when and how it misbehaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.testing.faults import Fault, Faults
    from proctor.testing.server import FaultServer

__all__ = ["Fault", "FaultServer", "Faults"]

# On first use, so that `python -m proctor.testing.server` does not import its own module twice.
if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, {"faults": ("Fault", "Faults"), "server": ("FaultServer",)})
