"""Tells vLLM's errors apart: a request that it refuses, and an engine that is gone."""

from __future__ import annotations

import re

_NO_MEMORY = re.compile(r"memory|KV cache|max_model_len|initialization failed", re.IGNORECASE)
MEMORY_HINT = (
    "where memory is short: a smaller max_model_len, gpu_memory_utilization up to 0.95, max_num_seqs=16, more GPUs "
    "(tensor_parallel_size), or quantization"
)


def refusals() -> tuple[type[Exception], ...]:
    """Return the errors with which vLLM refuses a request: its own since 0.33, ``ValueError`` before."""
    found: tuple[type[Exception], ...] = (ValueError, TypeError)
    try:
        from vllm import exceptions
    except ImportError:
        return found
    return (*found, exceptions.VLLMError) if hasattr(exceptions, "VLLMError") else found


def deaths() -> tuple[type[Exception], ...]:
    """Return the errors after which the engine is gone: CUDA's, and those of a worker process."""
    found: tuple[type[Exception], ...] = (RuntimeError,)
    try:
        from vllm.v1.engine.exceptions import EngineDeadError
    except ImportError:
        return found
    return (*found, EngineDeadError)


def load_hint(why: str) -> str:
    """Return a hint for a model that cannot be loaded; empty where the reason says enough."""
    if "unexpected keyword" in why:
        return "llm_kwargs takes what vllm.EngineArgs of the installed version takes"
    return MEMORY_HINT if _NO_MEMORY.search(why) else ""
