"""What may talk to the app, and what its pages may do.

The app listens on loopback and serves what is on the user's disk, so a page of somebody else must not reach it
through the user's browser: a request whose ``Host`` is not one of ours (DNS rebinding) is refused, and so is one that
another site starts. Pages load nothing but our own files and run no inline script.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_OWN_SITES = frozenset({b"same-origin", b"none"})


class Guard:
    """Refuses foreign hosts and sites, and adds the security headers.

    Args:
        app: The app behind.
        hosts: Names under which the app may be addressed, without ports; ``*`` allows all.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = LOOPBACK) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if (reason := self._refusal(scope)) is not None:
            await _refuse(send, reason)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> str | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if "*" not in self._hosts and name not in self._hosts:
            return f"this app does not answer to the host '{name}'"
        if scope["method"] not in {"GET", "HEAD"}:
            return "this app only reads"
        site = headers.get(b"sec-fetch-site", b"none")
        if site not in _OWN_SITES and headers.get(b"sec-fetch-mode") != b"navigate":
            return "another site may not read from this app"
        return None


async def _refuse(send: Send, reason: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": f"{reason}\n".encode("ascii", "backslashreplace")})
