"""Access control: a per-start token.

The token stands in the address that ``proctor view`` prints. The first page that is asked for with it answers with a
cookie for this browser, and leads on to the address without the token, so that it stays out of histories, bookmarks
and copied links. Programs send it in a header.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, urlencode

TOKEN = "token"  # noqa: S105 - the name of the parameter
_BYTES = 32
"""Of a token: as many as a key that nobody guesses has."""
_MOST_PARAMETERS = 100
"""Fields of a form of ours are fewer than thirty."""
_DEFAULT_PORT = "80"

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Access:
    """The token that lets requests in; without one, everybody is let in.

    Attributes:
        token: What stands in the address; ``None`` lets everybody in who reaches the app.
        session: What the cookie holds: not the token, so that neither gives the other away.
    """

    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(_BYTES), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(_BYTES), repr=False)

    @property
    def is_open(self) -> bool:
        """Whether everybody is let in."""
        return self.token is None

    def has_token(self, query: bytes) -> bool:
        """Whether the parameters of an address have the token, once."""
        given = [value for name, value in parameters(query) if name == TOKEN]
        return self.token is not None and len(given) == 1 and _same(given[0].encode(), self.token)

    def has_key(self, headers: Headers) -> bool:
        """Whether a request has the cookie of its host, or the token as ``Authorization: Bearer``."""
        if self.token is None:
            return True
        said = (each.partition(b" ") for each in values(headers, b"authorization"))
        if any(scheme.lower() == b"bearer" and _same(given.strip(), self.token) for scheme, _, given in said):
            return True
        name = cookie_name(headers).encode()
        pairs = (pair.strip().partition(b"=") for each in values(headers, b"cookie") for pair in each.split(b";"))
        return any(_same(value, self.session) for found, _, value in pairs if found == name)

    def cookie(self, headers: Headers) -> bytes:
        """Return the cookie for a browser, as a header's value."""
        return f"{cookie_name(headers)}={self.session}; Path=/; HttpOnly; SameSite=Strict".encode()


WITHOUT_TOKEN = Access(token=None)
"""Lets everybody in: for loopback, where the user said so."""


def cookie_name(headers: Headers) -> str:
    """Return the cookie's name: ports share cookies, so each viewer has one of its own."""
    port = b"".join(values(headers, b"host")).decode("latin-1").rpartition(":")[2]
    return f"proctor_view_{port if port.isascii() and port.isdecimal() else _DEFAULT_PORT}"


def without_token(path: str, query: bytes) -> str:
    """Return the address of this site for a path and parameters, without the token."""
    kept = [(name, value) for name, value in parameters(query) if name != TOKEN]
    place = "/" + quote(path.lstrip("/\\"), safe="/")  # `//host` would lead to another site
    return f"{place}?{urlencode(kept)}" if kept else place


def parameters(query: bytes) -> list[tuple[str, str]]:
    """Return the parameters of an address; none where there are too many to be ours."""
    try:
        return parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        return []


def values(headers: Headers, name: bytes) -> list[bytes]:
    """Return the values of a header, as often as it was sent."""
    return [value for found, value in headers if found.lower() == name]


def _same(given: bytes, wanted: str) -> bool:
    return hmac.compare_digest(given, wanted.encode())
