"""Where a response log is: a file, or the address of a PostgreSQL database.

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
from proctor.settings import settings

_SCHEMES = ("postgresql://", "postgres://")
_PORT = 5432
_HOW = "postgresql://USER@HOST:5432/DATABASE is how one is written"


class LogAddress(str):
    """The address of a PostgreSQL database, as it is shown: without the password.

    Attributes:
        typed: The address with everything that it was given with.
    """

    __slots__ = ("typed",)
    typed: str

    def __new__(cls, typed: str) -> Self:
        """Return the address; its secrets are kept out of whatever is written from now on.

        Raises:
            UsageError: It cannot be read, or names no database.
        """
        try:
            parts = urlsplit(typed)
            host, user, password = parts.hostname or "", unquote(parts.username or ""), unquote(parts.password or "")
            port = f":{parts.port}" if parts.port else ""
        except ValueError:  # it is not quoted: it may hold a password
            raise UsageError("--log: the address of the database cannot be read", hint=_HOW) from None
        keep_login(user, password)
        more = parse_qsl(parts.query)
        for name, value in more:
            if is_secret(name) or name == "sslpassword":
                keep(value)
        public = [(name, value) for name, value in more if not (is_secret(name) or name == "sslpassword")]
        if user and "user" not in dict(public):  # in front of the host, messages lose it
            public.insert(0, ("user", user))
        host = f"[{host}]" if ":" in host else host
        asked = f"?{urlencode(public, quote_via=quote, safe='/')}" if public else ""
        found = super().__new__(cls, f"postgresql://{host}{port}{parts.path}{asked}")
        found.typed = typed
        if not parts.path.strip("/") and "dbname" not in dict(more):
            raise UsageError(f"--log: {found} names no database", hint=_HOW)
        return found

    @property
    def target(self) -> str:
        """The host and port that are connected to."""
        parts = urlsplit(self.typed)
        asked = dict(parse_qsl(parts.query))
        host = asked.get("host") or parts.hostname or os.environ.get("PGHOST") or "localhost"
        return f"{host}:{asked.get('port') or parts.port or os.environ.get('PGPORT') or _PORT}"


def placed(given: str | os.PathLike[str]) -> Path | LogAddress:
    """Return the place of a log that is named: an address where it is one, else a file.

    Raises:
        UsageError: It is an address that cannot be read.
    """
    if isinstance(given, LogAddress):
        return given
    text = os.fspath(given)
    if text.startswith(_SCHEMES):
        return LogAddress(text)
    if text.partition("/")[0] in ("postgresql:", "postgres:"):
        raise UsageError("the address of a database is a text, not a path", hint=_HOW)
    return Path(given)


def named_log() -> Path | LogAddress | None:
    """Return the log that the environment or the settings name, if they do."""
    return placed(settings.log) if settings.log else None


def folders_of(place: Path | LogAddress) -> list[Path]:
    """Return the folders in which a process writes that uses a log."""
    return [] if isinstance(place, LogAddress) else [place.parent]
