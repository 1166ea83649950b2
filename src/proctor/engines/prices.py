"""What answers cost: a dated table of prices (``prices.json``), and a budget that stops a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from proctor.errors import UsageError
from proctor.ir import Response, Usage

_MILLION = 1_000_000


class Price(Struct, frozen=True):
    """US dollars for a million tokens, read and written."""

    input: float
    output: float

    def cost_usd(self, usage: Usage) -> float:
        """Return what an answer cost."""
        return (usage.prompt_tokens * self.input + usage.completion_tokens * self.output) / _MILLION


class PriceTable(Struct, frozen=True):
    """Prices on one day.

    Attributes:
        date: The day, ``YYYY-MM-DD``.
        note: Where the prices come from.
        prices: By name of the model.
    """

    date: str
    note: str
    prices: Mapping[str, Price]

    def price_of(self, model: str) -> Price | None:
        """Return the price of a model: of its exact name, or of the name without provider and date."""
        names = (model, model.rpartition("/")[2], _undated(model.rpartition("/")[2]))
        return next((self.prices[name] for name in names if name in self.prices), None)


@cache
def price_table() -> PriceTable:
    """Return the table that comes with this version."""
    return msgspec.json.decode(files("proctor.engines").joinpath("prices.json").read_bytes(), type=PriceTable)


def _undated(name: str) -> str:
    return re.sub(r"[-@](\d{4}-?\d{2}-?\d{2}|latest)$", "", name)


class SpendingLimit:
    """A budget for a run, in US dollars, tokens, or both.

    Args:
        model: Name of the model, to look up its price.
        usd: Most dollars; ``None`` is no limit.
        tokens: Most tokens, read and written together; ``None`` is no limit.
        price: The price, where the table does not know the model.

    Raises:
        UsageError: A limit in dollars for a model without a price.
    """

    def __init__(
        self, model: str, usd: float | None = None, tokens: int | None = None, price: Price | None = None
    ) -> None:
        self.usage = Usage()
        self._usd = usd
        self._tokens = tokens
        self._price = price or price_table().price_of(model)
        if usd is not None and self._price is None:
            raise UsageError(
                f"a budget in dollars needs the price of '{model}', which is not in the table of {price_table().date}",
                hint="use --budget-tokens",
            )

    @property
    def cost_usd(self) -> float | None:
        """Dollars spent so far; ``None`` where the price is not known."""
        return self._price.cost_usd(self.usage) if self._price else None

    def spend(self, response: Response) -> None:
        """Count what an answer cost."""
        used = response.usage
        self.usage = Usage(
            self.usage.prompt_tokens + used.prompt_tokens, self.usage.completion_tokens + used.completion_tokens
        )

    @property
    def exhausted(self) -> str | None:
        """Why nothing more may be asked, or ``None``."""
        total = self.usage.prompt_tokens + self.usage.completion_tokens
        if self._tokens is not None and total >= self._tokens:
            return f"the budget of {self._tokens:,} tokens is spent ({total:,} tokens)"
        cost = self.cost_usd
        if self._usd is not None and cost is not None and cost >= self._usd:
            return f"the budget of ${self._usd:g} is spent (${cost:.4f} at the prices of {price_table().date})"
        return None

    def summary(self) -> dict[str, float | int | str | None]:
        """Return tokens, dollars, and the date of the prices, for results."""
        return {
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "cost_usd": self.cost_usd,
            "prices_of": price_table().date if self._price else None,
        }
