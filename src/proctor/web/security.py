"""Security headers: what may talk to the app, and what its pages may do.

The app serves what is on the user's disk, so neither a page of somebody else may reach it through the user's browser
nor another user of the machine directly. A request is answered only when all of this holds:

* its ``Host`` is one of ours (a name that was made to point here is not);
* it reads (``GET`` or ``HEAD``), or keeps a note on an answer or a label: as a form of a page of ours, or from a
  program with the token in a header, and never where everybody is let in;
* the browser does not say that another site, or another port of this machine, made it, or that it fills a frame:
  ``Sec-Fetch-Site``, ``Sec-Fetch-Dest``, ``Origin`` and ``Referer`` are believed where they speak against it. A link
  from elsewhere may open the start page only, and only with the token;
* it has the key of :class:`~proctor.web.access.Access`.

Pages load nothing but our own files, run no inline script, are not framed, not kept and not told to other sites.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proctor.web.access import Access, values, without_token

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
ANY_HOST = "*"
LONGEST_QUERY = 16_384
"""Bytes: an answer to try and two settings, with system prompts of some pages each."""
_OWN_SITES = frozenset({b"same-origin", b"none"})
_FRAMES = frozenset({b"iframe", b"frame", b"embed", b"object", b"fencedframe"})
_NOTE = re.compile(r"/runs/[0-9a-f]+/(samples/[0-9]+/note|label)")
_METHODS = frozenset({"GET", "HEAD"})

_STRANGER = (
    "This viewer belongs to whoever started it. Open the address that proctor view printed in the terminal: it ends in "
    "?token=... and is a new one at each start. A program sends the header 'Authorization: Bearer TOKEN'."
)
_FOREIGN = (
    "Another site asked for this page. If you followed a link, copy its address into the address bar instead; "
    "if you see this inside another page, that page should not have it."
)


class Guard:
    """Refuses foreign hosts, foreign sites and strangers, and adds the security headers.

    Args:
        app: The app behind.
        hosts: Names under which the app may be addressed, without ports; ``*`` allows all.
        access: Who is let in.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], access: Access) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, let somebody with the token in, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted: the browser gets a 403
            return
        if (reason := self._refusal(scope)) is not None:
            await _answer(send, 403, reason)
            return
        if self._access.has_token(scope["query_string"]):
            await self._let_in(scope, send)
            return
        if not self._access.has_key(scope["headers"]):
            await _answer(send, 403, _STRANGER)
            return

        await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer; what it did not expect is a short page here, and a traceback in the terminal."""
        is_started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal is_started
            if message["type"] == "http.response.start":
                is_started = True
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception:
            if not is_started:
                await _answer(send, 500, "This page could not be made; the terminal of proctor view says why.")
            raise

    def _refusal(self, scope: Scope) -> str | None:
        """Return why a request is refused whoever makes it, ``None`` where it is not."""
        headers = scope["headers"]
        hosts = [each.decode("latin-1").lower() for each in values(headers, b"host")]
        name = _name_of(hosts[0]) if len(hosts) == 1 else ""
        if not name or not self._hosts & {ANY_HOST, name}:
            return f"This app does not answer to the host '{name}'."
        if scope["method"] not in _METHODS and not self._may_change(scope):
            return "This app only reads."
        if len(scope["query_string"]) > LONGEST_QUERY:
            return "This address is too long."
        return _FOREIGN if _is_foreign(headers, hosts[0]) and not self._is_entry(scope) else None

    def _may_change(self, scope: Scope) -> bool:
        """Whether a request keeps a note or a label, and is of a page of ours or of a program that has the token."""
        headers = scope["headers"]
        is_ours = len(values(headers, b"origin")) == 1 or bool(values(headers, b"authorization"))  # whose: _is_foreign
        is_form = values(headers, b"content-type") == [b"application/x-www-form-urlencoded"]
        is_note = scope["method"] == "POST" and _NOTE.fullmatch(scope["path"]) is not None
        return is_note and is_ours and is_form and not self._access.is_open

    def _is_entry(self, scope: Scope) -> bool:
        """Whether somebody follows a link to the start page that has the token: from a terminal, a mail, a notebook."""
        headers = scope["headers"]
        return (
            scope["method"] == "GET"
            and scope["path"] == "/"
            and values(headers, b"sec-fetch-mode") == [b"navigate"]
            and values(headers, b"sec-fetch-dest") == [b"document"]
            and not values(headers, b"origin")
            and self._access.has_token(scope["query_string"])
        )

    async def _let_in(self, scope: Scope, send: Send) -> None:
        """Give the cookie, and lead on to the address without the token.

        A redirection after a link from elsewhere is still that link's, so browsers would leave the cookie out: unless
        they say that there was none, a page of ours leads on.
        """
        headers = scope["headers"]
        sites = values(headers, b"sec-fetch-site")
        is_browser = any(b"text/html" in each for each in values(headers, b"accept"))
        place = without_token(scope["path"], scope["query_string"])
        cookie = (b"set-cookie", self._access.cookie(headers))
        if _OWN_SITES.issuperset(sites) and (sites or not is_browser):
            await _answer(send, 303, "", cookie, (b"location", place.encode()))
            return
        link = escape(place)
        body = f'<meta http-equiv="refresh" content="0;url={link}"><p><a href="{link}">Open the viewer</a></p>'
        await _send(send, 200, body, cookie)


def is_loopback(name: str) -> bool:
    """Whether a host, as it stands in addresses, is this machine and cannot be another one."""
    try:
        return name in LOOPBACK or ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> str:
    """Return a host without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isascii() and port.isdecimal() else host


def _is_foreign(headers: list[tuple[bytes, bytes]], host: str) -> bool:
    """Whether the browser says that something else than the user or a page of ours makes the request."""
    if any(each not in _OWN_SITES for each in values(headers, b"sec-fetch-site")):
        return True
    if any(each in _FRAMES for each in values(headers, b"sec-fetch-dest")):
        return True
    return any(_host_of(each) != host for name in (b"origin", b"referer") for each in values(headers, name))


def _host_of(address: bytes) -> str:
    try:
        return urlsplit(address.decode("latin-1")).netloc.lower()
    except ValueError:
        return ""


async def _answer(send: Send, status: int, words: str, *headers: tuple[bytes, bytes]) -> None:
    body = f"<h1>This cannot be opened so</h1><p>{escape(words)}</p>" if words else ""
    await _send(send, status, body, *headers)


async def _send(send: Send, status: int, body: str, *headers: tuple[bytes, bytes]) -> None:
    page = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Proctor</title>{body}</html>\n'
    content = page.encode("ascii", "xmlcharrefreplace")
    start = [(b"content-type", b"text/html; charset=utf-8"), *headers, *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": content})
