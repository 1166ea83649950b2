"""Batch APIs: many requests in one file, answered within a day at about half the price.

Making a batch is not idempotent, and the reply to it may be lost. So whoever makes one names it beforehand: OpenAI
keeps the name under ``metadata``.

Source, read in November 2026: OpenAI's reference (``/files``, ``/batches``), which Groq and Together copy. What others
have otherwise is in :mod:`~proctor.engines.http.other_batches`; who keeps requests and results in a bucket or in data
sets is in :mod:`~proctor.engines.http.stored_batches`.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec import Struct

from proctor.engines.http.protocols.protocol import Post, ProviderProtocol
from proctor.engines.http.provider_errors import error_message
from proctor.engines.http.retry import is_retried
from proctor.engines.http.retrying_client import Authorize, failure_of
from proctor.engines.http.transport import Reply, TransportError
from proctor.errors import EngineError, UsageError
from proctor.ir import Failure
from proctor.logs import get_logger

_WITHOUT = "run without --batch"
_ATTEMPTS = 6
_NOT_LISTED_SECONDS = 20.0
"""A batch whose making was not answered is looked for again after so long: lists lag behind."""
_LOOKED_FOR = 3
_PATIENT_SECONDS = 15.0  # half a minute to ten minutes: who has too much queued has to wait for it
_MOST_PAGES = 1_000  # a hundred batches, or results, on each: more than there can be


class BatchRefusedError(EngineError):
    """The provider took no batch: nothing was made."""


class BatchFullError(BatchRefusedError):
    """It takes none now, because too much of it is under way."""


class BatchGoneError(EngineError):
    """The provider does not have it any more."""


Door = Callable[..., Awaitable[Reply]]
"""Asks a server with the headers that say who asks: method, address, body, type of the body, further headers."""


class Place(NamedTuple):
    """Where a provider keeps what is sent in batches, where users have to say so, and what signs requests."""

    bucket: str = ""
    role: str = ""
    account: str = ""
    authorize: Authorize | None = None


class Need(NamedTuple):
    """A field of :class:`Place` that a provider needs: its form, an example, and what for."""

    field: str
    form: str
    example: str
    purpose: str


class Batch(NamedTuple):
    """What a provider says of a batch.

    Attributes:
        id: Its id there.
        status: The provider's word.
        is_over: Whether nothing more comes.
        done: Requests that have a result.
        places: Where the results are.
        reason: Why it failed as a whole.
    """

    id: str
    status: str
    is_over: bool
    done: int
    places: tuple[str, ...] = ()
    reason: str = ""


class Result(NamedTuple):
    """What came of a request: the body of an answer, or why there is none."""

    id: str
    body: bytes
    failure: Failure | None = None


class BatchAPI:
    """Makes, finds and reads batches, as OpenAI has them: a file of lines goes there, two files of results come back.

    Args:
        door: Asks the provider.
        protocol: Its protocol, with the address and the model's name.
        place: Where it keeps what is sent, where it needs to be told.
    """

    needs: ClassVar[tuple[Need, ...]] = ()
    least_requests: ClassVar[int] = 1
    most_requests: ClassVar[int] = 50_000
    most_bytes: ClassVar[int] = 190_000_000
    purpose: ClassVar[str] = "batch"
    _route: ClassVar[str] = "/batches"
    _next: ClassVar[str] = "after"
    _last: ClassVar[str] = "last_id"
    _limit: ClassVar[str] = "limit"
    _items: ClassVar[str] = "data"
    _id: ClassVar[str] = "id"
    _full: ClassVar[re.Pattern[bytes] | None] = None
    _is_named: ClassVar[bool] = True

    def __init__(self, door: Door, protocol: ProviderProtocol, place: Place) -> None:
        self._door, self._url, self._query, self._model = door, protocol.url, protocol.query, protocol.model
        self._place = place
        self.known: set[str] = set()
        """Batches that were made for others of our requests."""

    @classmethod
    def check(cls, provider: str, model: str, place: Place) -> None:
        """Check that a provider can make batches for a model, before anybody is asked.

        Raises:
            UsageError: It needs something that nobody gave.
        """
        del model
        for need in cls.needs:
            if not re.fullmatch(need.form, given := getattr(place, need.field)):
                why = f"'{given}' is not like {need.example}" if given else f"it says {need.purpose}"
                hint = f"add --model-args batch_{need.field}={need.example}, or leave --batch out"
                raise UsageError(f"--batch: batches of '{provider}' need batch_{need.field}", why=why, hint=hint)

    @classmethod
    def hosts(cls, url: str, place: Place) -> tuple[str, ...]:
        """Return which hosts are asked beside that of a provider's address."""
        del url, place
        return ()

    def takes(self, post: Post) -> bool:
        """Whether a batch may have a request; others are asked at once."""
        del post
        return True

    def line(self, name: str, post: Post) -> bytes:
        """Return a request as a batch has it."""
        return msgspec.json.encode({"custom_id": name, "method": "POST", "url": f"/v1{post.route}", "body": post.body})

    async def make(self, name: str, count: int, send: tuple[str, bytes, str]) -> str:
        """Make a batch of so many requests once, whatever happens to the reply; return its id.

        Args:
            name: What the provider is told.
            count: How many requests it has.
            send: What :meth:`prepared` returned.

        Raises:
            EngineError: The provider does not take it.
        """
        began = time.time()
        is_unclear = False
        for attempt in range(_ATTEMPTS):
            try:
                reply = await self._asked("POST", *send)
            except TransportError as error:
                said = str(error)
            else:
                if reply.status < HTTPStatus.MULTIPLE_CHOICES and (made := self._id_in(reply.body)):
                    return made
                said = f"HTTP {reply.status}: {error_message(reply)}"
                has_no_credit = failure_of(self._url, reply).kind == "forbidden"
                if self._is_full(reply) and not has_no_credit:  # then nothing was made
                    await asyncio.sleep(_PATIENT_SECONDS * 2.0**attempt)
                    continue
                is_tried = reply.status < HTTPStatus.MULTIPLE_CHOICES or is_retried(reply.status)
                if (has_no_credit or not is_tried) and not is_unclear:
                    raise BatchRefusedError("the provider does not take the batch", why=said, hint=_WITHOUT)
            is_unclear = True
            if (found := await self.find(name, count, began)) is not None:
                return found
            await asyncio.sleep(2.0**attempt)
        kind = EngineError if is_unclear else BatchFullError
        raise kind("no batch can be made", why=said, hint="run the same command again: it goes on")

    def _is_full(self, reply: Reply) -> bool:
        return reply.status == HTTPStatus.TOO_MANY_REQUESTS or (
            reply.status >= HTTPStatus.BAD_REQUEST
            and self._full is not None
            and any(self._full.search(each) for each in (reply.body, str(dict(reply.headers)).encode()))
        )

    def _id_in(self, body: bytes) -> str:
        """Return the id of a batch in the reply to its making; empty where there is none to be read."""
        try:
            return str(msgspec.json.decode(body)[self._id])
        except (msgspec.DecodeError, KeyError, TypeError):
            return ""

    async def find(self, name: str, count: int, began: float) -> str | None:
        """Return the id of a batch that was made under a name, or is in every respect like it; ``None`` without one."""
        for look in range(_LOOKED_FOR):
            found = None
            async for each in self._candidates(name):
                if each[self._id] not in self.known and self._is(each, name, count, began):
                    found = str(each[self._id])
                    if self._is_named:
                        break
            if found is not None:  # the first that was made since, of those that have no names
                return found
            if look < _LOOKED_FOR - 1:
                await asyncio.sleep(_NOT_LISTED_SECONDS)
        return None

    def _candidates(self, name: str) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the batches among which is that of a name."""
        del name
        return self._listed(self._route)

    async def look(self, batch: str, count: int) -> Batch:
        """Return what the provider says of a batch of so many requests."""
        del count
        return self._read(await self._json(f"{self._url}{self._route}/{batch}"))

    async def results(self, batch: Batch) -> list[Result]:
        """Return the results of a batch that is over, each once, in any order; an answer wins over a failure."""
        found: dict[str, Result] = {}
        unread = 0
        async for line in self._lines(batch):
            try:
                result = self._result(line)
            except Exception:  # noqa: BLE001 - a stranger's bytes may make a parser raise anything
                unread += 1
                continue
            if result.id not in found or found[result.id].failure is not None:
                found[result.id] = result
        if unread:
            get_logger().warning("%d lines of the results of the batch %s cannot be read", unread, batch.id)
        return list(found.values())

    async def _lines(self, batch: Batch) -> AsyncIterator[Any]:
        for place in batch.places:
            for line in (await self._got(place)).body.splitlines():
                if line.strip():
                    yield line

    async def _listed(self, route: str, items: str = "") -> AsyncIterator[Mapping[str, Any]]:
        """Yield what the account has at a route, newest first."""
        place = f"{self._url}{route}{self._query}"
        start = f"{place}{'&' if '?' in place else '?'}{self._limit}=100"
        more: str | None = ""
        for number in range(_MOST_PAGES):
            page = await self._json(start + (more or ""))
            for each in page.get(items or self._items) or ():
                yield each
            if (more := self._more(page, number)) is None:
                return

    def _more(self, page: Mapping[str, Any], number: int) -> str | None:
        """Return what asks for the page after one; ``None`` after the last."""
        del number
        last = page.get(self._last)
        return f"&{self._next}={quote(str(last), safe='')}" if page.get("has_more", True) and last else None

    async def _json(self, url: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = msgspec.json.decode((await self._got(url)).body)
        return found

    async def _got(self, url: str) -> Reply:
        return await self._sure("GET", url if "?" in url else url + self._query)

    async def _sure(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        content_type: str = "",
        headers: Mapping[str, str] | None = None,
        *,
        fine: tuple[int, ...] = (),
    ) -> Reply:
        """Return a reply to what costs nothing to ask twice, also where its status is one of some."""
        said, there = "", url.partition("?")[0]  # what follows may be a signature
        for attempt in range(_ATTEMPTS):
            try:
                reply = await self._asked(method, url, body, content_type, headers or {})
            except TransportError as error:
                said = str(error)
            else:
                if reply.status < HTTPStatus.MULTIPLE_CHOICES:
                    return reply
                if reply.status in fine:
                    return reply
                said = f"HTTP {reply.status}: {error_message(reply)}"
                if reply.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
                    raise BatchGoneError("the provider does not have the batch any more", why=f"{there}: {said}")
                if not is_retried(reply.status):
                    break
            await asyncio.sleep(2.0**attempt)
        hint = "nothing is lost: run the same command again, and it goes on"
        raise EngineError("the provider of a batch does not answer", why=f"{there}: {said}", hint=hint)

    async def _asked(self, method: str, url: str, *rest: Any) -> Reply:
        """Return a reply to what is asked once; the rest is the body, its type, and further headers."""
        return await self._door(method, url, *rest)

    # -- what differs -----------------------------------------------------------------------------------------------

    async def prepared(self, lines: list[bytes], route: str, name: str) -> tuple[str, bytes, str]:
        """Send the requests of a batch, which costs nothing; return what makes it: address, body and its type."""
        made = self._making(await self._uploaded(b"\n".join(lines), name), route, name)
        return f"{self._url}{self._route}{self._query}", msgspec.json.encode(made), "application/json"

    async def _uploaded(self, content: bytes, name: str) -> str:
        """Upload a file, and return its id."""
        head = f'Content-Disposition: form-data; name="purpose"\r\n\r\n{self.purpose}'
        reply = await self._sure("POST", f"{self._url}/files{self._query}", *form_of(content, f"{name}.jsonl", head))
        return str(msgspec.json.decode(reply.body)["id"])

    def _making(self, file: str, route: str, name: str) -> dict[str, Any]:
        window = {"completion_window": "24h", "metadata": {"proctor": name}}
        return {"input_file_id": file, "endpoint": f"/v1{route}", **window}

    def _is(self, listed: Mapping[str, Any], name: str, count: int, began: float) -> bool:
        del count, began
        return bool(self._named(listed) == name)

    def _named(self, listed: Mapping[str, Any]) -> Any:
        return (listed.get("metadata") or {}).get("proctor")

    def _read(self, said: Mapping[str, Any]) -> Batch:
        status, counts = str(said["status"]), said.get("request_counts") or {}
        files = [said.get(each) for each in ("output_file_id", "error_file_id")]
        errors = (said.get("errors") or {}).get("data") or ()
        reason = "; ".join(f"{each.get('code')}: {each.get('message')}" for each in errors)
        return Batch(
            str(said["id"]),
            status,
            status in ("completed", "failed", "expired", "cancelled"),
            (counts.get("completed") or 0) + (counts.get("failed") or 0),
            tuple(f"{self._url}/files/{each}/content" for each in files if each),
            reason if status == "failed" else "",
        )

    def _result(self, line: bytes) -> Result:
        found = _OPENAI.decode(line)
        if found.response is None:
            error = found.error or {}
            kind = "expired" if error.get("code") == "batch_expired" else "server_error"
            return Result(found.custom_id, b"", Failure(kind, str(error.get("message") or "the batch has no answer")))
        body = bytes(found.response.body)
        if found.response.status_code >= HTTPStatus.MULTIPLE_CHOICES:
            return Result(found.custom_id, b"", failure_of(self._url, Reply(found.response.status_code, {}, body)))
        return Result(found.custom_id, body)


def form_of(content: bytes, name: str, *heads: str) -> tuple[bytes, str]:
    """Return a file as the last part of a form, and the type of that."""
    boundary = uuid.uuid4().hex
    file = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: application/jsonl\r\n\r\n'
    start = "".join(f"--{boundary}\r\n{each}\r\n" for each in heads) + f"--{boundary}\r\n{file}"
    return start.encode() + content + f"\r\n--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


class _Answer(Struct):
    status_code: int = 200
    body: msgspec.Raw = msgspec.Raw(b"{}")


class _OpenAILine(Struct):
    custom_id: str
    response: _Answer | None = None
    error: dict[str, Any] | None = None


_OPENAI = msgspec.json.Decoder(_OpenAILine)
