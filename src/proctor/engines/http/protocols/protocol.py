"""Base of protocols: a request becomes one or more posts, and their replies one response."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from msgspec import structs

from proctor.engines.decoding import with_defaults
from proctor.engines.http.inline_media import types_of_parts, with_inline_media
from proctor.engines.http.prompt_caches import Beginnings
from proctor.engines.http.retrying_client import Caller, CallError, check_response
from proctor.engines.thoughts import Marks, cut_at, heard, marks_of, opening_of
from proctor.ir import Decoding, Generate, Prompt, Response, Score, Timing, Usage
from proctor.logs import get_logger

_NAME = r"[`'\"]?(max_tokens|maxTokens|temperature|top_p|topP|top_k|topK|stop|stop_sequences|stopSequences)[`'\"]?"
_WORDINGS = tuple(
    re.compile(pattern.replace("NAME", _NAME), re.IGNORECASE)
    for pattern in (
        r"unsupported (?:parameter|value): NAME",
        r"does(?:n't| not) support the NAME field",
        r"NAME is deprecated for this model",
        r"NAME: extra inputs are not permitted",
        r"property NAME is unsupported",
        r"temperature[`'\"]? and NAME cannot both be specified",
    )
)
_OURS = {"maxtokens": "max_tokens", "topp": "top_p", "topk": "top_k", "stop_sequences": "stop", "stopsequences": "stop"}
_STOP_LIMIT = re.compile(r"'?stop'?.{0,60}maximum length (\d+)", re.IGNORECASE | re.DOTALL)


def refused_field(message: str) -> str | None:
    """Return the decoding field that a server's error refuses; ``None`` where it names none."""
    for wording in _WORDINGS:
        if found := wording.search(message):
            name = found[1].lower()
            return _OURS.get(name, name)
    return None


def stop_limit(message: str) -> int | None:
    """Return how many stop strings a server says that it takes (OpenAI: 4); ``None`` where it does not say so."""
    found = _STOP_LIMIT.search(message)
    return int(found[1]) if found else None


_SAYS_CACHE = re.compile(r"cache_?(control|point|options|breakpoint|key)|prompt[_ ]cach", re.IGNORECASE)
"""What a refusal names that means a mark for the provider's cache."""


