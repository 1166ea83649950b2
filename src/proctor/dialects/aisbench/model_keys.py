"""Which keys of a model of a config have an effect here, which have none and why, and which cannot be honoured.

What a class takes is in its package's own signature (:mod:`.signatures`); what is done about each argument here is in
these tables, by the family of the engine. An argument that stands in none of them is taken where it has the value that
the class would give it by itself, and refused otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any

from proctor.dialects.aisbench.config_keys import LONGEST_SHOWN, Keys, Reasons, value_problem
from proctor.dialects.aisbench.signatures import Signature, known_names, project_named, signature
from proctor.dialects.aisbench.template_keys import ROLES
from proctor.dialects.aisbench.values import location_of, short_name
from proctor.errors import Diagnostic, Location, did_you_mean
from proctor.slips import slips

_OUTSIDE = {
    "opencompass": "type abbr run_cfg max_out_len batch_size summarizer_abbr pred_postprocessor min_out_len",
    "aisbench": "type abbr attr run_cfg max_out_len batch_size summarizer_abbr pred_postprocessor min_out_len "
    "use_timestamp request_rate returns_tool_calls traffic_cfg",
}
"""Keys that a project takes for itself before it makes the model of the rest (``build_model_from_cfg``)."""

_EVERYWHERE = "type abbr path max_out_len pred_postprocessor meta_template"
_RETRIES = "engines try again by themselves; --model-args max_retries=N says how often"
_ENGINES = "it belongs to the engine that upstream runs the model with"
_LENGTH = "prompts that are too long lose demos, and are said to be too long where that does not help"
_FASTCHAT = "FastChat's templates are not here; write the same as a meta_template"
_SPEED = "this is how AISBench measures speed"
_MACHINE = "engines take what the machine has"
_SAID = "it changes what upstream prints or reports"
_LOG_PROBABILITIES = "log-probabilities are asked for where an exam needs them"
_BATCH = "answers do not depend on the batch"
_NO_LEAST = "engines here have no least number of tokens"
_TRUST = "code of a model runs only for users who say so themselves"

_IDLE: Reasons = {
    **dict.fromkeys(("run_cfg", "sync_rank"), _MACHINE),
    **dict.fromkeys(("mode", "drop_middle"), _LENGTH),
    **dict.fromkeys(("rpm_verbose", "verbose", "summarizer_abbr", "attr"), _SAID),
    "batch_padding": _BATCH,
    "pad_token_id": _BATCH,
    "tokenizer_only": "nothing but the tokenizer is loaded where nobody is asked",
    "trust_remote_code": _TRUST,
}
_OF_LOCAL: Reasons = {
    **_IDLE,
    **dict.fromkeys(("engine_config", "backend", "tokenizer_kwargs", "peft_kwargs", "num_extra_tokens"), _ENGINES),
    **dict.fromkeys(("hf_cache_dir", "ms_cache_dir"), "models are looked for where settings say"),
    **dict.fromkeys(("request_rate", "use_timestamp", "traffic_cfg"), _SPEED),
    "extract_pred_after_decode": "answers never begin with their prompt here",
    "returns_tool_calls": "models that run here write their calls in words",
}
_OF_API: Reasons = {
    **_IDLE,
    **dict.fromkeys(("retry", "timeout", "status_code_mappings", "http_client_cfg"), _RETRIES),
    **dict.fromkeys(
        ("max_workers", "concurrency", "batch_size"), "--model-args max_concurrency=N says how many at once"
    ),
    **dict.fromkeys(("stream", "stream_chunk_size", "finish_reason_confirm"), "answers are the same in pieces"),
    **dict.fromkeys(("logprobs", "top_logprobs"), _LOG_PROBABILITIES),
    "think_tag": "thoughts are kept apart from answers",
    "tokenizer_path": "tokens are counted by the server",
}
_OF_SERVERS: Reasons = {
    **_IDLE,
    "path": "it is the folder of the tokenizer with which AISBench counts tokens; the server counts them itself",
    "use_timestamp": _SPEED,
    "traffic_cfg": "bursts and ramps measure speed; request_rate is kept",
}

_REFUSED: Reasons = {
    "fastchat_template": _FASTCHAT,
    "use_fastchat_template": _FASTCHAT,
    "lora_path": "the weights beside the model would be left out",
    "min_out_len": _NO_LEAST,
    "thinking": "Claude's own thoughts are asked for with --model-args",
    "chat_template_kwargs": "the chat template would be another one; extra_body of a server takes them",
    "org": "the key says whose account it is",
    "openai_proxy_url": "proxies are set for the whole machine (HTTPS_PROXY)",
    "extra_headers": "headers are set with --model-args",
    "image_format": "images are sent as they are",
    "image_min_edge": "images are sent as they are",
}
_HINT = "take it out, or choose the engine yourself: --model NAME --model-args K=V"


def _keys(used: str, idle: Reasons) -> Keys:
    names = frozenset(f"{_EVERYWHERE} {used}".split())
    return Keys(names - idle.keys(), idle, {key: why for key, why in _REFUSED.items() if key not in names}, _HINT)


FAMILIES: Mapping[str, Keys] = {
    "hf": _keys(
        "model_kwargs generation_kwargs gen_config tokenizer_path peft_path max_seq_len stop_words end_str batch_size "
        "vision_kwargs",
        _OF_LOCAL,
    ),
    "vllm": _keys(
        "model_kwargs generation_kwargs sample_kwargs max_seq_len stop_words end_str vision_kwargs",
        {**_OF_LOCAL, "batch_size": "vLLM makes its batches itself"},
    ),
    "api": _keys(
        "key max_seq_len query_per_second temperature openai_api_base base_url extra_body openai_extra_kwargs "
        "claude_extra_kwargs max_completion_tokens",
        _OF_API,
    ),
    "server": _keys(
        "model model_name stream retry api_key host_ip host_port url enable_ssl generation_kwargs batch_size "
        "request_rate returns_tool_calls",
        _OF_SERVERS,
    ),
}
"""By the family of the engine that a model type is asked through."""

_OFF = (None, False, 0, 1)  # 1 is "off" for beams and numbers of answers, 0 and False for the rest

_NO_BEAMS = "engines here do not search with beams"
_ENDLESS = "answers would not end where the model ends them"
_SEVERAL = "several answers to one row are asked for by num_return_sequences, or by n of the dataset"
_OF_GENERATION: Mapping[str, Reasons] = {
    "hf": {"num_beams": _NO_BEAMS, "ignore_eos": _ENDLESS, "n": _SEVERAL},
    "vllm": {"use_beam_search": _NO_BEAMS, "n": _SEVERAL},
    "api": {"n": _SEVERAL},
    "server": {"n": _SEVERAL, "best_of": _SEVERAL},
}
"""Arguments of generation that would change the answers and that engines are not told; harmless where they are off."""

LIMITS = ("max_tokens", "max_new_tokens", "max_out_len", "max_length")
_LIMIT = "max_out_len of the model (or of the row) counts, as upstream"

_WHOLE, _NUMBER, _TEXT, _MAP = (int,), (int, float), (str,), (Mapping,)
_VALUES: Mapping[str, tuple[tuple[type, ...], float | None, float | None, str]] = {
    "max_out_len": (_WHOLE, 1, None, "a number of tokens"),
    "max_seq_len": (_WHOLE, 1, None, "a number of tokens"),
    "batch_size": (_WHOLE, 1, None, "a whole number"),
    "retry": (_WHOLE, 0, None, "a whole number"),
    "host_port": (_WHOLE, 1, 65535, "a port"),
    "host_ip": (_TEXT, None, None, "an address"),
    "request_rate": (_NUMBER, 0, None, "requests in a second"),
    "query_per_second": (_NUMBER, None, None, "requests in a second"),
    "temperature": (_NUMBER, 0, None, "a number, 0 or more"),
    "stream": ((bool,), None, None, "True or False"),
    "enable_ssl": ((bool,), None, None, "True or False"),
    "generation_kwargs": (_MAP, None, None, "a dictionary"),
    "sample_kwargs": (_MAP, None, None, "a dictionary"),
    "model_kwargs": (_MAP, None, None, "a dictionary"),
    "gen_config": (_MAP, None, None, "a dictionary"),
    "openai_extra_kwargs": (_MAP, None, None, "a dictionary"),
    "claude_extra_kwargs": (_MAP, None, None, "a dictionary"),
    "extra_body": (_MAP, None, None, "a dictionary"),
    "vision_kwargs": (_MAP, None, None, "a dictionary"),
    "pred_postprocessor": (_MAP, None, None, "a dictionary"),
    "model": (_TEXT, None, None, "the name of a model"),
    "model_name": (_TEXT, None, None, "the name of a model"),
    "path": (_TEXT, None, None, "the name or the folder of a model"),
    "abbr": (_TEXT, None, None, "a text"),
    "url": (_TEXT, None, None, "an address"),
    "api_key": (_TEXT, None, None, "a text"),
    "traffic_cfg": (_MAP, None, None, "a dictionary"),
    "run_cfg": (_MAP, None, None, "a dictionary"),
    "stop_words": ((str, list, tuple), None, None, "a list of texts"),
    "end_str": (_TEXT, None, None, "a text"),
    "tokenizer_path": (_TEXT, None, None, "the name or the folder of a tokenizer"),
    "peft_path": (_TEXT, None, None, "the name or the folder of an adapter"),
}
"""Of values that can be checked without asking: types, least, most, and what they are; ``None`` is always taken."""

_OF_DECODING: Mapping[str, tuple[tuple[type, ...], float | None, float | None, str]] = {
    "temperature": (_NUMBER, 0, None, "a number, 0 or more"),
    "top_p": (_NUMBER, 0, 1, "a share of 1"),
    "top_k": (_WHOLE, -1, None, "a whole number"),
    "seed": (_WHOLE, None, None, "a whole number"),
    "num_return_sequences": (_WHOLE, 1, None, "a whole number, 1 or more"),
    "repetition_penalty": (_NUMBER, 0, None, "a number, 0 or more"),
    "min_p": (_NUMBER, 0, 1, "a share of 1"),
    "presence_penalty": (_NUMBER, None, None, "a number"),
    "frequency_penalty": (_NUMBER, None, None, "a number"),
    "ignore_eos": ((bool,), None, None, "True or False"),
    "do_sample": ((bool,), None, None, "True or False"),
    "stop": ((str, list, tuple), None, None, "a text or a list of texts"),
    "stop_token_ids": ((list, tuple), None, None, "a list of numbers"),
    **dict.fromkeys(("max_tokens", "max_new_tokens"), (_WHOLE, 1, None, "a number of tokens")),
}
_OF_SERVICE: Mapping[str, tuple[tuple[type, ...], float | None, float | None, str]] = {
    "request_rate": (_NUMBER, 0, 64_000, "requests in a second, 64,000 at most"),
    "retry": (_WHOLE, 0, 1_000, "a whole number up to 1,000"),
    "batch_size": (_WHOLE, 1, 100_000, "a whole number up to 100,000"),
    "max_out_len": (_WHOLE, 1, 131_072, "a number of tokens up to 131,072"),
}
"""What AISBench itself refuses of models behind a server (``utils/config/build.py``)."""
_ATTRIBUTES = ("service", "local")
_RATE = (_NUMBER, 0, None, "requests in a second")
_TRAFFIC: Mapping[str, tuple[tuple[type, ...], float | None, float | None, str]] = {
    "burstiness": (_NUMBER, 0, None, "a number, 0 or more"),
    "ramp_up_strategy": (_TEXT, None, None, "'linear' or 'exponential'"),
    "ramp_up_start_rps": _RATE,
    "ramp_up_end_rps": _RATE,
}
_RAMPS = ("", "linear", "exponential")


def project_of_model(kind: Any) -> str:
    """Return whose class a model type is: bare names are AISBench's where OpenCompass has none of that name."""
    name = short_name(kind)
    only_there = name in known_names("aisbench", "models") and name not in known_names("opencompass", "models")
    return project_named(kind, "aisbench" if only_there else "opencompass")


