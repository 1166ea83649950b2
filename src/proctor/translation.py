"""Messages in the language of whoever reads them: Chinese where ``PROCTOR_LANG`` or the locale says ``zh``.

Messages are written in English, and a table has what the commonest say in Chinese, with ``{0}`` for what a message
holds. They are looked up where they are printed. What the table has not stays English.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from importlib.resources import files
from typing import Final

LABELS: Final = ("error", "warning", "note", "why", "hint")
_LABELLED = re.compile(rf"(\s*)({'|'.join(LABELS)}): (.*)", re.DOTALL)
_HOLE = re.compile(r"\{(\d)\}")
_LONGEST: Final = 2000  # characters: messages are a sentence or two, and patterns take long on a stranger's novel


def is_chinese() -> bool:
    """Whether messages are wanted in Chinese: ``PROCTOR_LANG`` decides, else the locale as everywhere."""
    names = ("PROCTOR_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    return next((text for name in names if (text := os.environ.get(name))), "").lower().startswith("zh")


@cache
def table() -> dict[str, str]:
    """Return the messages that have a translation, and theirs."""
    found = json.loads(files("proctor").joinpath("messages_zh.json").read_text(encoding="utf-8"))
    return {str(english): str(chinese) for english, chinese in found.items()}


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    made = []
    for english, chinese in table().items():
        parts = _HOLE.split(english)
        pattern = "".join(f"(?P<h{part}>.*?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
        made.append((re.compile(pattern, re.DOTALL), chinese))
    return sorted(made, key=lambda entry: -len(entry[0].pattern))


def label(name: str) -> str:
    """Return ``error: `` and its like, with what stands behind it."""
    return table()[name] if is_chinese() else f"{name}: "


def translated(text: str) -> str:
    """Return a message in the reader's language, as it is where that is English or nobody has translated it."""
    if not is_chinese() or len(text) > _LONGEST:
        return text
    if labelled := _LABELLED.fullmatch(text):
        return labelled[1] + label(labelled[2]) + translated(labelled[3])
    for pattern, chinese in _patterns():
        if found := pattern.fullmatch(text):
            return _HOLE.sub(lambda hole: translated(found[f"h{hole[1]}"]), chinese)
    return text
