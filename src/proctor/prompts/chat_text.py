"""Chats that a file or a text of prompts is: a list of messages as JSON or YAML."""

from __future__ import annotations

import re
from typing import Any

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


def is_chat(found: Any) -> bool:
    """Return whether a value is a list of messages with a role and a content."""
    is_list = isinstance(found, list) and bool(found)
    return is_list and all(isinstance(each, dict) and {"role", "content"} <= set(each) for each in found)
