"""One call to a server, asked again until it is answered or there is no more sense in asking."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec

from proctor.engines.http.lost_replies import tokens_said
from proctor.engines.http.provider_errors import (
    error_message,
    excess_text,
    hidden_error,
    is_bad_key,
    is_blocked,
    is_filtered,
    is_too_long,
    is_unknown_model,
    model_hint,
)
from proctor.engines.http.rate_limits import Pacing
from proctor.engines.http.retry import RetryPolicy, is_retried, retry_after_seconds
from proctor.engines.http.transport import EVENT_STREAM, Reply, Transport, TransportError
from proctor.ir import FILTERED, Failure, Response, Timing, Usage, is_filtered_end, is_known_end
from proctor.logs import get_logger
from proctor.secrets import redacted

T = TypeVar("T")
_Outcome = tuple[T | Failure, float | None, Reply | None]
"""What came of an attempt, how long the server asks to wait, and the reply that was read: when its pieces came."""
Authorize = Callable[[Transport, str, bytes], Awaitable[Mapping[str, str]]]
"""From a URL and the body that is about to be posted to further headers; may post itself to get a token."""
_NO_CREDIT = "the account behind the API key has no credit left, or its quota is used up"
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|used all available credits", re.IGNORECASE)
_KINDS: dict[int, tuple[str, str]] = {
    HTTPStatus.UNAUTHORIZED: ("authentication", "check the API key"),
    HTTPStatus.PAYMENT_REQUIRED: ("forbidden", _NO_CREDIT),
    HTTPStatus.FORBIDDEN: ("forbidden", "check what the API key may be used for"),
    HTTPStatus.NOT_FOUND: ("not_found", "check base_url and the name of the model"),
    HTTPStatus.TOO_MANY_REQUESTS: ("rate_limited", ""),
}
_MAYBE_BILLED = frozenset({"timeout", "connection"})
"""How attempts end without a reply while somebody may be at work for them."""
_FINAL = frozenset({"authentication", "forbidden", "not_found"})  # asking again helps once somebody changed something
# Several in a row mean that no call will succeed: the server says nothing, or the same to everybody.
_UNANSWERED = frozenset({"unreachable", "connection", "timeout"})
_ALIKE = frozenset({"protocol", "server_error", "rate_limited", "forbidden"})
_UNREAD_ATTEMPTS = 24
"""Replies that cannot be read, of a server that never sent another: a page of HTML does not change by asking again."""
_UNREACHABLE_ATTEMPTS = 4  # of a server that never answered
_OTHER_PROTOCOL = "does the server speak this engine's protocol, and does base_url name its API?"
_LOOKED_AT = 1 << 16  # bytes of an error in which its reason is looked for
_LONG_BYTES = 1 << 18  # 4,000 tokens of an echo: about 6 ms to read
_MANY_BYTES = 1 << 20  # no answer of a model is as long without log-probabilities: only then its values are counted
_MOST_VALUES = 3_000_000
"""Values of one reply: twice those of an echo of 128,000 tokens with five alternatives each. Each takes up to a hundred
bytes once it is read, whatever it takes on the wire."""
_FILE_SECONDS, _MOST_FILE_BYTES = 900.0, 1 << 30  # of the results of a batch
_EXCERPT = 1000  # bytes of a reply, or characters of what is wrong with it, that are looked at for a message
SHORTER_HINT = "--truncate demos drops demonstrations until it fits; or use fewer of them, or a smaller max_tokens"
_TRANSPORT_HINT = {"unreachable": "is the server running, and is base_url right?"}


class CallError(Exception):
    """A call that got no usable answer.

    Attributes:
        failure: Why.
        usage: What it cost all the same.
    """

    def __init__(self, failure: Failure, usage: Usage = Usage()) -> None:  # noqa: B008 - frozen
        super().__init__(failure.message)
        self.failure = failure
        self.usage = usage

    @classmethod
    def of(cls, kind: str, message: str) -> CallError:
        """Return an error that asking again cannot mend."""
        return cls(Failure(kind, message, retryable=False))


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(body)
    except (UnicodeEncodeError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise CallError.of("engine", f"the request cannot be written as JSON: {error}") from None


class ReplyError(Exception):
    """Raised by a parser for a reply that is not what the protocol says; the call is tried again."""


class UnfinishedError(ReplyError):
    """Raised for an answer that ended for a reason that is none of those for which whole answers end."""


class SaidError(ReplyError):
    """Raised by a parser for a stream that carries an error; ``body`` is the event, as JSON."""

    def __init__(self, message: str, body: bytes) -> None:
        super().__init__(message)
        self.body = body


class Caller:
    """Calls one server for one run of an engine.

    After a failure that every other call would meet as well (a key that is not accepted, a server that is not
    there), the rest fail at once with the same reason.

    Args:
        transport: What posts.
        headers: Sent with every call.
        policy: When to ask again, and how long.
        pacing: Limits to keep beyond the number of workers.
        authorize: Makes headers for each attempt, where the fixed ones are not enough (signatures, short-lived tokens).
    """

    def __init__(
        self,
        transport: Transport,
        headers: Mapping[str, str],
        policy: RetryPolicy,
        *,
        authorize: Authorize | None = None,
        pacing: Pacing | None = None,
    ) -> None:
        self._transport = transport
        self._headers = {"Content-Type": "application/json", **headers}
        self._policy = policy
        self._stream_headers = {**self._headers, "Accept": EVENT_STREAM}
        self._authorize = authorize
        self._pacing = pacing
        self._gone: Failure | None = None
        self._succeeded = False
        self._in_row = 0
        self._unread = 0
        self._last = ""

    async def call(
        self, url: str, body: Mapping[str, Any], parse: Callable[[bytes], T], *, is_stream: bool = False
    ) -> tuple[T, Timing]:
        """Return the parsed reply, and the time and duration of the successful attempt.

        Args:
            url: Where to post.
            body: Sent as JSON.
            parse: Reads the body of a reply; raises :class:`ReplyError` or ``msgspec.DecodeError`` where it cannot.
            is_stream: Whether the answer is streamed, so that the time of its first token is known.

        Raises:
            CallError: There is no answer, with the reason.
        """
        content = _encoded(body)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._policy.timeout_seconds
        attempt, lost = 0, Usage()
        while True:
            if self._gone is not None:
                raise CallError(msgspec.structs.replace(self._gone, attempts=attempt), lost)
            if self._pacing is not None:
                arrived = loop.time()
                await self._pacing.enter()
                deadline += loop.time() - arrived  # the time-out is for the server, not for our own limits
            started, clock = time.time(), loop.time()
            seconds = min(self._policy.attempt_seconds, deadline - clock)
            try:
                asked = self._attempt(url, content, seconds, parse, is_stream)
                pacing = self._pacing
                outcome, retry_after, reply = await (asked if pacing is None else self._paced(pacing, asked))
            except CallError as error:
                error.usage += lost
                raise
            attempt += 1
            if not isinstance(outcome, Failure):
                self._succeeded, self._in_row = True, 0
                first, pieces, server = reply[3:] if reply is not None else (None, (), "")
                if isinstance(outcome, Response) and lost != Usage():
                    outcome = msgspec.structs.replace(outcome, usage=outcome.usage + lost)
                return outcome, Timing(started, loop.time() - clock, first, pieces, server)
            lost += _lost(outcome, reply)
            self._unread += outcome.kind == "protocol"
            wait = self._policy.wait_seconds(content, attempt - 1, retry_after)
            if self._is_over(outcome, attempt) or loop.time() + wait >= deadline:
                raise CallError(self._conclude(outcome, attempt, retry_after), lost)
            await asyncio.sleep(wait)

    async def look(self, url: str, seconds: float) -> Reply | None:
        """Return what is at an address, asked once; ``None`` where nothing is, or nobody answers."""
        get = getattr(self._transport, "get", None)  # stand-ins of tests have none
        if get is None:
            return None
        try:
            reply: Reply = await get(url, self._headers, min(seconds, self._policy.attempt_seconds))
        except TransportError:
            return None
        return reply if reply.status == HTTPStatus.OK else None

    async def ask(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        content_type: str = "",
        more: Mapping[str, str] | None = None,
        *,
        is_bare: bool = False,
    ) -> Reply:
        """Return what comes of asking once, however long it takes, with further headers; raises ``TransportError``.

        Where it is bare, nothing but these further headers says who asks: they sign it, or the address does.
        """
        headers = {**({} if is_bare else self._headers), **({"Content-Type": content_type} if content_type else {})}
        if self._authorize is not None and not is_bare:
            headers |= await self._authorize(self._transport, url, body or b"")
        headers |= more or {}
        send = getattr(self._transport, method.lower())
        rest = (headers, _FILE_SECONDS, _MOST_FILE_BYTES) if body is None else (body, headers, _FILE_SECONDS)
        found: Reply = await send(url, *rest)
        return found

    async def _paced(self, pacing: Pacing, attempt: Awaitable[_Outcome[T]]) -> _Outcome[T]:
        try:
            outcome = await attempt
        except BaseException:
            pacing.leave(None)
            raise
        pacing.leave(outcome[0])
        return outcome

    async def _attempt(
        self, url: str, content: bytes, seconds: float, parse: Callable[[bytes], T], is_stream: bool
    ) -> _Outcome[T]:
        try:
            headers = self._stream_headers if is_stream else self._headers
            if self._authorize is not None:
                headers = {**headers, **await self._authorize(self._transport, url, content)}
            reply = await self._transport.post(url, content, headers, seconds)
        except CallError as error:
            return error.failure, None, None
        except TransportError as error:
            return Failure(error.kind, _sentence(url, str(error), _TRANSPORT_HINT.get(error.kind, ""))), None, None
        if reply.status >= HTTPStatus.MULTIPLE_CHOICES:
            return failure_of(url, reply), retry_after_seconds(reply.headers), None
        if len(reply.body) > _LONG_BYTES:  # others must not wait for it, and their time-outs run on
            return await asyncio.to_thread(self._read, url, reply, parse), None, reply
        return self._read(url, reply, parse), None, reply

    def _read(self, url: str, reply: Reply, parse: Callable[[bytes], T]) -> T | Failure:
        """Return what a reply says; whatever a parser stumbles over in it is a failure."""
        try:
            _check_size(reply.body)
            found = parse(reply.body)
            if isinstance(found, Response):
                check_response(found)
        except CallError as error:
            failure = msgspec.structs.replace(error.failure, message=_sentence(url, error.failure.message))
            if error.failure.kind == FILTERED:
                raise CallError(failure, error.usage) from None
            raise
        except UnfinishedError as error:
            return Failure("unfinished", _sentence(url, str(error)))
        except Exception as error:  # noqa: BLE001 - a stranger's bytes may make a parser raise anything
            body = error.body if isinstance(error, SaidError) else reply.body
            if len(body) <= _MANY_BYTES and (hidden := hidden_error(body)) is not None:
                return failure_of(url, hidden)
            if is_blocked(reply.body):
                raise CallError.of(FILTERED, _sentence(url, "the prompt was blocked: there is no answer")) from None
            start = redacted(reply.body[:_EXCERPT].decode("utf-8", "replace"))[:80]
            what = str(error) if isinstance(error, (ReplyError, msgspec.DecodeError)) else type(error).__name__
            said = f"the reply cannot be read: {what[:_EXCERPT]}; it starts with {start!r}"
            return Failure("protocol", _sentence(url, said, _OTHER_PROTOCOL))
        return found

    def _is_over(self, failure: Failure, attempts: int) -> bool:
        if failure.kind in _FINAL or not failure.retryable or attempts > self._policy.max_retries:
            return True
        if failure.kind == "protocol" and self._is_never_read():
            return True
        return failure.kind == "unreachable" and not self._succeeded and attempts >= _UNREACHABLE_ATTEMPTS

    def _is_never_read(self) -> bool:
        return not self._succeeded and self._unread >= _UNREAD_ATTEMPTS

    def _conclude(self, failure: Failure, attempts: int, retry_after: float | None) -> Failure:
        message = failure.message
        if retry_after:
            message += f" (it asks to wait for {retry_after:,.0f} seconds)"
        final = msgspec.structs.replace(failure, attempts=attempts, message=message)
        self._count(failure)
        if self._gone is None and self._is_hopeless(failure):
            self._gone = final
            get_logger().warning("nothing more is sent to this server, since it cannot succeed: %s", message)
        return final

    def _count(self, failure: Failure) -> None:
        """Count calls in a row that were not answered at all, or with the same words."""
        said = "" if failure.kind in _UNANSWERED else f"{failure.kind} {failure.message}"
        counts = (
            failure.kind in _UNANSWERED or failure.kind in _ALIKE or (failure.kind == "refused" and not self._succeeded)
        )
        self._in_row = (self._in_row + 1 if said == self._last else 1) if counts else 0
        self._last = said

    def _is_hopeless(self, failure: Failure) -> bool:
        if failure.kind == "authentication":
            return True
        if failure.kind in ("unreachable", "not_found", "forbidden") and not self._succeeded:
            return True
        if failure.kind == "protocol" and self._is_never_read():
            return True
        return self._in_row >= self._policy.patience


def _lost(failure: Failure, reply: Reply | None) -> Usage:
    """Return the tokens of an attempt that brought no answer, as far as its reply counts them."""
    if reply is None:
        return Usage(unknown_attempts=int(failure.kind in _MAYBE_BILLED))
    read, written = tokens_said(reply.body)
    return Usage(read, written, lost_prompt_tokens=read, lost_completion_tokens=written)


_MOST_TOKENS = 10**9
"""No request reads or writes as many tokens: a larger count, or one below zero, is not a count."""


def check_response(response: Response) -> None:
    """Check what a reply said, whatever its protocol.

    Raises:
        CallError: The answer was refused or filtered: it is none, and must not be graded.
        ReplyError: It counts tokens as nobody can, or a log-probability is not a number.
    """
    usage, counts = response.usage, response.usage.counts
    if min(counts) < 0 or max(counts) > _MOST_TOKENS:
        raise ReplyError("the reply counts a number of tokens that there cannot be")
    if response.tokens and any(
        token.log_probability != token.log_probability for tokens in response.tokens for token in tokens
    ):
        raise ReplyError("a log-probability is not a number")
    if response.scores and any(score.log_likelihood != score.log_likelihood for score in response.scores):
        raise ReplyError("a log-likelihood is not a number")
    for reason in response.finish_reasons:
        if is_filtered_end(reason):
            said = f"the answer was refused or filtered (it ended with '{reason[:80]}'): it is not graded"
            raise CallError(Failure(FILTERED, said, retryable=False), usage)
        if not is_known_end(reason):
            raise UnfinishedError(
                f"the answer ended with '{reason[:80]}', which no whole answer does: it is not graded"
            )


def _check_size(body: bytes) -> None:
    if len(body) > _MANY_BYTES and sum(map(body.count, (b",", b"[", b"{", b"\n"))) > _MOST_VALUES:
        raise ReplyError(f"the reply has more than {_MOST_VALUES:,} values")


def failure_of(url: str, reply: Reply) -> Failure:
    """Return the failure that a reply with an error status means."""
    message = error_message(reply)
    said = f"HTTP {reply.status}: {message}"
    if is_filtered(reply):
        return Failure(FILTERED, _sentence(url, f"{said} (the prompt was refused or filtered)"), retryable=False)
    if reply.status < HTTPStatus.BAD_REQUEST:
        target = reply.headers.get("location", "another address")[:_EXCERPT]
        return Failure("refused", _sentence(url, f"HTTP {reply.status}", f"set base_url to {target}"), retryable=False)
    if is_too_long(message) and reply.status not in _KINDS:  # llama.cpp's server said it with status 500 for a while
        said += excess_text(message, reply)
        return Failure("context_too_long", _sentence(url, said, SHORTER_HINT), retryable=False)
    if (kind := _kind_of(reply, message)) is not None:
        return Failure(kind[0], _sentence(url, said, kind[1]))
    if is_retried(reply.status):
        return Failure("server_error", _sentence(url, said))
    return Failure("refused", _sentence(url, said), retryable=False)


def _kind_of(reply: Reply, message: str) -> tuple[str, str] | None:
    """Return the kind of an error and what to do, by its status, and by its words where the status says too little."""
    if reply.status == HTTPStatus.TOO_MANY_REQUESTS and _QUOTA.search(
        reply.body[:_LOOKED_AT].decode("utf-8", "replace")
    ):
        return "forbidden", _NO_CREDIT
    if reply.status in _KINDS or reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _KINDS.get(reply.status)
    if is_unknown_model(message):
        return "not_found", model_hint(message)
    return ("authentication", "check the API key") if is_bad_key(message) else None


def _sentence(url: str, said: str, hint: str = "") -> str:
    return redacted(f"{url}: {said}" + (f" ({hint})" if hint else ""))
