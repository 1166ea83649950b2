"""Checks the keys of a config's model: honoured, without effect (with the reason), or refused.

What a class takes is in its package's own signature (:mod:`.signatures`); what is done about each argument here is in
the tables of :mod:`.key_tables`, by the family of the engine. An argument that stands in none of them is taken where it
has the value that the class would give it by itself, and refused otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any

from proctor.dialects.aisbench.key_tables import (
    Keys,
    names_of,
    switched_off,
    value_problem,
    value_problems,
    value_rules,
    word_problems,
)
from proctor.dialects.aisbench.signatures import Signature, known_names, project_named, signature
from proctor.dialects.aisbench.template_keys import ROLES
from proctor.dialects.aisbench.values import it_is, location_of, short_name
from proctor.errors import Diagnostic, Location, did_you_mean
from proctor.slips import slips

_OFF = (None, False, 0, 1)  # 1 is "off" for beams and numbers of answers, 0 and False for the rest

LIMITS = ("max_tokens", "max_new_tokens", "max_out_len", "max_length")
_LIMIT = "max_out_len of the model (or of the row) counts, as upstream"


def project_of_model(kind: object) -> str:
    """Return whose class a model type is: bare names are AISBench's where OpenCompass has none of that name."""
    name = short_name(kind)
    only_there = name in known_names("aisbench", "models") and name not in known_names("opencompass", "models")
    return project_named(kind, "aisbench" if only_there else "opencompass")


def model_signature(kind: object) -> Signature | None:
    """Return what a model type takes; ``None`` where neither package has it."""
    name, project = short_name(kind), project_of_model(kind)
    other = "aisbench" if project == "opencompass" else "opencompass"
    return signature(project, "models", name) or signature(other, "models", name)


def model_key_problems(values: Mapping[str, Any], family: str, generation: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield keys of a model that are refused or unknown, and values that cannot be; what is switched off is taken.

    Args:
        values: The model.
        family: Of the engine that the model is asked through: ``hf``, ``vllm``, ``api`` or ``server``.
        generation: How it generates: ``generation_kwargs`` and its like.
    """
    where, keys, taken = location_of(values), Keys.of(family), _taken(values)
    on = {key: value for key, value in values.items() if key not in keys.refused or not _is_off(value)}
    for problem in keys.of_class(on, f"{short_name(values.get('type', 'the model'))}", "$", taken):
        yield problem.at(where, "$")
    for key, rule in {
        **value_rules("model"),
        **(value_rules("model behind a server") if family == "server" else {}),
    }.items():
        yield from value_problem(values, key, rule, f"$.{key}", where)
    yield from generation_problems(generation, where)
    yield from _elsewhere(generation, where)
    yield from _role_slips(values.get("meta_template"), where)
    if isinstance(stop := values.get("stop_words"), list | tuple) and not all(isinstance(each, str) for each in stop):
        yield Diagnostic("'stop_words' is a list of texts", where, "$.stop_words", it_is(stop))
    yield from _named_values(values, where)
    for key, why in switched_off(family).items():
        if key in generation and not _is_off(generation[key]):
            yield Diagnostic(f"'{key}' of the model cannot be honoured", where, f"$.generation_kwargs.{key}", why)


def generation_problems(
    generation: Mapping[str, Any], where: Location | None, path: str = "$.generation_kwargs"
) -> Iterator[Diagnostic]:
    """Yield what is wrong with how answers are to be written: values that cannot be, names that are nearly known."""
    known = value_rules("generation_kwargs")
    yield from value_problems(generation, "generation_kwargs", path, where)
    for key in generation:
        if key not in known and (near := [*slips(str(key), known), *_shorter(str(key))]):
            hint = did_you_mean(str(key), near)
            yield Diagnostic(f"the model knows no '{key}' of generation", where, f"{path}.{key}", hint=hint)


def _shorter(key: str) -> list[str]:
    """Return the names of which a key has all letters but the last one, or one more: no server has such pairs."""
    return [
        each
        for each in value_rules("generation_kwargs")
        if key[:-1] == each or (key == each[:-1] and len(key) >= _SHORTEST)
    ]


_SHORTEST = 4  # letters: ``top_`` is a slip, ``sto`` may be anything


def _elsewhere(generation: Mapping[str, Any], where: Location | None) -> Iterator[Diagnostic]:
    """Yield keys of a model or of a dataset among those of generation, where nobody would read them."""
    for key in generation:
        owner = next((each for each in ("the model", "the dataset") if key in names_of(each)), "")
        if owner:
            path, hint = f"$.generation_kwargs.{key}", f"put it beside generation_kwargs, into {owner}"
            yield Diagnostic(f"'{key}' is a key of {owner}, not of generation_kwargs", where, path, hint=hint)
        elif key in names_of("a request"):  # which AISBench lets ``generation_kwargs`` replace
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


_NUMBERS = re.compile(r"[\d.]+")


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _named_values(values: Mapping[str, Any], where: Location | None) -> Iterator[Diagnostic]:
    """Yield what is not one of a few words: ``attr``, the keys of ``traffic_cfg``."""
    yield from word_problems(values, "model", "$", where)
    host = values.get("host_ip")
    if isinstance(host, str) and _NUMBERS.fullmatch(host) and not _is_address(host):
        yield Diagnostic(
            "'host_ip' is not an address", where, "$.host_ip", f"it is {host!r}", "'localhost', '10.0.0.5'"
        )
    traffic = values.get("traffic_cfg")
    if not isinstance(traffic, Mapping):
        return
    told = {key: value for key, value in traffic.items() if value != ""}  # which AISBench takes for nothing
    yield from Keys(frozenset(value_rules("traffic_cfg"))).problems(traffic, "traffic_cfg", "$.traffic_cfg")
    yield from value_problems(told, "traffic_cfg", "$.traffic_cfg", where)


def model_idle(values: Mapping[str, Any], family: str, generation: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys of a model that have no effect here, by path, each with the reason."""
    found = Keys.of(family).idle_of_class(values, "$", _taken(values))
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
    outside = names_of(project_of_model(kind))
    return Signature((*found.needed, *sorted(outside - found.names)), found.defaults, found.is_open)


def _is_off(value: Any) -> bool:
    return value in _OFF or value in ("", "auto", {}, [])
