"""A model of a config as an engine, and as what it changes about exams."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.config import model_abbr_of
from proctor.dialects.aisbench.config_keys import GENERATION_REFUSED, MODEL_KEYS, model_key_problems
from proctor.dialects.aisbench.index import COLLECTION, MODEL, find_config
from proctor.dialects.aisbench.reader import models_of, read_config
from proctor.dialects.aisbench.values import as_data, location_of, short_name
from proctor.effects import Author, author, author_of_file, author_of_rows
from proctor.errors import UnknownArtifactError, UsageError, ValidationError, did_you_mean

_KEY_FROM_ENVIRONMENT = "ENV"
_SAMPLING = {"temperature", "top_p", "top_k", "seed"}
_RENAMED = {"max_new_tokens": "max_tokens", "max_out_len": "max_tokens", "max_completion_tokens": "max_tokens"}
_EXTRA = ("gen_config", "generation_kwargs", "openai_extra_kwargs", "claude_extra_kwargs")
"""Where models say how they write; of equal keys the last one counts."""
_NOT_DECODING = {"do_sample", "max_tokens", *GENERATION_REFUSED}
"""``do_sample`` decides what else counts; tokens have a place of their own; refused keys get here switched off."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One model of a config.

    Attributes:
        abbr: Its name in results.
        engine: What ``--model`` would be.
        args: What ``--model-args`` would be.
        as_messages: Whether it takes chat messages.
        meta_template: How it wants dialogues laid out, where the config says.
        max_seq_len: Longest prompt in tokens where a dataset does not say.
        max_out_len: Tokens of an answer where a dataset does not say.
        decoding: How it is to write.
        stop: Texts that end an answer.
        postprocessor: What is done to its answers first.
        notes: What is different here from what the config says.
    """

    abbr: str
    engine: str
    args: Mapping[str, Any]
    as_messages: bool = False
    meta_template: Mapping[str, Any] | None = None
    max_seq_len: int | None = None
    max_out_len: int | None = None
    decoding: Mapping[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    postprocessor: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()


@cache
def model_types() -> Mapping[str, Mapping[str, Any]]:
    """Return the model types that have an engine here."""
    table: dict[str, dict[str, Any]] = json.loads(files(__package__).joinpath("models.json").read_bytes())
    return table


def model_config(values: Mapping[str, Any]) -> ModelConfig:
    """Return a model of a config as an engine.

    Raises:
        UsageError: Its type has no engine here, or it names no model.
        ValidationError: It has keys that cannot be honoured.
    """
    name, abbr = short_name(values.get("type", "")), model_abbr_of(values)
    entry = model_types().get(name)
    if entry is None:
        raise UsageError(
            f"the model '{abbr}' is a {name}, for which there is no engine",
            location=location_of(values),
            why=f"there are engines for {', '.join(model_types())}",
            hint=f"{did_you_mean(name, model_types())} or choose the engine yourself: --model NAME".removeprefix(
                " or "
            ),
        )
    generation = {key: value for part in _EXTRA for key, value in _mapping(values, part).items()}
    if problems := list(model_key_problems(values, generation)):
        raise ValidationError(problems)
    notes = []
    if idle := MODEL_KEYS.without_effect(values, "$"):
        listed = ", ".join(f"{path.removeprefix('$.')} ({why})" for path, why in idle.items())
        notes.append(f"'{abbr}' says what has no effect here: {listed}")
    if "instead_of" in entry:
        notes.append(f"'{abbr}' is asked through {entry['engine']} instead of {entry['instead_of']}")
    stop = [*_texts(values.get("stop_words")), *_texts(values.get("end_str"))]
    return ModelConfig(
        abbr,
        entry["engine"],
        _args(values, entry),
        bool(entry.get("messages")),
        meta_template_of(values),
        values.get("max_seq_len"),
        values.get("max_out_len"),
        dict(_decoding(values, generation)),
        tuple(dict.fromkeys(stop)),
        values.get("pred_postprocessor"),
        tuple(notes),
    )


def author_of_config(values: Mapping[str, Any]) -> Author | None:
    """Return who wrote a model: the config's file; a stranger where a command does not know it, else the program."""
    place = location_of(values)
    return author_of_file(place.file) if place is not None and place.file else author() or author_of_rows()


def _mapping(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key)
    return found if isinstance(found, Mapping) else {}


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [each for each in value or () if isinstance(each, str)]


