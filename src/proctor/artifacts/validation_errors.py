"""Turns pydantic's errors about fields into ours: path, reason, hint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel
from pydantic import ValidationError as PydanticValidationError

from proctor.errors import Diagnostic, ProctorError, ValidationError, did_you_mean

Error = dict[str, Any]
"""An error as pydantic has it: ``type``, ``loc``, ``msg``, ``input`` and perhaps ``ctx``."""

_KINDS = (
    "int|float|str|bool|none|bytes|list|dict|tuple|set|frozenset|date|is-instance|is-subclass|callable|literal|enum"
)
_ALTERNATIVE = re.compile(rf"(?:{_KINDS})(?:\[.*\])?\Z|function-\w+\[.*\]\Z|constrained-\w+\Z|nullable\[.*\]\Z")


def nearest(errors: Iterable[Error]) -> Iterator[Error]:
    """Yield errors without those of alternatives that were not meant; places then name fields and nothing else.

    Of the alternatives of one field, the one whose problem lies deepest was meant: an unknown name of an artifact, or
    one entry of a list. Where none of them got anywhere, one error says what all of them take.
    """
    groups: dict[tuple[Any, ...], dict[str, list[Error]]] = {}
    for error in errors:
        place, branch = _split(error["loc"])
        groups.setdefault(place, {}).setdefault(branch, []).append(error)
    for place, branches in groups.items():
        alternatives = [found for branch, found in branches.items() if branch]
        for error in branches.get("", ()):
            yield error
        if not alternatives:
            continue
        deepest = max(alternatives, key=_depth)
        if _depth(deepest) > (False, 0) or len(alternatives) == 1:
            yield from ({**error, "loc": _plain(error["loc"])} for error in _distinct(deepest))
        else:
            takes = list(dict.fromkeys(error["msg"] for found in alternatives for error in found))
            yield {**alternatives[0][0], "loc": place, "msg": "; or ".join(takes)}


def _split(loc: tuple[Any, ...]) -> tuple[tuple[Any, ...], str]:
    """Return the place of a field, and which alternative of its type an error belongs to; empty where it has one."""
    for number, part in enumerate(loc):
        if number and _is_alternative(part):
            return loc[:number], part
    return loc, ""


def _is_alternative(part: Any) -> bool:
    return isinstance(part, str) and _ALTERNATIVE.match(part) is not None


def _plain(loc: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(part for number, part in enumerate(loc) if not number or not _is_alternative(part))


def _depth(errors: list[Error]) -> tuple[bool, int]:
    """Return how far an alternative got: whether something was looked up, and how deep."""
    looked_up = any(isinstance(error.get("ctx", {}).get("error"), ProctorError) for error in errors)
    return looked_up, max(len(_plain(error["loc"])) - len(_split(error["loc"])[0]) for error in errors)


def _distinct(errors: list[Error]) -> Iterator[Error]:
    seen = set()
    for error in errors:
        key = (_plain(error["loc"]), error["msg"])
        if key not in seen:
            seen.add(key)
            yield error


_LONGEST_VALUE = 80  # characters of a wrong value in a message: one line of a terminal


def validation_error(kind: type[BaseModel], error: PydanticValidationError) -> ProctorError:
    """Return the error of an artifact that cannot be built, or not be changed so.

    Args:
        kind: Its class.
        error: What pydantic says.
    """
    found = error.errors()
    if len(found) == 1 and not found[0]["loc"] and found[0]["type"] == "value_error":
        inner = found[0].get("ctx", {}).get("error")
        if isinstance(inner, ProctorError):  # of prepare or verify: pydantic takes every ValueError for its own
            return inner
    errors = nearest(dict(each) for each in found)
    return ValidationError([diagnostic for each in errors for diagnostic in _diagnosed(kind, each)])


def _diagnosed(kind: type[BaseModel], error: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield what one error of pydantic's means; an error of an artifact within has several."""
    path = "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])
    inner = error.get("ctx", {}).get("error")
    if isinstance(inner, ProctorError):
        for each in inner.diagnostics:
            yield Diagnostic(each.what, each.location, path + each.path.removeprefix("$"), each.why, each.hint)
    elif error["type"] == "extra_forbidden":
        name = str(error["loc"][-1])
        hint = did_you_mean(name, kind.model_fields) or f"its fields are {', '.join(kind.model_fields)}"
        yield Diagnostic(f"{kind.__name__} has no field '{name}'", path=path, hint=hint)
    elif error["type"] == "missing":
        yield Diagnostic(f"{kind.__name__} needs the field '{error['loc'][-1]}'", path=path)
    else:
        shown = repr(error["input"])
        shown = shown if len(shown) <= _LONGEST_VALUE else f"{shown[: _LONGEST_VALUE - 3]}..."
        yield Diagnostic(f"{kind.__name__}: {error['msg']}", path=path, why=f"the value is {shown}")
