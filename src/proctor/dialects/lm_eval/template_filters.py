"""Jinja's filters and tests within a budget: what each costs is taken before it runs, or while its items are made.

The filters are Jinja's own. Around each stands a price: nothing for those that look at one thing, the length for those
that go through a text or list, the whole of nested values for those that print, compare or sort them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from jinja2.exceptions import FilterArgumentError

from proctor.regexes import bounded
from proctor.safe_python import operators
from proctor.safe_python.budget import MAX_BITS, MAX_WIDTH, PATTERN_SECONDS, SCALARS, Budget, ExhaustedError
from proctor.safe_python.text import percent

Filter = Callable[..., Any]
Price = Callable[[Budget, tuple[Any, ...], Mapping[str, Any]], None]

_current: ContextVar[Budget] = ContextVar("proctor_template_budget")


@contextmanager
def one_rendering() -> Iterator[None]:
    """Give what happens inside the budget of one rendering."""
    token = _current.set(Budget())
    try:
        yield
    finally:
        _current.reset(token)


def current_budget() -> Budget:
    """Return the budget of the rendering that goes on; a fresh one outside of any."""
    return _current.get(None) or Budget()


# -- prices -----------------------------------------------------------------------------------------------------------


def weigh(value: Any, budget: Budget) -> None:
    """Take what going through a value costs, nested ones included."""
    if isinstance(value, str):
        budget.hold_text(len(value))
    elif value.__class__ not in SCALARS:
        budget.measure(value)


def _whole(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    for value in (*values, *named.values()):
        weigh(value, budget)


def _flat(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Price of a filter that goes through a value once and looks into none of its items."""
    del named
    if hasattr(values[0], "__len__"):
        budget.hold_items(len(values[0]))


