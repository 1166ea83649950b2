"""The methods of texts, each measured before Python does it."""

from __future__ import annotations

from typing import Any

from proctor.safe_python import containers
from proctor.safe_python.budget import MAX_TEXT, SCALARS, ExhaustedError, RefusalError
from proctor.safe_python.calls import ABSENT, Arguments, Method, Named, Table, taken
from proctor.safe_python.scope import Frame
from proctor.safe_python.text import format_text

_QUADRATIC = frozenset({"rfind", "rindex", "rpartition", "rsplit", "strip", "lstrip", "rstrip"})
"""Methods of texts that take as long as both texts' lengths multiplied, at worst."""


def _join(frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    if len(arguments) != 1 or named:
        raise TypeError("str.join() takes exactly one argument")
    items = containers.consume(arguments[0], frame.budget)
    length = sum(len(item) for item in items if isinstance(item, str))
    frame.budget.hold_text(length + len(owner) * len(items))
    return owner.join(items)


def _replace(frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    old, new, count = taken("replace", arguments, {}, "old new count", required=2)
    if isinstance(old, str) and isinstance(new, str):
        frame.budget.hold_text(len(owner) + owner.count(old) * len(new))
    return owner.replace(old, new, **named) if count is ABSENT else owner.replace(old, new, count, **named)


def _padded(name: str) -> Method:
    function = getattr(str, name)

    def method(frame: Frame, owner: str, arguments: Arguments, named: Named) -> Any:
        width = arguments[0] if arguments and isinstance(arguments[0], int) else 0
        frame.budget.hold_text(max(width, len(owner)))
        return function(owner, *arguments, **named)

    return method


def _expandtabs(frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    width = named.get("tabsize", arguments[0] if arguments else 8)
    if isinstance(width, int):
        if width > MAX_TEXT:
            raise ExhaustedError(f"makes a text of more than {MAX_TEXT:,} characters")
        frame.budget.hold_text(len(owner) + owner.count("\t") * max(0, width))
    return owner.expandtabs(*arguments, **named)


def _splitting(name: str) -> Method:
    function = getattr(str, name)

    def method(frame: Frame, owner: str, arguments: Arguments, named: Named) -> Any:
        separator = named.get("sep", arguments[0] if arguments else None)
        if isinstance(separator, str) and separator:
            if name in _QUADRATIC:
                frame.budget.spend(len(owner) * len(separator) >> 10)
            pieces = owner.count(separator) + 1
        else:
            pieces = len(owner) // 2 + 1 if name != "splitlines" else len(owner)
        frame.budget.hold_text(len(owner))
        frame.budget.hold(64 * pieces)
        return function(owner, *arguments, **named)

    return method


def _format(frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    return format_text(owner, arguments, named, frame.budget)


def _format_map(frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    (mapping,) = arguments
    if not isinstance(mapping, dict) or named:
        raise TypeError("format_map() takes one dictionary")
    return format_text(owner, (), mapping, frame.budget)


def _simple(name: str) -> Method:
    """A method of texts that makes at most a few times what it is given, in linear time."""
    function = getattr(str, name)
    backwards = name in _QUADRATIC

    def method(frame: Frame, owner: str, arguments: Arguments, named: Named) -> Any:
        budget = frame.budget
        budget.hold_text(len(owner))
        for argument in arguments:
            if argument.__class__ is str:
                if backwards:
                    budget.spend(len(owner) * len(argument) >> 10)
            elif argument.__class__ not in SCALARS:
                budget.measure(argument)
        return function(owner, *arguments, **named)

    return method


def _encode(frame: Frame, owner: str, arguments: Arguments, named: Named) -> bytes:
    encoding, errors = taken("encode", arguments, named, "encoding errors", required=0)
    frame.budget.hold_text(4 * len(owner))
    return owner.encode(known_encoding(encoding), "strict" if errors is ABSENT else errors)


def _decode(frame: Frame, owner: bytes, arguments: Arguments, named: Named) -> str:
    encoding, errors = taken("decode", arguments, named, "encoding errors", required=0)
    frame.budget.hold_text(4 * len(owner))
    return owner.decode(known_encoding(encoding), "strict" if errors is ABSENT else errors)


def known_encoding(name: object) -> str:
    """Return an encoding of texts that works in linear time.

    Raises:
        RefusalError: It is another one: some are quadratic, some unpack archives.
    """
    if name is ABSENT:
        return "utf-8"
    plain = str(name).lower().replace("_", "-")
    if plain not in _ENCODINGS:
        raise RefusalError(f"uses the encoding {name!r}")
    return plain


# Encodings of texts; Python has others (zlib, unicode_escape, idna) that do more than decode.
_ENCODINGS = frozenset(
    {
        *("ascii", "big5", "cp1252", "euc-jp", "euc-kr", "gb18030", "gb2312", "gbk", "iso-8859-1", "latin-1", "latin1"),
        *("shift-jis", "utf-16", "utf-32", "utf-8", "utf-8-sig", "utf8", "us-ascii", "windows-1252"),
    }
)


_SIMPLE = (
    *("capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii", "isdecimal"),
    *("isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper", "lower"),
    *("lstrip", "partition", "removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "rstrip"),
    *("startswith", "strip", "swapcase", "title", "upper"),
)

TEXT_METHODS: Table = {
    **{name: _simple(name) for name in _SIMPLE},
    **{name: _padded(name) for name in ("center", "ljust", "rjust", "zfill")},
    **{name: _splitting(name) for name in ("split", "rsplit", "splitlines")},
    "join": _join,
    "replace": _replace,
    "encode": _encode,
    "expandtabs": _expandtabs,
    "format": _format,
    "format_map": _format_map,
}
"""What texts can do; ``format`` and ``format_map`` follow keys and positions, never attributes."""

BYTES_METHODS: Table = {"decode": _decode}
