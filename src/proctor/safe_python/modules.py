"""The modules of the standard library that may be imported, as far as they may be used.

Anything else that a config imports stays a name; an expression may not import anything else.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from proctor.foreign_text import TooDeepError, parse_json
from proctor.safe_python import containers, operators
from proctor.safe_python.budget import ExhaustedError, RefusalError
from proctor.safe_python.calls import ABSENT, Arguments, Named, call, exactly, taken
from proctor.safe_python.functions import Builtin, Function, plain, stepwise
from proctor.safe_python.methods import methods_of
from proctor.safe_python.patterns import safe_pattern
from proctor.safe_python.scope import Frame


@dataclass(frozen=True, slots=True, eq=False)
class ModuleValue:
    """A module of the standard library, as far as it may be used."""

    name: str
    members: dict[str, Any]


# -- copy -------------------------------------------------------------------------------------------------------------


def _deep_copy(frame: Frame, arguments: Arguments, named: Named) -> Any:
    (value,) = exactly("deepcopy", 1, arguments, named)
    return containers.deep_copy(value, frame.budget)


def _shallow_copy(frame: Frame, arguments: Arguments, named: Named) -> Any:
    (value,) = exactly("copy", 1, arguments, named)
    copying = methods_of(value.__class__).get("copy")
    return value if copying is None else copying(frame, value, [], {})


# -- itertools --------------------------------------------------------------------------------------------------------

_MAX_REPEATS = 16
"""Columns of a product: sixteen of two values are already all that a budget has."""


def _rows(frame: Frame, items: Iterator[tuple[Any, ...]], width: int) -> containers.Stream:
    """Return rows of so many values, each paid for when it is made."""
    budget = frame.budget
    budget.hold_items(width)

    def paid() -> Iterator[tuple[Any, ...]]:
        for item in items:
            budget.spend(1 + (width >> 3))
            budget.hold(8 * width)
            yield item

    return containers.Stream(paid(), budget, counted=True)


def _product(frame: Frame, arguments: Arguments, named: Named) -> Any:
    columns = [containers.consume(each, frame.budget) for each in arguments]
    repeat = named.get("repeat", 1)
    if not named.keys() <= {"repeat"} or not isinstance(repeat, int) or repeat > _MAX_REPEATS:
        raise ExhaustedError("calls itertools.product with so many repeats")
    return _rows(frame, itertools.product(*columns, repeat=repeat), len(columns) * repeat)


def _choosing(function: Callable[..., Any]) -> Function:
    def invoke(frame: Frame, arguments: Arguments, named: Named) -> Any:
        iterable, count = taken(function.__name__, arguments, named, "iterable r")
        pool = containers.consume(iterable, frame.budget)
        width = len(pool) if count is ABSENT or count is None else count
        if isinstance(width, int):
            frame.budget.hold_items(max(0, width))
        return _rows(frame, function(pool, width), width)

    return invoke


def _islice(frame: Frame, arguments: Arguments, named: Named) -> Any:
    if not arguments or named:
        raise TypeError("islice takes an iterable and numbers")
    items = itertools.islice(containers.iterate(arguments[0], frame.budget), *arguments[1:])
    return containers.Stream(items, frame.budget, arguments[0])


def _accumulate(frame: Frame, arguments: Arguments, named: Named) -> Any:
    iterable, function, initial = taken("accumulate", arguments, named, "iterable func initial")

    def added(left: Any, right: Any) -> Any:
        if function is ABSENT or function is None:
            return operators.add(left, right, frame.budget)
        return call(frame, function, [left, right])

    items = containers.iterate(iterable, frame.budget)
    start = None if initial is ABSENT else initial
    return containers.Stream(itertools.accumulate(items, added, initial=start), frame.budget, iterable)


def _groupby(frame: Frame, arguments: Arguments, named: Named) -> Any:
    """Group as Python does; each group is there at once, so it may be read in any order."""
    iterable, key = taken("groupby", arguments, named, "iterable key")
    items = containers.consume(iterable, frame.budget)
    keys = items if key is ABSENT or key is None else [call(frame, key, [item]) for item in items]
    frame.budget.measure(keys)
    groups: list[tuple[Any, list[Any]]] = []
    for item, each in zip(items, keys, strict=True):
        if groups and groups[-1][0] == each:
            groups[-1][1].append(item)
        else:
            groups.append((each, [item]))
    return containers.Stream(((each, iter(group)) for each, group in groups), frame.budget)


# -- re, json ---------------------------------------------------------------------------------------------------------


def _searching(how: str) -> Function:
    def invoke(frame: Frame, arguments: Arguments, named: Named) -> Any:
        pattern, text, flags = taken(f"re.{how}", arguments, named, "pattern string flags", required=2)
        return _pattern(pattern, flags).find(text, how, frame.budget)

    return invoke


def _pattern(pattern: Any, flags: Any) -> Any:
    if not isinstance(pattern, str):
        raise TypeError("a regular expression is a text")
    return safe_pattern(pattern, 0 if flags is ABSENT else int(flags))


def _findall(frame: Frame, arguments: Arguments, named: Named) -> list[Any]:
    pattern, text, flags = taken("re.findall", arguments, named, "pattern string flags", required=2)
    found: list[Any] = _pattern(pattern, flags).findall(text, frame.budget)
    frame.budget.hold_items(8 * len(found))
    return found


def _split(frame: Frame, arguments: Arguments, named: Named) -> list[Any]:
    names = "pattern string maxsplit flags"
    pattern, text, count, flags = taken("re.split", arguments, named, names, required=2)
    found: list[Any] = _pattern(pattern, flags).split(text, 0 if count is ABSENT else count, frame.budget)
    frame.budget.hold_items(8 * len(found))
    return found


def _sub(frame: Frame, arguments: Arguments, named: Named) -> str:
    names = "pattern repl string count flags"
    pattern, replacement, text, count, flags = taken("re.sub", arguments, named, names, required=3)
    if not isinstance(replacement, str):
        raise ExhaustedError("calls a function from a regular expression")
    made = str(_pattern(pattern, flags).sub(replacement, text, 0 if count is ABSENT else count, frame.budget))
    frame.budget.hold_text(len(made))
    return made


def _escape(frame: Frame, arguments: Arguments, named: Named) -> str:
    (text,) = exactly("re.escape", 1, arguments, named)
    frame.budget.hold_text(2 * len(text))
    return re.escape(str(text))


_SHORT_JSON = 64
"""Characters of JSON that cost less than the step that the call takes."""

_JSON_CHARACTER = 24
"""Bytes that a character of JSON may become: ``[],`` makes a list."""


def _loads(frame: Frame, arguments: Arguments, named: Named) -> Any:
    if named:
        raise RefusalError("calls json.loads with more than a text")
    (text,) = exactly("json.loads", 1, arguments, named)
    if len(text) > _SHORT_JSON:
        frame.budget.spend(len(text) >> 5)
        frame.budget.hold(_JSON_CHARACTER * len(text))
    try:
        return parse_json(text)
    except TooDeepError as error:
        raise ExhaustedError(f"reads JSON in which {error.msg}") from None


def _dumps(frame: Frame, arguments: Arguments, named: Named) -> str:
    if len(arguments) != 1 or not named.keys() <= {"ensure_ascii", "indent", "separators", "sort_keys"}:
        raise RefusalError("calls json.dumps with other arguments than ensure_ascii, indent, separators and sort_keys")
    indent, budget = named.get("indent"), frame.budget
    wide = len(indent) if isinstance(indent, str) else indent if isinstance(indent, int) else 0
    for text in (*(named.get("separators") or ()), "-" * min(max(wide, 0), 101)):
        if len(text) > 100:  # noqa: PLR2004 - the widest indentation that anybody could read
            raise ExhaustedError("writes JSON with a hundred spaces at once")
    parts = budget.measure(arguments[0])
    budget.hold(16 * parts * (1 + max(wide, 0)))
    made = json.dumps(arguments[0], **named)
    budget.hold_text(len(made))
    return made


_MATH_FUNCTIONS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "degrees"),
    *("exp", "expm1", "fabs", "floor", "fmod", "hypot", "isclose", "isfinite", "isinf", "isnan", "log", "log10"),
    *("log1p", "log2", "modf", "pow", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
_FLAGS = ("DOTALL", "IGNORECASE", "MULTILINE", "S", "I", "M")

_MEMBERS: dict[str, dict[str, Any]] = {
    "copy": {"copy": _shallow_copy, "deepcopy": _deep_copy},
    "itertools": {
        "accumulate": _accumulate,
        "chain": stepwise(itertools.chain),
        "combinations": _choosing(itertools.combinations),
        "groupby": _groupby,
        "islice": _islice,
        "permutations": _choosing(itertools.permutations),
        "product": _product,
        "zip_longest": stepwise(itertools.zip_longest),
    },
    "json": {"dumps": _dumps, "loads": _loads},
    "math": {
        **{name: plain(getattr(math, name)) for name in _MATH_FUNCTIONS},
        **{name: getattr(math, name) for name in ("e", "inf", "nan", "pi", "tau")},
    },
    "re": {
        **{how: _searching(how) for how in ("search", "match", "fullmatch")},
        **{name: int(getattr(re, name)) for name in _FLAGS},
        "escape": _escape,
        "findall": _findall,
        "split": _split,
        "sub": _sub,
    },
}

MODULES: dict[str, ModuleValue] = {
    name: ModuleValue(
        name,
        {member: Builtin(f"{name}.{member}", value) if callable(value) else value for member, value in members.items()},
    )
    for name, members in _MEMBERS.items()
}
"""What both expressions and configs may import."""
