"""Files whose text is not UTF-8: what their encoding seems to be, and how to change it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from proctor.errors import DataError, Location

_LOOKED_AT = 1 << 20  # bytes from which the encoding is guessed
_HIGH = re.compile(rb"[\x80-\xff]+")


def not_utf8(path: str, error: UnicodeDecodeError, line: int = 0) -> DataError:
    """Return the error that names the encoding that a file seems to have, and the command that changes it.

    Args:
        path: The file.
        error: What Python says of the bytes.
        line: Where, where that is known.
    """
    found = _guess(bytes(error.object)[:_LOOKED_AT])
    place = Path(path)
    to = shlex.quote(str(place.with_name(f"{place.stem}-utf8{place.suffix}")))
    hint = f"iconv -f {found.upper()} -t UTF-8 {shlex.quote(path)} > {to}" if found else "save it as UTF-8"
    seems = f"; it seems to be {found.upper()}{' (GBK)' if found == 'gb18030' else ''}" if found else ""
    why = f"{error.reason} at byte {error.start}{seems}"
    return DataError("the file is not UTF-8 text", location=Location(path, line), why=why, hint=hint)


def _guess(head: bytes) -> str:
    """Return the encoding that bytes seem to be of, ``""`` where nothing tells.

    Letters with accents stand alone among others; Chinese is bytes beyond ASCII side by side.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    runs = [len(run) for run in _HIGH.findall(head)]
    alone = sum(length == 1 for length in runs)
    found = "cp1252" if 2 * alone > len(runs) else "gb18030"
    return found if _reads(head, found) else ""


def _reads(head: bytes, encoding: str) -> bool:
    try:
        head.decode(encoding)
    except UnicodeDecodeError as error:
        return len(head) == _LOOKED_AT and error.start >= len(head) - 4  # a character that the end of the part cuts
    return True
