"""Arguments of models: who gave them, and how a command line spells them."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from proctor.effects import Author
from proctor.errors import UsageError
from proctor.foreign_text import parse_json

_KEY = re.compile(r"[A-Za-z_][\w.-]*")
_ADDRESSES = ("http://", "https://")
_OPENING, _CLOSING = "[{(", "]})"


class Origin(NamedTuple):
    """The source of an engine's definition.

    Attributes:
        author: Whose file names it; ``None`` is the user.
        typed: Arguments that the user gave himself.
        is_config: Whether the file is a config, whose models may be servers on this machine.
    """

    author: Author | None = None
    typed: frozenset[str] = frozenset()
    is_config: bool = False


def parse_model_args(text: str, option: str = "--model-args") -> dict[str, Any]:
    """Return the arguments in ``k=v,k2=v2``; ``option`` is what messages call them by.

    A value is JSON where it reads as JSON (numbers, ``true``, ``null``, lists, objects, quoted strings), ``True``,
    ``False`` or ``None``, and otherwise text as it stands. Commas inside brackets and quotes do not separate. The whole
    text may be one JSON object, too.

    Raises:
        UsageError: A part is not ``key=value``, or a key comes twice.
    """
    if text.lstrip().startswith("{"):
        return _parse_object(text)
    found: dict[str, Any] = {}
    for part in _split(text):
        key, equals, value = part.partition("=")
        if part.startswith(_ADDRESSES) and str(found.get("base_url", "")).startswith(_ADDRESSES):
            found["base_url"] += f",{part}"  # one more server
            continue
        key = key.strip()
        if not equals or not _KEY.fullmatch(key):
            raise UsageError(
                f"'{part}' in {option} is not a key=value",
                hint=f"write {option} key=value,key2=value2; put lists in brackets and text with commas in quotes",
            )
        name = key.replace("-", "_")
        if name in found:
            raise UsageError(f"{option} gives '{name}' twice")
        found[name] = _value(value.strip())
    return found


def _parse_object(text: str) -> dict[str, Any]:
    try:
        found = parse_json(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"the model arguments are not valid JSON: {error}") from None
    return {str(key).replace("-", "_"): value for key, value in found.items()}


def _value(text: str) -> Any:
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    try:
        return parse_json(text, parse_constant=_no_constant)
    except ValueError:
        return text


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _split(text: str) -> list[str]:
    """Split at commas outside brackets and double quotes; empty parts are left out."""
    parts, start, depth, quoted, position = [], 0, 0, False, 0
    while position < len(text):
        character = text[position]
        if quoted:
            position += character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth = max(0, depth - 1)
        elif character == "," and not depth:
            parts.append(text[start:position])
            start = position + 1
        position += 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
