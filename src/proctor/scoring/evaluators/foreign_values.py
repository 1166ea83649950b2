"""Values that models write in the notation of Java and JavaScript, as the Berkeley leaderboard reads them.

What a type's notation does not allow stays a text, so that it equals no right answer of that type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from proctor.regexes import BoundedPattern

JAVA_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": bool,
    **dict.fromkeys(("char", "String", "any"), str),
    **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
    "Set": set,
    **dict.fromkeys(("HashMap", "Hashtable"), dict),
}
JAVASCRIPT_TYPES: Mapping[str, type] = {
    "String": str, "integer": int, "float": float, "Bigint": int, "Boolean": bool, "dict": dict, "array": list,
    "any": str,
}  # fmt: skip

_INTEGER = r"^-?\d+$"
_REAL = r"^-?\d+(\.\d+)?([eE][+-]?\d+)?"


def _number(text: str, pattern: str, make: Callable[[str], Any], suffix: str = "") -> Any:
    return make(text.rstrip(suffix) if suffix else text) if re.match(pattern, text) else text


def _truth(text: str) -> Any:
    return text == "true" if text in ("true", "false") else text


def _is_quoted(text: str) -> bool:
    return any(text.startswith(mark) and text.endswith(mark) for mark in "\"'")


def _guessed(text: str) -> Any:
    """Return a number where Python reads one, else the text."""
    for make in (int, float):
        try:
            return make(text)
        except ValueError:
            continue
    return text


# -- Java ---------------------------------------------------------------------------------------------------------

_OF_JAVA: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("byte", "short", "integer"), partial(_number, pattern=_INTEGER, make=int)),
    "long": partial(_number, pattern=r"^-?\d+[lL]$", make=int, suffix="lL\n"),
    "float": partial(_number, pattern=_REAL + "[fF]$", make=float, suffix="fF\n"),
    "double": partial(_number, pattern=_REAL + "$", make=float),
    "boolean": _truth,
    **dict.fromkeys(("char", "String", "any"), str),
}
_AS_LIST = BoundedPattern(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_ADDED = BoundedPattern(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_NO_LIST = BoundedPattern(r"new\s+ArrayList<\w*>\(\)")
_ARRAY = BoundedPattern(r"new\s+\w+\[\]\s*\{(.*?)\}")
_MAP = BoundedPattern(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}", re.DOTALL)
_NO_MAP = BoundedPattern(r"new\s+HashMap<.*?>\s*\(\)")
_PUT = BoundedPattern(r"put\(\"(.*?)\",\s*(.*?)\)")


def java_value(text: str, kind: str, inner: str | None = None) -> Any:
    """Return what a text in Java's notation means as a value of a type; the text where it is none.

    Args:
        text: What was written.
        kind: The type.
        inner: The type of elements.

    Raises:
        ValueError: There is no such type, or nothing reads it.
    """
    if kind in _OF_JAVA:
        return _OF_JAVA[kind](text)
    reader = {"ArrayList": _java_list, "Array": _java_array}.get(kind)
    if reader is not None:
        return reader(text, inner)
    if kind == "HashMap":
        return _java_map(text)
    raise ValueError(f"values of the type '{kind}' cannot be read")


def _java_list(text: str, inner: str | None) -> Any:
    if (inside := _inside(_AS_LIST, text)) is not None:
        return [_java_element(each.strip(), inner) for each in inside.split(",")]
    if (inside := _inside(_ADDED, text)) is not None:
        return [_java_element(each.strip(), inner) for each in re.findall(r"add\((.+?)\)", inside)]
    return [] if _NO_LIST.groups(text) is not None else text


def _java_element(text: str, inner: str | None) -> Any:
    if inner in ("char", "String"):
        return text[1:-1]
    return java_value(text, inner) if inner else _java_guess(text)


def _java_array(text: str, inner: str | None) -> Any:
    if (inside := _inside(_ARRAY, text)) is None:
        return text
    pieces = [each.strip() for each in inside.split(",") if each.strip()]
    return [java_value(each, inner) if inner else _java_guess(each) for each in pieces]


def _java_map(text: str) -> Any:
    if (inside := _inside(_MAP, text)) is not None:
        return {key: _java_guess(value.strip()) for key, value in _PUT.findall(inside)}
    return {} if _NO_MAP.groups(text) is not None else text


def _java_guess(text: str) -> Any:
    """Return a value whose type nobody said."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if re.match(r"^-?\d+[lL]$", text) or re.match(_REAL + "[fF]$", text):
        return (int if text.rstrip("\n")[-1] in "lL" else float)(text.rstrip("lLfF\n"))
    return _guessed(text)


def _inside(pattern: BoundedPattern, text: str) -> str | None:
    found = pattern.groups(text)
    return None if found is None else found[1] or ""


# -- JavaScript ---------------------------------------------------------------------------------------------------

_OF_JAVASCRIPT: Mapping[str, Callable[[str], Any]] = {
    "String": lambda text: text[1:-1] if _is_quoted(text) else text,
    "integer": partial(_number, pattern=_INTEGER, make=int),
    "float": partial(_number, pattern=r"^-?\d+(\.\d+)?$", make=float),
    "Bigint": partial(_number, pattern=r"^-?\d+n$", make=int, suffix="n\n"),
    "Boolean": _truth,
    "any": str,
}
_TABLE = BoundedPattern(r"\A(?:\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]|\bnew\s+Array\(\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\))")
_LIST = BoundedPattern(r"\A(?:\[(.*?)\]|\bnew\s+Array\((.*?)\))")
_PAIRS = BoundedPattern(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def javascript_value(text: str, kind: str, inner: str | None = None) -> Any:
    """Return what a text in JavaScript's notation means as a value of a type; the text where it is none.

    Args:
        text: What was written.
        kind: The type.
        inner: The type of elements.

    Raises:
        ValueError: There is no such type.
    """
    if kind in _OF_JAVASCRIPT:
        return _OF_JAVASCRIPT[kind](text)
    if kind == "array":
        return _javascript_list(text.strip(), inner)
    if kind == "dict":
        return _javascript_object(text.strip())
    raise ValueError(f"values of the type '{kind}' cannot be read")


def _javascript_list(text: str, inner: str | None) -> Any:
    if (table := _TABLE.groups(text)) is not None:
        rows = re.findall(r"\[(.*?)\]", table[0] or "")
        inside = [row.strip().removeprefix("[") if not place else row.strip() for place, row in enumerate(rows)]
        return [[_javascript_guess(each) for each in row.split(",")] for row in inside]
    if (found := _LIST.groups(text)) is None:
        return text
    listed = next((each for each in found[1:] if each is not None), "").strip()
    pieces = [each.strip() for each in listed.split(",")] if listed else []
    try:
        return [_javascript_element(each, inner) if inner else _javascript_guess(each) for each in pieces]
    except ValueError:
        return text


def _javascript_element(text: str, inner: str) -> Any:
    return javascript_value(text, inner, "String" if text[:1] in ("'", '"') else None)


def _javascript_object(text: str) -> Any:
    if text == "{}":
        return {}
    if (found := re.match(r"\{(.*?)\}", text)) is None:
        return text
    return {
        key.strip().strip("'\""): _javascript_member(value.strip()) for key, value in _PAIRS.findall(found.group(1))
    }


def _javascript_member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _javascript_list(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _javascript_object(text)
    return _javascript_guess(text.strip("'\""))


def _javascript_guess(text: str) -> Any:
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if _is_quoted(text) else _guessed(text)
