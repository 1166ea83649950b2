"""The functions, types and modules that a config may use. What is not in these tables is not executed."""

# ruff: noqa: ARG001 - everything that a config may call has one signature

from __future__ import annotations

import ast
import builtins
import itertools
import math
import os.path
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from proctor.dialects.aisbench import interpreter_files as files
from proctor.dialects.aisbench import interpreter_operators as operators
from proctor.dialects.aisbench.interpreter_budget import RefusalError
from proctor.dialects.aisbench.interpreter_methods import (
    ABSENT,
    METHODS,
    Arguments,
    Machine,
    Named,
    from_keys,
    sort,
    taken,
)
from proctor.dialects.aisbench.interpreter_scope import ConfigModule, Frame
from proctor.dialects.aisbench.interpreter_text import format_value, repr_of, text_of
from proctor.dialects.aisbench.values import ConfigDict, ConfigFunction, Reference

Function = Callable[[Machine, Frame, Arguments, Named], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Builtin:
    """A function or type that configs may call.

    Attributes:
        name: As written, ``sorted`` or ``math.exp``.
        invoke: What it does.
        kind: The type that it stands for in ``isinstance`` and ``except``; ``None`` for a function.
    """

    name: str
    invoke: Function
    kind: type | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ModuleValue:
    """A module of the standard library, as far as configs may use it."""

    name: str
    members: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """``os.environ``."""

    module: ConfigModule

    def get(self, name: object, default: Any = None) -> Any:
        """Return the value of a variable."""
        value = files.variable(self.module, name)
        return default if value is None else value

    def __getitem__(self, name: object) -> str:
        value = files.variable(self.module, name)
        if value is None:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return files.variable(self.module, name) is not None


_MAX_DIGITS = 4_000
_MAX_REPEATS = 16


# -- adapters ---------------------------------------------------------------------------------------------------------


def _plain(function: Callable[..., Any]) -> Function:
    """A function of scalars, which neither iterates nor makes anything large."""

    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
        machine.budget.spend(1)
        return machine.budget.check_number(function(*arguments, **named))

    return invoke


def _whole(function: Callable[..., Any]) -> Function:
    """A function that makes a value of all items of an iterable."""

    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
        if len(arguments) > 1 or named:
            raise TypeError(f"{function.__name__} expected at most 1 argument, got {len(arguments) + len(named)}")
        return function(operators.consume(arguments[0], machine.budget) if arguments else [])

    return invoke


def _stepwise(function: Callable[..., Any]) -> Function:
    """A function that returns an iterator over iterables, one step at a time."""

    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
        return function(*(operators.iterate(each, machine.budget) for each in arguments), **named)

    return invoke


# -- functions --------------------------------------------------------------------------------------------------------


def _set(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    if len(arguments) > 1 or named:
        raise TypeError("set expected at most 1 argument")
    return operators.fill_set(operators.consume(arguments[0], machine.budget) if arguments else [], machine.budget)


def _frozenset(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    return frozenset(_set(machine, frame, arguments, named))


def make_dict(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> ConfigDict:
    """Return ``dict(…)``."""
    if len(arguments) > 1:
        raise TypeError(f"dict expected at most 1 argument, got {len(arguments)}")
    machine.budget.hold(64 + 64 * len(named))
    if not arguments:
        return ConfigDict(named)
    made = ConfigDict()
    operators.update(made, operators.pairs_of(arguments[0], machine.budget), machine.budget)
    made.update(named)
    return made


def _str(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> str:
    if named or len(arguments) > 1:
        raise RefusalError("decodes bytes with str()")
    return text_of(arguments[0], machine.budget) if arguments else ""


def _repr(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> str:
    (value,) = _exactly("repr", 1, arguments, named)
    return repr_of(value, machine.budget)


def _format(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> str:
    value, spec = _exactly("format", 2, [*arguments, ""][:2], named)
    return format_value(value, None, spec, machine.budget)


def _exactly(name: str, count: int, arguments: Arguments, named: Named) -> Arguments:
    if named or len(arguments) != count:
        raise TypeError(f"{name}() takes {count} argument{'s' * (count > 1)}")
    return arguments


def _sum(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    iterable, start = taken("sum", arguments, named, "iterable start")
    start = 0 if start is ABSENT else start
    items = operators.consume(iterable, machine.budget)
    if isinstance(start, (str, bytes)):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    if isinstance(start, list) and all(isinstance(item, list) for item in items):
        machine.budget.hold_items(len(start) + sum(map(len, items)))
        return [*start, *itertools.chain.from_iterable(items)]
    total: Any = start
    if all(isinstance(item, (int, float)) for item in (start, *items)):
        return machine.budget.check_number(sum(items, total))
    for item in items:
        total = operators.binary(ast.Add, total, item, machine.budget)
    return total


def _extreme(function: Callable[..., Any]) -> Function:
    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
        if not arguments or not named.keys() <= {"key", "default"}:
            raise TypeError(f"{function.__name__}() takes values, key and default")
        items = operators.consume(arguments[0], machine.budget) if len(arguments) == 1 else arguments
        key = named.get("key")
        keys = items if key is None else [machine.call(key, [item], {}, frame) for item in items]
        machine.budget.measure(keys)
        if not items and "default" in named and len(arguments) == 1:
            return named["default"]
        if len(arguments) > 1 and "default" in named:
            raise TypeError("Cannot specify a default with multiple positional arguments")
        return items[function(range(len(items)), key=keys.__getitem__)]

    return invoke


def _sorted(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> list[Any]:
    (iterable,) = _exactly("sorted", 1, arguments, {})
    items = operators.consume(iterable, machine.budget)
    sort(machine, frame, items, [], named)
    return items


def _enumerate(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    if not arguments:
        raise TypeError("enumerate() missing required argument 'iterable'")
    return enumerate(operators.iterate(arguments[0], machine.budget), *arguments[1:], **named)


def _map(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Iterator[Any]:
    if not arguments[1:] or named:
        raise TypeError("map() must have at least two arguments.")
    columns = [operators.iterate(each, machine.budget) for each in arguments[1:]]
    return (machine.call(arguments[0], list(row), {}, frame) for row in zip(*columns, strict=False))


def _filter(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Iterator[Any]:
    keep, iterable = _exactly("filter", 2, arguments, named)
    items = operators.Spending(operators.iterate(iterable, machine.budget), machine.budget)
    return (item for item in items if (item if keep is None else machine.call(keep, [item], {}, frame)))


def _until(wanted: bool) -> Function:
    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> bool:
        (iterable,) = _exactly("any" if wanted else "all", 1, arguments, named)
        for item in operators.iterate(iterable, machine.budget):
            machine.budget.spend(1)
            if bool(item) is wanted:
                return wanted
        return not wanted

    return invoke


def _iter(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    (iterable,) = _exactly("iter", 1, arguments, named)
    return operators.iterate(iterable, machine.budget)


def _round(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    _, digits = taken("round", arguments, named, "number ndigits")
    if isinstance(digits, int) and abs(digits) > _MAX_DIGITS:
        raise RefusalError("rounds to thousands of digits")
    return round(*arguments, **named)


def _pow(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    base, exponent, modulus = taken("pow", arguments, named, "base exp mod", required=2)
    if modulus is not ABSENT:
        raise RefusalError("calls pow() with a modulus")
    return operators.binary(ast.Pow, base, exponent, machine.budget)


def _isinstance(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> bool:
    value, wanted = _exactly("isinstance", 2, arguments, named)
    kinds = []
    for each in operators.consume(wanted, machine.budget) if isinstance(wanted, tuple) else [wanted]:
        if not isinstance(each, Builtin) or each.kind is None:
            raise RefusalError("asks whether a value is of an imported class")
        kinds.append(each.kind)
    return isinstance(value, tuple(kinds))


def _type(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    if len(arguments) != 1 or named:
        raise RefusalError("makes a class with type()")
    kind = arguments[0].__class__
    known = TYPES.get("dict" if issubclass(kind, dict) else kind.__name__)
    if known is None or (known.kind is not kind and known.kind is not dict):
        raise RefusalError("asks for the type of a value that is no plain data")
    return known


def _callable(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> bool:
    (value,) = _exactly("callable", 1, arguments, named)
    return isinstance(value, (Builtin, ConfigFunction, Reference))


def _print(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> None:
    """Say nothing: reading a config has no output."""
    return


def _locals(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    _exactly("locals", 0, arguments, named)
    if frame.parent is None:
        return frame.names
    if frame.comprehension:
        raise RefusalError("calls locals() inside a comprehension")
    return ConfigDict(frame.names)


def _globals(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    _exactly("globals", 0, arguments, named)
    return frame.outermost.names


def _open(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> files.TextFile:
    if not named.keys() <= {"file", "mode", "encoding"}:
        raise RefusalError("opens a file with other arguments than mode and encoding")
    name, mode, _, encoding = taken("open", arguments, named, "file mode buffering encoding")
    mode, encoding = "r" if mode is ABSENT else mode, None if encoding is ABSENT else encoding
    return files.open_text(frame.module, name, mode, encoding, machine.budget)


def _exception(kind: type[Exception]) -> Function:
    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Exception:
        return kind(*arguments, **named)

    return invoke


def _deep_copy(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    (value,) = _exactly("deepcopy", 1, arguments, named)
    return operators.deep_copy(value, machine.budget)


def _shallow_copy(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    (value,) = _exactly("copy", 1, arguments, named)
    copying = METHODS.get(value.__class__, {}).get("copy")
    return value if copying is None else copying(machine, frame, value, [], {})


# -- os ---------------------------------------------------------------------------------------------------------------


def _path_function(function: Callable[..., Any]) -> Function:
    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
        length = sum(len(each) for each in arguments if isinstance(each, str))
        machine.budget.hold_text(4_096 + length)
        return function(*arguments, **named)

    return invoke


def _file_question(function: Callable[[str], bool]) -> Function:
    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> bool:
        (name,) = _exactly(function.__name__, 1, arguments, named)
        path = files.inside(frame.module, name)
        frame.module.files.append(path)
        return function(str(path))

    return invoke


def _getenv(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    return Environment(frame.module).get(*arguments, **named)


def _product(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Iterator[Any]:
    columns = [operators.consume(each, machine.budget) for each in arguments]
    repeat = named.get("repeat", 1)
    if not named.keys() <= {"repeat"} or not isinstance(repeat, int) or repeat > _MAX_REPEATS:
        raise RefusalError("calls itertools.product with so many repeats")
    return itertools.product(*columns, repeat=repeat)


# -- tables -----------------------------------------------------------------------------------------------------------

_EXCEPTIONS: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    Exception,
    FileNotFoundError,
    ImportError,
    IndexError,
    KeyError,
    LookupError,
    ModuleNotFoundError,
    NameError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
    ZeroDivisionError,
)

TYPES: dict[str, Builtin] = {
    each.name: each
    for each in (
        Builtin("bool", _plain(bool), bool),
        Builtin("dict", make_dict, dict),
        Builtin("float", _plain(float), float),
        Builtin("frozenset", _frozenset, frozenset),
        Builtin("int", _plain(int), int),
        Builtin("list", _whole(list), list),
        Builtin("range", _plain(range), range),
        Builtin("set", _set, set),
        Builtin("str", _str, str),
        Builtin("tuple", _whole(tuple), tuple),
        *(Builtin(kind.__name__, _exception(kind), kind) for kind in _EXCEPTIONS),
    )
}

BUILTINS: dict[str, Any] = {
    **TYPES,
    **{
        name: Builtin(name, function)
        for name, function in {
            "abs": _plain(abs),
            "all": _until(False),
            "any": _until(True),
            "bin": _plain(bin),
            "callable": _callable,
            "chr": _plain(chr),
            "divmod": _plain(divmod),
            "enumerate": _enumerate,
            "filter": _filter,
            "format": _format,
            "globals": _globals,
            "hex": _plain(hex),
            "isinstance": _isinstance,
            "iter": _iter,
            "len": _plain(len),
            "locals": _locals,
            "map": _map,
            "max": _extreme(max),
            "min": _extreme(min),
            "next": _plain(next),
            "oct": _plain(oct),
            "open": _open,
            "ord": _plain(ord),
            "pow": _pow,
            "print": _print,
            "repr": _repr,
            "reversed": _plain(reversed),
            "round": _round,
            "sorted": _sorted,
            "sum": _sum,
            "type": _type,
            "zip": _stepwise(zip),
        }.items()
    },
    "__name__": "builtins",
}

CLASS_METHODS: dict[tuple[str, str], Function] = {("dict", "fromkeys"): from_keys}
"""Methods of the types themselves: ``dict.fromkeys(…)``."""

PYTHON_BUILTINS = frozenset(dir(builtins))
"""Names that Python knows everywhere; those not in :data:`BUILTINS` are refused by name."""

_MATH_FUNCTIONS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "degrees"),
    *("exp", "expm1", "fabs", "floor", "fmod", "hypot", "isclose", "isfinite", "isinf", "isnan", "log", "log10"),
    *("log1p", "log2", "modf", "pow", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)

_PATH = ModuleValue(
    "os.path",
    {
        **{
            name: Builtin(f"os.path.{name}", _path_function(getattr(os.path, name)))
            for name in ("abspath", "basename", "dirname", "isabs", "join", "normpath", "split", "splitext")
        },
        **{
            name: Builtin(f"os.path.{name}", _file_question(getattr(os.path, name)))
            for name in ("exists", "isdir", "isfile")
        },
        "sep": os.sep,
    },
)


METHODS[Environment] = {"get": lambda machine, frame, owner, arguments, named: owner.get(*arguments, **named)}


def modules_for(module: ConfigModule) -> dict[str, ModuleValue]:
    """Return the modules that a config may import, by name."""
    return {
        **_SHARED_MODULES,
        "os": ModuleValue(
            "os",
            {
                "path": _PATH,
                "environ": Environment(module),
                "getenv": Builtin("os.getenv", _getenv),
                "sep": os.sep,
                "linesep": os.linesep,
            },
        ),
    }


_SHARED_MODULES = {
    each.name: each
    for each in (
        _PATH,
        ModuleValue(
            "math",
            {
                **{name: Builtin(f"math.{name}", _plain(getattr(math, name))) for name in _MATH_FUNCTIONS},
                **{name: getattr(math, name) for name in ("e", "inf", "nan", "pi", "tau")},
            },
        ),
        ModuleValue(
            "copy", {"copy": Builtin("copy.copy", _shallow_copy), "deepcopy": Builtin("copy.deepcopy", _deep_copy)}
        ),
        ModuleValue(
            "itertools",
            {
                "chain": Builtin("itertools.chain", _stepwise(itertools.chain)),
                "product": Builtin("itertools.product", _product),
            },
        ),
    )
}
