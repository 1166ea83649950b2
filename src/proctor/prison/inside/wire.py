"""Python values as text that a stranger may have written: plain data, and nothing that runs when it is read.

JSON, in which numbers, texts and lists are themselves and everything else is an object with one key, its tag:
``{"t": [1, 2]}`` is a tuple. What has no tag (functions, objects of a program's own) is handed to the caller, which
keeps it and sends a number in its place. Nothing is pickled, and no method of a value's own class is called to read it.
"""

from __future__ import annotations

import base64
import collections
import json
import math
import sys
from collections.abc import Callable
from typing import Any

DEEPEST = 200
"""Nesting of a value; Python's own recursion ends near a thousand calls, and each level takes two or three."""
_DEEPEST_READ = 100
"""Nesting of a value that is read: half of the other, so that what was read can be put into something and sent on."""
_PLAIN_BITS = 63  # longer whole numbers are written in base 16: Python limits how many decimal digits it reads
_BASES: tuple[Any, ...] = (int, float, str, bytes, tuple, list, dict, set, frozenset)
_TYPES: dict[str, type] = {
    each.__name__: each for each in (int, float, str, bool, bytes, list, tuple, dict, set, frozenset, complex)
}
_TYPES["NoneType"] = type(None)


class CannotCrossError(Exception):
    """A value has no form on the wire."""


class Writer:
    """Writes values.

    Args:
        other: Returns the form of what is not plain data, as a tag and a text or number; raises
            :class:`CannotCrossError` where it has none.
    """

    def __init__(self, other: Callable[[Any], tuple[str, Any]]) -> None:
        self._other = other

    def form(self, value: Any, depth: int = 0) -> Any:
        """Return a value as what JSON can hold.

        Raises:
            CannotCrossError: It is nested too deeply, contains itself, or has no form.
        """
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if value.bit_length() <= _PLAIN_BITS else {"i": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"f": repr(value)}
        if depth >= DEEPEST:
            raise CannotCrossError("a value is nested too deeply, or contains itself")
        if kind is list:
            return [self.form(each, depth + 1) for each in value]
        write = _WRITERS.get(kind) or _WRITERS_BY_NAME.get((kind.__module__, kind.__qualname__))
        if write is not None:
            return write(self, value, depth + 1)
        return self._special(value, kind, depth + 1)

    def _special(self, value: Any, kind: type, depth: int) -> Any:
        if isinstance(value, type) and _TYPES.get(value.__name__) is value:
            return {"T": value.__name__}
        if kind.__module__ == "numpy" and (found := _numpy_form(value)) is not None:
            return found
        if issubclass(kind, BaseException):  # more than its base's data: an exception, an object that is also a list
            return self._handed(value)
        for base in _BASES:
            if issubclass(kind, base):
                return {"S": [kind.__name__, self.form(_as_base(value, base), depth)]}
        return self._handed(value)

    def _handed(self, value: Any) -> Any:
        tag, form = self._other(value)
        return {tag: form}

    def items(self, values: Any, depth: int) -> list[Any]:
        """Return forms of values."""
        return [self.form(each, depth) for each in values]

    def pairs(self, value: Any, depth: int) -> list[Any]:
        """Return forms of keys and values."""
        return [[self.form(k, depth), self.form(v, depth)] for k, v in dict.items(value)]


def _as_base(value: Any, base: Any) -> Any:
    """Return the data of a value of a derived class, read by the base's own methods."""
    if base in (set, frozenset):
        return base(base.__iter__(value))
    if base is dict:
        return dict(dict.items(value))
    if base is str:
        return "".join(str.__iter__(value))
    if base in (int, float):
        return float.__float__(value) if base is float else int.__int__(value)
    return base.__getitem__(value, slice(None))  # lists, tuples, bytes


def _numpy_form(value: Any) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
        return None
    array = numpy.asarray(value)
    if array.dtype.kind not in "biufcSUmM":
        return None
    data = base64.b64encode(array.tobytes()).decode("ascii")
    return {"n": [array.dtype.str, None if isinstance(value, numpy.generic) else list(array.shape), data]}


def _base64(writer: Writer, value: Any, depth: int) -> Any:
    del writer, depth
    return {"a" if type(value) is bytearray else "b": base64.b64encode(value).decode("ascii")}


_WRITERS: dict[type, Callable[[Writer, Any, int], Any]] = {
    tuple: lambda writer, value, depth: {"t": writer.items(value, depth)},
    dict: lambda writer, value, depth: {"d": writer.pairs(value, depth)},
    set: lambda writer, value, depth: {"s": writer.items(value, depth)},
    frozenset: lambda writer, value, depth: {"z": writer.items(value, depth)},
    bytes: _base64,
    bytearray: _base64,
    complex: lambda writer, value, depth: {"c": [writer.form(value.real, depth), writer.form(value.imag, depth)]},
    range: lambda writer, value, depth: {"r": writer.items((value.start, value.stop, value.step), depth)},
    slice: lambda writer, value, depth: {"l": writer.items((value.start, value.stop, value.step), depth)},
    collections.deque: lambda writer, value, depth: {"q": [writer.items(value, depth), value.maxlen]},
    collections.Counter: lambda writer, value, depth: {"C": writer.pairs(value, depth)},
    collections.OrderedDict: lambda writer, value, depth: {"O": writer.pairs(value, depth)},
    collections.defaultdict: lambda writer, value, depth: {"D": writer.pairs(value, depth)},
    type(...): lambda writer, value, depth: {"T": "..."},
}


