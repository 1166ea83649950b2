"""The place of a response log: a file, or the address of a PostgreSQL database.

An address that people type may hold a password. What is shown, filed and told to other processes does not, and still
opens the log, by the user's own means (``PGPASSWORD``, ``~/.pgpass``).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from proctor.errors import UsageError
from proctor.secrets import is_secret, keep, keep_login

_HOW = "postgresql://HOST:5432/DATABASE?user=NAME is how one is written"


class LogAddress(str):
    """The address of a PostgreSQL database, as it is shown: without the password.

    Attributes:
        typed: The address with everything that it was given with.
        target: The host and port that are connected to.
    """

    __slots__ = ("target", "typed")
    typed: str
    target: str

    def __new__(cls, typed: str) -> Self:
        """Return the address; its secrets are kept out of whatever is written from now on.

        Raises:
            UsageError: It cannot be read, or names no database.
        """
        try:
            parts = urlsplit(typed)
            host, port = parts.hostname or "", parts.port
        except ValueError:  # it is not quoted: it may hold a password
            raise UsageError("--log: the address of the database cannot be read", hint=_HOW) from None
        user, more = unquote(parts.username or ""), dict(parse_qsl(parts.query))
        keep_login(user, unquote(parts.password or ""))
        hidden = {name for name in more if is_secret(name) or name == "sslpassword"}
        for name in hidden:
            keep(more[name])
        public = {"user": user} if user else {}  # in front of the host, messages lose it
        public |= {name: value for name, value in more.items() if name not in hidden}
        shown = f"[{host}]" if ":" in host else host
        shown = f"postgresql://{shown}{f':{port}' if port else ''}{parts.path}"
        found = super().__new__(cls, f"{shown}?{urlencode(public, quote_via=quote, safe='/')}" if public else shown)
        host = more.get("host") or host or os.environ.get("PGHOST") or "localhost"
        found.typed, found.target = typed, f"{host}:{more.get('port') or port or os.environ.get('PGPORT') or 5432}"
        if not (parts.path.strip("/") or "dbname" in more):
            raise UsageError(f"--log: {found} names no database", hint=_HOW)
        return found


def placed(given: str | os.PathLike[str]) -> Path | LogAddress:
    """Return the place of a log that is named: an address where it is one, else a file.

    Raises:
        UsageError: It is an address that cannot be read.
    """
    if isinstance(given, LogAddress):
        return given
    if (text := os.fspath(given)).startswith(("postgresql://", "postgres://")):
        return LogAddress(text)
    if text.startswith(("postgresql:/", "postgres:/")):
        raise UsageError("the address of a database is a text, not a path", hint=_HOW)
    return Path(given)
