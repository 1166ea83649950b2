"""AISBench's inferencers by their names: each lies in the module of its kind."""

from __future__ import annotations

from proctor.compat.aisbench_names.inferencer_api import BaseApiInferencer, StatusCounter
from proctor.compat.aisbench_names.inferencer_base import BaseInferencer
from proctor.compat.aisbench_names.inferencer_gen import GenInferencer
from proctor.compat.aisbench_names.inferencer_lmm import LMMGenInferencer
from proctor.compat.aisbench_names.inferencer_local import BaseLocalInferencer
from proctor.compat.aisbench_names.inferencer_multiturn import MultiTurnGenInferencer
from proctor.compat.aisbench_names.inferencer_ppl import PPLInferencer

__all__ = [
    "BaseApiInferencer", "BaseInferencer", "BaseLocalInferencer", "GenInferencer", "LMMGenInferencer",
    "MultiTurnGenInferencer", "PPLInferencer", "StatusCounter",
]  # fmt: skip
