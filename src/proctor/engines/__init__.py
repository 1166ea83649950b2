"""Model backends. Names are imported on first use, so that no engine costs anything before it is wanted."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "conversation": "converse",
    "engine": "Engine",
    "engine_registry": "make_engine",
    "model_args": "parse_model_args",
    "proctor.engines.hf.hf_engine": "HFEngine",
    "proctor.engines.hf.openvino": "OpenVINOEngine",
    "proctor.engines.hf.smollm2": "SmolLM2Engine",
    "proctor.engines.http.openai_engine": "OpenAIEngine",
    "proctor.engines.http.provider_engine": "ProviderEngine",
    "inference": "TextGenerationInferenceOutput",
    "llamacpp": "LlamaCppEngine",
    "replay": "ReplayEngine",
    "scripted": "ScriptedEngine",
    "proctor.engines.vllm.vllm_engine": "VLLMEngine",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
