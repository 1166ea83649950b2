"""lm-eval's names of models, and of their arguments: what does the same here, and why what has no effect has none.

A name that nothing here answers to is refused with what does the work instead; an argument that decides nothing here
is accepted and said, one that would decide numbers and cannot is refused.

Source: ``lm_eval.models`` and the constructors of its classes, lm-eval 0.4.13.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from proctor.errors import UsageError, did_you_mean
from proctor.logs import get_logger

Values = dict[str, Any]


class Translated(NamedTuple):
    """An engine here.

    Attributes:
        name: Its short name.
        values: Its fields.
    """

    name: str
    values: Values


class _Model(NamedTuple):
    """What a name of lm-eval stands for."""

    engine: str
    values: Mapping[str, Any] = {}
    arguments: str = "hf"


_SERVER = "start it as a server (its documentation says how) and use --model openai --model-args model=…,base_url=…"
_PROXY = "name the provider itself: proctor doctor lists them; a LiteLLM proxy is a server for --model openai"
_LOADED = "--model hf loads what transformers can load"

MODELS: dict[str, _Model] = {
    "hf-auto": _Model("hf"),
    "huggingface": _Model("hf"),
    "hf-multimodal": _Model("hf", {"family": "image-text"}),
    "hf-mistral3": _Model("hf"),
    "mamba_ssm": _Model("hf"),
    "local-completions": _Model("openai", {"endpoint": "completions"}, "server"),
    "local-chat-completions": _Model("openai", {"endpoint": "chat"}, "server"),
    "openai-completions": _Model("openai", {"endpoint": "completions"}, "server"),
    "openai-chat-completions": _Model("openai", {"endpoint": "chat"}, "server"),
    "azure-openai-chat-completions": _Model("azure", {}, "server"),
    "anthropic-chat": _Model("anthropic", {}, "server"),
    "anthropic-chat-completions": _Model("anthropic", {}, "server"),
    "gguf": _Model("openai", {"endpoint": "completions", "model": "gguf", "scoring": "llamacpp"}, "server"),
    "ggml": _Model("openai", {"endpoint": "completions", "model": "gguf", "scoring": "llamacpp"}, "server"),
    "sglang-generate": _Model("openai", {"endpoint": "completions"}, "server"),
    "watsonx_llm": _Model("watsonx", {}, "server"),
}
"""Names that mean something here; ``hf``, ``vllm`` and ``dummy`` are engines' own."""

_OF_ONES_OWN = frozenset({"local-completions", "local-chat-completions", "gguf", "ggml", "sglang-generate"})
"""Names of servers that a user starts: prompts, and perhaps a key, must not go to OpenAI instead."""

NOTHING_HERE: dict[str, str] = {
    "anthropic-completions": "Anthropic no longer offers its completions: use anthropic-chat",
    "hf-audiolm-qwen": "hf reads texts and pictures: serve the model (vLLM does) and use --model openai",
    "vllm-vlm": "vllm reads texts only here: start vllm serve and use --model openai --model-args model=…,base_url=…",
    "sglang": f"SGLang is not loaded into this process: {_SERVER}",
    "trtllm": f"TensorRT-LLM is not loaded into this process: {_SERVER}",
    "litellm": _PROXY,
    "litellm-chat": _PROXY,
    "litellm-chat-completions": _PROXY,
    "textsynth": f"TextSynth is not among the providers: {_SERVER}",
    "ipex": f"IPEX is not loaded here: {_LOADED}",
    "habana": f"Gaudi is not known here: {_SERVER}",
    "neuronx": f"Neuron is not known here: {_SERVER}",
    "nemo_lm": f"NeMo is not loaded here: {_SERVER}",
    "megatron_lm": f"Megatron is not loaded here: {_SERVER}",
    "onnxruntime": f"ONNX Runtime is not loaded here: {_LOADED}",
    "onnxruntime-genai": f"ONNX Runtime is not loaded here: {_LOADED}",
    "winml": f"Windows ML is not loaded here: {_LOADED}",
    "steered": f"steering vectors are not applied here: {_LOADED}",
}
"""Names that nothing here answers to, and what does the work instead."""

