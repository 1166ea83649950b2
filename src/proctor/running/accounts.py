"""Counts answers on their way to the grader, and their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from proctor.ir import BATCHED, Response, Usage, total_usage
from proctor.lazy import Deferred
from proctor.recipes.exam import Answered
from proctor.recipes.fingerprint import FingerprintMaker
from proctor.running.budget import Price, PriceTable, provider_of
from proctor.running.latency import Latency
from proctor.running.log import Key
from proctor.running.plan import Block
from proctor.scoring.grading.answer_endings import Endings

if TYPE_CHECKING:
    import numpy as np

    from proctor.running.progress import Progress
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


class Sent(NamedTuple):
    """The tokens of requests; one that stands in several exams was sent once.

    Attributes:
        usage: All of them.
        batched: Those that came in a provider's batch.
        long: Those of requests whose prompts cost more, for they are long.
        long_batched: Those that are both.
    """

    usage: Usage = Usage()
    batched: Usage = Usage()
    long: Usage = Usage()
    long_batched: Usage = Usage()

    @classmethod
    def of(cls, responses: Iterable[Response], above: int | None) -> Sent:
        """Return the tokens of requests, by their answers.

        Args:
            responses: The answers.
            above: Tokens of a prompt from which on a request costs more, if any.
        """
        every = [(each.usage, each.way == BATCHED) for each in responses]
        long = [each for each in every if above is not None and each[0].of_answer[0] > above]
        kinds = (every, [each for each in every if each[1]], long, [each for each in long if each[1]])
        return cls(*(total_usage([usage for usage, _ in kind]) for kind in kinds))

    @classmethod
    def in_run(cls, progress: Progress) -> Sent:
        """Return the tokens of the requests that a run has sent."""
        return cls(progress.usage, progress.batched, progress.long, progress.long_batched)

    def with_those_of(self, other: Sent) -> Sent:
        """Return them together with others."""
        return Sent(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def cost(self, price: Price) -> float:
        """Return what they cost, in US dollars."""
        batched = price.saved(self.batched) - price.saved(self.long_batched) + price.longer.saved(self.long_batched)
        return _by_length(price, Price.cost, self.usage, self.long) - batched


def cost_of_responses(responses: Iterable[Response], table: PriceTable, asked: str) -> float | None:
    """Return what the responses behind an answer cost in US dollars; ``None`` where nobody knows.

    Each has the price of the model that its reply names, at the provider that is asked.

    Args:
        responses: The responses.
        table: The prices.
        asked: What tables of prices call the model that is asked.
    """
    provider, total = provider_of(asked.partition("/")[0]), 0.0
    for each in responses:
        price = table.price_of(f"{provider}/{each.model}" if provider else each.model) if each.model else None
        if price is None:
            return None
        total += Sent.of([each], price.above).cost(price)
    return total


def _by_length(price: Price, cost: Callable[[Price, Usage], float], usage: Usage, long: Usage) -> float:
    """Return a cost of tokens some of which are those of long prompts."""
    return cost(price, usage) - cost(price, long) + cost(price.longer, long)


class Tally:
    """Counts answered items, their tokens and how they ended, as they pass.

    Args:
        blocks: The items, some at a time.
        anywhere: The requests of the exams before: equal ones are sent once.
        above: Tokens of a prompt from which on a request costs more, if any.

    Attributes:
        items: The items.
        count: Items so far.
        usage: The tokens of the requests that were sent for them.
        sent: Those of the requests that stood in no exam before.
        endings: How their answers ended.
        maker: Makes the fingerprint of what was asked.
        latency: How long their answers took.
        models: How many of their answers each model gave, by the names in replies.
        ways: How many of their likelihoods were asked for in which way, where there are several.
    """

    def __init__(
        self, blocks: Iterable[Sequence[Answered]] = (), anywhere: Distinct | None = None, above: int | None = None
    ) -> None:
        self.items = blocks
        self._above = above
        self._here, self._anywhere = Distinct(), anywhere or Distinct()
        self._first: list[bool] | None = None
        self._new: list[bool] = []
        self.count = 0
        self.usage = Usage()
        self.sent = Sent()
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
            self.usage = total_usage([self.usage, *compress(usages, first)])
            self.sent = self.sent.with_those_of(Sent.of(compress(responses, new), self._above))
            requests = [request for each in block for request in each.question.requests]
            self.latency.add(compress(requests, first), compress(responses, first))
            for each in block:
                self.endings.count(each)
                self.models.update([response.model for response in each.responses if response.model])
                self.ways.update([response.way for response in each.responses if response.way])
            yield block


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
        "usd": round(every.cost(price), _DIGITS),
        **cost_parts(price, asked, every),
        "usd_per_million_tokens": price.as_data(),
        "prices_of": table.date,
    }
    return {**found, "source": table.source} if table.source else found


def cost_parts(price: Price, asked: Sent, every: Sent | None = None) -> dict[str, Any]:
    """Return what requests cost, what of it went where, and which bound it is where not all is known.

    Args:
        price: What the model costs.
        asked: The tokens of what this run asked for.
        every: Those of all answers, whenever they were given.
    """
    every = every or asked
    usd = {"usd_of_this_run": round(asked.cost(price), _DIGITS)}
    return {**usd, **_parts(price, every.usage, every.long), **_said_of_batches(price, every)}


def _said_of_batches(price: Price, every: Sent) -> dict[str, Any]:
    if not every.batched.prompt_tokens:
        return {}
    if price.batch is None:
        return {"usd_is_at_most": True, "why": "what answers of batches cost is not known: they count as others do"}
    saved = every.cost(structs.replace(price, batch=None)) - every.cost(price)
    return {"usd_saved_by_batches": round(saved, _DIGITS)}


def _parts(price: Price, usage: Usage, long: Usage) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if usage.thinking_tokens:
        parts["usd_thinking"] = round(_by_length(price, Price.cost_of_thinking, usage, long), _DIGITS)
    bounds, why = set(), []
    for kind, (count, usd) in price.costs_of_kinds(usage).items():
        words = kind.removesuffix("_tokens")
        own = partial(Price.cost_of_kind, kind=kind)
        parts[f"usd_{words}"] = None if usd is None else round(_by_length(price, own, usage, long), _DIGITS)
        if usd is None:
            bounds.add("usd_is_at_most" if words == "cached" else "usd_is_at_least")
            said = "tokens from the provider's cache" if words == "cached" else kind
            why.append(f"what {count:,} {said} cost is not known: they are reckoned as others are")
    if usage.lost_prompt_tokens or usage.lost_completion_tokens:
        parts["usd_lost"] = round(_by_length(price, Price.cost_of_lost, usage, long), _DIGITS)
    if usage.unknown_attempts:
        bounds.add("usd_is_at_least")
        attempts = "1 attempt" if usage.unknown_attempts == 1 else f"{usage.unknown_attempts:,} attempts"
        why.append(f"{attempts} ended without a reply, and nobody said what that cost")
    if long.prompt_tokens:
        parts["usd_long_prompts"] = round(price.longer.cost(long) - price.cost(long), _DIGITS)
        if price.above_output_times is None and long.completion_tokens:
            bounds.add("usd_is_at_most")
            said = f"what is written after prompts of more than {price.above:,} tokens is reckoned at"
            why.append(f"{said} {price.above_times or 1.0:g} times the price, as what they read: nobody knows")
    if why:  # where one kind costs less than reckoned and another more, nobody knows on which side the truth is
        parts |= dict.fromkeys(bounds, True) if len(bounds) == 1 else {"usd_is_about": True}
        parts["why"] = "; ".join(why)
    return parts
