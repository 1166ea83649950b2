"""Checks the shape of ``results.json``; what does not fit is left out, and named.

A folder may come from a newer version, or have been edited: whoever shows it must not break on a count that is a list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

Check = Callable[[Any], bool]


def is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def is_count(value: object) -> bool:
    """Whether a value is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_mapping_of(check: Check) -> Check:
    return lambda value: isinstance(value, Mapping) and all(map(check, value.values()))


def _is_list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _is_group(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("by"), Mapping) or not value["by"]:
        return False
    return all(check(value[name]) for name, check in _ENTRY.items() if name in value)


_ENTRY: dict[str, Check] = {
    "n": is_count,
    "failures": is_count,
    "num_of_instances": is_count,
    "num_of_failures": is_count,
    "copies": is_count,
    "score_name": _is_text,
    "fingerprint": _is_mapping_of(_is_text),
    "failure_kinds": _is_mapping_of(is_count),
    "metric_failures": _is_mapping_of(_is_text),
    "answers": is_count,
    "truncated": is_count,
    "empty": is_count,
    "thinking": is_count,
    "all_answers": _is_mapping,
    "members": _is_list_of(_is_text),
    "without": _is_list_of(_is_text),
    "in_no_exam": _is_list_of(_is_text),
    "groups": _is_list_of(_is_group),
}
_RUN: dict[str, Check] = {
    "started": _is_text,
    "stopped": _is_text,
    "seconds": is_number,
    "log": _is_text,
    "engine": _is_mapping,
    "cost": _is_mapping,
    "requests": _is_mapping,
    "usage": _is_mapping_of(_is_mapping_of(is_count)),
    "judges": _is_mapping_of(_is_mapping),
    "latency": _is_mapping_of(_is_mapping_of(_is_mapping)),
    "score_order": _is_mapping_of(_is_list_of(_is_text)),
    "machine": _is_mapping,
    "versions": _is_mapping,
}


def checked_entry(name: str, entry: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the results of an exam without what has another form than here, and a sentence on each such thing."""
    return _checked(entry, _ENTRY, f"of '{name}' ")


def checked_run(run: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the circumstances of a run without what has another form than here, and a sentence on each such thing."""
    return _checked(run, _RUN, "")


def _checked(values: Mapping[str, Any], checks: Mapping[str, Check], whose: str) -> tuple[dict[str, Any], list[str]]:
    odd = [name for name, check in checks.items() if values.get(name) is not None and not check(values[name])]
    problems = [f"'{name}' {whose}in results.json has a form that this version does not know" for name in odd]
    return {str(name): value for name, value in values.items() if name not in odd}, problems