_RENAMED = {
    "server": {
        "pretrained": "model",
        "num_concurrent": "max_concurrency",
        "max_gen_toks": "max_tokens",
        "header": "extra_headers",
        "auth_token": "api_key",
        "model_id": "model",
        "think_end_token": "think_end",
    },
    "hf": {"pretrained": "model", "device_map_option": "device_map", "max_gen_toks": "max_new_tokens"},
}

_OWN_TOKENS = "the server counts and cuts its own tokens"
_WITHOUT_EFFECT = {
    "server": {
        "tokenizer": _OWN_TOKENS,
        "tokenizer_backend": _OWN_TOKENS,
        "tokenized_requests": "requests are sent as text",
        "use_fast_tokenizer": _OWN_TOKENS,
        "trust_remote_code": "no model is loaded here",
        "revision": "the server decides what it serves",
        "batch_size": "each request is sent by itself, num_concurrent at once",
        "max_batch_size": "each request is sent by itself, num_concurrent at once",
        "max_length": "the server knows its length: a prompt that is too long is a failure, and never cut",
        "truncate": "a prompt that is too long is a failure, and never cut",
        "add_bos_token": "the server decides whether it adds a first token; prefix_token=TEXT is one of your own",
        "eos_string": "the server ends at its own last token",
        "max_images": "all pictures of an instance are sent",
        "device": "no model is loaded here",
    },
    "hf": {
        "max_batch_size": "a batch that is too large is made smaller by itself",
        "use_fast_tokenizer": "the tokenizer is the fast one where there is one",
        "low_cpu_mem_usage": "transformers loads models so anyway",
        "logits_cache": "prefixes are shared anyway (share_prefixes)",
        "tokenizer_backend": "the model's own tokenizer is used",
        "num_concurrent": "a batch is worked on at once",
        "truncation": "what happens to long prompts is said by truncate",
        "max_cpu_memory": "accelerate finds out what fits",
        "convert_img_format": "pictures are converted as the model's processor wants",
        "max_images": "all pictures of an instance are shown",
        "interleave": "pictures stand where the prompt has them",
    },
}

_IDLE_ANYWHERE = {
    "batch_size": "requests are answered as they come",
    "max_batch_size": "requests are answered as they come",
    "tokenizer_backend": "the tokenizer is the model's own",
    "num_concurrent": "nothing is sent to a server",
}
_IDLE_WITHOUT_MODEL = {
    "device": "no model is loaded into this process",
    "parallelize": "no model is loaded into this process",
}

_CANNOT = {
    "server": {
        "ca_cert_path": "the certificates of the system are used: set SSL_CERT_FILE to another file",
        "custom_prefix_token_id": "a server reads texts: say that of the token, as in prefix_token=<|endoftext|>",
    },
    "hf": {
        "softmax_dtype": "likelihoods are computed in the precision that hf chooses",
        "mixed_precision_dtype": "use dtype",
        "delta": "merge the weights first, and name the folder",
        "autogptq": "transformers loads such models by itself",
        "gptqmodel": "transformers loads such models by itself",
        "tp_plan": "use device_map",
        "max_memory_per_gpu": 'use device_map, or model_kwargs={"max_memory": …}',
    },
}


def is_foreign(name: str) -> bool:
    """Whether lm-eval calls a model so, and nothing here does."""
    return name in MODELS or name in NOTHING_HERE


def translated(name: str, given: Mapping[str, Any]) -> Translated:
    """Return the engine and arguments for a model of lm-eval; what has no effect is logged.

    Args:
        name: One for which :func:`is_foreign` holds.
        given: Its arguments.

    Raises:
        UsageError: There is nothing like it here, or an argument decides something that cannot be had.
    """
    if name in NOTHING_HERE:
        raise UsageError(f"'{name}' is a model of lm-eval that Proctor has not", hint=NOTHING_HERE[name])
    model = MODELS[name]
    if name in _OF_ONES_OWN and not (given.get("base_url") or os.environ.get("OPENAI_BASE_URL")):
        raise UsageError(
            f"'{name}' has no base_url",
            why="it is a server of your own, and nothing says where it is",
            hint="--model_args base_url=http://127.0.0.1:8080",
        )
    has_echo = model.values.get("endpoint") == "completions" and "scoring" not in model.values
    begins = given.get("tokenizer") if has_echo else None
    others = {key: each for key, each in given.items() if key != "tokenizer" or not begins}
    kept = _arguments(name, model.arguments, others)
    kept |= {"tokenizer": str(begins)} if begins else {}  # which says with what texts begin
    if name == "azure-openai-chat-completions" and (deployed := os.environ.get("AZURE_OPENAI_DEPLOYMENT_NAME")):
        kept = {"model": deployed, **kept}
    if model.arguments == "server":
        kept = _of_server(kept)
    return Translated(model.engine, {**model.values, **kept})


