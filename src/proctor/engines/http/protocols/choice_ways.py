"""Likelihoods of choices at the price of the question: what stands before them is read once, from the server's cache.

Echo reads context and choice anew for every choice: vLLM and SGLang skip their caches for the log-probabilities of a
prompt. The likelihood of what a model *writes* costs a step on the cached context. So a question is asked

* by one token, where each choice is one token behind the context: one request that names the tokens whose
  log-probabilities are wanted (vLLM's ``logprob_token_ids``, SGLang's ``token_ids_logprob``), or one request for each
  choice that lets the model write nothing else (vLLM's ``allowed_token_ids``);
* by suffix, where a choice has more tokens: from the last token of the context on (SGLang's ``logprob_start_len``).

Nothing of it is believed. Which tokens a text has says the server (``/tokenize``), and its reply has to name the same.
The first questions are asked both ways: only where the likelihoods are equal is a way taken, else everything is asked
by echo, and the results say why. Servers differ: versions before 2026 overlook ``logprob_token_ids``, and some
normalise over the tokens that are allowed, as all do under a grammar, which therefore is not a way.

Sources: vLLM's pull request 43463 (``logprob_token_ids`` on the OpenAI routes) and ``entrypoints/openai`` of 0.33
(``return_tokens_as_token_ids``, ``return_token_ids``); SGLang's ``GenerateReqInput`` (``managers/io_struct.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from proctor.engines.http.protocols.choice_servers import Asked, ContextError, Ids, Send, Way, read_tokens, ways_of
from proctor.engines.http.retrying_client import CallError
from proctor.ir import Response, Rolling, Score, Scored
from proctor.logs import get_logger

TRIALS = 3
"""Questions that are asked both ways."""
_LEAST, _SHARE = 0.02, 0.01
"""How far likelihoods of one model may lie apart: servers compute in half precision, in another order each time."""
_SHORTEST_TAIL = 3
_MOST_KEPT, _LONGEST_KEPT = 4096, 256
_LONGEST_WORD = 40
_BY_ECHO = "echo"
_UNSUITED = "unsuited"
_PASSING = frozenset({"timeout", "unreachable", "connection", "rate_limited", "server_error", _UNSUITED})
"""Kinds of failures that say nothing of what a server can do."""
ByEcho = Callable[[], Awaitable[Response]]


@dataclass
class Trial:
    """Whether a way gives what echo gives.

    Attributes:
        agreed: Questions for which it did.
        running: Questions that are being asked both ways.
        missed: Questions in a row that it could not answer since.
        reason: Why it is not taken; empty while it may be.
    """

    agreed: int = 0
    running: int = 0
    missed: int = 0
    reason: str = ""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def is_over(self) -> bool:
        """Whether it is known."""
        return bool(self.reason) or self.agreed >= TRIALS

    async def admitted(self) -> bool:
        """Wait until it is known, or a place is free to find out; return whether that place was taken."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.is_over or self.agreed + self.running < TRIALS)
            self.running += not self.is_over
            return not self.is_over

    async def conclude(self, reason: str | None) -> None:
        """Give the place back. ``None`` says nothing about the way, the empty text that it agreed."""
        async with self.changed:
            self.running -= 1
            self.agreed += reason == ""
            self.reason = self.reason or reason or ""
            self.changed.notify_all()


