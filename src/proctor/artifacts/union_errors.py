"""Errors of fields that take one thing or another: pydantic names the problem of each, people want the nearest one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from proctor.errors import ProctorError

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
