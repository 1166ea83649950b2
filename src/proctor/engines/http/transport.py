"""The one place that touches a socket: posting bytes and reading the reply, with aiohttp.

aiohttp was chosen by measurement (``benchmarks/http_clients.py``: 4,000 chat requests, 32 in flight, against a server
on the same two cores that answers at once; other work was running):

========  ==============  ==============
client    requests/s      ms CPU/request
========  ==============  ==============
aiohttp   4,800 to 6,000   0.12 to 0.14
httpx2    1,100 to 1,250   0.68 to 0.77
========  ==============  ==============

It also comes with ``datasets``, so it adds nothing to install. Small posts after the first one do without its session
(:mod:`proctor.engines.http.short_posts`).
"""

from __future__ import annotations

import asyncio
import io
import re
import zlib
from collections.abc import Awaitable, Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from proctor.engines.http.connections import careful_connector
from proctor.engines.http.short_posts import ShortPost, ShortPosts

if TYPE_CHECKING:
    from aiohttp import ClientRequest, ClientResponse, ClientSession, ClientTimeout
    from yarl import URL

    Posting = AbstractAsyncContextManager[ClientResponse] | ShortPost


class Deadlines:
    """Ends what takes too long. Belongs to the event loop in which it is made."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ends: dict[asyncio.Task[object], float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due = float("inf")

    def within(self, seconds: float) -> _Limit:
        """Return a context manager for the current task, one at a time.

        Raises:
            TimeoutError: On leaving it, where its block was ended because ``seconds`` had passed.
        """
        return _Limit(self, seconds)

    def close(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()

    def add(self, task: asyncio.Task[object], seconds: float) -> None:
        """Write down that a task has to end after ``seconds``."""
        end = self._ends[task] = self._loop.time() + seconds
        if end < self._due:
            self.close()
            self._due, self._timer = end, self._loop.call_at(end, self._check)

    def remove(self, task: asyncio.Task[object]) -> bool:
        """Forget a task; return whether it ended in time."""
        return self._ends.pop(task, None) is not None

    def _check(self) -> None:
        now = self._loop.time()
        for task in [task for task, end in self._ends.items() if end <= now]:
            del self._ends[task]
            task.cancel()
        self._due = min(self._ends.values(), default=float("inf"))
        self._timer = self._loop.call_at(self._due, self._check) if self._ends else None


class _Limit:
    """One block of one task; after the fashion of ``asyncio.Timeout``."""

    __slots__ = ("_cancelling", "_deadlines", "_seconds", "_task")

    def __init__(self, deadlines: Deadlines, seconds: float) -> None:
        self._deadlines = deadlines
        self._seconds = seconds

    def __enter__(self) -> None:
        task = self._task = cast("asyncio.Task[object]", asyncio.current_task())  # engines await in tasks only
        self._cancelling = task.cancelling()
        self._deadlines.add(task, self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._deadlines.remove(self._task):
            return
        # Somebody else may have cancelled the task as well: that wish counts more.
        if self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error


_LONGEST = 1000  # characters of what is wrong with a reply: some libraries quote it
_OVERLAP = 64  # bytes that the mark of a first token may have in the chunk before
_LONG_BODY = 1 << 20  # bytes that aiohttp would write at once, with the event loop waiting
_DECIMALS = 6  # of seconds: no clock of an operating system says more about a socket
_MOST_HEADERS = 64  # that are kept prepared; more come only from servers that want every request signed


class Reply(NamedTuple):
    """A server's reply.

    Attributes:
        first_token_seconds: When the first piece of a streamed answer came, in seconds after the request.
        piece_seconds: When each of its events came, in seconds after the request.
        server: Which of several servers it is from.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    first_token_seconds: float | None = None
    piece_seconds: tuple[float, ...] = ()
    server: str = ""


MOST_BYTES = 64 << 20
"""Bytes of a reply, inflated: a thousand times the longest answer, and little enough for 32 of them at once."""

EVENT_STREAM = "text/event-stream"
"""``Accept`` of a request whose answer is streamed."""
_FIRST_TOKEN = re.compile(rb'"(?:content|text|reasoning_content|reasoning|thinking)"\s*:\s*"[^"]')


