"""Model backends. Names are imported on first use, so that no engine costs anything before it is wanted."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.engines.engine import Engine
    from proctor.engines.hf import HFEngine
    from proctor.engines.inference import TextGenerationInferenceOutput
    from proctor.engines.names import make_engine, parse_model_args
    from proctor.engines.openai import OpenAIEngine
    from proctor.engines.replay import ReplayEngine
    from proctor.engines.scripted import ScriptedEngine
    from proctor.engines.smollm2 import SmolLM2Engine

_HOMES = {
    "Engine": "engine",
    "HFEngine": "hf",
    "OpenAIEngine": "openai",
    "ReplayEngine": "replay",
    "ScriptedEngine": "scripted",
    "SmolLM2Engine": "smollm2",
    "TextGenerationInferenceOutput": "inference",
    "make_engine": "names",
    "parse_model_args": "names",
}

__all__ = [
    "Engine",
    "HFEngine",
    "OpenAIEngine",
    "ReplayEngine",
    "ScriptedEngine",
    "SmolLM2Engine",
    "TextGenerationInferenceOutput",
    "make_engine",
    "parse_model_args",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'proctor.engines' has no attribute '{name}'")
    return getattr(import_module(f"proctor.engines.{_HOMES[name]}"), name)
