"""The functions and types that may be called. What is not in these tables is not executed."""

# ruff: noqa: ARG001 - everything that may be called has one signature

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable
from typing import Any

from proctor.safe_python import containers, files, operators
from proctor.safe_python.budget import MAX_BITS, ExhaustedError, RefusalError
from proctor.safe_python.calls import ABSENT, Arguments, Invocable, Named, call, exactly, taken
from proctor.safe_python.methods import from_keys, sort
from proctor.safe_python.scope import Frame
from proctor.safe_python.text import format_value, repr_of, text_of
from proctor.safe_python.values import ConfigDict, ConfigFunction, Reference

Function = Callable[[Frame, Arguments, Named], Any]


class Builtin(Invocable):
    """A function or type that may be called.

    Attributes:
        name: As written, ``sorted`` or ``math.exp``.
        function: What it does.
        kind: The type that it stands for in ``isinstance`` and ``except``; ``None`` for a function.
    """

    __slots__ = ("function", "kind", "name")

    def __init__(self, name: str, function: Function, kind: type | None = None) -> None:
        self.name = name
        self.function = function
        self.kind = kind

    def invoke(self, frame: Frame, arguments: Arguments, named: Named) -> Any:
        """Call it."""
        return self.function(frame, arguments, named)


_MAX_DIGITS = 4_000  # rounding to a power of ten computes it; Python itself writes numbers of 4,300 digits at most


# -- adapters ---------------------------------------------------------------------------------------------------------


def plain(function: Callable[..., Any]) -> Function:
    """A function of scalars, which neither iterates nor makes anything large."""

    def invoke(frame: Frame, arguments: Arguments, named: Named) -> Any:
        frame.budget.spend(1)
        return frame.budget.check_number(function(*arguments, **named))

    return invoke


def _whole(function: Callable[..., Any]) -> Function:
    """A function that makes a value of all items of an iterable."""

    def invoke(frame: Frame, arguments: Arguments, named: Named) -> Any:
        if len(arguments) > 1 or named:
            raise TypeError(f"{function.__name__} expected at most 1 argument, got {len(arguments) + len(named)}")
        return function(containers.consume(arguments[0], frame.budget) if arguments else [])

    return invoke


def stepwise(function: Callable[..., Any]) -> Function:
    """A function that returns an iterator over iterables, one step at a time."""

    def invoke(frame: Frame, arguments: Arguments, named: Named) -> Any:
        columns = [containers.iterate(each, frame.budget) for each in arguments]
        return containers.Stream(function(*columns, **named), frame.budget, *arguments)

    return invoke


# -- functions --------------------------------------------------------------------------------------------------------


def _set(frame: Frame, arguments: Arguments, named: Named) -> Any:
    if len(arguments) > 1 or named:
        raise TypeError("set expected at most 1 argument")
    return containers.fill_set(containers.consume(arguments[0], frame.budget) if arguments else [], frame.budget)


def _frozenset(frame: Frame, arguments: Arguments, named: Named) -> Any:
    return frozenset(_set(frame, arguments, named))


def make_dict(frame: Frame, arguments: Arguments, named: Named) -> dict[Any, Any]:
    """Return ``dict(…)``: in a file, a dictionary that knows where it was written."""
    if len(arguments) > 1:
        raise TypeError(f"dict expected at most 1 argument, got {len(arguments)}")
    frame.budget.hold(64 + 64 * len(named))
    made: dict[Any, Any] = {} if frame.module is None else ConfigDict()
    if arguments:
        containers.update(made, containers.pairs_of(arguments[0], frame.budget), frame.budget)
    made.update(named)
    return made


def _str(frame: Frame, arguments: Arguments, named: Named) -> str:
    if named or len(arguments) > 1:
        raise RefusalError("decodes bytes with str()")
    return text_of(arguments[0], frame.budget) if arguments else ""


def _repr(frame: Frame, arguments: Arguments, named: Named) -> str:
    (value,) = exactly("repr", 1, arguments, named)
    return repr_of(value, frame.budget)


def _format(frame: Frame, arguments: Arguments, named: Named) -> str:
    value, spec = exactly("format", 2, [*arguments, ""][:2], named)
    return format_value(value, None, spec, frame.budget)


def _sum(frame: Frame, arguments: Arguments, named: Named) -> Any:
    iterable, start = taken("sum", arguments, named, "iterable start")
    start = 0 if start is ABSENT else start
    items = containers.consume(iterable, frame.budget)
    if isinstance(start, (str, bytes)):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    if isinstance(start, list) and all(isinstance(item, list) for item in items):  # else each sum copies the last
        frame.budget.hold_items(len(start) + sum(map(len, items)))
        return [*start, *itertools.chain.from_iterable(items)]
    total: Any = start
    if all(isinstance(item, (int, float)) for item in (start, *items)):
        return frame.budget.check_number(sum(items, total))
    for item in items:
        total = operators.binary(ast.Add, total, item, frame.budget)
    return total