class TransportError(Exception):
    """No reply came back.

    Args:
        kind: ``timeout``, ``unreachable``, ``connection`` or ``protocol``, as in :class:`proctor.ir.Failure`.
        message: What happened, for people.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Transport(Protocol):
    """Posts a request. Tests put their own in place of :class:`AiohttpTransport`."""

    def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float) -> Awaitable[Reply]:
        """Return the reply.

        Raises:
            TransportError: There was none.
        """

    async def close(self) -> None:
        """Close all connections."""


class AiohttpTransport:
    """Keeps connections open between requests.

    Args:
        concurrency: Most connections.
        connect_timeout_seconds: Longest time until a connection stands.
    """

    def __init__(self, concurrency: int, connect_timeout_seconds: float) -> None:
        import aiohttp
        from yarl import URL

        posts: dict[URL, ClientRequest] = {}
        connector = careful_connector(concurrency, posts)
        self._short = ShortPosts(connector, posts)
        self._session: ClientSession = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": "gzip, deflate"},  # what is inflated here, bit by bit
            auto_decompress=False,  # it would inflate without an end
        )
        self._connect_timeout_seconds = connect_timeout_seconds
        self._url_of = URL
        self._headers: dict[int, tuple[Mapping[str, str], Mapping[str, str]]] = {}
        self._urls: dict[str, tuple[URL, str | None]] = {}
        self._timeouts: dict[float, ClientTimeout] = {}
        self._deadlines = Deadlines()
        self._errors = aiohttp

    def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float) -> Awaitable[Reply]:
        """See :class:`Transport`."""
        return self._sent("POST", url, body, headers, timeout_seconds)

    def put(self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float) -> Awaitable[Reply]:
        """Put a file at an address; errors as in :meth:`post`."""
        return self._sent("PUT", url, body, headers, timeout_seconds)

    def get(
        self, url: str, headers: Mapping[str, str], timeout_seconds: float, most_bytes: int = 0
    ) -> Awaitable[Reply]:
        """Get an address, of which there may be so many bytes; errors as in :meth:`post`."""
        return self._sent("GET", url, None, headers, timeout_seconds, most_bytes)

    async def _sent(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout_seconds: float,
        most_bytes: int = 0,
    ) -> Reply:
        target, proxy = self._target(url)
        errors = self._errors
        try:
            with self._deadlines.within(timeout_seconds):
                posting = self._posting(method, target, proxy, body, headers, self._timeout(timeout_seconds))
                is_stream = headers.get("Accept") == EVENT_STREAM
                return await (_read_stream(posting) if is_stream else _read(posting, most_bytes or MOST_BYTES))
        except errors.ConnectionTimeoutError:
            raise TransportError("unreachable", f"no connection to {target.host}:{target.port} in time") from None
        except TimeoutError:
            raise TransportError("timeout", f"no answer within {timeout_seconds:.0f} s") from None
        except errors.ClientConnectorError as error:
            raise TransportError(
                "unreachable", f"no connection to {error.host}:{error.port}: {error.strerror}"
            ) from None
        except errors.InvalidURL:
            raise TransportError("unreachable", "this is not an address") from None
        except ReplyTooLargeError as error:
            raise TransportError("protocol", str(error)) from None
        except (errors.ClientPayloadError, errors.ClientResponseError) as error:
            raise TransportError("protocol", f"the reply broke off: {error}") from None
        except (errors.ClientError, ConnectionError) as error:
            raise TransportError("connection", str(error) or type(error).__name__) from None
        except Exception as error:  # noqa: BLE001 - what a server sends may make the client stumble anywhere
            said = f"the reply cannot be read: {type(error).__name__}: {str(error)[:_LONGEST]}"
            raise TransportError("protocol", said) from None

    def _posting(
        self,
        method: str,
        target: URL,
        proxy: str | None,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout: ClientTimeout,
    ) -> Posting:
        is_long = body is not None and len(body) >= _LONG_BODY
        post: Posting | None = None
        if method == "POST" and body is not None and not is_long and proxy is None:
            post = self._short.post(target, body, headers, timeout)
        return post or self._session.request(
            method,
            target,
            data=io.BytesIO(body) if body is not None and is_long else body,
            headers=self._prepared(headers),
            proxy=proxy,
            timeout=timeout,
            allow_redirects=False,
        )

    def _target(self, url: str) -> tuple[URL, str | None]:
        if url not in self._urls:
            try:
                self._urls[url] = (self._url_of(url, encoded="%" in url), _proxy_of(url))
            except ValueError as error:
                raise TransportError("unreachable", f"this is not an address: {error}") from None
        return self._urls[url]

    async def close(self) -> None:
        """See :class:`Transport`."""
        self._deadlines.close()
        await self._session.close()
        await asyncio.sleep(0)  # lets closed connections leave the loop

    def _prepared(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Return headers in the form that aiohttp would make of them for each request."""
        known = self._headers.get(id(headers))
        if known is None or known[0] is not headers:
            if len(self._headers) > _MOST_HEADERS:
                self._headers.clear()
            from multidict import CIMultiDict

            known = self._headers[id(headers)] = (headers, CIMultiDict(headers))
        return known[1]

    def _timeout(self, seconds: float) -> ClientTimeout:
        connect = self._connect_timeout_seconds
        if seconds < connect:
            connect = max(0.1, round(seconds, 1))
        if connect not in self._timeouts:
            self._timeouts[connect] = self._errors.ClientTimeout(total=None, sock_connect=connect)
        return self._timeouts[connect]


