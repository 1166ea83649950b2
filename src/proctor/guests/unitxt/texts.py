"""Texts that Unitxt's programs write and read: dicts as Python or YAML, names with brackets, calls in source files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import md5, sha256
from itertools import islice
from json import dumps
from typing import Any

import proctor
from proctor.artifacts.query import convert, parse_assignments, parse_query
from proctor.errors import QueryError, UsageError
from proctor.guests.unitxt.helpers import is_made_of_sub_strings
from proctor.safe_python import compile_expression

# -- dicts as source ----------------------------------------------------------------------------------------------


def construct_dict_as_yaml_lines(d: Any, indent_delta: int = 2) -> list[str]:
    """Return a value as lines of YAML.

    Raises:
        AssertionError: An indent of less than two leaves no room for the dash of a list.
    """
    if indent_delta < len("- "):
        raise AssertionError(f"an indent of {indent_delta} leaves no room for the dash of a list")
    indent = " " * indent_delta
    if isinstance(d, dict):
        return [line for key, value in d.items() for line in _yaml_entry(key, value, indent)] or ["{}"]
    if isinstance(d, list):
        dash = f"{indent[2:]}- "
        return [
            line for each in d for line in _indented(construct_dict_as_yaml_lines(each, indent_delta), dash, indent)
        ] or ["[]"]
    text = str(d).replace("\n", "\\n").replace('"', '\\"')
    return [f'"{text}"' if "\\n" in text or not text else text]


def _yaml_entry(key: str, value: Any, indent: str) -> list[str]:
    name = f'"{key}"' if " " in key or not key else key
    lines = construct_dict_as_yaml_lines(value, len(indent))
    return [f"{name}: {lines[0]}"] if len(lines) == 1 else [f"{name}: ", *(indent + line for line in lines)]


def _indented(lines: Sequence[str], first: str, others: str) -> list[str]:
    return [first + lines[0], *(others + line for line in lines[1:])]


def print_dict_as_yaml(d: dict[str, Any], indent_delta: int = 2) -> str:
    """Return a dict as YAML."""
    return "\n".join(construct_dict_as_yaml_lines(d, indent_delta))


def construct_dict_as_python_lines(d: Any, indent_delta: int = 4) -> list[str]:
    """Return a value as lines of Python; a dict with a ``__type__`` is a call.

    Raises:
        RuntimeError: It is of a type that has no such spelling.
    """
    if isinstance(d, dict):
        return _python_dict(d, " " * indent_delta)
    if isinstance(d, list):
        inner = [_with_comma(construct_dict_as_python_lines(each, indent_delta)) for each in d]
        return ["[", *(line for lines in inner for line in lines), "]"] if d else ["[]"]
    if isinstance(d, str):
        return [f'"{d}"']
    if d is None or isinstance(d, (int, float)):
        return [str(d)]
    raise RuntimeError(f"a {type(d).__name__} has no spelling as Python here: {d!r}")


def _python_dict(d: Mapping[str, Any], indent: str) -> list[str]:
    if not d:
        return ["{}"]
    is_call = "__type__" in d
    if is_call and len(d) == 1:
        return [f"__type__{d['__type__']}()"]
    entries = [
        line
        for key, value in d.items()
        if key != "__type__"
        for line in _python_entry(f"{key}=" if is_call else f'"{key}": ', value, indent)
    ]
    if is_call:
        return [f"__type__{d['__type__']}(", *(indent + line for line in entries), ")"]
    return ["{", *entries, "}"]


def _python_entry(start: str, value: Any, indent: str) -> list[str]:
    lines = construct_dict_as_python_lines(value, len(indent))
    if len(lines) == 1:
        return _with_comma([start + lines[0]])
    inner = [indent + line for line in lines[1:-1]] if lines[0][0] in "{[" else lines[1:-1]
    return _with_comma([start + lines[0], *inner, lines[-1]])


def _with_comma(lines: Sequence[str]) -> list[str]:
    return [*lines[:-1], f"{lines[-1]},"]


def print_dict_as_python(d: dict[str, Any], indent_delta: int = 4) -> str:
    """Return a dict as Python source."""
    return "\n".join(construct_dict_as_python_lines(d, indent_delta))


_OPEN, _CLOSE = re.compile(r"[({\[]"), re.compile(r"[)}\]]")


def lines_defining_obj_in_card(all_lines: list[str], obj_name: str, start_search_at_line: int = 0) -> tuple[int, int]:
    """Return the first and last line of what a source file gives a name: ``(-1, -1)`` where it does not.

    Raises:
        ValueError: Its brackets do not end.
    """
    numbers = range(start_search_at_line, len(all_lines))
    first = next((number for number in numbers if obj_name in all_lines[number]), None)
    if first is None:
        return -1, -1
    depth, number = 0, first
    while number < len(all_lines):
        if "__description__" in all_lines[number]:
            last, number = _after_description(all_lines, number)
            if "__description__" in obj_name:
                return first, last
            continue
        depth += len(_OPEN.findall(all_lines[number])) - len(_CLOSE.findall(all_lines[number]))
        if depth == 0:
            return first, number
        number += 1
    raise ValueError(f"the brackets of {obj_name!r} do not end")


def _after_description(all_lines: Sequence[str], number: int) -> tuple[int, int]:
    """Return the last line of a description, whose text may have any brackets, and the line after it."""
    indent = all_lines[number].index("__description__")
    in_brackets = "__description__=(" in all_lines[number]
    outer = " " * max(indent - 4, 0)
    end = re.compile(f"{' ' * indent}\\)" if in_brackets else f"({' ' * indent}|{outer})[^ ]")
    for place in range(number + 1, len(all_lines)):
        if end.match(all_lines[place]):
            return (place, place + 1) if in_brackets else (place - 1, place)
    raise ValueError("the description does not end")


# -- names with brackets ------------------------------------------------------------------------------------------


def separate_inside_and_outside_square_brackets(s: str) -> tuple[str, Any]:
    """Return a name and the values in the brackets after it; ``None`` where there are none.

    Raises:
        ValueError: The brackets do not fit, or something stands behind them.
    """
    start, end = s.find("["), s.rfind("]")
    if start == -1 and end == -1:
        return s, None
    if start == -1 or end == -1 or start > end:
        raise QueryError(f"the square brackets of {s!r} do not fit each other")
    text = s.strip()
    if any(mark in text[: text.find("[")] for mark in "=,"):
        return text, None  # values alone, without a name
    found = parse_query(text)
    return found.name, found.overwrites


def consume_query(instring: str) -> tuple[tuple[str, Any], str]:
    """Return the query that a text starts with, as name and values, and what comes after it.

    Raises:
        ValueError: It starts with none.
    """
    name, rest = consume_name(instring)
    rest = rest.strip()
    if not rest.startswith("["):
        return (name, None), rest
    end = _closing(rest)
    return separate_inside_and_outside_square_brackets(f"{name}{rest[: end + 1]}"), rest[end + 1 :].strip()


def consume_term(instring: str) -> tuple[Any, str]:
    """Return the value that a text starts with (a list, a dict, a query, a plain value), and what comes after it.

    Raises:
        ValueError: It starts with none.
    """
    end = _end_of_term(instring)
    made = parse_assignments(f"term={instring[:end]}")
    return made["term"], instring[end:].strip()


def consume_assignment(instring: str) -> tuple[dict[str, Any], str]:
    """Return the ``name=value`` that a text starts with, as a dict, and what comes after it.

    Raises:
        ValueError: It starts with none.
    """
    name, rest = consume_name(instring)
    if not rest.startswith("="):
        raise QueryError(f"there is no '=' after {name!r} in {instring!r}")
    value, rest = consume_term(rest[1:])
    return {name.strip(): value}, rest


def consume_overwrites(instring: str, valid_follower: str) -> tuple[dict[str, Any], str]:
    """Return the assignments that a text starts with, joined by commas, and what comes after them.

    Args:
        instring: The text.
        valid_follower: What may come after them; where it comes at once there are none.

    Raises:
        ValueError: It starts with neither.
    """
    if instring.startswith(valid_follower):
        return {}, instring
    found, rest = consume_assignment(instring)
    while rest.startswith(","):
        more, rest = consume_assignment(rest[1:])
        found |= more
    return found, rest


def _end_of_term(text: str) -> int:
    depth = 0
    for place, letter in enumerate(text):
        if depth == 0 and letter in ",]}":
            return place
        depth += (letter in "[{") - (letter in "]}")
    return len(text)


def _closing(text: str) -> int:
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            return place
    raise QueryError(f"the square brackets of {text!r} do not end")


_NAME = re.compile(r"[^\[\]{},=]*")


def consume_name_val(instring: str) -> tuple[Any, str]:
    """Return the name, number or truth value that a text starts with, and what comes after it."""
    match = _NAME.match(instring)
    name = match[0] if match else ""
    return (convert(name.strip()) if name.strip() else None), instring[len(name) :]


def consume_name(instring: str) -> tuple[Any, str]:
    """Return the name that a text starts with, and what comes after it.

    Raises:
        ValueError: It starts with none.
    """
    name, rest = consume_name_val(instring)
    if not isinstance(name, str) or not name:
        raise QueryError(f"a name is expected at the beginning of {instring!r}")
    return name, rest


# -- small texts --------------------------------------------------------------------------------------------------


def remove_numerics_and_quoted_texts(input_str: str) -> str:
    """Return a text without its numbers and without what stands in quotes."""
    for pattern in (r"\d+\.\d+", r"\d+", r"'.*?'", r'".*?"'):
        input_str = re.sub(pattern, "", input_str)
    return re.sub(r'""".*?"""', "", input_str, flags=re.DOTALL)


def short_hex_hash(value: str, length: int = 8) -> str:
    """Return the beginning of a text's SHA-256."""
    return sha256(value.encode()).hexdigest()[:length]


