"""Model backends. Names are imported on first use, so that no engine costs anything before it is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.engines.conversation import converse
    from proctor.engines.cross_provider import ProviderEngine
    from proctor.engines.engine import Engine
    from proctor.engines.hf import HFEngine
    from proctor.engines.hf_unitxt import (
        HFAutoModelInferenceEngine,
        HFLlavaInferenceEngine,
        HFOptionSelectingInferenceEngine,
        HFPeftInferenceEngine,
        HFPipelineBasedInferenceEngine,
    )
    from proctor.engines.inference import TextGenerationInferenceOutput
    from proctor.engines.llamacpp import LlamaCppEngine
    from proctor.engines.lmms import LMMSEvalInferenceEngine, LMMSEvalLoglikelihoodInferenceEngine
    from proctor.engines.names import make_engine, parse_model_args
    from proctor.engines.openai import OpenAIEngine
    from proctor.engines.replay import ReplayEngine
    from proctor.engines.row_engine import InferenceEngine, LogProbInferenceEngine
    from proctor.engines.scripted import ScriptedEngine
    from proctor.engines.smollm2 import SmolLM2Engine
    from proctor.engines.unitxt_names import (
        AzureOpenAIInferenceEngine,
        CrossProviderInferenceEngine,
        GenericInferenceEngine,
        IbmGenAiInferenceEngine,
        LiteLLMInferenceEngine,
        MockInferenceEngine,
        OllamaInferenceEngine,
        OpenAiInferenceEngine,
        OptionSelectingByLogProbsInferenceEngine,
        RITSInferenceEngine,
        TogetherAiInferenceEngine,
        VLLMRemoteInferenceEngine,
        WMLInferenceEngine,
        WMLInferenceEngineChat,
        WMLInferenceEngineGeneration,
    )
    from proctor.engines.vllm import VLLMEngine, VLLMInferenceEngine

_HOMES = {
    "conversation": ("converse",),
    "cross_provider": ("ProviderEngine",),
    "engine": ("Engine",),
    "hf": ("HFEngine",),
    "hf_unitxt": (
        "HFAutoModelInferenceEngine",
        "HFLlavaInferenceEngine",
        "HFOptionSelectingInferenceEngine",
        "HFPeftInferenceEngine",
        "HFPipelineBasedInferenceEngine",
    ),
    "inference": ("TextGenerationInferenceOutput",),
    "llamacpp": ("LlamaCppEngine",),
    "lmms": ("LMMSEvalInferenceEngine", "LMMSEvalLoglikelihoodInferenceEngine"),
    "names": ("make_engine", "parse_model_args"),
    "openai": ("OpenAIEngine",),
    "replay": ("ReplayEngine",),
    "row_engine": ("InferenceEngine", "LogProbInferenceEngine"),
    "scripted": ("ScriptedEngine",),
    "smollm2": ("SmolLM2Engine",),
    "unitxt_names": (
        "AzureOpenAIInferenceEngine",
        "CrossProviderInferenceEngine",
        "GenericInferenceEngine",
        "IbmGenAiInferenceEngine",
        "LiteLLMInferenceEngine",
        "MockInferenceEngine",
        "OllamaInferenceEngine",
        "OpenAiInferenceEngine",
        "OptionSelectingByLogProbsInferenceEngine",
        "RITSInferenceEngine",
        "TogetherAiInferenceEngine",
        "VLLMRemoteInferenceEngine",
        "WMLInferenceEngine",
        "WMLInferenceEngineChat",
        "WMLInferenceEngineGeneration",
    ),
    "vllm": ("VLLMEngine", "VLLMInferenceEngine"),
}

__all__ = [
    "AzureOpenAIInferenceEngine",
    "CrossProviderInferenceEngine",
    "Engine",
    "GenericInferenceEngine",
    "HFAutoModelInferenceEngine",
    "HFEngine",
    "HFLlavaInferenceEngine",
    "HFOptionSelectingInferenceEngine",
    "HFPeftInferenceEngine",
    "HFPipelineBasedInferenceEngine",
    "IbmGenAiInferenceEngine",
    "InferenceEngine",
    "LMMSEvalInferenceEngine",
    "LMMSEvalLoglikelihoodInferenceEngine",
    "LiteLLMInferenceEngine",
    "LlamaCppEngine",
    "LogProbInferenceEngine",
    "MockInferenceEngine",
    "OllamaInferenceEngine",
    "OpenAIEngine",
    "OpenAiInferenceEngine",
    "OptionSelectingByLogProbsInferenceEngine",
    "ProviderEngine",
    "RITSInferenceEngine",
    "ReplayEngine",
    "ScriptedEngine",
    "SmolLM2Engine",
    "TextGenerationInferenceOutput",
    "TogetherAiInferenceEngine",
    "VLLMEngine",
    "VLLMInferenceEngine",
    "VLLMRemoteInferenceEngine",
    "WMLInferenceEngine",
    "WMLInferenceEngineChat",
    "WMLInferenceEngineGeneration",
    "converse",
    "make_engine",
    "parse_model_args",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
