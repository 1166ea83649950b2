"""Counts answers on their way to the grader, and their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from proctor.ir import Usage, total_usage
from proctor.recipes.exam import Answered
from proctor.recipes.fingerprint import FingerprintMaker
from proctor.running.budget import Price, PriceTable
from proctor.running.latency import Latency
from proctor.scoring.grading.answer_endings import Endings

_DIGITS = 6  # of dollars: a thousandth of what one short answer of the cheapest models costs


class Tally:
    """Counts answered items, their tokens and how they ended, as they pass.

    Args:
        blocks: The items, some at a time.

    Attributes:
        count: Items so far.
        usage: Their tokens.
        endings: How their answers ended.
        maker: Makes the fingerprint of what was asked.
        latency: How long their answers took.
        models: How many of their answers each model gave, by the names in replies.
    """

    def __init__(self, blocks: Iterable[Sequence[Answered]]) -> None:
        self._blocks = blocks
        self.count = 0
        self.usage = Usage()
        self.endings = Endings()
        self.maker = FingerprintMaker()
        self.latency = Latency()
        self.models: Counter[str] = Counter()

    def blocks(self) -> Iterator[Sequence[Answered]]:
        """Yield the items."""
        for block in self._blocks:
            self.count += len(block)
            self.maker.add_all([each.question for each in block])
            self.usage = total_usage(chain([self.usage], [each.usage for own in block for each in own.responses]))
            for each in block:
                self.endings.count(each)
                self.latency.add(each.question.requests, each.responses)
                self.models.update([response.model for response in each.responses if response.model])
            yield block


def cost_of(price: Price, table: PriceTable, every: Usage, asked: Usage) -> dict[str, Any]:
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
        "usd": round(price.cost(every), _DIGITS),
        "usd_of_this_run": round(price.cost(asked), _DIGITS),
        **_parts(price, every),
        "usd_per_million_tokens": price.as_data(),
        "prices_of": table.date,
    }
    return {**found, "source": table.source} if table.source else found


def _parts(price: Price, usage: Usage) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if usage.thinking_tokens:
        parts["usd_thinking"] = round(price.cost_of_thinking(usage), _DIGITS)
    if usage.cached_tokens:
        cached = price.cost_of_cached(usage)
        parts["usd_cached"] = None if cached is None else round(cached, _DIGITS)
        if cached is None:
            parts["usd_is_at_most"] = True
            parts["why"] = (
                f"what {usage.cached_tokens:,} tokens from the provider's cache cost is not known: they are reckoned "
                "as if they were not cached"
            )
    return parts
