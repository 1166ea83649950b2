"""Calls of tools in answers, beside those that are right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from proctor.foreign_text import parse_json

TOOL_CALLS: Final = "tool-calls"

_WRITTEN: Final = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
"""How models of the Hermes and Qwen families write a call where no server reads it."""


def calls_of(value: object) -> list[tuple[str, Any]] | None:
    """Return names and arguments of the calls that a value is; ``None`` where it is something else.

    A call is ``{"name": …, "arguments": …}``, or has that under ``function``, as OpenAI's; arguments may be JSON text,
    be called ``parameters``, as Llama writes them, or be left out where a name stands alone.

    >>> calls_of('{"name": "weather", "arguments": {"city": "Rome"}}'), calls_of("It rains."), calls_of([])
    ([('weather', {'city': 'Rome'})], None, [])
    """
    if isinstance(value, str):
        parts = _WRITTEN.findall(value) or [value]
        found = [_value_of(part) for part in parts]
        value = found[0] if len(found) == 1 else found
    entries = value if isinstance(value, list | tuple) else [value]
    calls = [_call_of(each) for each in entries]
    return None if None in calls else [each for each in calls if each is not None]


def calls_text(calls: Sequence[tuple[str, Any]]) -> str:
    """Return calls as JSON, as engines write them: one, or a list."""
    made = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return json.dumps(made[0] if len(made) == 1 else made, ensure_ascii=False)


def _value_of(text: str) -> Any:
    try:
        return parse_json(text.strip() or "null")
    except ValueError:
        return None


def _call_of(entry: object) -> tuple[str, Any] | None:
    call = entry.get("function", entry) if isinstance(entry, Mapping) else entry
    if not isinstance(call, Mapping) or not isinstance(name := call.get("name"), str):
        return None
    given = call.get("arguments", call.get("parameters"))
    if given is None and not set(call) <= {"name", "arguments", "parameters", "id", "type"}:
        return None
    return name, ({} if given is None else _value_of(given) if isinstance(given, str) else given)


def calls_check() -> Callable[[str, Sequence[str]], float]:
    """Return whether an answer makes the calls that are right, whatever their order, and no others.

    An answer or a right answer in words makes none.
    """

    def check(answer: str, wanted: Sequence[str]) -> float:
        said = calls_of(answer) or []
        return float(any(_equal(said, calls_of(each) or []) for each in wanted))

    return check


def _equal(said: Iterable[Any], wanted: Sequence[Any]) -> bool:
    left = list(wanted)
    for call in said:
        place = next((at for at, each in enumerate(left) if _same(call, each)), None)
        if place is None:
            return False
        del left[place]
    return not left


def _same(said: Any, wanted: Any) -> bool:
    """Whether two values of JSON are equal: 1 is 1.0, and true is not 1."""
    if isinstance(said, Mapping) and isinstance(wanted, Mapping):
        return said.keys() == wanted.keys() and all(_same(each, wanted[key]) for key, each in said.items())
    if isinstance(said, list | tuple) and isinstance(wanted, list | tuple):
        return len(said) == len(wanted) and all(map(_same, said, wanted))
    return isinstance(said, bool) == isinstance(wanted, bool) and bool(said == wanted)
