"""Model backends. Names are imported on first use, so that no engine costs anything before it is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.engines.conversation import converse
    from proctor.engines.engine import Engine
    from proctor.engines.engine_registry import make_engine
    from proctor.engines.hf.hf_engine import HFEngine
    from proctor.engines.hf.openvino import OpenVINOEngine
    from proctor.engines.hf.smollm2 import SmolLM2Engine
    from proctor.engines.http.openai_engine import OpenAIEngine
    from proctor.engines.http.provider_engine import ProviderEngine
    from proctor.engines.inference import TextGenerationInferenceOutput
    from proctor.engines.llamacpp import LlamaCppEngine
    from proctor.engines.model_args import parse_model_args
    from proctor.engines.replay import ReplayEngine
    from proctor.engines.scripted import ScriptedEngine
    from proctor.engines.vllm.vllm_engine import VLLMEngine

_HOMES = {
    "conversation": ("converse",),
    "engine": ("Engine",),
    "engine_registry": ("make_engine",),
    "model_args": ("parse_model_args",),
    "proctor.engines.hf.hf_engine": ("HFEngine",),
    "proctor.engines.hf.openvino": ("OpenVINOEngine",),
    "proctor.engines.hf.smollm2": ("SmolLM2Engine",),
    "proctor.engines.http.openai_engine": ("OpenAIEngine",),
    "proctor.engines.http.provider_engine": ("ProviderEngine",),
    "inference": ("TextGenerationInferenceOutput",),
    "llamacpp": ("LlamaCppEngine",),
    "replay": ("ReplayEngine",),
    "scripted": ("ScriptedEngine",),
    "proctor.engines.vllm.vllm_engine": ("VLLMEngine",),
}

__all__ = [
    "Engine", "HFEngine", "LlamaCppEngine", "OpenAIEngine", "OpenVINOEngine", "ProviderEngine", "ReplayEngine",
    "ScriptedEngine", "SmolLM2Engine", "TextGenerationInferenceOutput", "VLLMEngine", "converse", "make_engine",
    "parse_model_args",
]  # fmt: skip

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
