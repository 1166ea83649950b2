"""``unitxt.dict_utils`` below its three functions: what a path to a nested field consists of."""

from __future__ import annotations

import re

from proctor.errors import UsageError

indx = re.compile(r"^-?\d+$")
name = re.compile(r"^[\w. -]+$")


def is_index(string: str) -> bool:
    """Whether a part of a path is a number."""
    return bool(indx.match(string))


def is_name(string: str) -> bool:
    """Whether a part of a path is a name."""
    return bool(name.match(string))


def is_wildcard(string: str) -> bool:
    """Whether a part of a path means every member."""
    return string == "*"


def validate_query_and_break_to_components(query: str, allow_int_index: bool = True) -> list[str]:
    """Return the parts of a path.

    Raises:
        ValueError: It is empty, or a part is neither a name, nor a number, nor ``*``.
    """
    if not isinstance(query, str) or not query:
        raise UsageError(f"a path to a field is expected, got {query!r}")
    path = query.replace("//", "/").strip().removeprefix("/")
    parts = [part.strip() for part in (f"{path}*" if path.endswith("/") else path).split("/")]
    for part in parts:
        if not (is_name(part) or is_wildcard(part) or (allow_int_index and is_index(part))):
            raise UsageError(f"{part!r} in the path {query!r} is neither a name, nor a number, nor '*'")
    return parts
