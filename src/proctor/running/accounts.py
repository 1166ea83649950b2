"""Counts answers on their way to the grader, and their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from proctor.ir import BATCHED, Usage, total_usage
from proctor.lazy import Deferred
from proctor.recipes.exam import Answered
from proctor.recipes.fingerprint import FingerprintMaker
from proctor.running.budget import Price, PriceTable
from proctor.running.latency import Latency
from proctor.running.log import Key
from proctor.running.plan import Block
from proctor.scoring.grading.answer_endings import Endings

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")

_RECENT = 1 << 16  # keys in a set, of a hundred bytes each, before they are put in order
_DIGITS = 6  # of dollars: a thousandth of what one short answer of the cheapest models costs


class Distinct:
    """The keys of requests that were met so far; it takes eight bytes for each of many."""

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._rest: np.ndarray[Any, np.dtype[np.uint64]] | None = None

    def first_times(self, keys: Sequence[Key]) -> list[bool]:
        """Return which of the keys are met for the first time, and keep them all."""
        short = [int.from_bytes(key.request[:8]) ^ key.repeat for key in keys]
        known, recent, found = self._known(short), self._recent, []
        for number, is_known in zip(short, known, strict=True):
            found.append(not is_known and number not in recent)
            recent.add(number)
        if len(recent) > _RECENT:
            more = np.fromiter(recent, np.uint64, len(recent))
            self._rest = more if self._rest is None else np.concatenate([self._rest, more])
            self._rest.sort()
            recent.clear()
        return found

    def _known(self, short: list[int]) -> Sequence[bool]:
        if self._rest is None:
            return [False] * len(short)
        wanted = np.array(short, np.uint64)
        places = np.minimum(np.searchsorted(self._rest, wanted), len(self._rest) - 1)
        is_known: list[bool] = (self._rest[places] == wanted).tolist()
        return is_known


class Tally:
    """Counts answered items, their tokens and how they ended, as they pass.

    Args:
        blocks: The items, some at a time.
        anywhere: The requests of the exams before: equal ones are sent once.

    Attributes:
        items: The items.
        count: Items so far.
        usage: The tokens of the requests that were sent for them.
        longest: Tokens of the longest prompt.
        new: Those of the requests that stood in no exam before.
        batched: Those among these whose answers came in a provider's batch.
        endings: How their answers ended.
        maker: Makes the fingerprint of what was asked.
        latency: How long their answers took.
        models: How many of their answers each model gave, by the names in replies.
        ways: How many of their likelihoods were asked for in which way, where there are several.
    """

    def __init__(self, blocks: Iterable[Sequence[Answered]] = (), anywhere: Distinct | None = None) -> None:
        self.items = blocks
        self._here, self._anywhere = Distinct(), anywhere or Distinct()
        self._first: list[bool] | None = None
        self._new: list[bool] = []
        self.count = 0
        self.usage = self.new = self.batched = Usage()
        self.longest = 0
        self.endings = Endings()
        self.maker = FingerprintMaker()
        self.latency = Latency()
        self.models: Counter[str] = Counter()
        self.ways: Counter[str] = Counter()

    def noted(self, asked: Iterable[Block]) -> Iterator[Block]:
        """Yield what :attr:`items` is made of, one after the other, and note which requests are met the first time."""
        for block in asked:
            keys = [entry.key for entries in block[1] for entry in entries]
            self._first, self._new = self._here.first_times(keys), self._anywhere.first_times(keys)
            yield block

    def blocks(self) -> Iterator[Sequence[Answered]]:
        """Yield the items."""
        for block in self.items:
            self.count += len(block)
            self.maker.add_all([each.question for each in block])
            responses = [response for each in block for response in each.responses]
            every = [True] * len(responses)
            first, new = (every, every) if self._first is None else (self._first, self._new)
            usages = [response.usage for response in responses]
            self.longest = max([self.longest, *(usage.of_answer[0] for usage in usages)])
            self.usage = total_usage([self.usage, *compress(usages, first)])
            self.new = total_usage([self.new, *compress(usages, new)])
            batched = [
                each.usage for each, is_new in zip(responses, new, strict=True) if is_new and each.way == BATCHED
            ]
            self.batched = total_usage([self.batched, *batched])
            requests = [request for each in block for request in each.question.requests]
            self.latency.add(compress(requests, first), compress(responses, first))
            for each in block:
                self.endings.count(each)
                self.models.update([response.model for response in each.responses if response.model])
                self.ways.update([response.way for response in each.responses if response.way])
            yield block


class Sent(NamedTuple):
    """The tokens of requests; one that stands in several exams was sent once.

    Attributes:
        usage: All of them.
        batched: Those that came in a provider's batch.
        longest: Those of the longest prompt.
    """

    usage: Usage = Usage()
    batched: Usage = Usage()
    longest: int = 0

    def with_those_of(self, tally: Tally) -> Sent:
        """Return them together with those of another exam."""
        return Sent(self.usage + tally.new, self.batched + tally.batched, max(self.longest, tally.longest))


def cost_of(price: Price, table: PriceTable, every: Sent, asked: Sent) -> dict[str, Any]:
    """Return the cost of a run at list prices, as JSON-like data.

    Thoughts and tokens read from a provider's cache have entries of their own, where there are some; both are part of
    the whole.

    Args:
        price: What the model costs.
        table: Where that is from.
        every: The tokens of all answers, whenever they were given.
        asked: Those of the answers that this run asked for.
    """
    found = {
        "usd": round(price.cost(every.usage) - price.saved(every.batched), _DIGITS),
        "usd_of_this_run": round(price.cost(asked.usage) - price.saved(asked.batched), _DIGITS),
        **_parts(price, every.usage, every.longest),
        **_said_of_batches(price, every.batched),
        "usd_per_million_tokens": price.as_data(),
        "prices_of": table.date,
    }
    return {**found, "source": table.source} if table.source else found


def _said_of_batches(price: Price, batched: Usage) -> dict[str, Any]:
    if not batched.prompt_tokens:
        return {}
    if price.batch is None:
        return {"usd_is_at_most": True, "why": "what answers of batches cost is not known: they count as others do"}
    return {"usd_saved_by_batches": round(price.saved(batched), _DIGITS)}


def _parts(price: Price, usage: Usage, longest: int) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if usage.thinking_tokens:
        parts["usd_thinking"] = round(price.cost_of_thinking(usage), _DIGITS)
    bounds, why = set(), []
    for kind, (count, usd) in price.costs_of_kinds(usage).items():
        words = kind.removesuffix("_tokens")
        parts[f"usd_{words}"] = None if usd is None else round(usd, _DIGITS)
        if usd is None:
            bounds.add("usd_is_at_most" if words == "cached" else "usd_is_at_least")
            said = "tokens from the provider's cache" if words == "cached" else kind
            why.append(f"what {count:,} {said} cost is not known: they are reckoned as others are")
    if usage.lost_prompt_tokens or usage.lost_completion_tokens:
        lost = Usage(usage.lost_prompt_tokens, usage.lost_completion_tokens)
        parts["usd_lost"] = round(price.cost(lost), _DIGITS)
    if usage.unknown_attempts:
        bounds.add("usd_is_at_least")
        attempts = "1 attempt" if usage.unknown_attempts == 1 else f"{usage.unknown_attempts:,} attempts"
        why.append(f"{attempts} ended without a reply, and nobody said what that cost")
    if price.times(longest) > 1.0:
        bounds.add("usd_is_at_least")
        dearer = f"prompts of more than {price.above:,} tokens cost up to {price.above_times:g} times as much"
        why.append(f"{dearer}, and the longest has {longest:,}: all are reckoned as shorter ones are")
    if why:  # where one kind costs less than reckoned and another more, nobody knows on which side the truth is
        parts |= dict.fromkeys(bounds, True) if len(bounds) == 1 else {"usd_is_about": True}
        parts["why"] = "; ".join(why)
    return parts