class ReplyTooLargeError(Exception):
    """A reply has more bytes than any answer, or is written as nobody asked for."""

    def __init__(self, why: str = "") -> None:
        super().__init__(why or f"the reply has more than {MOST_BYTES >> 20} MiB")


async def _read(posting: Posting, most_bytes: int) -> Reply:
    """Read a reply to its end, which gives the connection back."""
    async with posting as reply:
        headers = reply.headers
        if "Content-Encoding" not in headers and (reply.content_length or most_bytes + 1) <= most_bytes:
            return Reply(reply.status, headers, await reply.read())
        inflated = _Inflated(headers.get("Content-Encoding", ""), most_bytes)
        async for chunk in reply.content.iter_any():
            inflated.add(chunk)
        return Reply(reply.status, headers, inflated.body())


async def _read_stream(posting: Posting) -> Reply:
    """Read a streamed answer to its end, and note when the first token and each event came."""
    loop = asyncio.get_running_loop()
    sent, first, looked_at = loop.time(), None, 0
    events = _Events()
    async with posting as reply:
        inflated = _Inflated(reply.headers.get("Content-Encoding", ""))
        async for chunk in reply.content.iter_any():
            inflated.add(chunk)
            events.note(inflated.content, loop.time() - sent)
            if first is None:
                if _FIRST_TOKEN.search(inflated.content, max(0, looked_at - _OVERLAP)):
                    first = loop.time() - sent
                looked_at = len(inflated.content)
        return Reply(reply.status, reply.headers, inflated.body(), first, tuple(events.seconds))


class _Events:
    """When the events of a stream came: the lines ``data: …`` before ``data: [DONE]``."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._start = self._seen = 0
        self._is_done = False

    def note(self, content: bytearray, seconds: float) -> None:
        """Note what has come to its end since the last time."""
        while not self._is_done and (end := content.find(b"\n", max(self._start, self._seen))) >= 0:
            if content.startswith(b"data:", self._start):
                data = content[self._start + len(b"data:") : end].strip()
                self._is_done = data == b"[DONE]"
                if data and not self._is_done:
                    self.seconds.append(round(seconds, _DECIMALS))
            self._start = end + 1
        self._seen = len(content)


class _Inflated:
    """The body of a reply as it grows, inflated where it is deflated, and never beyond so many bytes."""

    def __init__(self, encoding: str, most_bytes: int = 0) -> None:
        self._most = most_bytes or MOST_BYTES
        self.content = bytearray()
        self._encoding = encoding.strip().lower()
        self._taken = 0
        self._inflater: Any = None
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ReplyTooLargeError(f"the reply is encoded as '{encoding[:80]}', which nobody asked for")

    def add(self, chunk: bytes) -> None:
        """Take more of it."""
        if self._encoding in ("", "identity"):
            self.content += chunk
        else:
            self._inflate(chunk)
        self._taken += len(chunk)
        if max(self._taken, len(self.content)) > self._most:
            raise ReplyTooLargeError

    def _inflate(self, chunk: bytes) -> None:
        if self._inflater is None:  # servers mean two formats by deflate: with a head (RFC 9110), and without
            is_bare = self._encoding == "deflate" and chunk[:1] and chunk[0] & 0xF != zlib.DEFLATED
            self._inflater = zlib.decompressobj(-zlib.MAX_WBITS if is_bare else zlib.MAX_WBITS | 32)
        while chunk and len(self.content) <= self._most:
            self.content += self._inflater.decompress(chunk, self._most + 1 - len(self.content))
            chunk = self._inflater.unconsumed_tail or self._inflater.unused_data
            if self._inflater.eof and chunk:  # another member of a gzip file
                self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def body(self) -> bytes:
        """Return all of it."""
        if self._inflater is not None and not self._inflater.eof:
            raise ReplyTooLargeError("the deflated reply broke off")
        return bytes(self.content)


def _proxy_of(url: str) -> str | None:
    """Return the proxy that the environment names for a URL; looked up once, because it is slow."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    return None if proxy is None or proxy_bypass(parts.hostname or "") else proxy