class ChoiceWays:
    """Asks a server for the likelihoods of choices in the cheapest way that gives what echo gives.

    Args:
        kind: Which server it is: ``vllm`` or ``sglang``.
        send: Posts to it.
        model: The model's name there.
        reasons: Of ways that were tried before and failed, by their names; what is found out is added.
        extra: Further fields of every body.
    """

    def __init__(
        self, kind: str, send: Send, model: str, reasons: dict[str, str], extra: Mapping[str, Any] | None = None
    ) -> None:
        self._send, self._model, self._extra = send, model, extra or {}
        self._ways = ways_of(kind)
        self._reasons = reasons
        self._trials = {way.name: Trial(reason=reasons.get(way.name, "")) for way in self._ways}
        self._tokens: dict[tuple[str, bool], asyncio.Task[Ids]] = {}
        self._first = asyncio.Lock()
        self._has_begun = False
        self._has_tails = True

    async def score(self, request: Score, by_echo: ByEcho) -> Response:
        """Return the likelihoods of a request; ``Response.way`` says how they were asked for.

        Raises:
            CallError: There is no answer.
        """
        if isinstance(request, Rolling) or all(trial.reason for trial in self._trials.values()):
            return self._named(await by_echo())
        spent = [echo] if (echo := await self._first_of_all(by_echo)) is not None else []
        try:
            asked = await self._asked(request)
        except CallError as error:
            asked = None
            if error.failure.kind not in _PASSING:
                self._give_up(f"the server does not say which tokens texts have ({error.failure.message})")
        for way in self._ways if asked is not None else ():
            if asked is not None and way.applies(asked) and not self._trials[way.name].reason:
                found = await self._tried(way, asked, spent, by_echo)
                if found is not None:
                    return found
        return self._named(spent[0] if spent else await by_echo())

    async def _first_of_all(self, by_echo: ByEcho) -> Response | None:
        """Ask the first question by echo before anything else: a server that cannot be asked is found out by it."""
        async with self._first:
            if self._has_begun:
                return None
            echo = await by_echo()
            self._has_begun = True
            return echo

    async def _tried(self, way: Way, asked: Asked, spent: list[Response], by_echo: ByEcho) -> Response | None:
        """Return the answer by a way, or that by echo while the way is on trial; ``None`` where it is not taken."""
        trial = self._trials[way.name]
        if not await trial.admitted():
            return None if trial.reason else await self._asked_by(way, asked)
        reason: str | None = None
        try:
            echo = spent[0] if spent else await by_echo()
            reason, found = await self._compared(way, asked, echo)
            spent[:] = [structs.replace(echo, usage=echo.usage + found.usage)]
        finally:
            await trial.conclude(reason)
        if reason:
            self._note(way, reason)
            return None
        return structs.replace(spent[0], way=_BY_ECHO)

    async def _compared(self, way: Way, asked: Asked, echo: Response) -> tuple[str | None, Response]:
        """Return why a way is not what echo is, as :meth:`Trial.conclude` takes it, and the answer that it gave."""
        try:
            found = await self._sent(way, asked)
        except CallError as error:
            passes = error.failure.kind in _PASSING
            return None if passes else error.failure.message, Response(usage=error.usage)
        return difference_of(found.scores, echo.scores, _BY_ECHO), found

    async def _asked_by(self, way: Way, asked: Asked) -> Response | None:
        trial = self._trials[way.name]
        try:
            found = await self._sent(way, asked)
        except CallError as error:
            if error.failure.kind == _UNSUITED:
                return None
            if error.failure.kind in _PASSING:
                raise
            trial.missed += 1
            if trial.missed >= TRIALS and not trial.reason:
                trial.reason = error.failure.message
                self._note(way, trial.reason)
            return None
        trial.missed = 0
        return structs.replace(found, way=way.name)

    async def _sent(self, way: Way, asked: Asked) -> Response:
        """Ask by a way; where the end of the context has other tokens within it, with the tokens of all of it."""
        if way.needs_context and asked.context is None:
            context = await self._ids(asked.text, special=True)
            is_end = context[len(context) - len(asked.tail) :] == asked.tail
            asked = asked._replace(context=context) if is_end else await self._whole(way, asked)
        try:
            return await way.ask(self._send, self._model, asked, self._extra)
        except ContextError:
            return await way.ask(self._send, self._model, await self._whole(way, asked), self._extra)

    async def _whole(self, way: Way, asked: Asked) -> Asked:
        self._has_tails = False
        whole = await self._tokenized(asked.text, asked.words, asked.text)
        if whole is None or not way.applies(whole):
            raise CallError.of(_UNSUITED, "a choice shares a token with its context")
        return whole

    # -- tokens ---------------------------------------------------------------------------------------------------

    async def _asked(self, request: Score) -> Asked | None:
        """Return a question with the tokens of its choices; ``None`` where it can only be asked by echo."""
        pairs = () if isinstance(request, Rolling) else request.pairs
        if any(pair.context.is_chat for pair in pairs) or len({pair.context.text for pair in pairs}) != 1:
            return None
        context, words = pairs[0].context.text, [pair.continuation for pair in pairs]
        bare = context.rstrip()
        if not bare or not self._may_pay(words):
            return None
        for text in dict.fromkeys((context, bare)):  # blanks at its end may belong to the choice's first token
            blanks = context[len(text) :]
            tail = _tail(text) if self._has_tails else text
            if (found := await self._tokenized(text, [blanks + word for word in words], tail)) is not None:
                return found
        return None

    def _may_pay(self, words: Sequence[str]) -> bool:
        """Whether the choices can be one token each, or there is a way for longer ones."""
        if any(not self._trials[way.name].reason for way in self._ways if way.takes_long):
            return True
        return all(len(word.split()) == 1 and len(word) <= _LONGEST_WORD for word in words)

    async def _tokenized(self, text: str, words: Sequence[str], tail: str) -> Asked | None:
        """Return the tokens of words behind a text, of which the end is looked at; ``None`` where they share one."""
        special = tail == text
        texts = [tail, *(tail + word for word in words)]
        before, *whole = await asyncio.gather(*(self._ids(each, special=special) for each in texts))
        if any(ids[: len(before)] != before or len(ids) == len(before) for ids in whole):
            return None
        ids = tuple(each[len(before) :] for each in whole)
        return Asked(text, tuple(words), before, ids, before if special else None)

    async def _ids(self, text: str, *, special: bool) -> Ids:
        """Return the tokens of a text, with those that stand before every text where ``special`` says so."""
        key = (text, special)
        if (task := self._tokens.get(key)) is None:
            task = asyncio.ensure_future(self._asked_for_tokens(text, special=special))
            if len(text) <= _LONGEST_KEPT and len(self._tokens) < _MOST_KEPT:
                self._tokens[key] = task
        try:
            return await task
        except CallError:
            self._tokens.pop(key, None)
            raise

    async def _asked_for_tokens(self, text: str, *, special: bool) -> Ids:
        body = {"model": self._model, "prompt": text, "add_special_tokens": special}
        found: Ids = (await self._send("/tokenize", body, read_tokens))[0]
        return found

    # -- what is said ---------------------------------------------------------------------------------------------

    def _note(self, way: Way, reason: str) -> None:
        if way.name in self._reasons:  # several were on trial
            return
        self._reasons[way.name] = reason
        get_logger().warning("choices of '%s' are not asked %s: %s", self._model, way.name, reason)

    def _give_up(self, reason: str) -> None:
        for way in self._ways:
            if not self._trials[way.name].reason:
                self._trials[way.name].reason = reason
                self._reasons[way.name] = reason
        get_logger().warning("choices of '%s' are asked by echo: %s", self._model, reason)

    def _named(self, response: Response) -> Response:
        """Return an answer by echo, with the reasons why no question is asked by one token."""
        short = dict.fromkeys(self._trials[way.name].reason for way in self._ways if not way.takes_long)
        said = response.way or _BY_ECHO
        if all(short):
            said += f": {'; '.join(short)}"
        return structs.replace(response, way=said)


def difference_of(found: Sequence[Scored], usual: Sequence[Scored], way: str) -> str:
    """Say where likelihoods differ from those that the usual way gives by more than the precision of a server."""
    for one, other in zip(found, usual, strict=True):
        here, there = one.log_likelihood, other.log_likelihood
        if not abs(here - there) <= _LEAST + _SHARE * abs(there):
            return f"it gives {here:.4f} where {way} gives {there:.4f}"
    return ""


def _tail(text: str) -> str:
    """Return the last line of a text that has words; tokens do not reach over the ends of lines as a rule."""
    end = len(text.rstrip())
    start = text.rfind("\n", 0, max(0, end - _SHORTEST_TAIL)) + 1
    return text[start:]
