"""What expressions may call and compute with; each bounded in the size of what it makes."""

from __future__ import annotations

import ast
import itertools
import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]  # the only way to look inside a pattern
from typing import Any

from proctor.errors import DataError, TrustError

MAX_SIZE = 4_000_000
"""Largest string, list or range that an operation may make."""

MAX_BITS = 100_000
"""Largest whole number that a power or shift may make, in bits."""

_MANY = 100  # repetitions; more of them inside each other multiply


def _sized(size: int) -> None:
    if size > MAX_SIZE:
        raise DataError("an expression makes too large a value", why=f"more than {MAX_SIZE} items")


def _range(*arguments: int) -> range:
    numbers = range(*arguments)
    _sized(len(numbers))
    return numbers


def _product(*pools: Iterable[Any], repeat: int = 1) -> Iterator[tuple[Any, ...]]:
    held = [list(pool) for pool in pools] * repeat
    _sized(math.prod(len(pool) for pool in held))
    return itertools.product(*held)


def _bounded_combinations(function: Callable[..., Any], count: Callable[[int, int], int]) -> Callable[..., Any]:
    def bounded(pool: Iterable[Any], r: int) -> Any:
        held = list(pool)
        _sized(count(len(held), r))
        return function(held, r)

    return bounded


@lru_cache(maxsize=1024)
def safe_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a compiled regular expression.

    Raises:
        DataError: It is not valid, or its repetitions nest, which can take exponential time.
    """
    try:
        tree = _parser.parse(pattern, flags)
        compiled = re.compile(pattern, flags)
    except re.error as error:
        raise DataError(f"'{pattern}' is not a regular expression", why=str(error)) from None
    if _nests(tree, inside=False):
        raise DataError(f"the regular expression '{pattern}' is refused", why="a repetition inside a repetition")
    return compiled


_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)


def _nests(tree: Any, inside: bool) -> bool:
    for code, argument in tree:
        if code in _REPEATS:
            _, high, body = argument
            grows = high is _constants.MAXREPEAT or high > _MANY
            if (grows and inside) or _nests(body, inside or grows):
                return True
        elif any(_nests(part, inside) for part in _subpatterns(argument)):
            return True
    return False


def _subpatterns(argument: Any) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, (list, tuple)):
        for part in argument:
            yield from _subpatterns(part)


def _regex(method: str) -> Callable[..., Any]:
    def call(pattern: str, *arguments: Any, flags: int = 0) -> Any:
        count = 2 if method == "sub" else 1
        if len(arguments) > count:
            flags = arguments[-1]
            arguments = arguments[:count]
        if any(callable(argument) for argument in arguments):
            raise DataError("a function cannot be called from a regular expression")
        return getattr(safe_pattern(pattern, int(flags)), method)(*arguments)

    return call


MODULES: Mapping[str, Mapping[str, Any]] = {
    "re": {
        **{name: _regex(name) for name in ("search", "match", "fullmatch", "findall", "split", "sub")},
        **{name: int(getattr(re, name)) for name in ("DOTALL", "IGNORECASE", "MULTILINE", "S", "I", "M")},
        "escape": re.escape,
    },
    "json": {"loads": json.loads, "dumps": json.dumps},
    "math": {
        name: getattr(math, name)
        for name in (
            "ceil",
            "floor",
            "sqrt",
            "log",
            "log2",
            "log10",
            "exp",
            "isnan",
            "isinf",
            "fabs",
            "trunc",
            "pi",
            "e",
            "inf",
            "nan",
        )
    },
    "itertools": {
        "product": _product,
        "chain": itertools.chain,
        "zip_longest": itertools.zip_longest,
        "islice": itertools.islice,
        "accumulate": itertools.accumulate,
        "groupby": itertools.groupby,
        "combinations": _bounded_combinations(itertools.combinations, math.comb),
        "permutations": _bounded_combinations(itertools.permutations, math.perm),
    },
}

BUILTINS: Mapping[str, Any] = {
    function.__name__: function
    for function in (
        abs, all, any, bool, chr, dict, divmod, enumerate, filter, float, frozenset, int, isinstance, len, list, map,
        max, min, ord, repr, reversed, round, set, sorted, str, sum, tuple, zip,
    )
} | {"range": _range, "True": True, "False": False, "None": None}  # fmt: skip

_STRING_METHODS = (
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "upper",
    "zfill",
)
READERS: Mapping[type, frozenset[str]] = {
    str: frozenset(_STRING_METHODS),
    bytes: frozenset(["decode"]),
    dict: frozenset(["get", "items", "keys", "values"]),
    list: frozenset(["count", "index"]),
    tuple: frozenset(["count", "index"]),
    set: frozenset(["difference", "intersection", "isdisjoint", "issubset", "issuperset", "union"]),
    int: frozenset(["bit_length", "is_integer"]),
    float: frozenset(["is_integer"]),
    re.Match: frozenset(["end", "group", "groupdict", "groups", "span", "start"]),
}
_PADDING = frozenset(["center", "ljust", "rjust", "zfill", "expandtabs"])


def method(value: Any, name: str) -> Callable[..., Any]:
    """Return a method of a value that only reads it.

    Raises:
        TrustError: It is not on the list.
    """
    for kind in type(value).__mro__:
        if name in READERS.get(kind, ()):
            break
    else:
        raise TrustError(f"an expression may not use '{name}' of a {type(value).__name__}")
    found: Callable[..., Any] = getattr(value, name)
    if isinstance(value, str) and name in _PADDING:
        return _checked(found, lambda *arguments: sum(each for each in arguments if isinstance(each, int)))
    if isinstance(value, str) and name == "replace":
        return _checked(found, lambda old, new, *_: (value.count(old) + 1) * len(new) + len(value))
    return found


def _checked(method: Callable[..., Any], size: Callable[..., int]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        _sized(size(*arguments))
        return method(*arguments)

    return call


def _multiply(left: Any, right: Any) -> Any:
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, (str, bytes, list, tuple)) and isinstance(times, int):
            _sized(len(sequence) * max(times, 0))
    if isinstance(left, int) and isinstance(right, int):
        _limited_bits(left.bit_length() + right.bit_length())
    return left * right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and right > 0:
        _limited_bits(left.bit_length() * right)
    return left**right


def _shift(left: Any, right: Any) -> Any:
    _limited_bits(int(left).bit_length() + int(right))
    return left << right


def _limited_bits(bits: int) -> None:
    if bits > MAX_BITS:
        raise DataError("an expression makes too large a number", why=f"more than {MAX_BITS} bits")


WIDE = re.compile(r"\d{5,}|\*")


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, (str, bytes)) and WIDE.search(left if isinstance(left, str) else left.decode("latin-1")):
        raise DataError("an expression makes too large a value", why="a format with a width of five digits")
    return left % right


BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: _multiply, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: _modulo, ast.Pow: _power, ast.LShift: _shift, ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
UNARY: Mapping[type, Callable[[Any], Any]] = {
    ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
COMPARE: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, group: item in group, ast.NotIn: lambda item, group: item not in group,
}  # fmt: skip
