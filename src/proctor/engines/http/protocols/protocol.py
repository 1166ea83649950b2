"""What all protocols share: a request becomes one or more posts, and their replies one response."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from msgspec import structs

from proctor.engines.decoding import with_defaults
from proctor.engines.http.inline_media import with_inline_media
from proctor.engines.http.protocols.refused_fields import cut_at, refused_field, stop_limit
from proctor.engines.http.retrying_client import Caller, CallError
from proctor.ir import Decoding, Generate, Prompt, Response, Score, Timing, Usage
from proctor.logs import get_logger


class Post(NamedTuple):
    """What to post, and how to read the reply.

    Attributes:
        route: Appended to the base URL.
        body: Sent as JSON.
        is_stream: Whether the answer is streamed.
        parse: From the body of a reply to a response; raises ``ReplyError`` or ``msgspec.DecodeError``.
    """

    route: str
    body: Mapping[str, Any]
    parse: Callable[[bytes], Response]
    is_stream: bool = False


@dataclass
class ProviderProtocol:
    """A protocol, and what a run needs to know of a server; made once for each run.

    Attributes:
        url: Base URL, to which routes are appended.
        model: Name of the model on the server.
        defaults: Decoding for requests that leave it open.
        query: Appended to every address (``?api-version=…``).
        has_n: Whether the server can give several answers to one request; else it is asked several times.
        options: Quirks of the server. All protocols know ``drop`` (parts of a decoding that it does not take) and
            ``max_stops`` (the most stop strings that it takes: all are looked for in its answer); others are the
            protocol's own.
    """

    takes_blank_stops: ClassVar[bool] = True

    url: str
    model: str
    defaults: Mapping[str, Any]
    query: str = ""
    has_n: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    _last: tuple[Decoding, Decoding, tuple[str, ...]] | None = field(default=None, init=False)

    def post(self, prompt: Prompt, decoding: Decoding) -> Post:
        """Return what to post to generate text."""
        raise CallError.of("engine", f"{type(self).__name__} cannot generate text for {prompt!r} with {decoding}")

    @property
    def drops(self) -> frozenset[str]:
        """Parts of a decoding that the model does not take."""
        return frozenset(self.options.get("drop", ()))

    async def generate(self, caller: Caller, request: Generate) -> Response:
        """Answer a request for text; raise :class:`CallError` where there is no answer.

        What the server says that the model does not take is left out from then on.
        """
        while True:
            asked_with = self.options
            try:
                return await self._ask(caller, request)
            except CallError as error:
                if self.options is asked_with and not self._learn(error.failure.message):
                    raise

    async def _ask(self, caller: Caller, request: Generate) -> Response:
        _, decoding, marks = self._known(request)
        prompt = inlined(request.prompt)
        if decoding.count > 1 and not self.has_n:
            parts = [await self.send(caller, self.post(prompt, each)) for each in singles(decoding)]
            return cut_at(merged(parts), marks)
        return cut_at(await self.send(caller, self.post(prompt, decoding)), marks)

    def _learn(self, message: str) -> bool:
        """Return whether a refusal says what to leave out, and leave it out from now on."""
        name, most = refused_field(message), stop_limit(message)
        if most is not None:
            changed: dict[str, Any] = {"max_stops": most}
        elif name == "max_tokens" and "max_completion_tokens" in message:
            changed = {"max_tokens_name": "max_completion_tokens"}
        elif name is None or name == "max_tokens" or name in self.drops:
            return False
        else:
            changed = {"drop": [*self.options.get("drop", ()), name]}
            if name != "stop":  # stop strings are looked for in the answer instead
                get_logger().warning("'%s' does not take '%s': it is asked without", self.model, name)
        if all(self.options.get(key) == value for key, value in changed.items()):
            return False
        self.options = {**self.options, **changed}
        self._last = None
        return True

    async def score(self, caller: Caller, request: Score) -> Response:  # noqa: ARG002 - the protocol
        """Answer a request for log-likelihoods; raise :class:`CallError` where there is no answer."""
        raise CallError.of("engine", "this server gives no log-probabilities for text it did not write")

    async def send(self, caller: Caller, post: Post) -> Response:
        """Post, and return the response with its timing."""
        url = f"{self.url}{post.route}{self.query}"
        response, timing = await caller.call(url, post.body, post.parse, is_stream=post.is_stream)
        return structs.replace(response, timing=timing)

    def decoding_of(self, request: Generate) -> Decoding:
        """Return the request's decoding with defaults, without what the model does not take.

        It is computed once for requests that share it.
        """
        return self._known(request)[1]

    def _known(self, request: Generate) -> tuple[Decoding, Decoding, tuple[str, ...]]:
        """Return the request's own decoding, what is sent of it, and the stop strings to look for in the answer."""
        if self._last is None or self._last[0] is not request.decoding:
            decoding, drops = with_defaults(request.decoding, self.defaults), self.drops
            stops = [mark for mark in decoding.stop if mark and (mark.strip() or self.takes_blank_stops)]
            sent = () if "stop" in drops else tuple(stops[: self.options.get("max_stops")])
            left_out = {
                name: None for name in ("top_p", "top_k") if name in drops and getattr(decoding, name) is not None
            }
            marks = () if sent == decoding.stop else tuple(mark for mark in decoding.stop if mark)
            if left_out or sent != decoding.stop:
                decoding = structs.replace(decoding, stop=sent, **left_out)
            self._last = (request.decoding, decoding, marks)
        return self._last


def inlined(prompt: Prompt) -> Prompt:
    """Return the prompt with its pictures as URLs; the same prompt where there are none."""
    if isinstance(prompt.payload, str):
        return prompt
    messages = with_inline_media(prompt.payload)
    return prompt if messages is prompt.payload else Prompt(messages)


def singles(decoding: Decoding) -> list[Decoding]:
    """Return the decoding of each of several answers, with seeds that differ."""
    seeds = [None if decoding.seed is None else decoding.seed + index for index in range(decoding.count)]
    return [structs.replace(decoding, count=1, seed=seed) for seed in seeds]


def merged(parts: Iterable[Response]) -> Response:
    """Return the responses to the parts of one request as one response."""
    found = list(parts)
    return Response(
        texts=tuple(text for part in found for text in part.texts),
        scores=tuple(score for part in found for score in part.scores),
        finish_reasons=tuple(reason for part in found for reason in part.finish_reasons),
        tokens=tuple(tokens for part in found for tokens in part.tokens),
        usage=Usage(
            sum(part.usage.prompt_tokens for part in found),
            sum(part.usage.completion_tokens for part in found),
        ),
        timing=Timing(found[0].timing.started, sum(part.timing.seconds for part in found)),
    )
