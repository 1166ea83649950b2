"""Base of HTTP engines: keys, time-outs, retries, concurrency."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from msgspec import structs
from pydantic import Field, SecretStr

from proctor.artifacts import NON_POSITIONAL
from proctor.effects import Effect, asking, is_allowed
from proctor.engines.engine import Engine
from proctor.engines.http.addresses import Login, is_loopback
from proctor.engines.http.background import answer_in_background
from proctor.engines.http.rate_limits import AUTO_MOST, AUTO_START, Concurrency, Pacing, SharedPace, Take
from proctor.engines.http.retry import PATIENCE, RetryPolicy
from proctor.engines.http.retrying_client import SHORTER_HINT, Authorize, Caller, CallError
from proctor.engines.http.safe_replies import answered_safely
from proctor.engines.http.transport import AiohttpTransport, Transport
from proctor.engines.thinking_engine import ThinkingEngine
from proctor.engines.truncation import shorter_requests
from proctor.errors import ValidationError
from proctor.ir import Answers, Request, Response
from proctor.logs import get_logger
from proctor.secrets import is_secret, keep, variable, without_secrets

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of RFC 9110, 5.1: what the name of a header may be."""
_OUR_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "content-encoding", "expect"})
"""Headers that say where a request goes and where it ends: a file may not send a key to one host in another's name."""
Answering = Callable[[Caller, Any], Awaitable[Response]]


