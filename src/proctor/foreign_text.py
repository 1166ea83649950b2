"""Texts and files that strangers wrote, read within bounds: nothing hangs, fills the memory or ends the process.

JSON and Python literals give what :mod:`json` and :func:`ast.literal_eval` give, or the errors of these; what those do
with values that are nested too deep or with endless numbers (``RecursionError``, ``MemoryError``) is an error of the
same kind.
"""

from __future__ import annotations

import ast
import json
import os
import re
import stat
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

DEEPEST = 200
"""Levels of lists and objects inside each other; whatever walks through them later needs several frames for each."""

MOST_WORDS = 100_000
"""Words and signs of a literal: parsing takes a microsecond and a kilobyte for each."""

LARGEST_SOURCE = 16 << 20
"""Bytes of a file that a person wrote: a task, a config, an artifact; the largest that is known has 1.2 MB."""

_WORD = re.compile(r"\w+|[^\w\s]")


class TooDeepError(json.JSONDecodeError):
    """JSON that is nested deeper than anything that people write."""


def parse_json(
    text: str | bytes | bytearray,
    *,
    strict: bool = True,
    parse_constant: Callable[[str], Any] | None = None,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Return the value of a JSON text, as :func:`json.loads` does.

    Raises:
        json.JSONDecodeError: It does not parse, is nested too deep, or has a number that Python does not read.
        UnicodeDecodeError: Bytes that are not text.
    """
    try:
        if strict and parse_constant is None and object_pairs_hook is None:
            value = json.loads(text)  # with arguments, a decoder would be made for each text
        else:
            value = json.loads(text, strict=strict, parse_constant=parse_constant, object_pairs_hook=object_pairs_hook)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except RecursionError:
        raise _too_deep(text) from None
    except ValueError as error:  # a whole number with more digits than Python turns into one
        raise json.JSONDecodeError(str(error).partition(";")[0], _shown(text), 0) from None
    check_depth(text, value)
    return value


def check_depth(text: str | bytes | bytearray, value: object) -> None:
    """Look at what was read of a JSON text.

    Raises:
        json.JSONDecodeError: It is nested more than :data:`DEEPEST` deep.
    """
    opening: tuple[Any, Any] = ("[", "{") if isinstance(text, str) else (b"[", b"{")
    if sum(map(text.count, opening)) > DEEPEST and is_deep(value):
        raise _too_deep(text)


def _too_deep(text: str | bytes | bytearray) -> TooDeepError:
    return TooDeepError(f"values are nested more than {DEEPEST} deep", _shown(text), 0)


def _shown(text: str | bytes | bytearray) -> str:
    return text if isinstance(text, str) else text[:100].decode("utf-8", "replace")


def is_deep(value: object) -> bool:
    """Return whether lists and dictionaries are nested more than :data:`DEEPEST` deep."""
    level = [value]
    for _ in range(DEEPEST + 1):
        below: list[Any] = []
        for each in level:
            if isinstance(each, (list, tuple, dict)):
                below.extend(each.values() if isinstance(each, dict) else each)
        level = [each for each in below if isinstance(each, (list, tuple, dict))]
        if not level:
            return False
    return True


def parse_literal(text: str) -> Any:
    """Return the value of a Python literal, as :func:`ast.literal_eval` does.

    Raises:
        SyntaxError: It does not parse.
        ValueError: It is not a literal, or has more than :data:`MOST_WORDS` words and signs.
    """
    check_words(text)
    try:
        if "\\" not in text:
            return ast.literal_eval(text)
        with warnings.catch_warnings():  # of escapes that mean nothing, in texts that nobody here wrote
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (RecursionError, MemoryError):
        raise ValueError("a literal is nested too deeply") from None
    except TypeError as error:  # a list as a key, an item of a set
        raise ValueError(f"a literal cannot be made: {error}") from None


def parse_printed(text: str) -> Any:
    r"""Return the value of a Python literal that may have arrays in it, as numpy prints and pandas writes them.

    >>> parse_printed("['a' 'b']"), parse_printed("{'text': array(['a', 'b'], dtype=object)}")
    (['a', 'b'], {'text': ['a', 'b']})
    """
    return parse_literal(_PRINTED.sub(lambda found: f"{found[1]}," if found[2] else found[1] or "", text))


_PRINTED = re.compile(
    r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(\s+(?=['"]))?|\barray(?=\()|,\s*dtype=[\w<'>.]+(?=\))"""
)


def check_words(text: str) -> None:
    """Look at Python of strangers before it is parsed.

    Raises:
        ValueError: It has more than :data:`MOST_WORDS` words and signs.
    """
    if len(text) > MOST_WORDS and next(islice(_WORD.finditer(text), MOST_WORDS, None), None) is not None:
        raise ValueError(f"it has more than {MOST_WORDS:,} words and signs")


class NotAFileError(OSError):
    """A pipe, a device or a folder where a file is expected."""


class TooLargeError(NotAFileError):
    """A file that is larger than anybody would write one of its kind."""


def read_source(path: str | os.PathLike[str], most: int = LARGEST_SOURCE) -> bytes:
    """Read a file that a person wrote.

    Raises:
        NotAFileError: It is a device, a pipe or a folder; as :class:`TooLargeError`, it has more than ``most`` bytes.
        OSError: It cannot be read.
    """
    content = read_head(path, most + 1)
    if len(content) > most:
        raise TooLargeError(f"it has more than {most:,} bytes")
    for check in checks:
        check(path, content)
    return content


checks: list[Callable[[str | os.PathLike[str], bytes], None]] = []
"""Whoever wants to look at files of persons when they are read: they raise an error of ours."""


def read_head(path: str | os.PathLike[str], count: int) -> bytes:
    """Return the first bytes of a file.

    Raises:
        NotAFileError: It is a device, a pipe or a folder.
        OSError: It cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with open(handle, "rb") as file:  # noqa: PTH123 - a handle, not a path
        check_regular(path, os.fstat(handle).st_mode)
        return file.read(count)


def read_source_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file that a person wrote, lines ending as in Python.

    Raises:
        OSError: As :func:`read_source`.
        UnicodeDecodeError: It is not UTF-8.
    """
    return read_source(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def check_regular(path: str | os.PathLike[str], mode: int | None = None) -> None:
    """Refuse to open what is not a file: reading a pipe waits for ever, a device has no end.

    Raises:
        NotAFileError: It is a device, a pipe, a socket or a folder.
        OSError: It is not there.
    """
    kind = Path(path).stat().st_mode if mode is None else mode
    if not stat.S_ISREG(kind):
        names = (
            (stat.S_ISDIR, "a folder"),
            (stat.S_ISFIFO, "a pipe"),
            (stat.S_ISCHR, "a device"),
            (stat.S_ISBLK, "a device"),
            (stat.S_ISSOCK, "a socket"),
        )
        what = next((name for test, name in names if test(kind)), "not a file")
        raise NotAFileError(f"it is {what}, not a file")
