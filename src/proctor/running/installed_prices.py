"""Prices of the package ``genai-prices``, where it is installed: newer than a table that comes with a release.

Its prices by the million are taken over, with the step from which long prompts cost more; what it does not say (shares
of batches) stays as the table has it, where both agree on the price of tokens read and written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Final

from msgspec import structs

from proctor.running.budget import Price, PriceTable, provider_of

_PACKAGE: Final = "genai_prices"
_PROVIDERS: Final[Mapping[str, str]] = {
    "open-ai": "openai", "anthropic": "anthropic", "azure": "azure", "aws": "aws", "vertex-ai": "google",
    "groq": "groq", "mistral": "mistral", "deepseek": "deepseek", "openrouter": "openrouter", "together-ai": "together",
    "gemini": "google", "xai": "x-ai", "fireworks": "fireworks", "cerebras": "cerebras", "cohere": "cohere",
    "moonshot": "moonshotai", "perplexity": "perplexity", "zai": "zai", "minimax": "minimax",
}  # fmt: skip
"""Its names of providers, by ours."""
_MAKERS: Final = ((re.compile(r"(gpt-|o\d|chatgpt-)"), "openai"), (re.compile("claude-"), "anthropic"))
"""Whose models are meant where no provider is named: a server of one's own may have a model of any other name."""
_FIELDS: Final = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_hour": "cache_write_1h_mtok",
    "audio_input": "input_audio_mtok",
    "audio_output": "output_audio_mtok",
}


class InstalledPrices(PriceTable, frozen=True):
    """A price table behind that of the package."""

    def _listed(self, model: str) -> Price | None:
        """Return the price of a model as the package has it, else as the table does."""
        own, found = super()._listed(model), _found(model)
        if found is None or own is None or (own.input, own.output) != (found.input, found.output):
            return found or own
        lacking = {name: value for name, value in own.as_data().items() if getattr(found, name) is None}
        return structs.replace(found, **lacking)


def with_installed(table: PriceTable) -> PriceTable:
    """Return a table with the prices of the package before it, where that is installed."""
    if find_spec(_PACKAGE) is None:
        return table
    source = f"genai-prices {version('genai-prices')}; of models that it does not have: {table.source}"
    return InstalledPrices(table.date, table.models, table.providers, source, table.batches)


@cache
def _found(model: str) -> Price | None:
    head, _, rest = model.partition("/")
    provider = _PROVIDERS.get(provider_of(head) or "")
    if provider is None:
        rest = model
        provider = next((name for pattern, name in _MAKERS if pattern.match(model.lower())), None)
    if provider is None:  # importing the package takes longer than a small exam
        return None
    from genai_prices import Usage, calc_price

    try:
        prices = calc_price(Usage(input_tokens=1), model_ref=rest, provider_id=provider).model_price
    except LookupError:
        return None
    return _price({name: getattr(prices, theirs, None) for name, theirs in _FIELDS.items()})


def _price(given: Mapping[str, Any]) -> Price | None:
    """Return a price; values are numbers, or have a base and steps (``tiers``: ``start``, ``price``)."""
    base: dict[str, Any] = {name: float(getattr(p, "base", p)) for name, p in given.items() if p is not None}
    if not {"input", "output"} <= base.keys():
        return None
    steps = {name: (float(tier.start), float(tier.price)) for name, each in given.items() for tier in _first_of(each)}
    if (read := steps.get("input")) is None or not base["input"]:
        return Price(**base)
    more: dict[str, Any] = {"above": int(read[0]), "above_times": read[1] / base["input"]}
    if (written := steps.get("output")) is not None and written[0] == read[0] and base["output"]:
        more["above_output_times"] = written[1] / base["output"]
    return Price(**base, **more)


def _first_of(price: Any) -> list[Any]:
    return sorted(getattr(price, "tiers", ()), key=lambda tier: float(tier.start))[:1]