class HTTPEngine(ThinkingEngine):
    """An engine behind HTTP.

    Attributes:
        api_key: Key for the server; by default from the environment. It is never saved, shown or part of
            :attr:`identity`.
        max_concurrency: Requests in flight at once; ``auto`` finds out what the server can take.
        requests_per_minute, tokens_per_minute: Rate limits to keep.
        timeout: Longest time for one request in seconds, all attempts and waits included.
        attempt_timeout: Longest time for one attempt in seconds; by default as long as ``timeout``.
        connect_timeout: Longest time until a connection stands, in seconds.
        max_retries: Attempts after the first one (connection lost, 408, 409, 429, 5xx, a reply that cannot be read).
        truncate: What to do when the server says that a prompt is too long: ``demos`` asks again without its first
            demonstration, then without its first two, and so on; ``none`` files a failure. Cutting at a token, as
            ``hf`` does with ``left``, needs the model's tokenizer, which a server does not give.
        extra_headers: HTTP headers to send as well.
    """

    transient_fields: ClassVar[frozenset[str]] = Engine.transient_fields | {
        *("api_key", "max_concurrency", "timeout", "attempt_timeout", "connect_timeout", "max_retries"),
        *("extra_headers", "requests_per_minute", "tokens_per_minute"),
    }
    secret_fields: ClassVar[frozenset[str]] = frozenset({"api_key"})
    """Fields that are left out wherever an engine is written down."""
    address_fields: ClassVar[frozenset[str]] = frozenset({"base_url"})
    """Fields that say where requests go."""

    api_key: Annotated[SecretStr | None, NON_POSITIONAL] = None
    max_concurrency: Annotated[Annotated[int, Field(ge=1)] | Literal["auto"], NON_POSITIONAL] = 32
    requests_per_minute: Annotated[float | None, NON_POSITIONAL, Field(gt=0)] = None
    tokens_per_minute: Annotated[float | None, NON_POSITIONAL, Field(gt=0)] = None
    timeout: Annotated[float, NON_POSITIONAL, Field(gt=0)] = 600.0
    attempt_timeout: Annotated[float | None, NON_POSITIONAL, Field(gt=0)] = None
    connect_timeout: Annotated[float, NON_POSITIONAL, Field(gt=0)] = 10.0
    max_retries: Annotated[int, NON_POSITIONAL, Field(ge=0)] = 8
    truncate: Annotated[Literal["demos", "none"], NON_POSITIONAL] = "none"
    extra_headers: Annotated[dict[str, str] | None, NON_POSITIONAL] = None

    _login: Login | None = None
    _said: frozenset[str] = frozenset()
    _make_transport: Callable[[], Transport] | None = None
    _take: Take | None = None
    _new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None

    def prepare(self) -> None:
        """Keep what is secret out of everything that is written from now on."""
        super().prepare()
        if self.api_key is not None:
            keep(self.api_key.get_secret_value())
        for name, value in (self.extra_headers or {}).items():
            if is_secret(name):
                for part in (value, value.partition(" ")[2]):
                    keep(part)

    def verify(self) -> None:
        """Check that the headers are headers.

        Raises:
            ValidationError: One is not, or a file says one that decides where a request goes.
        """
        super().verify()
        for name, value in (self.extra_headers or {}).items():
            path = f"$.extra_headers.{name}"
            if not _HEADER_NAME.fullmatch(name) or any(ord(letter) < ord(" ") for letter in value):
                raise ValidationError(f"'{name}' is not a header that can be sent", path=path)
            if self.author is not None and name.lower() in _OUR_HEADERS:
                raise ValidationError(f"a file may not say the header '{name}'", path=path, hint="leave it out")

    # -- where it asks, and with which key --------------------------------------------------------------------

    def effects(self) -> Iterable[Effect]:
        """Return that it asks its server, and which keys it would send there; nothing where another stands in for it.

        What the user said himself (the address, on the command line) needs nobody's permission.
        """
        found = [] if self._is_users_address() else self.would_do()
        is_free = self.is_of_config and bool(found) and is_loopback(self._destination()[0])
        return [each for each in found if each.kind != "net"] if is_free else found

    def would_do(self) -> list[Effect]:
        """Return that it asks its server with the keys that it has for it, whoever said where the server is."""
        if self.answering() is not self:
            return []
        address, variables, needs_key = self._destination()
        if not address:
            return []
        net, *sent = asking(address, self.label, variables)
        if not needs_key:
            sent = [each._replace(is_optional=True) for each in sent]
        return [net, *sent]

    def come_from(self, other: Engine) -> None:
        """Take over from another engine who said what of it, and who asks."""
        super().come_from(other)
        if isinstance(other, HTTPEngine) and self._login is None and _address(self) == _address(other):
            self._login = other._login  # noqa: SLF001 - the same class

    def _is_users_address(self) -> bool:
        return self.author is None or bool(self.typed_fields & self.address_fields)

    def _destination(self) -> tuple[str, list[str], bool]:
        """Return where it asks, which variables' values it would send there, and whether it cannot do without them."""
        return "", [], False

    def _may_send(self, name: str, address: str) -> bool:
        """Whether the value of a variable may go to an address; where not, that is said once."""
        if self._is_users_address():
            return True
        if not address:
            return False
        lacking = [each for each in asking(address, self.label, [name]) if each.kind == "env" and not is_allowed(each)]
        for each in lacking:
            if each.target not in self._said:
                self._said |= {each.target}
                text = "'%s' is asked at %s without the key in %s, which belongs to another host (--allow %s sends it)"
                get_logger().warning(text, self.label, each.target.partition("@")[2], name, each.grant)
        return not lacking

    def to_dict(self) -> dict[str, Any]:
        """Return the artifact as data, without its secrets."""
        data = super().to_dict()
        return without_secrets({name: value for name, value in data.items() if name not in self.secret_fields})

    def __repr__(self) -> str:
        given = {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set - self.secret_fields
        }
        shown = without_secrets(given)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers; ``truncate`` only where prompts may be shortened."""
        values = super().identity_values()
        if self.truncate == "none":
            del values["truncate"]
        return values

    def _run(self, requests: Iterable[Any], answering: Answering) -> Answers:
        """Answer requests, ``max_concurrency`` at once."""
        self.act()
        if self._key() is None and (variables := self._key_variables()):
            answering = partial(_without_key, answering, variables[0])

        @asynccontextmanager
        async def opening() -> AsyncIterator[Callable[[Any], Awaitable[Response]]]:
            transport = self._transport()
            try:
                yield self.answering_with(answering, self._caller(transport))
            finally:
                await transport.close()

        return answer_in_background(
            requests, opening, self._workers_of_now(), new_loop=self._new_loop or asyncio.new_event_loop
        )

    def answering_with(self, answering: Answering, caller: Caller) -> Callable[[Any], Awaitable[Response]]:
        """Return what answers a request with a failure at worst, and with fewer demonstrations where they may go."""
        return partial(_answer_or_shorten if self.truncate == "demos" else _answer, answering, caller)

    def _workers_of_now(self) -> int | Callable[[], int]:
        """Return how many requests are answered at once, or what says it while that changes."""
        return self._workers()

    @asynccontextmanager
    async def room(self) -> AsyncIterator[Caller]:
        """Yield the connections of this engine, for who asks its server in other ways."""
        self.act()
        transport = self._transport()
        try:
            yield self._caller(transport)
        finally:
            await transport.close()

    @property
    def most_at_once(self) -> int:
        """Requests in flight at once."""
        return self._workers()

    def _workers(self) -> int:
        return AUTO_MOST if self.max_concurrency == "auto" else self.max_concurrency

    def _transport(self) -> Transport:
        if self._make_transport is not None:
            return self._make_transport()
        limit = self._workers_of_now()
        return AiohttpTransport(0 if callable(limit) else limit, self.connect_timeout)

    def _caller(self, transport: Transport) -> Caller:
        policy = RetryPolicy(
            self.max_retries,
            timeout_seconds=self.timeout,
            attempt_seconds=self.attempt_timeout or self.timeout,
            patience=max(PATIENCE, self._workers()),
        )
        headers = {**self._headers(), **(self.extra_headers or {})}
        return Caller(transport, headers, policy, authorize=self._authorize(), pacing=self._pacing())

    def _pacing(self) -> Pacing | None:
        """Return the limits to keep; ``None`` where the number of workers is the only one."""
        if self.max_concurrency != "auto" and not self.requests_per_minute and not self.tokens_per_minute:
            return None
        is_fixed = self.max_concurrency != "auto"
        gate = Concurrency(self._workers() if is_fixed else AUTO_START, self._workers(), is_fixed=is_fixed)
        limits = {"requests": self.requests_per_minute, "tokens": self.tokens_per_minute}
        kept = [SharedPace(limits[kind], self._take, kind) for kind in limits]
        return Pacing(gate, *kept)

    def share_rates(self, take: Take | None) -> None:
        """Keep limits per minute together with other processes from now on."""
        self._take = take

    def _authorize(self) -> Authorize | None:
        """Return what makes headers for each attempt, where the fixed ones are not enough."""
        return None

    def _headers(self) -> Mapping[str, str]:
        """Return the headers that say who asks."""
        if self._login is not None and self.api_key is None:
            return {"Authorization": self._login.header}
        key = self._key()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _key(self) -> str | None:
        """Return the API key: given, or from the environment where it may go to the server."""
        if self.api_key is not None:
            return self.api_key.get_secret_value()
        if self._has_own_key():
            return None
        name = self._key_variable()
        return variable(name) if name and all(self._may_send(name, each) for each in self._places()) else None

    def _places(self) -> list[str]:
        """Return the addresses to which the key would go."""
        return [self._destination()[0]]

    def _has_own_key(self) -> bool:
        """Whether the engine says by itself who asks: in its address, or in a header."""
        named = {name.lower() for name in self.extra_headers or ()}
        return self._login is not None or "authorization" in named

    def _key_variable(self) -> str | None:
        """Return the environment variable that holds the key; ``None`` where none does."""
        return next((name for name in self._key_variables() if os.environ.get(name)), None)

    def _key_variables(self) -> tuple[str, ...]:
        """Return the environment variables that may hold the key, best first."""
        return ()


def _address(engine: HTTPEngine) -> str | None:
    return getattr(engine, "base_url", None)


def _answer(answering: Answering, caller: Caller, request: Request) -> Awaitable[Response]:
    return answered_safely(partial(answering, caller, request))


async def _without_key(answering: Answering, variable: str, caller: Caller, request: Any) -> Response:
    """Answer a request without a key; where the server wants one, say how to give it."""
    try:
        return await answering(caller, request)
    except CallError as error:
        if error.failure.kind != "authentication":
            raise
        message = f"{error.failure.message}; no key was given: export {variable}=…"
        raise CallError(structs.replace(error.failure, message=message)) from None


async def _answer_or_shorten(answering: Answering, caller: Caller, request: Request) -> Response:
    """Answer a request, without as many of its demonstrations as the server cannot take."""
    response = await _answer(answering, caller, request)
    for shorter in shorter_requests(request) if is_too_long(response) else ():
        response = await _answer(answering, caller, shorter)
        if not is_too_long(response):
            return response
    if (failure := response.failure) is None or failure.kind != "context_too_long":
        return response
    message = failure.message.replace(SHORTER_HINT, "without any demonstrations; use a smaller max_tokens")
    return Response(failure=structs.replace(failure, message=message))


def is_too_long(response: Response) -> bool:
    """Whether a request failed because its prompt was longer than the model takes."""
    return response.failure is not None and response.failure.kind == "context_too_long"
