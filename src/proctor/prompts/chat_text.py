"""Chats that a file or a text of prompts is: a list of messages as JSON or YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from proctor.foreign_text import parse_json


def chat_in(text: str, keys: str = "role") -> Any:
    """Return the messages that a text is as JSON or YAML, else the text.

    Args:
        text: The text.
        keys: With which of a message's keys YAML may begin, as a pattern; promptfoo looks for the role.
    """
    from yaml import YAMLError

    try:
        if text.lstrip().startswith("["):
            found = parse_json(text)
        elif re.match(rf"\s*- (?:{keys})\s*:", text):
            from proctor.foreign_yaml import parse_yaml

            found = parse_yaml(text)
        else:
            return text
    except (ValueError, YAMLError):
        return text
    return found if is_chat(found) else text


def is_chat(found: object) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    """Return whether a value is a list of messages with a role and a content."""
    entries = found if isinstance(found, Sequence) and not isinstance(found, str) else ()
    return bool(entries) and all(isinstance(each, Mapping) and {"role", "content"} <= each.keys() for each in entries)
