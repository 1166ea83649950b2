"""Posts of small bodies on the connections of aiohttp, without an object for each request and each reply.

A session of aiohttp makes a request, a writer's task and a response for each post: half of what a post costs
(``benchmarks/http_rate.py``). The first post to an address goes through the session. Later ones with the same headers
write the same bytes on a connection of the same pool and read the reply with aiohttp's parser; what the session does
beside that (proxies, redirects, cookies, large bodies, passwords in addresses) is left to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Self

from proctor.lazy import Deferred

if TYPE_CHECKING:
    import aiohttp
    from aiohttp import ClientRequest, ClientTimeout, StreamReader, TCPConnector, http
    from aiohttp.connector import Connection
    from yarl import URL
else:
    aiohttp, http = Deferred("aiohttp"), Deferred("aiohttp.http")

_KNOWN_VERSIONS = ((3, 14), (3, 14))
"""Versions of aiohttp whose connections are used here as they are in these; others are asked through the session."""
_OF_SESSIONS = ("Host", "Accept-Encoding", "User-Agent")
_NOT_SIMPLE = frozenset({"content-length", "transfer-encoding", "connection", "expect"})
_MOST_HEADS = 64


class ShortPosts:
    """Makes posts to addresses that a session has posted to before.

    Args:
        pool: Gives out connections.
        posts: The first post of the session to each address, which says how to connect.
    """

    def __init__(self, pool: TCPConnector, posts: Mapping[URL, ClientRequest]) -> None:
        self._pool = pool
        self._posts = posts
        self._heads: dict[tuple[URL, int], tuple[Mapping[str, str], bytes | None]] = {}
        first, last = _KNOWN_VERSIONS
        self._is_known_version = first <= tuple(map(int, aiohttp.__version__.split(".")[:2])) <= last

    def post(self, target: URL, body: bytes, headers: Mapping[str, str], timeout: ClientTimeout) -> ShortPost | None:
        """Return a post to an address; ``None`` where the session has to make it."""
        if not self._is_known_version or (request := self._posts.get(target)) is None:
            return None
        known = self._heads.get((target, id(headers)))
        if known is None or known[0] is not headers:
            if len(self._heads) >= _MOST_HEADS:
                self._heads.clear()
            known = self._heads[target, id(headers)] = headers, _head(target, request.headers, headers)
        head = known[1]
        if head is None:
            return None
        return ShortPost(self._pool, request, b"%b%d\r\n\r\n%b" % (head, len(body), body), timeout)


class ShortPost:
    """One post and its reply, which is read as a ``ClientResponse`` is. An async context manager.

    Attributes:
        status, headers: Of the reply.
        content: Its body, as it comes.
    """

    __slots__ = ("_bytes", "_connection", "_pool", "_request", "_timeout", "content", "headers", "status")

    status: int
    headers: Mapping[str, str]
    content: StreamReader

    def __init__(self, pool: TCPConnector, request: ClientRequest, content: bytes, timeout: ClientTimeout) -> None:
        self._pool = pool
        self._request = request
        self._bytes = content
        self._timeout = timeout

    @property
    def content_length(self) -> int | None:
        """Bytes of the body, where the server says how many."""
        said = self.headers.get("Content-Length")
        return None if said is None else int(said)

    async def read(self) -> bytes:
        """Return the whole body."""
        return await self.content.read()

    async def __aenter__(self) -> Self:
        try:
            self._connection = await self._pool.connect(self._request, [], self._timeout)
        except TimeoutError:
            raise aiohttp.ConnectionTimeoutError(f"Connection timeout to host {self._request.url}") from None
        try:
            await self._exchange(self._connection)
        except http.HttpProcessingError as error:
            self._connection.close()
            raise aiohttp.ClientResponseError(
                self._request.request_info, (), status=error.code, message=error.message, headers=error.headers
            ) from None
        except BaseException:
            self._connection.close()
            raise
        return self

    async def _exchange(self, connection: Connection) -> None:
        """Send the request, and read the reply up to its body."""
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None or transport.is_closing():
            raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")
        protocol.set_response_params(read_until_eof=True, auto_decompress=False)
        transport.write(self._bytes)
        message, self.content = await protocol.read()
        while message.code < HTTPStatus.OK and message.code != HTTPStatus.SWITCHING_PROTOCOLS:  # it is not yet done
            message, self.content = await protocol.read()
        self.status, self.headers = message.code, message.headers

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.release()  # which closes it where something of the reply was not read


def _head(target: URL, of_session: Mapping[str, str], headers: Mapping[str, str]) -> bytes | None:
    """Return the start of a request up to the length of its body; ``None`` where it cannot be written so simply."""
    sent = {name.lower(): (name, of_session[name]) for name in _OF_SESSIONS if name in of_session}
    sent |= {"accept": ("Accept", "*/*")} | {name.lower(): (name, value) for name, value in headers.items()}
    lines = [f"POST {target.raw_path_qs} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.values())]
    is_simple = target.user is None and target.password is None and _NOT_SIMPLE.isdisjoint(sent)
    if not is_simple or any(character in line for line in lines for character in "\r\n\0"):
        return None
    return "\r\n".join([*lines, "Content-Length: "]).encode()