def own_name(name: str, argument: str) -> str:
    """Return our name of an argument of a model of lm-eval."""
    model = MODELS.get(name)
    return argument if model is None else _RENAMED[model.arguments].get(argument, argument)


def hf_arguments(given: Mapping[str, Any]) -> Values:
    """Return the arguments of lm-eval's ``hf`` as the engine here takes them; its own pass unchanged."""
    return _arguments("hf", "hf", given)


def of_any_engine(name: str, given: Mapping[str, Any], fields: frozenset[str], *, loads_model: bool) -> Values:
    """Return the arguments of an engine without those of lm-eval's that decide nothing of it; these are logged.

    Args:
        name: The engine.
        given: Its arguments.
        fields: What it takes.
        loads_model: Whether it loads a model into this process, so that a device would matter.
    """
    idle = _IDLE_ANYWHERE if loads_model else {**_IDLE_ANYWHERE, **_IDLE_WITHOUT_MODEL}
    kept, silent = dict(given), []
    if "num_concurrent" in kept and "max_concurrency" in fields:
        kept.setdefault("max_concurrency", kept.pop("num_concurrent"))
    for key in [each for each in kept if each in idle and each not in fields]:
        silent.append(f"{key} ({idle[key]})")
        del kept[key]
    if silent:
        get_logger().warning("%s: of no effect here: %s", name, "; ".join(silent))
    return kept


def _arguments(name: str, kind: str, given: Mapping[str, Any]) -> Values:
    kept: Values = {}
    silent, refused = [], []
    for key, value in given.items():
        if key in _CANNOT[kind]:
            if value not in (None, False):
                refused.append(f"{key}: {_CANNOT[kind][key]}")
        elif key in _WITHOUT_EFFECT[kind]:
            silent.append(f"{key} ({_WITHOUT_EFFECT[kind][key]})")
        elif (own := _READERS.get(key)) is not None and kind == own.kind:
            kept.update(own.read(value))
        else:
            kept[_RENAMED[kind].get(key, key)] = value
    if refused:
        raise UsageError(
            f"'{name}' cannot be told {', '.join(each.partition(':')[0] for each in refused)} here",
            why="; ".join(refused),
        )
    if silent:
        get_logger().warning("%s: of no effect here: %s", name, "; ".join(silent))
    return kept


def _of_server(values: Values) -> Values:
    """Return arguments with the address of the server, without the route that lm-eval writes behind it."""
    url = values.get("base_url")
    if isinstance(url, str):
        for route in ("/chat/completions", "/completions", "/generate", "/messages"):
            url = url.rstrip("/").removesuffix(route)
        values = {**values, "base_url": url}
    return values


class _Reader(NamedTuple):
    """How an argument that is more than a name is read."""

    kind: str
    read: Callable[[Any], Values]


def _backend(value: Any) -> Values:
    if value in (None, "default"):
        return {}
    if value not in ("causal", "seq2seq"):
        hint = did_you_mean(str(value), ["default", "causal", "seq2seq"])
        raise UsageError(f"there is no backend '{value}'", hint=hint or "default, causal or seq2seq")
    return {"family": value}


def _certificates(value: Any) -> Values:
    if value in (False, "False", "false"):
        raise UsageError(
            "verify_certificate=False cannot be honoured",
            why="a key that is sent to a server of unknown name is given away",
            hint="set SSL_CERT_FILE to the server's certificate, or use http",
        )
    return {}


_READERS = {
    "parallelize": _Reader("hf", lambda value: {"device_map": "auto"} if value else {}),
    "backend": _Reader("hf", _backend),
    "batch_size": _Reader("hf", lambda value: {"batch_size": "auto" if str(value).startswith("auto") else value}),
    "offload_folder": _Reader("hf", lambda value: {"model_kwargs": {"offload_folder": value}} if value else {}),
    "verify_certificate": _Reader("server", _certificates),
}
