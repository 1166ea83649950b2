"""One call to a server, asked again until it is answered or there is no more sense in asking."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from proctor.engines.http import Reply, Transport, TransportError
from proctor.engines.retry import RetryPolicy, is_retried, retry_after_seconds
from proctor.ir import Failure, Timing

T = TypeVar("T")
_CONTEXT = re.compile(
    r"context[_ ](length|size|window)|maximum context|max_model_len|prompt is too long|too many tokens|input is too long"
    r"|longer than the (model|maximum)|exceeds? the (maximum|max|limit).{0,40}token",
    re.IGNORECASE,
)
_FINAL = frozenset({"authentication", "forbidden", "not_found"})  # asking again helps once somebody changed something
_UNANSWERED = frozenset({"unreachable", "connection", "timeout"})
_UNREACHABLE_ATTEMPTS = 4  # of a server that never answered
_TRANSPORT_HINT = {"unreachable": "is the server running, and is base_url right?"}


class CallError(Exception):
    """A call that got no usable answer; ``failure`` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    @classmethod
    def of(cls, kind: str, message: str) -> CallError:
        """Return an error that asking again cannot mend."""
        return cls(Failure(kind, message, retryable=False))


class ReplyError(Exception):
    """Raised by a parser for a reply that is not what the protocol says; the call is tried again."""


class Caller:
    """Calls one server for one run of an engine.

    After a failure that every other call would meet as well (a key that is not accepted, a server that is not
    there), the rest fail at once with the same reason.

    Args:
        transport: What posts.
        headers: Sent with every call.
        policy: When to ask again.
        timeout_seconds: Longest time for one call, all attempts and waits included.
        attempt_seconds: Longest time for one attempt.
        patience: Calls in a row that may fail for want of an answer before the server counts as gone.
    """

    def __init__(
        self,
        transport: Transport,
        headers: Mapping[str, str],
        policy: RetryPolicy,
        timeout_seconds: float,
        attempt_seconds: float,
        patience: int,
    ) -> None:
        self._transport = transport
        self._headers = {"Content-Type": "application/json", **headers}
        self._policy = policy
        self._timeout_seconds = timeout_seconds
        self._attempt_seconds = attempt_seconds
        self._patience = patience
        self._gone: Failure | None = None
        self._succeeded = False
        self._unanswered = 0

    async def call(self, url: str, body: Mapping[str, Any], key: str, parse: Callable[[bytes], T]) -> tuple[T, Timing]:
        """Return what ``parse`` makes of the reply, and when and how long the successful attempt took.

        Args:
            url: Where to post.
            body: Sent as JSON.
            key: Content key of the request; the jitter of waits derives from it.
            parse: Reads the body of a reply; raises :class:`ReplyError` or ``msgspec.DecodeError`` where it cannot.

        Raises:
            CallError: There is no answer, with the reason.
        """
        content = msgspec.json.encode(body)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeout_seconds
        attempt = 0
        while True:
            if self._gone is not None:
                raise CallError(msgspec.structs.replace(self._gone, attempts=attempt))
            started, clock = time.time(), loop.time()
            outcome, retry_after = await self._attempt(
                url, content, min(self._attempt_seconds, deadline - clock), parse
            )
            attempt += 1
            if not isinstance(outcome, Failure):
                self._succeeded, self._unanswered = True, 0
                return outcome, Timing(started, loop.time() - clock)
            wait = self._policy.wait_seconds(key, attempt - 1, retry_after)
            if self._is_over(outcome, attempt) or loop.time() + wait >= deadline:
                raise CallError(self._conclude(outcome, attempt))
            await asyncio.sleep(wait)

    async def _attempt(
        self, url: str, content: bytes, seconds: float, parse: Callable[[bytes], T]
    ) -> tuple[T | Failure, float | None]:
        try:
            reply = await self._transport.post(url, content, self._headers, seconds)
        except TransportError as error:
            return Failure(error.kind, _sentence(url, str(error), _TRANSPORT_HINT.get(error.kind, ""))), None
        if reply.status >= 300:
            return failure_of(url, reply), retry_after_seconds(reply.headers)
        try:
            return parse(reply.body), None
        except (ReplyError, msgspec.DecodeError) as error:
            start = reply.body[:80].decode("utf-8", "replace")
            return Failure(
                "protocol", f"{url} sent a reply that cannot be read: {error}; it starts with {start!r}"
            ), None

    def _is_over(self, failure: Failure, attempts: int) -> bool:
        if failure.kind in _FINAL or not failure.retryable or attempts > self._policy.max_retries:
            return True
        return failure.kind == "unreachable" and not self._succeeded and attempts >= _UNREACHABLE_ATTEMPTS

    def _conclude(self, failure: Failure, attempts: int) -> Failure:
        final = msgspec.structs.replace(failure, attempts=attempts)
        self._unanswered = self._unanswered + 1 if failure.kind in _UNANSWERED else 0
        if self._is_hopeless(failure):
            self._gone = final
        return final

    def _is_hopeless(self, failure: Failure) -> bool:
        if failure.kind == "authentication":
            return True
        if failure.kind in ("unreachable", "not_found", "forbidden") and not self._succeeded:
            return True
        return self._unanswered >= self._patience


def failure_of(url: str, reply: Reply) -> Failure:
    """Return the failure that a reply with an error status means."""
    message = error_message(reply)
    said = f"HTTP {reply.status}: {message}"
    if reply.status < 400:
        target = reply.headers.get("location", "another address")
        return Failure("refused", _sentence(url, f"HTTP {reply.status}", f"set base_url to {target}"), retryable=False)
    if reply.status == 401:
        return Failure("authentication", _sentence(url, said, "check the API key"))
    if reply.status == 403:
        return Failure("forbidden", _sentence(url, said, "check what the API key may be used for"))
    if reply.status == 404:
        return Failure("not_found", _sentence(url, said, "check base_url and the name of the model"))
    if reply.status == 429:
        return Failure("rate_limited", _sentence(url, said))
    if is_retried(reply.status):
        return Failure("server_error", _sentence(url, said))
    if _CONTEXT.search(message):
        return Failure("context_too_long", _sentence(url, said + _overrun(message)), retryable=False)
    return Failure("refused", _sentence(url, said), retryable=False)


def error_message(reply: Reply) -> str:
    """Return what a server says went wrong: the message in its JSON, or the start of its body."""
    try:
        body = msgspec.json.decode(reply.body)
    except msgspec.DecodeError:
        return reply.body[:200].decode("utf-8", "replace").strip() or "no message"
    found = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(found, dict):
        found = found.get("message") or found.get("detail") or found
    text = found if isinstance(found, str) else msgspec.json.encode(found).decode()
    return text[:1000]


def _overrun(message: str) -> str:
    """Say by how many tokens a prompt is too long, where the message names the limit and the length."""
    numbers = sorted({int(number) for number in re.findall(r"\d{2,9}", message)})
    if len(numbers) < 2:
        return ""
    longest, limit = numbers[-1], numbers[0] if len(numbers) == 2 else None
    named = re.search(r"(?:maximum|max|limit|context (?:length|size|window))\D{0,60}?(\d{2,9})", message, re.IGNORECASE)
    limit = int(named.group(1)) if named else limit
    return f" (too long by {longest - limit} tokens)" if limit is not None and longest > limit else ""


def _sentence(url: str, said: str, hint: str = "") -> str:
    return f"{url}: {said}" + (f" ({hint})" if hint else "")
