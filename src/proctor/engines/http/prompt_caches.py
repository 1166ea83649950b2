"""Marks in prompts for the caches of providers: where a beginning ends that other questions have, too.

A provider that bills what is written to its cache caches only up to a mark (Anthropic, Amazon Bedrock, OpenAI from
GPT-5.6 on). A mark is set behind the system prompt or the demonstrations where a second question begins alike: one
write at 1.25 times the price and one read at a tenth cost less than two readings. The first question of a beginning
goes alone, since what is being written cannot be read yet. OpenAI writes the newest message of every request by
itself, which no other question has: it is told not to.

Messages are marked at their ends and never divided, so that the model reads what it would read without marks.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from typing import Any, NamedTuple

from proctor.engines.http.providers import PromptCache
from proctor.ir import Generate, Message, Prompt

_BYTES_PER_TOKEN = 4
"""English has four to five: a mark behind fewer tokens than the provider keeps is without effect, and costs nothing."""
_MOST_KNOWN = 100_000
"""Beginnings that are remembered; those of 20,000 questions with five demonstrations of their own."""
_SECOND_SECONDS = 0.05
"""How long the first question of a beginning waits for a second one to be read."""
_PATIENCE = 32
"""Beginnings in a row that had no second question: from then on nobody waits for one."""
_BEGUN_SECONDS = 10.0
"""After which an answer has begun, and its prompt is kept, however long the answer becomes."""
_KEPT_SECONDS = 240.0
"""After which a beginning that nobody read may be gone: providers keep it for five minutes at least."""
_MARKS: Mapping[str, Mapping[str, Any]] = {
    "anthropic": {"cache_control": {"type": "ephemeral"}},
    "openai": {"prompt_cache_breakpoint": {"mode": "explicit"}},
}
CACHE_POINT = {"cachePoint": {"type": "default"}}
"""Bedrock's mark: a part of its own behind what is cached."""


class Beginning(NamedTuple):
    """The beginning of a prompt.

    Attributes:
        end: How many of its messages.
        key: A digest of them.
        size: Bytes of their texts.
    """

    end: int
    key: bytes
    size: int


class Beginnings:
    """The beginnings of the prompts of a run, and where among them marks are set.

    Args:
        rule: What the provider caches, and how it is told.
    """

    def __init__(self, rule: PromptCache) -> None:
        self._rule = rule
        self._counts: Counter[bytes] = Counter()
        self._first: dict[bytes, asyncio.Event] = {}
        self._used: dict[bytes, float] = {}
        self._alone = 0

    def noted(self, requests: Iterable[Generate]) -> Iterator[Generate]:
        """Yield requests, and remember how they begin."""
        for request in requests:
            self.note(request.prompt)
            yield request

    def note(self, prompt: Prompt) -> None:
        """Remember how a prompt begins."""
        if len(self._counts) > _MOST_KNOWN:
            self._counts.clear()
        self._counts.update(each.key for each in self._of(prompt))

    def _longest(self, beginnings: Sequence[Beginning]) -> Beginning | None:
        """Return the longest beginning that another prompt has, too."""
        return next((each for each in reversed(beginnings) if self._counts[each.key] > 1), None)

    def sizes(self, prompts: Sequence[Prompt]) -> tuple[int, int]:
        """Return how many bytes of prompts are written to the cache, and how many are then found there."""
        for prompt in prompts:
            self.note(prompt)
        shared = [found for prompt in prompts if (found := self._longest(self._of(prompt))) is not None]
        written = sum({each.key: each.size for each in shared}.values())
        return written, sum(each.size for each in shared) - written

    def _of(self, prompt: Prompt) -> list[Beginning]:
        """Return the beginnings that are long enough, shortest first; a question is none."""
        if isinstance(prompt.payload, str):
            return []
        found, size, digest = [], 0, blake2b(digest_size=16)
        for end, message in enumerate(prompt.payload[:-1], 1):
            text = message.get("content")
            if not isinstance(text, str) or message.get("tool_calls"):
                break
            digest.update(f"{message['role']}\0{len(text)}\0{text}".encode("utf-8", "replace"))
            size += len(text.encode("utf-8", "replace"))
            if text and size >= self._rule.least * _BYTES_PER_TOKEN:
                found.append(Beginning(end, digest.digest(), size))
        return found

    @asynccontextmanager
    async def turn(self, prompt: Prompt) -> AsyncIterator[Beginning | None]:
        """Wait until a prompt may be sent, and yield how much of it is marked."""
        beginnings = self._of(prompt)
        chosen = self._longest(beginnings)
        if chosen is None and self._alone < _PATIENCE and beginnings:
            await asyncio.sleep(_SECOND_SECONDS)
            chosen = self._longest(beginnings)
            self._alone = self._alone + 1 if chosen is None else 0
        if chosen is None:
            yield None
            return
        now = asyncio.get_running_loop().time()
        is_first = now - self._used.get(chosen.key, -_KEPT_SECONDS) >= _KEPT_SECONDS
        self._used[chosen.key] = now
        if not is_first:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._first[chosen.key].wait(), _BEGUN_SECONDS)
            yield chosen
            return
        self._first[chosen.key] = asyncio.Event()
        try:
            yield chosen
        finally:
            self._first[chosen.key].set()

    def marked(self, body: Mapping[str, Any], beginning: Beginning | None) -> Mapping[str, Any]:
        """Return the body of a post as the provider wants it, where the messages are not those with the mark."""
        if self._rule.marks != "openai":
            return body
        key = {} if beginning is None else {"prompt_cache_key": f"proctor-{beginning.key.hex()}"}
        return {**body, "prompt_cache_options": {"mode": "explicit"}, **key}

    def with_mark(self, prompt: Prompt, beginning: Beginning | None) -> Prompt:
        """Return a prompt whose beginning ends with the provider's mark."""
        if beginning is None:
            return prompt
        return Prompt(_marked(prompt.messages, beginning.end - 1, self._rule.marks))


def _marked(messages: Sequence[Message], place: int, marks: str) -> list[Message]:
    text = {"type": "text", "text": messages[place]["content"]}
    parts = [text, CACHE_POINT] if marks == "bedrock" else [{**text, **_MARKS[marks]}]
    return [*messages[:place], {**messages[place], "content": parts}, *messages[place + 1 :]]


def marks_of_system(messages: Iterable[Message]) -> list[Mapping[str, Any]]:
    """Return the marks behind the system prompt, for protocols that send it apart: its fields, or a part."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    if not system or isinstance(system[-1], str):
        return []
    *_, last = system[-1]
    if last is CACHE_POINT:
        return [last]
    fields = {name: value for name, value in last.items() if name not in ("type", "text")}
    return [fields] if fields else []