def object_to_str_without_addresses(obj: Any) -> str:
    """Return an object as text, without its place in memory."""
    before, found, _ = str(obj).partition(" at 0x")
    return f"{before}>" if found else before


def fill_metadata(**kwargs: Any) -> dict[str, Any]:
    """Return values with the version and the time."""
    now = datetime.now().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]  # noqa: DTZ005 - local time, as there
    return {**kwargs, "unitxt_version": proctor.__version__, "creation_time": now}


def generate_cache_key(*args: Any, **kwargs: Any) -> str:
    """Return a digest of arguments."""
    try:
        text = dumps({"args": args, "kwargs": kwargs}, sort_keys=True, default=str)
    except TypeError:
        text = repr((args, kwargs))
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def batched(lst: Iterable[Any], n: int) -> Iterable[list[Any]]:
    """Yield values in lists of ``n``."""
    source = iter(lst)
    while batch := list(islice(source, n)):
        yield batch


def get_model_and_label_id(model_name: str, label: str) -> str:
    """Return a model's name without its owner, and a label."""
    model = model_name.rpartition("/")[2].replace("-", "_").replace(".", ",").lower()
    return f"{model}_{label}"


def get_parsed_context(context: Mapping[str, str]) -> str:
    """Return the context of a judgement as text: the only one called context alone, others with their names."""
    if [name.lower() for name in context] == ["context"]:
        return next(iter(context.values()))
    return "\n".join(f"{name}: {value}" for name, value in context.items())


