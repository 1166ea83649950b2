"""Roles that a dataset's dialogues have and that a model of the same file does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.dialects.aisbench.models import meta_template_of, model_types
from proctor.dialects.aisbench.values import abbr_of, location_of, model_abbr_of, short_name
from proctor.errors import Diagnostic, Location, did_you_mean
from proctor.formats.meta_template import CHAT_ROLES

_TEMPLATES = ("ice_template", "prompt_template")


def role_problems(datasets: Sequence[Mapping[str, Any]], models: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    """Yield roles that cannot be laid out for a model, one for each role and model.

    Models that continue a text and have no meta template leave roles out; nothing is wrong with any for them.

    Args:
        datasets: Of a file.
        models: Of the same file.
    """
    spoken: dict[str, tuple[str, Location | None, str]] = {}
    for dataset in datasets:
        inference = dataset.get("infer_cfg")
        parts = inference if isinstance(inference, Mapping) else {}
        for name in _TEMPLATES:
            for role, where in _roles(parts.get(name)):
                spoken.setdefault(role, (abbr_of(dataset), where, f"$.infer_cfg.{name}"))
    for model in models:
        if (known := known_roles(model)) is None:
            continue
        for role, (abbr, where, path) in spoken.items():
            if role not in known:
                hint = did_you_mean(role, known) or f"it has {', '.join(known)}; or say a fallback_role"
                what = f"'{role}' speaks in '{abbr}', and the model '{model_abbr_of(model)}' has no such role"
                yield Diagnostic(what, where, path, hint=hint)


def known_roles(model: Mapping[str, Any]) -> list[str] | None:
    """Return the roles that a model's prompts can have; ``None`` where they can have any."""
    template = meta_template_of(model)
    if template is None:
        entry = model_types().get(short_name(model.get("type", "")), {})
        return [*CHAT_ROLES] if entry.get("messages") else None
    if not template.get("round"):
        return None  # which is said by itself
    parts = [each for key in ("round", "reserved_roles") for each in _listed(template.get(key))]
    return [each["role"] for each in parts if isinstance(each, Mapping) and isinstance(each.get("role"), str)]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _roles(part: Any) -> Iterator[tuple[str, Location | None]]:
    """Yield the roles of the turns in a template that nobody else can speak for, each with its place."""
    if isinstance(part, list | tuple):
        for each in part:
            yield from _roles(each)
    elif isinstance(part, Mapping):
        role = part.get("role")
        if isinstance(role, str) and "fallback_role" not in part and ("prompt" in part or "prompt_mm" in part):
            yield role, location_of(part)
        for key, each in part.items():
            if key != "messages":  # RawPromptTemplate has the roles of chats
                yield from _roles(each)