def model_signature(kind: Any) -> Signature | None:
    """Return what a model type takes; ``None`` where neither package has it."""
    name, project = short_name(kind), project_of_model(kind)
    other = "aisbench" if project == "opencompass" else "opencompass"
    return signature(project, "models", name) or signature(other, "models", name)


def model_key_problems(values: Mapping[str, Any], family: str, generation: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield keys of a model that are refused or unknown, and values that cannot be; what is switched off is taken.

    Args:
        values: The model.
        family: A key of :data:`FAMILIES`.
        generation: How it generates: ``generation_kwargs`` and its like.
    """
    where, keys, taken = location_of(values), FAMILIES[family], _taken(values)
    on = {key: value for key, value in values.items() if key not in keys.refused or not _is_off(value)}
    for problem in keys.of_class(on, f"{short_name(values.get('type', 'the model'))}", "$", taken):
        yield problem.at(where, "$")
    for key, rule in {**_VALUES, **(_OF_SERVICE if family == "server" else {})}.items():
        yield from value_problem(values, key, rule, f"$.{key}", where)
    yield from generation_problems(generation, where)
    yield from _elsewhere(generation, where)
    yield from _role_slips(values.get("meta_template"), where)
    if isinstance(stop := values.get("stop_words"), list | tuple) and not all(isinstance(each, str) for each in stop):
        yield Diagnostic("'stop_words' is a list of texts", where, "$.stop_words", f"it is {stop!r}"[:LONGEST_SHOWN])
    yield from _named_values(values, where)
    for key, why in _OF_GENERATION[family].items():
        if key in generation and not _is_off(generation[key]):
            yield Diagnostic(f"'{key}' of the model cannot be honoured", where, f"$.generation_kwargs.{key}", why)


def generation_problems(
    generation: Mapping[str, Any], where: Location | None, path: str = "$.generation_kwargs"
) -> Iterator[Diagnostic]:
    """Yield what is wrong with how answers are to be written: values that cannot be, names that are nearly known."""
    for key, rule in _OF_DECODING.items():
        yield from value_problem(generation, key, rule, f"{path}.{key}", where)
    for key in generation:
        if key not in _OF_DECODING and (near := [*slips(str(key), _OF_DECODING), *_shorter(str(key))]):
            hint = did_you_mean(str(key), near)
            yield Diagnostic(f"the model knows no '{key}' of generation", where, f"{path}.{key}", hint=hint)


def _shorter(key: str) -> list[str]:
    """Return the names of which a key has all letters but the last one, or one more: no server has such pairs."""
    return [each for each in _OF_DECODING if key[:-1] == each or (key == each[:-1] and len(key) >= _SHORTEST)]


_SHORTEST = 4  # letters: ``top_`` is a slip, ``sto`` may be anything


def _elsewhere(generation: Mapping[str, Any], where: Location | None) -> Iterator[Diagnostic]:
    """Yield keys of a model or of a dataset among those of generation, where nobody would read them."""
    for key in generation:
        owner = "the model" if key in _OF_MODEL else "the dataset" if key in _OF_DATASET else ""
        if owner:
            path, hint = f"$.generation_kwargs.{key}", f"put it beside generation_kwargs, into {owner}"
            yield Diagnostic(f"'{key}' is a key of {owner}, not of generation_kwargs", where, path, hint=hint)
        elif key in _OF_REQUEST:
            path, why = f"$.generation_kwargs.{key}", "it would be asked in place of every question"
            yield Diagnostic(f"'{key}' of generation_kwargs cannot be honoured", where, path, why, "take it out")


def _role_slips(template: Any, where: Location | None) -> Iterator[Diagnostic]:
    """Yield roles of a meta template that are misspelt for those that datasets have."""
    parts = template if isinstance(template, Mapping) else {}
    for part in ("round", "reserved_roles"):
        items = parts.get(part)
        for place, item in enumerate(items if isinstance(items, list | tuple) else ()):
            for key in ("role", "api_role"):
                role = item.get(key) if isinstance(item, Mapping) else None
                if isinstance(role, str) and role not in ROLES and (near := slips(role, ROLES)):
                    path, hint = f"$.meta_template.{part}[{place}].{key}", did_you_mean(role, near)
                    yield Diagnostic(f"there is no {key} '{role}'", where, path, hint=hint)


_OF_MODEL = frozenset(
    [
        "abbr",
        "attr",
        "batch_size",
        "host_ip",
        "host_port",
        "meta_template",
        "model",
        "model_name",
        "path",
        "pred_postprocessor",
        "query_per_second",
        "request_rate",
        "retry",
        "run_cfg",
        "stream",
        "traffic_cfg",
        "type",
        "url",
    ]
)
_OF_REQUEST = frozenset(("messages", "prompt", "inputs", "text_input"))
"""What requests hold of the question; AISBench lets ``generation_kwargs`` replace it."""
_OF_DATASET = frozenset(("reader_cfg", "infer_cfg", "eval_cfg", "test_range", "train_range"))
"""Keys that mean nothing to whoever generates, by where they belong."""

_NUMBERS = re.compile(r"[\d.]+")


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _named_values(values: Mapping[str, Any], where: Location | None) -> Iterator[Diagnostic]:
    """Yield what is not one of a few words: ``attr``, the keys of ``traffic_cfg``."""
    if values.get("attr", "service") not in _ATTRIBUTES:
        hint = did_you_mean(str(values["attr"]), _ATTRIBUTES) or "'service' or 'local'"
        yield Diagnostic(f"there is no attr {values['attr']!r}", where, "$.attr", hint=hint)
    host = values.get("host_ip")
    if isinstance(host, str) and _NUMBERS.fullmatch(host) and not _is_address(host):
        yield Diagnostic(
            "'host_ip' is not an address", where, "$.host_ip", f"it is {host!r}", "'localhost', '10.0.0.5'"
        )
    traffic = values.get("traffic_cfg")
    if not isinstance(traffic, Mapping):
        return
    for key, value in traffic.items():
        path = f"$.traffic_cfg.{key}"
        if key not in _TRAFFIC:
            hint = did_you_mean(str(key), _TRAFFIC) or f"it has {', '.join(_TRAFFIC)}"
            yield Diagnostic(f"traffic_cfg knows no '{key}'", where, path, hint=hint)
        elif value != "":  # which AISBench takes for nothing
            yield from value_problem(traffic, key, _TRAFFIC[key], path, where)
    if isinstance(ramp := traffic.get("ramp_up_strategy"), str) and ramp not in _RAMPS:
        hint = did_you_mean(ramp, _RAMPS) or "'linear' or 'exponential'"
        yield Diagnostic(f"there is no ramp_up_strategy '{ramp}'", where, "$.traffic_cfg.ramp_up_strategy", hint=hint)


def model_idle(values: Mapping[str, Any], family: str, generation: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys of a model that have no effect here, by path, each with the reason."""
    found = FAMILIES[family].idle_of_class(values, "$", _taken(values))
    if family == "api":
        return found
    if family == "server" and str(values.get("url") or "").strip():
        found |= {f"$.{key}": "url says where the server is" for key in ("host_ip", "host_port") if values.get(key)}
    return found | {f"$.generation_kwargs.{key}": _LIMIT for key in LIMITS if generation.get(key) is not None}


def _taken(values: Mapping[str, Any]) -> Signature | None:
    """Return what may stand in a model: its class's own arguments, and what its project takes for itself."""
    kind = values.get("type")
    if (found := model_signature(kind)) is None:
        return None
    outside = _OUTSIDE[project_of_model(kind)].split()
    return Signature(
        (*found.needed, *(name for name in outside if name not in found.names)), found.defaults, found.is_open
    )


def _is_off(value: Any) -> bool:
    return value in _OFF or value in ("", "auto", {}, [])