def rank_indexes(numbers: Sequence[float]) -> list[int]:
    """Return the rank of each number: 0 for the largest, equal ones the same."""
    return [sum(other > number for other in numbers) for number in numbers]


def truncate_cell(cell_value: Any, max_len: int) -> str | None:
    """Return the beginning of a table's cell; ``None`` where it is not a text, or short enough."""
    if not isinstance(cell_value, str) or not cell_value.strip() or len(cell_value) <= max_len:
        return None
    return cell_value[:max_len]


def extract_possible_json_str(text: str) -> str:
    """Return what stands between the first and the last bracket of a text."""
    starts = [place for place in (text.find("{"), text.find("[")) if place != -1]
    ends = [place for place in (text.rfind("}"), text.rfind("]")) if place != -1]
    return text[min(starts, default=0) : max(ends, default=len(text) - 1) + 1]


def parse(query: str) -> dict[str, Any]:
    """Return the fields of ``key=value,…``; none for an empty text.

    Raises:
        QueryError: It is not of that form.
    """
    return parse_assignments(query) if query else {}


def safe_eval(expression: str, context: Mapping[str, Any], allowed_tokens: Sequence[str]) -> Any:
    """Compute an expression that is made of allowed texts, numbers, strings and the names of a context.

    The expression is computed and never executed: what :mod:`proctor.safe_python` does not know is refused, too.

    Raises:
        ValueError: It has something else in it, or cannot be computed.
    """
    known = [*context, *allowed_tokens]
    if not is_made_of_sub_strings(remove_numerics_and_quoted_texts(expression), known):
        raise UsageError(f"{expression!r} has more in it than is allowed", why=f"allowed are {', '.join(known)}")
    return compile_expression(expression)(dict(context))
