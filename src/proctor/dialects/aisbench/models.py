"""A model of a config as an engine, and as what it changes about exams."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.dataset_checks import processor_problems
from proctor.dialects.aisbench.index import COLLECTION, MODEL, find_config
from proctor.dialects.aisbench.key_tables import Keys
from proctor.dialects.aisbench.model_args import engine_args, family_of, mapping_of
from proctor.dialects.aisbench.model_keys import (
    LIMITS,
    model_idle,
    model_key_problems,
    model_signature,
    project_of_model,
)
from proctor.dialects.aisbench.postprocessors import misspelt
from proctor.dialects.aisbench.reader import models_of, read_config
from proctor.dialects.aisbench.values import as_data, known_name, location_of, model_abbr_of, short_name
from proctor.effects import Author, author, author_of_file, author_of_rows
from proctor.errors import (
    Diagnostic,
    Location,
    UnknownArtifactError,
    UsageError,
    ValidationError,
    did_you_mean,
    problems_of,
)
from proctor.formats.meta_template import MetaTemplate


def named_models(models: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return models by their names; one that is listed twice is one.

    Raises:
        ValidationError: Different models have one name: one of them would not be asked, or overwrite the other.
    """
    if found := list(model_name_problems(models)):
        raise ValidationError(found)
    return {model_abbr_of(each): each for each in models}


