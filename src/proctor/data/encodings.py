"""Files whose text is not UTF-8: what their encoding seems to be, and how to change it."""

from __future__ import annotations

import shlex

from proctor.errors import DataError, Location

_GUESSES = ("gb18030", "utf-16", "cp1252")
"""Encodings that tables are saved in most often: the first in which the text can be read is named."""


def not_utf8(path: str, error: UnicodeDecodeError, line: int = 0) -> DataError:
    """Return the error that names the encoding that a file seems to have, and the command that changes it.

    Args:
        path: The file.
        error: What Python says of the bytes.
        line: Where, where that is known.
    """
    head = bytes(error.object)[: 1 << 20]
    is_wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    found = "utf-16" if is_wide else next((name for name in _GUESSES if name != "utf-16" and _reads(head, name)), "")
    copy = f"iconv -f {(found or 'ENCODING').upper()} -t UTF-8 {shlex.quote(path)} > utf8.txt"
    seems = f"; it seems to be {found.upper()}{' (GBK)' if found == 'gb18030' else ''}" if found else ""
    why = f"{error.reason} at byte {error.start}{seems}"
    return DataError("the file is not UTF-8 text", location=Location(path, line), why=why, hint=copy)


def _reads(head: bytes, encoding: str) -> bool:
    try:
        head[: len(head) - len(head) % 4 if len(head) == 1 << 20 else None].decode(encoding)
    except UnicodeDecodeError as error:
        return error.end >= len(head) - 4  # a character that the end of the part cuts
    return True
