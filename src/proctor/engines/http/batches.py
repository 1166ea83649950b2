"""Batch APIs: many requests in one file, answered within a day at about half the price.

Making a batch is not idempotent, and the reply to it may be lost. So whoever makes one names it beforehand: OpenAI
keeps the name under ``metadata``; Anthropic keeps none, and a batch is known there by its time and its number of
requests.

Sources, read in November 2026: OpenAI's reference (``/files``, ``/batches``), which Groq and Together copy; Anthropic's
reference (``/messages/batches``) and its Python package 2.12.0 (``types/messages/message_batch*.py``).
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec import Struct

from proctor.engines.http.protocols.protocol import Post, ProviderProtocol
from proctor.engines.http.provider_errors import error_message
from proctor.engines.http.retry import is_retried
from proctor.engines.http.retrying_client import failure_of
from proctor.engines.http.transport import Reply, TransportError
from proctor.errors import EngineError
from proctor.ir import Failure

_WITHOUT = "run without --batch"
_ATTEMPTS = 6
_NOT_LISTED_SECONDS = 20.0
"""A batch whose making was not answered is looked for again after so long: lists lag behind."""
_LOOKED_FOR = 3
_PATIENT_SECONDS = 15.0  # half a minute to ten minutes: who has too much queued has to wait for it
_MOST_PAGES = 50


class BatchRefusedError(EngineError):
    """The provider took no batch: nothing was made."""


class BatchGoneError(EngineError):
    """The provider does not have it any more."""


Door = Callable[..., Awaitable[Reply]]
"""Asks a server with the headers that say who asks: method, address, body, type of the body."""


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
    """

    most_requests: ClassVar[int] = 50_000
    most_bytes: ClassVar[int] = 190_000_000
    purpose: ClassVar[str] = "batch"
    _route: ClassVar[str] = "/batches"
    _next: ClassVar[str] = "after"

    def __init__(self, door: Door, protocol: ProviderProtocol) -> None:
        self._door, self._url, self._query = door, protocol.url, protocol.query
        self.known: set[str] = set()
        """Batches that were made for others of our requests."""

    def line(self, name: str, post: Post) -> bytes:
        """Return a request as a batch has it."""
        return msgspec.json.encode({"custom_id": name, "method": "POST", "url": f"/v1{post.route}", "body": post.body})

    async def make(self, name: str, lines: list[bytes], route: str) -> str:
        """Make a batch once, whatever happens to the reply; return its id.

        Raises:
            EngineError: The provider does not take it.
        """
        began = time.time()
        send = await self._prepared(lines, route, name)
        for attempt in range(_ATTEMPTS):
            try:
                reply = await self._door("POST", *send)
            except TransportError as error:
                said = str(error)
            else:
                if reply.status < HTTPStatus.MULTIPLE_CHOICES:
                    return str(msgspec.json.decode(reply.body)["id"])
                said = f"HTTP {reply.status}: {error_message(reply)}"
                if not is_retried(reply.status):
                    raise BatchRefusedError("the provider does not take the batch", why=said, hint=_WITHOUT)
                if reply.status == HTTPStatus.TOO_MANY_REQUESTS:  # then nothing was made
                    await asyncio.sleep(_PATIENT_SECONDS * 2.0**attempt)
                    continue
            if (found := await self.find(name, len(lines), began)) is not None:
                return found
            await asyncio.sleep(2.0**attempt)
        raise EngineError("no batch can be made", why=said, hint="run the same command again: it goes on")

    async def find(self, name: str, count: int, began: float) -> str | None:
        """Return the id of a batch that was made under a name, or is in every respect like it; ``None`` without one."""
        for look in range(_LOOKED_FOR):
            async for each in self._listed():
                if each["id"] not in self.known and self._is(each, name, count, began):
                    return str(each["id"])
            if look < _LOOKED_FOR - 1:
                await asyncio.sleep(_NOT_LISTED_SECONDS)
        return None

    async def look(self, batch: str) -> Batch:
        """Return what the provider says of a batch."""
        return self._read(await self._json(f"{self._url}{self._route}/{batch}"))

    async def results(self, batch: Batch) -> list[Result]:
        """Return the results of a batch that is over, each once, in any order."""
        found: dict[str, Result] = {}
        for place in batch.places:
            body = (await self._got(place)).body
            for line in body.splitlines():
                if line.strip() and (result := self._result(line)).id not in found:
                    found[result.id] = result
        return list(found.values())

    async def _listed(self) -> Any:
        """Yield the batches that the account has, newest first."""
        after = ""
        for _ in range(_MOST_PAGES):
            page = await self._json(f"{self._url}{self._route}?limit=100{after}")
            for each in page.get("data") or ():
                yield each
            last = page.get("last_id")
            if not (page.get("has_more") and last):
                return
            after = f"&{self._next}={last}"

    async def _json(self, url: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = msgspec.json.decode((await self._got(url)).body)
        return found

    async def _got(self, url: str) -> Reply:
        return await self._sure("GET", url if "?" in url else url + self._query)

    async def _sure(self, method: str, url: str, body: bytes | None = None, content_type: str = "") -> Reply:
        """Return a reply to what costs nothing to ask twice.

        Raises:
            EngineError: There is none.
        """
        said = ""
        for attempt in range(_ATTEMPTS):
            try:
                reply = await self._door(method, url, body, content_type)
            except TransportError as error:
                said = str(error)
            else:
                if reply.status < HTTPStatus.MULTIPLE_CHOICES:
                    return reply
                said = f"HTTP {reply.status}: {error_message(reply)}"
                if reply.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
                    raise BatchGoneError("the provider does not have the batch any more", why=f"{url}: {said}")
                if not is_retried(reply.status):
                    break
            await asyncio.sleep(2.0**attempt)
        hint = "nothing is lost: run the same command again, and it goes on"
        raise EngineError("the provider of a batch does not answer", why=f"{url}: {said}", hint=hint)

    # -- what differs -----------------------------------------------------------------------------------------------

    async def _prepared(self, lines: list[bytes], route: str, name: str) -> tuple[str, bytes, str]:
        boundary = uuid.uuid4().hex
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n{self.purpose}\r\n--{boundary}\r\n'
        )
        file = 'Content-Disposition: form-data; name="file"; filename="requests.jsonl"\r\n'
        start = f"{head}{file}Content-Type: application/jsonl\r\n\r\n".encode()
        body = start + b"\n".join(lines) + f"\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        reply = await self._sure("POST", f"{self._url}/files{self._query}", body, kind)
        made = {
            "input_file_id": msgspec.json.decode(reply.body)["id"],
            "endpoint": f"/v1{route}",
            "completion_window": "24h",
            "metadata": {"proctor": name},
        }
        return f"{self._url}{self._route}{self._query}", msgspec.json.encode(made), "application/json"

    def _is(self, listed: Mapping[str, Any], name: str, count: int, began: float) -> bool:
        del count, began
        return (listed.get("metadata") or {}).get("proctor") == name

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