def model_name_problems(models: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    """Yield models that have the name of a different one before them."""
    first: dict[str, Mapping[str, Any]] = {}
    for each in models:
        before = first.setdefault(abbr := model_abbr_of(each), each)
        if before != each:
            place = location_of(before)
            why = f"the other is at {place}" if place is not None else "results are filed under it"
            hint = "abbr='…', another for each"
            yield Diagnostic(f"different models have the name '{abbr}'", location_of(each), "$.abbr", why, hint)


_SAMPLING = {"temperature", "top_p", "top_k", "seed"}
_EXTRA = ("gen_config", "generation_kwargs", "sample_kwargs", "openai_extra_kwargs", "claude_extra_kwargs")
"""Where models say how they write; of equal keys the last one counts."""
_SWITCHED_OFF = {"num_beams", "use_beam_search", "best_of", "n", "ignore_eos"}
"""What a model may say of its writing only where it means nothing; what it means is refused before."""
_REPEATS = "num_return_sequences"


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
        without_effect: Keys that have no effect here, by path, each with the reason.
        repeats: How often every row is asked about (AISBench's ``num_return_sequences``).
        takes_stops: Whether upstream gives it the texts that end an answer according to the dataset.
        own_limit: Whether its ``max_out_len`` comes before the dataset's, as in AISBench, which reads no other.
        returns_tool_calls: Whether its service returns calls of functions, so that it is given tools.
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
    without_effect: Mapping[str, str] = field(default_factory=dict)
    repeats: int = 1
    takes_stops: bool = True
    own_limit: bool = False
    returns_tool_calls: bool = False


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
    name, abbr = known_name(values.get("type", "")), model_abbr_of(values)
    entry = model_types().get(name)
    if entry is None and (found := _of_own_class(values, abbr)) is not None:
        return found
    if entry is None:
        raise _unknown_type(name, abbr, values)
    family, is_aisbench = family_of(entry), project_of_model(values.get("type")) == "aisbench"
    generation = {key: value for part in _EXTRA for key, value in mapping_of(values, part).items()}
    if problems := [*model_key_problems(values, family, generation), *_layout_problems(values)]:
        raise ValidationError(problems)
    stop = [*_texts(values.get("stop_words")), *_texts(values.get("end_str"))]
    idle = model_idle(values, family, generation)
    return ModelConfig(
        abbr,
        entry["engine"],
        engine_args(values, entry),
        bool(entry.get("messages")),
        meta_template_of(values),
        values.get("max_seq_len"),
        values.get("max_out_len") or (_default_limit(values) if is_aisbench else None),
        dict(_decoding(values, generation, family, counts=not is_aisbench)),
        tuple(dict.fromkeys(stop)),
        values.get("pred_postprocessor"),
        tuple(_notes(abbr, entry, idle)),
        idle,
        generation.get(_REPEATS, 1) if is_aisbench else 1,
        not is_aisbench and family in ("hf", "vllm"),
        is_aisbench,
        family == "server" and bool(values.get("returns_tool_calls")),
    )


def _of_own_class(values: Mapping[str, Any], abbr: str) -> ModelConfig | None:
    """Return a model whose type is a class that no package of ours knows; ``None`` where it names no such class.

    Raises:
        TrustError: Code is not trusted.
        UsageError: The class cannot be imported, or overrides what nothing here calls.
        ValidationError: The layout cannot be honoured.
    """
    from proctor.dialects.aisbench.own_models import NOT_ARGUMENTS, own_class

    kind, place = known_name(values.get("type", "")), location_of(values)
    made = own_class(kind, place)
    if made is None:
        return None
    if problems := list(_layout_problems(values)):
        raise ValidationError(problems)
    arguments = {name: as_data(value) for name, value in values.items() if name not in NOT_ARGUMENTS}
    args = {"kind": kind, "file": place.file if place else "", "arguments": arguments}
    return ModelConfig(
        abbr,
        json.dumps({"__type__": "config_model"}),
        {**args, "batch_size": values.get("batch_size") or 1},
        bool(getattr(made, "is_api", False)),
        meta_template_of(values),
        values.get("max_seq_len"),
        values.get("max_out_len"),
        postprocessor=values.get("pred_postprocessor"),
    )


def _layout_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the meta template and the post-processor of a model."""
    given, template, where = values.get("meta_template"), meta_template_of(values), location_of(values)
    if given and template is None:
        hint, why = "dict(round=[dict(role='HUMAN', …), dict(role='BOT', generate=True)])", f"it is {given!r}"[:120]
        yield Diagnostic("'meta_template' is a dictionary", where, "$.meta_template", why, hint)
    if template and not template.get("round"):
        place, why = location_of(template) or where, f"it has {', '.join(map(str, template))}"
        hint = "dict(round=[dict(role='HUMAN', …), dict(role='BOT', generate=True)])"
        yield Diagnostic("a meta_template needs a 'round'", place, "$.meta_template", why, hint)
    elif template:
        made = problems_of(partial(MetaTemplate.from_config, as_data(template)), "$.meta_template")
        yield from (each.at(location_of(template) or where) for each in made)
        yield from _role_key_problems(template, location_of(template) or where)
        roles = template["round"]
        if isinstance(roles, list | tuple) and not any(
            "generate" in role for role in roles if isinstance(role, Mapping)
        ):
            what, hint = "no role of the meta_template generates", "dict(role='BOT', …, generate=True)"
            why = "the prompt would end behind the model's own turn"
            yield Diagnostic(what, location_of(template) or where, "$.meta_template.round", why, hint)
    found = values.get("pred_postprocessor")
    if not isinstance(found, Mapping):
        return
    by_name = {"": found} if "type" in found else {f".{name}": each for name, each in found.items()}
    for name, each in by_name.items():
        yield from processor_problems(each, f"$.pred_postprocessor{name}", values)
        if isinstance(each, Mapping) and (hint := misspelt(each)):
            kind = short_name(each["type"])
            yield Diagnostic(f"there is no post-processor '{kind}'", where, f"$.pred_postprocessor{name}", hint=hint)


def _role_key_problems(template: Mapping[str, Any], where: Location | None) -> Iterator[Diagnostic]:
    """Yield keys of the roles of a meta template that nothing reads."""
    for part in ("round", "reserved_roles"):
        roles = template.get(part)
        for place, role in enumerate(roles if isinstance(roles, list | tuple) else ()):
            if isinstance(role, Mapping):
                path = f"$.meta_template.{part}[{place}]"
                found = Keys.of("role").problems(role, "a role of a meta template", path)
                yield from (each.at(where) for each in found)


def _unknown_type(name: str, abbr: str, values: Mapping[str, Any]) -> UsageError:
    if name in _ELSEWHERE:
        why, hint = _ELSEWHERE[name], "leave the model out, or choose another"
    else:
        why = f"there are engines for {', '.join(model_types())}"
        hint = f"{did_you_mean(name, model_types())} or choose the engine yourself: --model NAME".removeprefix(" or ")
    what = (
        f"the model '{abbr}' is a {name}, for which there is no engine" if name else f"the model '{abbr}' has no type"
    )
    return UsageError(what, location=location_of(values), path="$.type", why=why, hint=hint)


_ELSEWHERE = {"QwenImageEditModel": "it makes pictures, and exams here read what is written"}


def _notes(abbr: str, entry: Mapping[str, Any], idle: Mapping[str, str]) -> Iterator[str]:
    if idle:
        listed = ", ".join(f"{path.removeprefix('$.')} ({why})" for path, why in idle.items())
        yield f"'{abbr}' says what has no effect here: {listed}"
    if "instead_of" in entry:
        yield f"'{abbr}' is asked through {entry['engine']} instead of {entry['instead_of']}"


def _default_limit(values: Mapping[str, Any]) -> int | None:
    """Return the tokens of an answer where a model of AISBench's says nothing."""
    found = model_signature(values.get("type"))
    limit = found.defaults.get("max_out_len") if found is not None else None
    return limit if isinstance(limit, int) else None


def author_of_config(values: Mapping[str, Any]) -> Author | None:
    """Return who wrote a model: the config's file; a stranger where a command does not know it, else the program."""
    place = location_of(values)
    return author_of_file(place.file) if place is not None and place.file else author() or author_of_rows()


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [each for each in value or () if isinstance(each, str)]


def meta_template_of(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the meta template of a model, where it has one."""
    found = values.get("meta_template")
    if isinstance(found, Sequence) and not isinstance(found, str) and len(found) == 1:
        found = found[0]  # a comma behind dict(…) makes it a tuple; upstream's own configs have that
    return found if isinstance(found, Mapping) else None


def _decoding(
    values: Mapping[str, Any], generation: Mapping[str, Any], family: str, *, counts: bool
) -> Iterator[tuple[str, Any]]:
    """Yield how a model is to write, by the names of :class:`~proctor.ir.Decoding` and of the engine."""
    if family == "server":
        yield from _of_server(generation)
        return
    samples = generation.get("do_sample")
    for key, value in {**{key: values[key] for key in _SAMPLING if key in values}, **generation}.items():
        if family == "api" and key in ("max_tokens", "max_completion_tokens") and value:
            yield "max_tokens", value  # what the server is told in any case
            continue
        if value is None or key in (*LIMITS, "max_completion_tokens", "do_sample", _REPEATS):
            continue
        if key in _SWITCHED_OFF and not (key == "ignore_eos" and family == "vllm" and value):
            continue
        if not (key in _SAMPLING and samples is False):
            yield key, value
    if counts and generation.get(_REPEATS, 1) > 1:
        yield "count", generation[_REPEATS]


def _of_server(generation: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what AISBench puts in the body of a request: everything, and no temperature where none is said."""
    if generation.get("temperature") is None:
        yield "temperature", None
    extra = {}
    for key, value in generation.items():
        if key in (*LIMITS, _REPEATS, "n", "best_of") or value is None:
            continue
        if key == "stop":
            yield key, tuple(_texts(value))
        elif key in _SAMPLING:
            yield key, value
        else:
            extra[key] = as_data(value)
    if extra:
        yield "extra", extra


def says_how_to_score(values: Mapping[str, Any]) -> bool:
    """Whether a model of a config says what changes the scores of answers that are there already."""
    generation = values.get("generation_kwargs")
    repeats = generation.get(_REPEATS, 1) if isinstance(generation, Mapping) else 1
    return bool(values.get("pred_postprocessor")) or repeats != 1


_MODELS = re.compile(r"^models\b|\bread_base\b|^_base_\b|^from .* import .*(\*|\bmodels\b)", re.MULTILINE)
"""What every config with models has; a file without it is not a config, or has none."""


def find_models(text: str, include_paths: Sequence[str] = ()) -> list[tuple[str, Mapping[str, Any]]] | None:
    """Return the models of a config file or of a config's name, each with the text that means it alone.

    ``FILE.py::ABBR`` means one of them. ``None`` where the text is not a config.

    Args:
        text: A file, or a name.
        include_paths: More folders with configs: what is found in one is meant by its path.

    Raises:
        ProctorError: It is a config that cannot be read, or that has no such model.
    """
    name, _, wanted = text.partition("::")
    path = Path(name) if name.endswith(".py") else find_config(name, include_paths, (MODEL, COLLECTION))
    if path is not None and include_paths and any(path.is_relative_to(each) for each in include_paths):
        name = str(path)
    if path is None or (name.endswith(".py") and not path.is_file()):
        return None
    if not wanted and name.endswith(".py") and not _MODELS.search(path.read_text("utf-8", "replace")):
        return None
    models = named_models(models_of(read_config(path)))
    if wanted and wanted not in models:
        hint = did_you_mean(wanted, models) or f"there are {', '.join(models) or 'none'}"
        raise UnknownArtifactError(f"{name} has no model '{wanted}'", hint=hint)
    return [(f"{name}::{abbr}", values) for abbr, values in models.items() if wanted in ("", abbr)]
