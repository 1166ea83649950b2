"""Translates a config's model section into engine arguments, by family of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.dialects.aisbench.values import as_data, location_of, model_abbr_of
from proctor.errors import UsageError

_KEY_FROM_ENVIRONMENT = "ENV"
_LEAST_RATE = 0.001  # requests in a second: below it AISBench takes a rate for none (tasks/utils.py)
_RETRIES = 8  # of engines behind HTTP, by themselves


def family_of(entry: Mapping[str, Any]) -> str:
    """Return the family of engines that a type of model belongs to: ``hf``, ``vllm``, ``server``, ``api``."""
    return str(entry.get("family") or entry["engine"])


def mapping_of(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the dictionary under a key; an empty one where something else stands there."""
    found = values.get(key)
    return found if isinstance(found, Mapping) else {}


def engine_args(values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``--model-args`` would be.

    Args:
        values: The model of the config.
        entry: What is known of its type.

    Raises:
        UsageError: It names no model.
    """
    maker = {"hf": _hf_args, "vllm": _vllm_args, "server": _server_args}.get(family_of(entry), _api_args)
    return {**maker(values, entry), **entry.get("args", {})}


def _hf_args(values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    del entry
    model_kwargs = {key: as_data(value) for key, value in mapping_of(values, "model_kwargs").items()}
    args: dict[str, Any] = {"model": _path(values)}
    for ours, theirs in (("tokenizer", "tokenizer_path"), ("max_length", "max_seq_len"), ("peft", "peft_path")):
        if values.get(theirs):
            args[ours] = values[theirs]
    if args.get("tokenizer") == args["model"]:
        del args["tokenizer"]
    if isinstance(values.get("batch_size"), int):
        args["batch_size"] = values["batch_size"]
    if dtype := model_kwargs.pop("torch_dtype", None):
        args["dtype"] = str(dtype).removeprefix("torch.")
    if vision := mapping_of(values, "vision_kwargs"):
        args["processor_kwargs"] = as_data(vision)
    for name in ("device_map", "attn_implementation", "load_in_8bit", "load_in_4bit"):
        if name in model_kwargs:
            args[name] = model_kwargs.pop(name)
    # Code of a model runs only for users who say so themselves: a config may not.
    model_kwargs.pop("trust_remote_code", None)
    return {**args, **({"model_kwargs": model_kwargs} if model_kwargs else {})}


def _vllm_args(values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    del entry
    kwargs = {key: value for key, value in mapping_of(values, "model_kwargs").items() if key != "trust_remote_code"}
    known: dict[str, Any] = {
        name: kwargs.pop(name) for name in ("tensor_parallel_size", "gpu_memory_utilization") if name in kwargs
    }
    if values.get("max_seq_len"):
        known["max_model_len"] = values["max_seq_len"]
    if vision := mapping_of(values, "vision_kwargs"):
        kwargs["mm_processor_kwargs"] = {**kwargs.get("mm_processor_kwargs", {}), **vision}
    return {"model": _path(values), **known, **({"llm_kwargs": kwargs} if kwargs else {})}


def _api_args(values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    del entry
    args: dict[str, Any] = {"model": _path(values)}
    key = values.get("key")
    if isinstance(key, str) and key != _KEY_FROM_ENVIRONMENT:
        args["api_key"] = key
    base = values.get("openai_api_base") or values.get("base_url")
    if isinstance(base, list | tuple):
        base = base[0] if base else None
    if base:
        args["base_url"] = str(base).removesuffix("/").removesuffix("/chat/completions").removesuffix("/completions")
    if isinstance(rate := values.get("query_per_second"), int | float) and rate > 0:
        args["requests_per_minute"] = rate * 60
    if isinstance(extra := values.get("extra_body"), Mapping):
        args["extra_body"] = dict(extra)
    return args


def _server_args(values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what AISBench knows of a server: where it is, which model it has (an empty one is asked for)."""
    named = values.get("model") or values.get("model_name") or ""
    if not named and entry.get("nameless"):
        named = model_abbr_of(values)
    args: dict[str, Any] = {"model": named, "base_url": _address(values)}
    if values.get("api_key"):
        args["api_key"] = values["api_key"]
    if values.get("stream"):
        args["stream"] = True
    if (rate := values.get("request_rate") or 0) >= _LEAST_RATE:
        args["requests_per_minute"] = rate * 60
    if (retry := values.get("retry") or 0) - 1 > _RETRIES:  # the first of them is not another attempt
        args["max_retries"] = retry - 1
    args["max_concurrency"] = values.get("batch_size") or 1
    return args


def _address(values: Mapping[str, Any]) -> str:
    scheme = "https" if values.get("enable_ssl") else "http"
    if url := str(values.get("url") or "").strip():
        return (url if "://" in url else f"{scheme}://{url}").rstrip("/")
    host = str(values.get("host_ip") or "localhost")
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{values.get('host_port') or 8080}"


def _path(values: Mapping[str, Any]) -> str:
    found = values.get("path")
    if not isinstance(found, str) or not found:
        raise UsageError(
            f"the model '{model_abbr_of(values)}' names no model",
            location=location_of(values),
            path="$.path",
            hint="fill in path='…'",
        )
    return found