class Post(NamedTuple):
    """A post, and the reader of its reply.

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


@dataclass(frozen=True)
class Thinking:
    """The run's settings for a model's thoughts.

    Attributes:
        marks: What begins and ends them in a text.
        allowance: Tokens for them, on top of what a request allows for the answer.
        is_wanted: Whether the user says that the model thinks. Stop strings are then not sent: servers would end the
            thoughts at them. They are looked for in the answer.
        body: Fields of every body that say how hard to think, in the provider's words.
        drop: Parts of a decoding that the model does not take while it thinks.
        is_off: Whether the user says that the model does not think.
    """

    marks: Marks = field(default_factory=marks_of)
    allowance: int = 0
    is_wanted: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)
    drop: frozenset[str] = frozenset()
    is_off: bool = False


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
        thinking: What the run says of the model's thoughts.
        beginnings: What the provider's cache is told to keep; ``None`` where it is told nothing.
    """

    takes_blank_stops: ClassVar[bool] = True
    carries: ClassVar[tuple[str, ...] | None] = None
    """Types of parts that a message may hold; ``None`` where all go to the server, which says what it does not take."""
    inlines_films: ClassVar[bool] = True
    shows_thoughts: ClassVar[bool] = False

    url: str
    model: str
    defaults: Mapping[str, Any]
    query: str = ""
    has_n: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    thinking: Thinking = field(default_factory=Thinking)
    beginnings: Beginnings | None = None
    _last: tuple[Decoding, Decoding, tuple[str, ...]] | None = field(default=None, init=False)

    def post(self, prompt: Prompt, decoding: Decoding) -> Post:
        """Return the post that generates text."""
        raise CallError.of("engine", f"{type(self).__name__} cannot generate text for {prompt!r} with {decoding}")

    @property
    def lays_out(self) -> bool:
        """Whether the server puts a string into the model's chat template, as a message."""
        return True

    @property
    def drops(self) -> frozenset[str]:
        """Parts of a decoding that the model does not take."""
        return self.thinking.drop.union(self.options.get("drop", ()))

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

    def posted(self, request: Generate) -> Post | None:
        """Return the one post that a request needs; ``None`` where it needs several."""
        _, decoding, _ = self._known(request)
        if decoding.count > 1 and not self.has_n:
            return None
        return self.post(self.inlined(request.prompt), decoding)

    def answered(self, request: Generate, body: bytes) -> Response:
        """Return the answer in a reply that came in another way than by :meth:`generate`; errors as the reader's."""
        _, decoding, marks = self._known(request)
        response = self.post(self.inlined(request.prompt), decoding).parse(body)
        check_response(response)
        return self._heard(response, request, marks)

    def inlined(self, prompt: Prompt) -> Prompt:
        """Return the prompt with its pictures, sounds and films as URLs; the same prompt where there are none.

        Raises:
            CallError: A file cannot be read, or the protocol has no place for a part.
        """
        if isinstance(prompt.payload, str):
            return prompt
        messages = with_inline_media(prompt.payload, films=self.inlines_films)
        if self.carries is not None and (others := types_of_parts(messages) - {"text", *self.carries}):
            what = f"a message holds {', '.join(sorted(others))}, which the server's protocol has no place for"
            raise CallError.of("engine", f"{what}; it takes {', '.join(['text', *self.carries])}")
        return prompt if messages is prompt.payload else Prompt(messages)

    async def _ask(self, caller: Caller, request: Generate) -> Response:
        _, decoding, marks = self._known(request)
        prompt, each = self.inlined(request.prompt), [decoding]
        if decoding.count > 1 and not self.has_n:
            each = singles(decoding)
        if (beginnings := self.beginnings) is None:
            if len(each) == 1:
                return self._heard(await self.send(caller, self.post(prompt, each[0])), request, marks)
            parts = [await self.send(caller, self.post(prompt, one)) for one in each]
        else:
            async with beginnings.turn(request.prompt) as shared:
                if self.beginnings is None:  # refused meanwhile
                    posts = [self.post(prompt, one) for one in each]
                else:
                    posts = [self.post(beginnings.with_mark(prompt, shared), one) for one in each]
                    posts = [post._replace(body=beginnings.marked(post.body, shared)) for post in posts]
                parts = [await self.send(caller, post) for post in posts]
        return self._heard(parts[0] if len(parts) == 1 else merged(parts), request, marks)

    def _heard(self, response: Response, request: Generate, stops: tuple[str, ...]) -> Response:
        """Return a response whose texts are answers, which end at stop strings that were not sent."""
        marks = self.thinking.marks
        by_name = not self.thinking.is_off
        opening = opening_of(request.prompt, marks, by_name=by_name, strings_are_messages=self.lays_out)
        if self.shows_thoughts:
            opening = replace(opening, is_shown=True)
        return cut_at(heard(response, marks, opening), stops)

    def _learn(self, message: str) -> bool:
        """Return whether a refusal says what to leave out, and leave it out from now on."""
        name, most = refused_field(message), stop_limit(message)
        if self.beginnings is not None and _SAYS_CACHE.search(message):
            get_logger().warning("'%s' takes no marks for its cache: it is asked without (%s)", self.model, message)
            self.beginnings, self.options = None, {**self.options}
            return True
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
            is_sent = "stop" not in drops and not self.thinking.is_wanted
            sent = tuple(stops[: self.options.get("max_stops")]) if is_sent else ()
            left_out = {
                name: None for name in ("top_p", "top_k") if name in drops and getattr(decoding, name) is not None
            }
            marks = () if sent == decoding.stop else tuple(mark for mark in decoding.stop if mark)
            if left_out or sent != decoding.stop:
                decoding = structs.replace(decoding, stop=sent, **left_out)
            decoding = self._for_thoughts(decoding)
            self._last = (request.decoding, decoding, marks)
        return self._last

    def _for_thoughts(self, decoding: Decoding) -> Decoding:
        """Return a decoding with room for thoughts, and with how hard to think."""
        room, said = self.thinking.allowance, self.thinking.body
        if room and decoding.max_tokens is not None:
            decoding = structs.replace(decoding, max_tokens=decoding.max_tokens + room)
        return structs.replace(decoding, extra={**said, **decoding.extra}) if said else decoding


def singles(decoding: Decoding) -> list[Decoding]:
    """Return the decoding of each of several answers, with seeds that differ."""
    seeds = [None if decoding.seed is None else decoding.seed + index for index in range(decoding.count)]
    return [structs.replace(decoding, count=1, seed=seed) for seed in seeds]


def named(decoding: Decoding, names: Mapping[str, str]) -> dict[str, Any]:
    """Return those of some fields that a decoding says, by the names that a server has for them; ``stop`` as a list."""
    said = ((theirs, getattr(decoding, ours)) for ours, theirs in names.items())
    return {name: list(value) if isinstance(value, tuple) else value for name, value in said if value not in (None, ())}


def merged(parts: Iterable[Response]) -> Response:
    """Return the responses to the parts of one request as one response."""
    found = list(parts)
    thoughts = tuple(text for part in found for text in part.thoughts or ("",) * len(part.texts))
    return Response(
        texts=tuple(text for part in found for text in part.texts),
        scores=tuple(score for part in found for score in part.scores),
        finish_reasons=tuple(reason for part in found for reason in part.finish_reasons),
        thoughts=thoughts if any(thoughts) else (),
        tokens=tuple(tokens for part in found for tokens in part.tokens),
        usage=sum((part.usage for part in found), Usage()),
        timing=Timing(found[0].timing.started, sum(part.timing.seconds for part in found)),
        model=found[0].model,
        way=next((part.way for part in found if part.way), ""),
    )
