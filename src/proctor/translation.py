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
_LONGEST: Final = 2000  # characters: messages are a sentence or two


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
def _parts() -> list[tuple[list[str], str]]:
    """Return each message as the texts around its holes, with the holes' numbers between them; the longest first."""
    return [
        (_HOLE.split(english), chinese) for english, chinese in sorted(table().items(), key=lambda row: -len(row[0]))
    ]


def _held(text: str, parts: list[str]) -> dict[str, str] | None:
    """Return what a message holds where a template has holes, each as short as can be; ``None`` where it is another."""
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return {} if text == first else None
    end = len(text) - len(last)
    if not (text.startswith(first) and text.endswith(last) and end >= len(first)):
        return None
    found, place = {}, len(first)
    for name, behind in zip(parts[1:-2:2], parts[2:-1:2], strict=True):
        if (start := text.find(behind, place, end)) < 0:
            return None
        found[name], place = text[place:start], start + len(behind)
    return {**found, parts[-2]: text[place:end]}


def label(name: str) -> str:
    """Return ``error: `` and its like, with what stands behind it."""
    return table()[name] if is_chinese() else f"{name}: "


def translated(text: str) -> str:
    """Return a message in the reader's language, as it is where that is English or nobody has translated it."""
    if not is_chinese() or len(text) > _LONGEST:
        return text
    if labelled := _LABELLED.fullmatch(text):
        return labelled[1] + label(labelled[2]) + translated(labelled[3])
    for parts, chinese in _parts():
        if (held := _held(text, parts)) is not None:
            return _HOLE.sub(lambda hole: translated(held[hole[1]]), chinese)
    return text
