"""Unitxt's names for engines, thin classes over Proctor's own. Names are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.guests.unitxt.engines.hf import (
        HFAutoModelInferenceEngine,
        HFLlavaInferenceEngine,
        HFOptionSelectingInferenceEngine,
        HFPeftInferenceEngine,
        HFPipelineBasedInferenceEngine,
    )
    from proctor.guests.unitxt.engines.lmms import LMMSEvalInferenceEngine, LMMSEvalLoglikelihoodInferenceEngine
    from proctor.guests.unitxt.engines.providers import (
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
    from proctor.guests.unitxt.engines.rows import InferenceEngine, LogProbInferenceEngine
    from proctor.guests.unitxt.engines.vllm import VLLMInferenceEngine

_HOMES = {
    "hf": (
        "HFAutoModelInferenceEngine",
        "HFLlavaInferenceEngine",
        "HFOptionSelectingInferenceEngine",
        "HFPeftInferenceEngine",
        "HFPipelineBasedInferenceEngine",
    ),
    "lmms": (
        "LMMSEvalInferenceEngine",
        "LMMSEvalLoglikelihoodInferenceEngine",
    ),
    "providers": (
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
    "rows": (
        "InferenceEngine",
        "LogProbInferenceEngine",
    ),
    "vllm": ("VLLMInferenceEngine",),
}

__all__ = [
    "AzureOpenAIInferenceEngine",
    "CrossProviderInferenceEngine",
    "GenericInferenceEngine",
    "HFAutoModelInferenceEngine",
    "HFLlavaInferenceEngine",
    "HFOptionSelectingInferenceEngine",
    "HFPeftInferenceEngine",
    "HFPipelineBasedInferenceEngine",
    "IbmGenAiInferenceEngine",
    "InferenceEngine",
    "LMMSEvalInferenceEngine",
    "LMMSEvalLoglikelihoodInferenceEngine",
    "LiteLLMInferenceEngine",
    "LogProbInferenceEngine",
    "MockInferenceEngine",
    "OllamaInferenceEngine",
    "OpenAiInferenceEngine",
    "OptionSelectingByLogProbsInferenceEngine",
    "RITSInferenceEngine",
    "TogetherAiInferenceEngine",
    "VLLMInferenceEngine",
    "VLLMRemoteInferenceEngine",
    "WMLInferenceEngine",
    "WMLInferenceEngineChat",
    "WMLInferenceEngineGeneration",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