def _sorting(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    del named
    if hasattr(values[0], "__len__"):
        parts = budget.measure(values[0])
        budget.hold_items(2 * len(values[0]))
        budget.spend(parts * max(1, parts.bit_length()) >> 2)


def _wide(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Price of a filter that pads, cuts or fills: so many characters or items as its numbers say."""
    _whole(budget, values, named)
    for value in (*values[1:], *named.values()):
        if isinstance(value, int):
            budget.hold_text(abs(value))
            budget.hold_items(abs(value))


def _per_line(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Price of a filter that puts something before or after each line, word or link."""
    _whole(budget, values, named)
    text = str(values[0])
    added = sum(_width(value) for value in (*values[1:], *named.values()))
    budget.hold_text(len(text) + (text.count("\n") + text.count(" ") + 2) * added)


def _width(value: Any) -> int:
    return abs(value) if isinstance(value, int) else len(value) if isinstance(value, str) else 0


def _slow(each: int, *, count: str = "") -> Callable[[Budget, tuple[Any, ...], Mapping[str, Any]], None]:
    """Price of a filter that takes so many steps for each part; each ``count`` in a text goes through all of it."""

    def price(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        _per_line(budget, values, named)
        value = values[0]
        parts = len(value) if isinstance(value, str) else budget.measure(value)
        budget.spend(parts * each)
        if count and isinstance(value, str):
            budget.spend(value.count(count) * len(value) >> 10)

    return price


def _trimming(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    _whole(budget, values, named)
    for chars in (*values[1:], *named.values()):
        budget.spend(len(str(values[0])) * _width(chars) >> 10)


def _escaping(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    _whole(budget, values, named)
    for value in values:
        budget.hold_text(6 * len(value) if isinstance(value, str) else 0)


def _json(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    indent = values[1] if len(values) > 1 else named.get("indent")
    if _width(indent) > _WIDEST_INDENT:
        raise ExhaustedError(f"writes JSON with more than {_WIDEST_INDENT} spaces at once")
    parts = budget.measure(values[0])
    budget.hold(16 * parts * (1 + _width(indent)))


_WIDEST_INDENT = 100
"""Spaces before a line of JSON: nobody reads deeper ones."""


def _number(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    del named
    if isinstance(values[0], (str, bytes)) and len(values[0]) > MAX_BITS:
        raise ExhaustedError(f"reads a number of more than {MAX_BITS:,} digits")
    budget.check_number(values[0])


def _rounding(budget: Budget, values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    del budget
    if not isinstance(values[0], (int, float)):
        raise FilterArgumentError(f"only numbers are rounded, not a {type(values[0]).__name__}")
    for digits in (*values[1:], *named.values()):
        if isinstance(digits, int) and abs(digits) > MAX_WIDTH:
            raise ExhaustedError("rounds to thousands of digits")


PRICES: dict[str, Price] = {
    **dict.fromkeys(("batch", "center", "slice", "truncate"), _wide),
    **dict.fromkeys(("dictsort", "groupby", "max", "min", "sort", "unique"), _sorting),
    **dict.fromkeys(("list", "reverse"), _flat),
    **dict.fromkeys(("e", "escape", "forceescape", "urlencode", "xmlattr"), _escaping),
    **dict.fromkeys(("float", "int"), _number),
    "indent": _per_line,
    "pprint": _slow(64),
    "round": _rounding,
    "striptags": _slow(0, count="<"),
    "tojson": _json,
    "trim": _trimming,
    "urlize": _slow(16),
    "wordwrap": _slow(4),
}
"""What filters cost that cost something of their own; the others go through all that they are given."""

_FREE = frozenset(
    {
        *(
            *("abs", "attr", "count", "d", "default", "filesizeformat", "first", "items", "last", "length", "map"),
            "random",
        ),
        *("reject", "rejectattr", "safe", "select", "selectattr"),
    }
)
"""Filters that look at one thing, or whose items are counted while they are made."""


# -- filters and tests ------------------------------------------------------------------------------------------------


def priced(name: str, original: Filter) -> Filter:
    """Return a filter that takes its price first; items that it makes later take a step each."""
    price = None if name in _FREE else PRICES.get(name, _whole)
    skipped = 0 if getattr(original, "jinja_pass_arg", None) is None else 1

    def filtered(*values: Any, **named: Any) -> Any:
        budget = current_budget()
        budget.spend(1)
        if price is not None:
            price(budget, values[skipped:], named)
        made = original(*values, **named)
        return bounded_steps(made) if isinstance(made, Generator) else made

    return like(original, filtered)


def like(original: Filter, wrapper: Filter) -> Filter:
    """Mark a wrapper the way Jinja marks filters that want the environment or the context."""
    mark = getattr(original, "jinja_pass_arg", None)
    if mark is not None:
        wrapper.jinja_pass_arg = mark  # type: ignore[attr-defined]
    return wrapper


def priced_test(original: Filter) -> Filter:
    """Return a test that takes what its values cost; texts are compared as texts, never formatted."""
    skipped = 0 if getattr(original, "jinja_pass_arg", None) is None else 1

    def tested(*values: Any, **named: Any) -> Any:
        budget = current_budget()
        budget.spend(1)
        for value in values[skipped:]:
            weigh(value, budget)
        return original(*values, **named)

    return like(original, tested)


def _is_multiple(value: Any, number: Any) -> bool:
    return bool(operators.binary(ast.Mod, value, number, current_budget()) == 0)


TESTS: dict[str, Filter] = {
    "divisibleby": _is_multiple,
    "even": lambda value: _is_multiple(value, 2),
    "odd": lambda value: bool(operators.binary(ast.Mod, value, 2, current_budget()) == 1),
}
"""Tests that compute a remainder, which for texts would be formatting."""

COMPARING = frozenset(
    {
        *(
            *("!=", "<", "<=", "==", ">", ">=", "eq", "equalto", "ge", "greaterthan", "gt", "in", "le", "lessthan"),
            "lower",
        ),
        *("lt", "ne", "upper"),
    }
)
"""Tests that go through values."""


def bounded_steps(items: Any, weight: int = 1, characters: int = 0) -> Iterator[Any]:
    """Yield items; each takes so many steps, and the memory of so many characters that are written for it."""
    budget = current_budget()
    for item in items:
        budget.spend(weight)
        if characters:
            budget.hold_text(characters)
        yield item


def text_of(value: Any) -> str:
    """Return ``str(value)``, measured first."""
    if isinstance(value, str):
        return value
    if value.__class__ not in SCALARS:
        budget = current_budget()
        budget.hold(16 * budget.measure(value))
    return str(value)


def joined(parts: list[Any]) -> str:
    """Return the texts of several values as one."""
    texts = [str(text_of(part)) for part in parts]
    current_budget().hold_text(sum(map(len, texts)))
    return "".join(texts)


def measured(value: Any) -> Any:
    """Return the value after what it costs to compare it."""
    weigh(value, current_budget())
    return value


def sliced(value: Any) -> Any:
    """Return the value after what it costs to copy all of it."""
    if hasattr(value, "__len__") and isinstance(value, (str, bytes, list, tuple)):
        current_budget().hold_items(len(value))
    return value


def replaced(original: Filter) -> Filter:
    """Return Jinja's ``replace`` with a look at how large its result would be."""

    def filtered(context: Any, text: Any, old: Any, new: Any, count: int | None = None) -> Any:
        budget, whole = current_budget(), text_of(text)
        old_text, new_text = text_of(old), text_of(new)
        places = whole.count(old_text) if old_text else len(whole) + 1
        budget.hold_text(len(whole) + places * len(new_text))
        return original(context, whole if isinstance(text, str) else text, old, new, count)

    return like(original, filtered)


def formatted(value: Any, *values: Any, **named: Any) -> str:
    """Return ``value % values``, as Jinja's ``format`` does."""
    if values and named:
        raise FilterArgumentError("can't handle positional and keyword arguments at the same time")
    return percent(text_of(value), named or values, current_budget())


def joined_filter(original: Filter) -> Filter:
    """Return Jinja's ``join`` with a look at how large its result would be."""

    def filtered(context: Any, value: Any, d: Any = "", attribute: Any = None) -> Any:
        budget, items = current_budget(), list(value)
        budget.hold_items(len(items))
        budget.measure(items)
        budget.hold_text(_width(d) * len(items) + sum(_width(item) for item in items if isinstance(item, str)))
        return original(context, items, d, attribute)

    return like(original, filtered)


def summed(original: Filter) -> Filter:
    """Return Jinja's ``sum`` for numbers; lists and texts, each sum of which would copy the last, are added up."""

    def filtered(environment: Any, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
        if isinstance(start, (int, float)):
            budget = current_budget()
            items = list(bounded_steps(iterable))
            for item in items:
                budget.check_number(item)
            return original(environment, items, attribute, start)
        total, budget = start, current_budget()
        if attribute is not None or isinstance(start, str):
            raise FilterArgumentError("sum with a start that is not a number takes no attribute, and no text")
        for item in iterable:
            total = operators.add(total, item, budget)
        return total

    return like(original, filtered)


def regex_replace(string: str, pattern: str, repl: str, count: int = 0) -> str:
    """Replace a regular expression; the filter that lm-eval adds to Jinja, with a bound on its time."""
    budget = current_budget()
    budget.hold_text(len(string))
    made = bounded(pattern).sub(repl, string, count, seconds=min(PATTERN_SECONDS, budget.seconds_left()))
    budget.hold_text(len(made))
    return made