class _Answer(Struct):
    status_code: int = 200
    body: msgspec.Raw = msgspec.Raw(b"{}")


class _OpenAILine(Struct):
    custom_id: str
    response: _Answer | None = None
    error: dict[str, Any] | None = None


_OPENAI = msgspec.json.Decoder(_OpenAILine)


class AnthropicBatches(BatchAPI):
    """Anthropic's: all requests in one body, results at one address."""

    most_requests: ClassVar[int] = 100_000
    most_bytes: ClassVar[int] = 240_000_000
    _route: ClassVar[str] = "/messages/batches"
    _next: ClassVar[str] = "after_id"

    def line(self, name: str, post: Post) -> bytes:
        """Return an entry of ``requests``."""
        return msgspec.json.encode({"custom_id": name, "params": post.body})

    async def _prepared(self, lines: list[bytes], route: str, name: str) -> tuple[str, bytes, str]:
        del route, name
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        return f"{self._url}{self._route}{self._query}", body, "application/json"

    def _is(self, listed: Mapping[str, Any], name: str, count: int, began: float) -> bool:
        del name
        counts = listed.get("request_counts") or {}
        made = datetime.fromisoformat(str(listed["created_at"])).timestamp()
        return sum(counts.values()) == count and made >= began - _CLOCKS_DIFFER

    def _read(self, said: Mapping[str, Any]) -> Batch:
        counts = said.get("request_counts") or {}
        is_over = said["processing_status"] == "ended"
        places = (str(said["results_url"]),) if is_over and said.get("results_url") else ()
        done = sum(count for name, count in counts.items() if name != "processing")
        return Batch(str(said["id"]), str(said["processing_status"]), is_over, done, places)

    def _result(self, line: bytes) -> Result:
        found = _ANTHROPIC.decode(line)
        if found.result.type == "succeeded":
            return Result(found.custom_id, bytes(found.result.message))
        if found.result.type == "errored":
            status = _STATUSES.get(((found.result.error or {}).get("error") or {}).get("type", ""), 500)
            reply = Reply(status, {}, msgspec.json.encode(found.result.error))
            return Result(found.custom_id, b"", failure_of(self._url, reply))
        return Result(found.custom_id, b"", Failure(found.result.type, f"the batch says '{found.result.type}' of it"))


_CLOCKS_DIFFER = 30.0
_STATUSES = {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404}


class _AnthropicResult(Struct):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"{}")
    error: dict[str, Any] | None = None


class _AnthropicLine(Struct):
    custom_id: str
    result: _AnthropicResult


_ANTHROPIC = msgspec.json.Decoder(_AnthropicLine)


class TogetherBatches(BatchAPI):
    """Together AI's: OpenAI's with a word of its own for files, and smaller ones."""

    purpose: ClassVar[str] = "batch-api"
    most_bytes: ClassVar[int] = 95_000_000


APIS: Mapping[str, type[BatchAPI]] = {
    "open-ai": BatchAPI,
    "groq": BatchAPI,
    "together-ai": TogetherBatches,
    "anthropic": AnthropicBatches,
    "custom": BatchAPI,
    "vllm-server": BatchAPI,
}
"""By the provider's name in the table; a server of one's own copies OpenAI's, if it has any."""