def meta_template_of(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the meta template of a model, where it has one."""
    found = values.get("meta_template")
    if isinstance(found, Sequence) and not isinstance(found, str) and len(found) == 1:
        found = found[0]  # a comma behind dict(…) makes it a tuple; upstream's own configs have that
    return found if isinstance(found, Mapping) else None


def _decoding(values: Mapping[str, Any], generation: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    samples = generation.get("do_sample")
    for key, value in {**{key: values[key] for key in _SAMPLING if key in values}, **generation}.items():
        name = _RENAMED.get(key, key)
        if value is None or name in _NOT_DECODING:
            continue
        if not (name in _SAMPLING and samples is False):
            yield name, value


def _args(values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    maker = {"hf": _hf_args, "vllm": _vllm_args}.get(entry["engine"], _api_args)
    return {**maker(values, entry), **entry.get("args", {})}


def _hf_args(values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    del entry
    model_kwargs = {key: as_data(value) for key, value in _mapping(values, "model_kwargs").items()}
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
    for name in ("device_map", "attn_implementation", "load_in_8bit", "load_in_4bit"):
        if name in model_kwargs:
            args[name] = model_kwargs.pop(name)
    # Code of a model runs only for users who say so themselves: a config may not.
    model_kwargs.pop("trust_remote_code", None)
    return {**args, **({"model_kwargs": model_kwargs} if model_kwargs else {})}


def _vllm_args(values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    del entry
    kwargs = {key: value for key, value in _mapping(values, "model_kwargs").items() if key != "trust_remote_code"}
    known: dict[str, Any] = {
        name: kwargs.pop(name) for name in ("tensor_parallel_size", "gpu_memory_utilization") if name in kwargs
    }
    if values.get("max_seq_len"):
        known["max_model_len"] = values["max_seq_len"]
    return {"model": _path(values), **known, **({"llm_kwargs": kwargs} if kwargs else {})}


def _api_args(values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    args: dict[str, Any] = {"model": _path(values)}
    key = values.get("key") or values.get("api_key")
    if isinstance(key, str) and key != _KEY_FROM_ENVIRONMENT:
        args["api_key"] = key
    base = values.get("openai_api_base") or values.get("url")
    if isinstance(base, list | tuple):
        base = base[0] if base else None
    if not base and entry.get("server"):
        scheme = "https" if values.get("enable_ssl") else "http"
        base = f"{scheme}://{values.get('host_ip', 'localhost')}:{values.get('host_port', 8080)}/v1"
    if base:
        args["base_url"] = str(base).removesuffix("/").removesuffix("/chat/completions").removesuffix("/completions")
    if isinstance(rate := values.get("query_per_second"), int | float) and rate > 0:
        args["requests_per_minute"] = rate * 60
    if isinstance(values.get("batch_size"), int) and entry.get("server"):
        args["max_concurrency"] = values["batch_size"]
    if isinstance(extra := values.get("extra_body"), Mapping):
        args["extra_body"] = dict(extra)
    return args


def _path(values: Mapping[str, Any]) -> str:
    found = values.get("path") or values.get("model")
    if not isinstance(found, str) or not found:
        raise UsageError(
            f"the model '{model_abbr_of(values)}' names no model",
            location=location_of(values),
            hint="fill in path='…' (or model='…' for a server)",
        )
    return found


def find_models(text: str) -> list[tuple[str, Mapping[str, Any]]] | None:
    """Return the models of a config file or of a config's name, each with the text that means it alone.

    ``FILE.py::ABBR`` means one of them. ``None`` where the text is not a config.

    Raises:
        ProctorError: It is a config that cannot be read, or that has no such model.
    """
    name, _, wanted = text.partition("::")
    path = Path(name) if name.endswith(".py") else find_config(name, kinds=(MODEL, COLLECTION))
    if path is None or (name.endswith(".py") and not path.is_file()):
        return None
    models = {model_abbr_of(values): values for values in models_of(read_config(path))}
    if wanted and wanted not in models:
        hint = did_you_mean(wanted, models) or f"there are {', '.join(models) or 'none'}"
        raise UnknownArtifactError(f"{name} has no model '{wanted}'", hint=hint)
    return [(f"{name}::{abbr}", values) for abbr, values in models.items() if wanted in ("", abbr)]
