"""Class names as files write them: ``LoadFromDictionary`` is ``load_from_dictionary``."""

from __future__ import annotations

import re

_BEFORE_CAPITAL = re.compile(r"(?<=[^A-Z_-])(?=[A-Z])")
_ACRONYM_END = re.compile(r"([A-Z]+)([A-Z][a-z0-9])")
_LONGEST = 1_000  # characters: the longest name of the catalogs has 110
_LONGEST_PART = 240  # bytes between two dots: a file's name has 255 at most, with its ending
_NAME = re.compile(r"[\w.]+")


def snake_case(class_name: str) -> str:
    """Return the ``__type__`` of a class in catalogs: ``LoadHF`` → ``load_hf``, ``F1Binary`` → ``f1_binary``."""
    return _ACRONYM_END.sub(r"\1_\2", _BEFORE_CAPITAL.sub("_", class_name)).lower()


def is_name(text: str) -> bool:
    """Whether a text may name an artifact: letters, digits, underscores and dots, each part short enough for a file."""
    return (
        len(text) <= _LONGEST
        and _NAME.fullmatch(text) is not None
        and max(map(len, text.encode("utf-8", "replace").split(b"."))) <= _LONGEST_PART
    )
