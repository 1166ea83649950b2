"""AISBench's models by their names (``ais_bench.benchmark.models``): each lies in the module of its server."""

from __future__ import annotations

from proctor.compat.aisbench_names.models_base import BaseAPIModel, BaseModel
from proctor.compat.aisbench_names.models_mindie import MindieStreamApi
from proctor.compat.aisbench_names.models_tgi import TGICustomAPI, TGICustomAPIStream
from proctor.compat.aisbench_names.models_triton import TritonCustomAPI, TritonCustomAPIStream
from proctor.compat.aisbench_names.models_vllm import VLLMCustomAPI, VLLMCustomAPIStream
from proctor.compat.aisbench_names.models_vllm_chat import (
    VLLMCustomAPIChat,
    VLLMCustomAPIChatStream,
    VLLMFunctionCallAPIChat,
    VllmMultiturnAPIChatStream,
)

__all__ = [
    "BaseAPIModel", "BaseModel", "MindieStreamApi", "TGICustomAPI", "TGICustomAPIStream", "TritonCustomAPI",
    "TritonCustomAPIStream", "VLLMCustomAPI", "VLLMCustomAPIChat", "VLLMCustomAPIChatStream", "VLLMCustomAPIStream",
    "VLLMFunctionCallAPIChat", "VllmMultiturnAPIChatStream",
]  # fmt: skip
