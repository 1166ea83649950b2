"""Files leave out what is a default: a default that changes is another meaning of every such file, Unitxt's too.

Where a change is meant: ``python tests/artifacts/test_defaults.py`` writes ``defaults.json`` anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import proctor.artifacts

TYPES = Path(proctor.artifacts.__file__).with_name("types.json")
KNOWN = Path(__file__).with_name("defaults.json")
ROOMS = ("data", "scoring")


def defaults(room: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the classes of a room that can be named in files, with the defaults that are more than nothing."""
    for place in sorted(set(json.loads(TYPES.read_text(encoding="utf-8")).values())):
        if place.startswith(f"proctor.{room}."):
            module, _, name = place.partition(":")
            kind = getattr(import_module(module), name)
            fields = ((each, kind.model_fields[each]) for each in kind.__annotations__ if each in kind.model_fields)
            given = {
                each: field.get_default(call_default_factory=True) for each, field in fields if not field.is_required()
            }
            plain = {each: value for each, value in given.items() if value is not None and is_plain(value)}
            if plain:
                yield place, plain


def is_plain(value: Any) -> bool:
    """Return whether a value looks the same in JSON, but for tuples."""
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(each) for key, each in value.items())
    return value is None or type(value) in (bool, int, float, str)


@pytest.mark.parametrize("room", ROOMS)
def test_what_files_leave_out_means_what_it_meant(room):
    found = json.loads(json.dumps(dict(defaults(room))))
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    assert found == {place: given for place, given in known.items() if place.startswith(f"proctor.{room}.")}


if __name__ == "__main__":
    lines = [json.dumps({place: given})[1:-1] for room in ROOMS for place, given in defaults(room)]
    KNOWN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
