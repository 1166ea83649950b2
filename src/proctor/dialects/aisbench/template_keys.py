"""Checks a template from the file alone: keys of turns, texts in place of turns, misspelt columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proctor.dialects.aisbench.key_tables import Keys
from proctor.dialects.aisbench.values import it_is, location_of, short_name, texts_in
from proctor.errors import Diagnostic, Location, did_you_mean
from proctor.slips import slips

_SECTIONS = ("begin", "round", "end")
_WORDS = ("prompt", "prompt_mm")
ROLES = ("HUMAN", "BOT", "SYSTEM", "TOOL")
"""The roles of upstream's own meta templates; others belong to a model's meta template, or have a fallback_role."""
_TEXTS = ("PromptTemplate", "MultiTurnPromptTemplate", "MMPromptTemplate")
_NAME = re.compile(r"\{([A-Za-z_]\w{3,})\}")
"""What a text has in braces; shorter names are too near to each other to be taken for misspelt ones."""


def template_problems(config: Mapping[str, Any], path: str, columns: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the words of a template.

    Args:
        config: ``dict(type=PromptTemplate, template=…)``; other types are not looked at.
        path: Where it is in the dataset.
        columns: The columns that ``reader_cfg`` names.
    """
    if short_name(config.get("type", "")) not in _TEXTS or "template" not in config:
        return
    own, where, place = config["template"], location_of(config), f"{path}.template"
    if not isinstance(own, str | Mapping):
        yield Diagnostic("a template is a text or a dictionary", where, place, it_is(own))
        return
    for key in ("ice_token", "sep_token"):
        if config.get(key) is not None and not isinstance(config[key], str):
            why = it_is(config[key])
            yield Diagnostic(f"'{key}' is a text", where, f"{path}.{key}", why, "'</E>'")
    token = config.get("ice_token")
    parts = {place: own} if isinstance(own, str) or _is_dialogue(own) else {f"{place}.{k}": v for k, v in own.items()}
    for at, part in parts.items():
        if part == "" and at != place:
            yield Diagnostic("the words of a label are empty", where, at, hint="what the prompt says with this label")
        elif isinstance(part, Mapping):
            yield from _dialogue_problems(part, at, token, location_of(part) or where)
        elif isinstance(part, list):
            hint = did_you_mean(at.rpartition(".")[2], _SECTIONS)
            yield Diagnostic(
                f"a dialogue knows no '{at.rpartition('.')[2]}'",
                where,
                at,
                hint=hint or f"it has {', '.join(_SECTIONS)}",
            )
    yield from _column_problems(texts_in(own), columns, place, where)


def _is_dialogue(own: Mapping[str, Any]) -> bool:
    """Whether a dictionary is meant as a dialogue, rather than as a map from labels."""
    return own.keys() <= set(_SECTIONS) or any(isinstance(own.get(each), list) for each in _SECTIONS)


def _dialogue_problems(
    dialogue: Mapping[str, Any], path: str, token: Any, where: Location | None
) -> Iterator[Diagnostic]:
    if dialogue.get("round", True) in ([], ()) and not dialogue.get("begin") and not dialogue.get("end"):
        yield Diagnostic("the dialogue has no turns", where, f"{path}.round", hint="[dict(role='HUMAN', prompt='…')]")
    yield from (each.at(where) for each in Keys.of("dialogue").problems(dialogue, "a dialogue", path))
    for section, content in ((each, dialogue[each]) for each in _SECTIONS if each in dialogue):
        for number, turn in enumerate(content if isinstance(content, list) else [content]):
            at = f"{path}.{section}[{number}]"
            if isinstance(turn, Mapping):
                yield from _turn_problems(turn, at, location_of(turn) or where)
            elif section == "round" and isinstance(turn, str) and turn != token:
                hint = "dict(role='HUMAN', prompt=…)"
                yield Diagnostic("a turn of a round is a text", where, at, it_is(turn), hint)


def _turn_problems(turn: Mapping[str, Any], path: str, where: Location | None) -> Iterator[Diagnostic]:
    unknown = [each.at(where) for each in Keys.of("turn").problems(turn, "a turn", path)]
    yield from unknown
    if not unknown and not any(key in turn for key in _WORDS):
        yield Diagnostic(
            f"a turn has no prompt, so that it says nothing: {_keys(turn)}", where, path, hint="prompt='…'"
        )
    if isinstance(shapes := turn.get("prompt_mm"), Mapping):
        yield from _media_problems(shapes, f"{path}.prompt_mm", where)
    for key in ("role", "fallback_role"):
        role = turn.get(key)
        if not isinstance(role, str) or not role:
            what = f"'{key}' of a turn is the name of a role"
            if key in turn and role is not None:
                yield Diagnostic(what, where, f"{path}.{key}", it_is(role))
        elif role not in (*ROLES, "system") and (hint := _meant(role, falls_back="fallback_role" in turn)):
            yield Diagnostic(f"there is no role '{role}'", where, f"{path}.{key}", hint=hint)


def _media_problems(shapes: Mapping[str, Any], path: str, where: Location | None) -> Iterator[Diagnostic]:
    """Yield kinds of content that there are not, and those whose words or address a template does not say."""
    yield from (each.at(where) for each in Keys.of("prompt_mm").problems(shapes, "prompt_mm", path))
    for kind, shape in ((each, shapes[each]) for each in _MEDIA if each in shapes):
        said = shape.get(_MEDIA[kind]) if isinstance(shape, Mapping) else None
        if not isinstance(said.get("url") if isinstance(said, Mapping) else said, str):
            hint = "text='{question}'" if kind == "text" else f"{_MEDIA[kind]}=dict(url='{{{kind}}}')"
            why = it_is(shape)
            yield Diagnostic(f"the template of '{kind}' needs '{_MEDIA[kind]}'", where, f"{path}.{kind}", why, hint)


_MEDIA = {"text": "text", "image": "image_url", "video": "video_url", "audio": "audio_url"}
"""Kinds of content, each with the key that holds its words or its address."""


def _meant(role: str, *, falls_back: bool) -> str:
    """Return which role is meant; one that another speaks for may be of a model's own, unless it is misspelt."""
    if not falls_back:
        return did_you_mean(role.upper(), ROLES)
    return did_you_mean(role, near) if (near := slips(role, ROLES)) else ""


def _keys(turn: Mapping[str, Any]) -> str:
    return f"it has {', '.join(map(str, turn)) or 'nothing'}"


def _column_problems(
    texts: Iterable[str], columns: Sequence[str], path: str, where: Location | None
) -> Iterator[Diagnostic]:
    """Yield names in braces that are not a column but nearly one; others stay as they are, as upstream leaves them."""
    named = dict.fromkeys(name for text in texts for name in _NAME.findall(text))
    for name in named:
        if name not in columns and (near := slips(name, columns)):
            hint = f"did you mean '{near[0]}'?"
            yield Diagnostic(f"the template names '{{{name}}}', which is not a column", where, path, hint=hint)