_WRITERS_BY_NAME: dict[tuple[str, str], Callable[[Writer, Any, int], Any]] = {
    ("decimal", "Decimal"): lambda writer, value, depth: {"e": str(value)},
    ("fractions", "Fraction"): lambda writer, value, depth: {
        "g": writer.items((value.numerator, value.denominator), depth)
    },
    ("datetime", "datetime"): lambda writer, value, depth: _moment("datetime", value),
    ("datetime", "date"): lambda writer, value, depth: _moment("date", value),
    ("datetime", "time"): lambda writer, value, depth: _moment("time", value),
    ("datetime", "timedelta"): lambda writer, value, depth: {"y": [value.days, value.seconds, value.microseconds]},
}
"""Types of libraries that are not imported for their sake: each program would wait for them."""


def _moment(kind: str, value: Any) -> Any:
    zone = getattr(value, "tzinfo", None)
    if zone is not None and type(zone) is not sys.modules["datetime"].timezone:
        raise CannotCrossError(f"a {kind} in a time zone of {type(zone).__name__}")
    return {"x": [kind, value.isoformat()]}


class Reader:
    """Reads values that :class:`Writer` wrote, or that somebody made up.

    Args:
        other: Returns what a tag that is not one of plain data stands for; raises ``ValueError`` for others.
    """

    def __init__(self, other: Callable[[str, Any], Any]) -> None:
        self._other = other
        self._depth = 0

    def value(self, form: Any) -> Any:
        """Return the value.

        Raises:
            ValueError: It is not a form of one.
        """
        self._depth = 0
        try:
            return self.read(form)
        except (ArithmeticError, LookupError, TypeError, AttributeError, RecursionError, MemoryError) as error:
            raise ValueError(f"not a value: {type(error).__name__}") from None

    def read(self, form: Any) -> Any:
        """Return the value of a part."""
        if not isinstance(form, (list, dict)):
            return form
        self._depth += 1
        if self._depth > _DEEPEST_READ:
            raise ValueError("a value is nested too deeply")
        found = self.all(form) if isinstance(form, list) else self._tagged(form)
        self._depth -= 1
        return found

    def _tagged(self, form: dict[str, Any]) -> Any:
        ((tag, body),) = form.items()
        read = _READERS.get(tag)
        return read(self, body) if read is not None else self._other(tag, body)

    def pairs(self, body: Any) -> dict[Any, Any]:
        """Return a dictionary of forms of its keys and values."""
        return {self.read(key): self.read(value) for key, value in body}

    def all(self, body: Any) -> list[Any]:
        """Return the values of forms."""
        return [self.read(each) for each in body]


def _numpy_value(body: Any) -> Any:
    import numpy as np

    kind, shape, data = body
    dtype = np.dtype(kind)
    if dtype.hasobject or dtype.kind not in "biufcSUmM":
        raise ValueError("not an array of plain data")
    array = np.frombuffer(bytearray(base64.b64decode(data)), dtype=dtype)
    return array[0] if shape is None else array.reshape([int(each) for each in shape])


def _derived(body: Any, reader: Reader) -> Any:
    """Return data of a class that the program derived from a plain one: as of such a class, without its methods."""
    name, base = str(body[0]), reader.read(body[1])
    kind = type(base)
    if kind not in _BASES:
        raise ValueError("no class is derived from this")
    return type(name, (kind,), {})(base)


def _moment_of(body: Any) -> Any:
    import datetime as dt

    kinds: dict[str, Any] = {"datetime": dt.datetime, "date": dt.date, "time": dt.time}
    return kinds[body[0]].fromisoformat(body[1])


def _length_of_time(body: Any) -> Any:
    from datetime import timedelta

    return timedelta(*map(int, body))


def _decimal(body: Any) -> Any:
    from decimal import Decimal

    return Decimal(str(body))


def _fraction(body: Any) -> Any:
    from fractions import Fraction

    return Fraction(*body)


_READERS: dict[str, Callable[[Reader, Any], Any]] = {
    "i": lambda reader, body: int(body, 16),
    "f": lambda reader, body: float(body),
    "t": lambda reader, body: tuple(reader.all(body)),
    "d": lambda reader, body: reader.pairs(body),
    "s": lambda reader, body: set(reader.all(body)),
    "z": lambda reader, body: frozenset(reader.all(body)),
    "b": lambda reader, body: base64.b64decode(body),
    "a": lambda reader, body: bytearray(base64.b64decode(body)),
    "c": lambda reader, body: complex(*reader.all(body)),
    "r": lambda reader, body: range(*reader.all(body)),
    "l": lambda reader, body: slice(*reader.all(body)),
    "q": lambda reader, body: collections.deque(reader.all(body[0]), body[1]),
    "C": lambda reader, body: collections.Counter(reader.pairs(body)),
    "O": lambda reader, body: collections.OrderedDict(reader.pairs(body)),
    "D": lambda reader, body: collections.defaultdict(None, reader.pairs(body)),
    "e": lambda reader, body: _decimal(body),
    "g": lambda reader, body: _fraction(reader.all(body)),
    "x": lambda reader, body: _moment_of(body),
    "y": lambda reader, body: _length_of_time(body),
    "T": lambda reader, body: ... if body == "..." else _TYPES[body],
    "n": lambda reader, body: _numpy_value(body),
    "S": lambda reader, body: _derived(body, reader),
}


def packed(message: Any) -> bytes:
    """Return a message of forms as bytes."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def unpacked(message: bytes) -> Any:
    """Decode bytes of the other side.

    Raises:
        ValueError: They say nothing.
    """
    try:
        return json.loads(message)
    except RecursionError:
        raise ValueError("a message is nested too deeply") from None