def _extreme(function: Callable[..., Any]) -> Function:
    def invoke(frame: Frame, arguments: Arguments, named: Named) -> Any:
        if not arguments or not named.keys() <= {"key", "default"}:
            raise TypeError(f"{function.__name__}() takes values, key and default")
        items = containers.consume(arguments[0], frame.budget) if len(arguments) == 1 else arguments
        key = named.get("key")
        keys = items if key is None else [call(frame, key, [item]) for item in items]
        frame.budget.measure(keys)
        if not items and "default" in named and len(arguments) == 1:
            return named["default"]
        if len(arguments) > 1 and "default" in named:
            raise TypeError("Cannot specify a default with multiple positional arguments")
        return items[function(range(len(items)), key=keys.__getitem__)]

    return invoke


def _sorted(frame: Frame, arguments: Arguments, named: Named) -> list[Any]:
    (iterable,) = exactly("sorted", 1, arguments, {})
    items = containers.consume(iterable, frame.budget)
    sort(frame, items, [], named)
    return items


def _enumerate(frame: Frame, arguments: Arguments, named: Named) -> Any:
    if not arguments:
        raise TypeError("enumerate() missing required argument 'iterable'")
    numbered = enumerate(containers.iterate(arguments[0], frame.budget), *arguments[1:], **named)
    return containers.Stream(numbered, frame.budget, arguments[0])


def _map(frame: Frame, arguments: Arguments, named: Named) -> Any:
    if not arguments[1:] or named:
        raise TypeError("map() must have at least two arguments.")
    columns = [containers.iterate(each, frame.budget) for each in arguments[1:]]
    items = (call(frame, arguments[0], list(row)) for row in zip(*columns, strict=False))
    return containers.Stream(items, frame.budget, *arguments[1:])


def _filter(frame: Frame, arguments: Arguments, named: Named) -> Any:
    keep, iterable = exactly("filter", 2, arguments, named)
    items = containers.Stream(containers.iterate(iterable, frame.budget), frame.budget, iterable)
    kept = (item for item in items if (item if keep is None else call(frame, keep, [item])))
    return containers.Stream(kept, frame.budget, items)


def _until(wanted: bool) -> Function:
    def invoke(frame: Frame, arguments: Arguments, named: Named) -> bool:
        (iterable,) = exactly("any" if wanted else "all", 1, arguments, named)
        for item in containers.iterate(iterable, frame.budget):
            frame.budget.spend(1)
            if bool(item) is wanted:
                return wanted
        return not wanted

    return invoke


def _iter(frame: Frame, arguments: Arguments, named: Named) -> Any:
    (iterable,) = exactly("iter", 1, arguments, named)
    return containers.Stream(containers.iterate(iterable, frame.budget), frame.budget, iterable)


def _reversed(frame: Frame, arguments: Arguments, named: Named) -> Any:
    (sequence,) = exactly("reversed", 1, arguments, named)
    return containers.Stream(reversed(sequence), frame.budget)


def _round(frame: Frame, arguments: Arguments, named: Named) -> Any:
    _, digits = taken("round", arguments, named, "number ndigits")
    if isinstance(digits, int) and abs(digits) > _MAX_DIGITS:
        raise ExhaustedError("rounds to thousands of digits")
    return round(*arguments, **named)


def _pow(frame: Frame, arguments: Arguments, named: Named) -> Any:
    base, exponent, modulus = taken("pow", arguments, named, "base exp mod", required=2)
    if modulus is not ABSENT:
        raise RefusalError("calls pow() with a modulus")
    return operators.binary(ast.Pow, base, exponent, frame.budget)


_LONGEST_RANGE = 10_000_000
"""Numbers of a range: ten times as many as the steps that going through it may take."""


def _range(frame: Frame, arguments: Arguments, named: Named) -> range:
    numbers = range(*arguments, **named)
    if containers.size(numbers) > _LONGEST_RANGE:
        raise ExhaustedError(f"makes a range of more than {_LONGEST_RANGE:,} numbers")
    return numbers


def _int(frame: Frame, arguments: Arguments, named: Named) -> int:
    for text in arguments[:1]:
        if isinstance(text, (str, bytes)) and len(text) > MAX_BITS:
            raise ExhaustedError(f"reads a number of more than {MAX_BITS:,} digits")
    return int(frame.budget.check_number(int(*arguments, **named)))


def _isinstance(frame: Frame, arguments: Arguments, named: Named) -> bool:
    value, wanted = exactly("isinstance", 2, arguments, named)
    kinds = []
    for each in containers.consume(wanted, frame.budget) if isinstance(wanted, tuple) else [wanted]:
        if not isinstance(each, Builtin) or each.kind is None:
            raise RefusalError("asks whether a value is of an imported class")
        kinds.append(each.kind)
    return isinstance(value, tuple(kinds))


