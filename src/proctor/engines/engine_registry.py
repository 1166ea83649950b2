"""Engines by name: what ``--model`` takes becomes an engine."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any

from proctor.artifacts import fetch_artifact
from proctor.artifacts.query import IN_CODE, is_assignments
from proctor.artifacts.registry import builtin_types
from proctor.effects import author, written_by
from proctor.engines.engine import Engine
from proctor.engines.engine_names import ENGINES, REGISTERED, EngineName, engine_names
from proctor.engines.http.providers import providers
from proctor.engines.model_args import Origin, parse_model_args
from proctor.errors import MissingExtraError, ProctorError, UnknownArtifactError, UsageError, did_you_mean
from proctor.ir import several_answers
from proctor.packages import fetched_folder
from proctor.plugins import plugins
from proctor.secrets import without_secrets
from proctor.slips import slips

_PROVIDERS_TYPE = "cross_provider_inference_engine"  # its name is part of the identity under which logs keep answers


def make_engine(name: str | Engine, args: Mapping[str, Any] | None = None, origin: Origin | None = None) -> Engine:
    """Return the engine of a short name, a catalog name, a query, or JSON with ``__type__``.

    Args:
        name: What ``--model`` takes; ``openai/gpt-4.1`` is the model of a provider, or of an engine, a folder with a
            ``config.json`` one of ``hf``, and brackets hold arguments: ``openai/m[base_url=http://host/v1]``.
        args: Its fields (``--model-args``); dashes in names count as underscores.
        origin: Who says it; by default whoever wrote what is being built, the user where nobody did. An engine that
            is in a file of its own is that file's, but for the arguments that the user gave.

    Raises:
        UsageError: The name or an argument is unknown.
        MissingExtraError: The engine needs packages that are not installed.
    """
    given = {key.replace("-", "_"): value for key, value in (args or {}).items()}
    if isinstance(name, str):
        name, given = _of_provider(name, given)
    _check_one_answer(given)
    if isinstance(name, str) and name in REGISTERED:
        made: Engine = REGISTERED[name](given)
        return made.answering()
    said = origin or Origin(author())
    if isinstance(name, str) and (name in _OF_TRANSFORMERS or name not in ENGINES):
        name, given, said = _in_our_words(name, given, said)
    with written_by(said.author):
        engine = engine_named(name, given)
    if engine is not name:
        other_names: Mapping[str, str] = getattr(type(engine), "other_names", {})
        typed = said.typed if said.author is not None else frozenset(given)
        named = frozenset(other_names.get(each, each) for each in typed)
        object.__setattr__(engine, "typed_fields", engine.typed_fields | named)
        object.__setattr__(engine, "is_of_config", engine.is_of_config or said.is_config)
    return engine.answering()


def words_for(engine: Engine) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments by which :func:`make_engine` makes an engine again."""
    body = engine.to_dict()
    kind, place = body.pop("__type__"), f"{type(engine).__module__}:{type(engine).__qualname__}"
    short = next((name for name, entry in ENGINES.items() if entry.place == place and not entry.values), None)
    return short or json.dumps({"__type__": kind}), body


def _of_provider(name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the engine and the arguments of ``provider/model[key=value]``; what is not written so stays as it is."""
    bare, bracket, rest = name.partition("[")
    code = IN_CODE.fullmatch(bare)
    is_folder = bare.partition("/")[0] not in engine_names() and Path(bare, "config.json").is_file()
    if bracket and (code or is_folder or {bare, bare.partition("/")[0]} & {*engine_names(), *REGISTERED}):
        name, given = bare, {**_in_brackets(bare, rest, given), **given}
    if code is not None:
        return "python", {**given, "file": code["file"], **({"function": code["name"]} if code["name"] else {})}
    provider, slash, model = ("hf", "/", name.rstrip("/")) if is_folder else name.partition("/")
    if not slash or not model or name in REGISTERED or provider not in engine_names():
        return name, given
    if given.get("model", model) != model:
        raise UsageError(
            f"'{name}' names a model, and model={given['model']} names another one", hint=f"--model {provider}"
        )
    return provider, {**given, "model": model}


def _in_brackets(name: str, text: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments in the brackets behind a model's name, which is written down and shown as it stands.

    Raises:
        UsageError: They cannot be read, hold a secret, or are given beside the name, too.
    """
    if not text.endswith("]"):
        raise UsageError(f"the bracket behind '{name}' is not closed", hint=f"write '{name}[key=value]', in quotes")
    said = parse_model_args(text[:-1], f"{name}[…]")
    if without_secrets(said) != said:
        hint = (
            "export the key, or say it with --model-args, which is not written down; proctor doctor names the variable"
        )
        raise UsageError(f"the brackets behind '{name}' hold a secret", why="a model's name is shown", hint=hint)
    if twice := said.keys() & given.keys():
        raise UsageError(f"'{name}[…]' and the arguments beside it both say '{min(twice)}'", hint="say it once")
    return said


_OF_TRANSFORMERS = frozenset({"hf", "smollm2", "openvino"})
"""Engines that take the arguments of lm-eval's ``hf``."""


def _in_our_words(name: str, given: dict[str, Any], said: Origin) -> tuple[str, dict[str, Any], Origin]:
    """Return a model's name and arguments as engines here have them, where they are lm-eval's."""
    from proctor.engines.lm_eval_models import hf_arguments, is_foreign, own_name, translated

    if name in _OF_TRANSFORMERS:
        return name, hf_arguments(given), said
    if not is_foreign(name):
        return name, given, said
    found = translated(name, given)
    return found.name, found.values, said._replace(typed=frozenset(own_name(name, each) for each in said.typed))


def _check_one_answer(given: Mapping[str, Any]) -> None:
    """Refuse parameters that go past an engine to its server, and ask it for several answers to each request."""
    body = given.get("extra_body")
    if isinstance(body, Mapping) and (several := several_answers(body)) is not None:
        raise UsageError(
            f"extra_body asks for {several[1]} answers to each request ('{several[0]}')",
            why="an exam grades one answer to each request: the others would be paid for and thrown away",
            hint=f"--repeats {several[1]} asks {several[1]} times, and grades every answer",
        )


def engine_named(name: str | Engine, given: Mapping[str, Any]) -> Engine:
    """Return the engine itself, as :func:`make_engine` does without ``settings.engine_map``."""
    if isinstance(name, Engine):
        return _changed(name, given)
    if name in ENGINES:
        return _build(name, ENGINES[name], given)
    if any(name == known or name in entry.aliases for known, entry in providers().items()):
        return _build(name, EngineName(builtin_types()[_PROVIDERS_TYPE], "", values={"provider": name}), given)
    if (plugin := plugins("engines").get(name)) is not None:
        return _build(name, EngineName(plugin.place, f"of {plugin.package}"), given)
    return _fetch(name, given)


def _changed(engine: Engine, given: Mapping[str, Any]) -> Engine:
    if not given:
        return engine
    values = {name: getattr(engine, name) for name in type(engine).model_fields if name in engine.model_fields_set}
    with written_by(engine.author):
        made = type(engine)(**{**values, **given})
    made.come_from(engine)
    return made


def _build(name: str, entry: EngineName, given: Mapping[str, Any]) -> Engine:
    if missing := entry.missing:
        raise MissingExtraError(
            f"the engine '{name}' needs the package '{missing[0].replace('_', '-')}', which is not installed",
            hint=entry.install_command,
        )
    module, _, attribute = entry.place.partition(":")
    cls: type[Engine] = getattr(import_module(module), attribute)
    fields = [field for field in cls.model_fields if not field.startswith("_")]
    other_names: Mapping[str, str] = getattr(cls, "other_names", {})
    named = {key: other_names.get(key, key) for key in given}
    if len(set(named.values())) < len(named):
        same = [key for key, field in named.items() if list(named.values()).count(field) > 1]
        raise UsageError(f"{' and '.join(repr(key) for key in same)} are one argument of the engine '{name}'")
    given = {named[key]: value for key, value in given.items()}
    given = _without_idle(name, cls, given)
    if unknown := [key for key in given if key not in fields]:
        hint = did_you_mean(unknown[0], fields)
        raise UsageError(
            f"the engine '{name}' has no argument {', '.join(repr(key) for key in unknown)}",
            why=f"its arguments are {', '.join(fields)}",
            hint=hint or "how a model decodes (temperature, max_tokens) is said with --decoding",
        )
    if absent := [key for key, field in cls.model_fields.items() if field.is_required() and key not in given]:
        raise UsageError(
            f"the engine '{name}' needs the argument {', '.join(repr(key) for key in absent)}",
            hint=f"--model {name} --model-args {','.join(f'{key}=…' for key in absent)}",
        )
    return cls(**{**entry.values, **given})


def _without_idle(name: str, cls: type[Engine], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return arguments without those of lm-eval's that decide nothing of an engine, which are said."""
    if not any(key in MATTERS_ELSEWHERE and key not in cls.model_fields for key in given):
        return given
    from proctor.engines.lm_eval_models import of_any_engine

    return of_any_engine(name, given, frozenset(cls.model_fields), loads_model=bool(getattr(cls, "loads_model", False)))


MATTERS_ELSEWHERE = frozenset(
    {"batch_size", "device", "max_batch_size", "num_concurrent", "parallelize", "tokenizer_backend"}
)
"""Arguments that everybody passes to every model of lm-eval, whether they mean something there or not."""


_MODEL = re.compile(r"[\w-]+[-.:\d][\w.:-]*")
"""Names as services have them (``gpt-4.1``, ``o3``)."""
_OF_PROVIDER = re.compile(r"[\w-]+/[\w.:/-]+(?<!\.json)")
"""A name after another one and a slash; files of engines are not such names."""
_PLACES = (
    (re.compile(r"^https?://"), "a server is --model openai -a model=NAME,base_url={}"),
    (re.compile(r"\.gguf$"), "a GGUF file is --model llamacpp -a model={}"),
    (
        re.compile(r"^[.~]*/(?!.*\.json$)"),
        "a folder with a model has a config.json (an adapter: --model hf -a model=BASE,peft={})",
    ),
)
"""Addresses, files and folders that are given for an engine, and what is meant by them."""
_OF_FILE = re.compile(r"([\w/]+)[:.](\w+)")
"""A function of a module, as import statements and servers have it."""
_NO_ARTIFACT = re.compile(r"[\w.]+(?:-[\w.]+)+")
"""Names with dashes, as other systems' models have them: artifacts have none."""


def _fetch(name: str, given: Mapping[str, Any]) -> Engine:
    if other := next((hint for ending, hint in _PLACES if ending.search(name)), None):
        raise UsageError(f"there is no engine '{name}'", hint=other.format(quote(name)))
    provider = name.partition("/")[0]
    if _OF_PROVIDER.fullmatch(name) and not Path(name).exists():
        known = next((each for each, entry in providers().items() if provider in entry.aliases), None)
        meant = [f"'{known}'"] if known else [f"'{each}'" for each in slips(provider, engine_names())]
        told = [f"did you mean {' or '.join(meant)}?"] * bool(meant)
        told += [f"a model of the hub is --model hf -a pretrained={name}"] * (known is not None or not meant)
        hint = " Or: ".join(told)
        raise UsageError(f"there is no engine '{provider}'", why="it is read as provider/model", hint=hint)
    provider, _, model = name.partition(":")
    if model and provider in engine_names():
        why = "a provider and its model have a slash between them"
        model = re.sub(r"^(chat|completion|messages|responses):", "", model)
        raise UsageError(f"there is no engine '{name}'", why=why, hint=f"--model {provider}/{model}")
    if (own := _OF_FILE.fullmatch(name)) and Path(f"{own[1]}.py").is_file():
        hint = f"a function in a file is --model {own[1]}.py:{own[2]}"
        raise UsageError(f"there is no engine '{name}'", why=f"there is {own[1]}.py", hint=hint)
    if _NO_ARTIFACT.fullmatch(name) or (is_assignments(name) and not name.lstrip().startswith("{")):
        raise _unknown(name)
    try:
        found = fetch_artifact(name, given)
    except UnknownArtifactError as error:
        raise _unknown(name, error) from None
    if not isinstance(found, Engine):
        raise UsageError(f"'{name}' is a {type(found).__name__}, not an engine")
    return found


_OF_AISBENCH = re.compile(r"^(vllm|mindie|triton|tgi|hf|openai)_\w*(api|stream|chat|base|general)", re.IGNORECASE)
"""Names as AISBench's configs of models have them (``vllm_api_general_chat``)."""


def _unknown(name: str, error: ProctorError | None = None) -> UsageError:
    near = error.diagnostics[0].hint if error is not None and name.startswith("engines.") else ""
    from proctor.engines.lm_eval_models import MODELS

    if _OF_AISBENCH.search(name) and fetched_folder("ais_bench") is None:
        return UsageError(
            f"there is no engine '{name}'",
            why="it looks like a model config of AISBench, whose configs are not here",
            hint="proctor get ais-bench fetches them; a config of your own is a file: --model FILE.py::ABBR",
        )
    hint = (
        did_you_mean(name, [*REGISTERED, *engine_names(), *MODELS])
        or near
        or (
            _MODEL.fullmatch(name)
            and f"a service's model is written openai/{name}; proctor doctor says what else there is"
        )
        or "proctor doctor says what each of them is, and needs"
    )
    return UsageError(f"there is no engine '{name}'", why=f"the engines are {', '.join(engine_names())}", hint=hint)
