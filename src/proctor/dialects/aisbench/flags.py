"""The command lines of AISBench and OpenCompass in terms of ours: what each option means here, or why nothing."""

from __future__ import annotations

import json
from importlib.resources import files

from proctor.dialects.foreign_flags import Flag


def _read() -> tuple[Flag, ...]:
    table = json.loads(files(__package__).joinpath("flags.json").read_bytes())
    notes: dict[str, str] = table["notes"]
    return tuple(Flag(**{**each, "note": notes.get(each.get("note"), each.get("note", ""))}) for each in table["flags"])


FLAGS = _read()
"""Every option of ``ais_bench`` and ``opencompass`` but for those that have their name here, too."""

_BY_NAME = {each.name: each for each in FLAGS} | {each.short: each for each in FLAGS if each.short}


def flag(name: str) -> Flag | None:
    """Return the option of a name, spelled with dashes or underscores."""
    return _BY_NAME.get(name if len(name) == 2 else name.replace("_", "-"))  # noqa: PLR2004 - a dash and a letter