def _type(frame: Frame, arguments: Arguments, named: Named) -> Any:
    if len(arguments) != 1 or named:
        raise RefusalError("makes a class with type()")
    kind = arguments[0].__class__
    known = TYPES.get("dict" if issubclass(kind, dict) else kind.__name__)
    if known is None or (known.kind is not kind and known.kind is not dict):
        raise RefusalError("asks for the type of a value that is not plain data")
    return known


def _callable(frame: Frame, arguments: Arguments, named: Named) -> bool:
    (value,) = exactly("callable", 1, arguments, named)
    return isinstance(value, (Invocable, ConfigFunction, Reference))


def _print(frame: Frame, arguments: Arguments, named: Named) -> None:
    """Say nothing: reading a config has no output."""
    return


def _locals(frame: Frame, arguments: Arguments, named: Named) -> Any:
    exactly("locals", 0, arguments, named)
    if frame.parent is None:
        return frame.names
    if frame.comprehension:
        raise RefusalError("calls locals() inside a comprehension")
    return ConfigDict(frame.names)


def _globals(frame: Frame, arguments: Arguments, named: Named) -> Any:
    exactly("globals", 0, arguments, named)
    return frame.outermost.names


def _open(frame: Frame, arguments: Arguments, named: Named) -> files.TextFile:
    if not named.keys() <= {"file", "mode", "encoding"}:
        raise RefusalError("opens a file with other arguments than mode and encoding")
    name, mode, _, encoding = taken("open", arguments, named, "file mode buffering encoding")
    mode, encoding = "r" if mode is ABSENT else mode, None if encoding is ABSENT else encoding
    return files.open_text(frame.source, name, mode, encoding, frame.budget)


def _len(frame: Frame, arguments: Arguments, named: Named) -> int:
    return len(*arguments, **named)


def _exception(kind: type[Exception]) -> Function:
    def invoke(frame: Frame, arguments: Arguments, named: Named) -> Exception:
        return kind(*arguments, **named)

    return invoke


# -- tables -----------------------------------------------------------------------------------------------------------

_EXCEPTIONS: tuple[type[Exception], ...] = (
    *(ArithmeticError, AssertionError, AttributeError, Exception, FileNotFoundError, ImportError, IndexError),
    *(KeyError, LookupError, ModuleNotFoundError, NameError, NotImplementedError, OSError, OverflowError),
    *(RuntimeError, StopIteration, TypeError, ValueError, ZeroDivisionError),
)

TYPES: dict[str, Builtin] = {
    each.name: each
    for each in (
        Builtin("bool", plain(bool), bool),
        Builtin("dict", make_dict, dict),
        Builtin("float", plain(float), float),
        Builtin("frozenset", _frozenset, frozenset),
        Builtin("int", _int, int),
        Builtin("list", _whole(list), list),
        Builtin("range", _range, range),
        Builtin("set", _set, set),
        Builtin("str", _str, str),
        Builtin("tuple", _whole(tuple), tuple),
        *(Builtin(kind.__name__, _exception(kind), kind) for kind in _EXCEPTIONS),
    )
}

_PLAIN = (abs, bin, chr, divmod, hex, next, oct, ord)
_OWN: tuple[Function, ...] = (
    *(_callable, _enumerate, _filter, _format, _globals, _isinstance, _iter, _len, _locals, _map, _open, _pow, _print),
    *(_repr, _reversed, _round, _sorted, _sum, _type),
)
"""Functions under the names of Python's, which each has behind the underscore."""

BUILTINS: dict[str, Any] = {
    **TYPES,
    **{
        name: Builtin(name, function)
        for name, function in {
            **{each.__name__: plain(each) for each in _PLAIN},
            **{each.__name__.removeprefix("_"): each for each in _OWN},
            "all": _until(False),
            "any": _until(True),
            "max": _extreme(max),
            "min": _extreme(min),
            "zip": stepwise(zip),
        }.items()
    },
    "__name__": "builtins",
}

READING = frozenset(
    {
        *("abs", "all", "any", "bin", "bool", "chr", "dict", "divmod", "enumerate", "filter", "float", "format"),
        *("frozenset", "hex", "int", "isinstance", "len", "list", "map", "max", "min", "oct", "ord", "pow", "range"),
        *("repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip"),
    }
)
"""Functions for expressions over rows; the others of :data:`BUILTINS` look at the file around them, or at iterators."""

CLASS_METHODS: dict[tuple[str, str], Function] = {("dict", "fromkeys"): from_keys}
"""Methods of the types themselves: ``dict.fromkeys(…)``."""

PYTHON_BUILTINS = frozenset(dir(builtins))
"""Names that Python knows everywhere; those not in :data:`BUILTINS` are refused by name."""
