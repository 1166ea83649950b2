"""Cost of a run, and stopping before it exceeds a budget.

Prices change and this package does not: the table that comes with it has a date, which is written into the results,
and a file of one's own replaces it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct, structs

from proctor.errors import Location, UsageError, reason_of
from proctor.ir import BATCHED, Generate, Response, Score, Usage
from proctor.running.reckoning import Claim, Reckoner
from proctor.safe_files import Stamp, stamp_of

if TYPE_CHECKING:
    from proctor.engines.engine import Engine
    from proctor.running.log import ResponseLog
    from proctor.running.shared_means import Pool

_MILLION = 1_000_000  # prices are given for a million tokens
_REGION = re.compile(r"^(us|us-gov|eu|apac|jp|au|ca|global)\.(?=[a-z0-9]+\.)")
"""In front of a Bedrock id: an inference profile, billed as the model."""
_VERSION_SUFFIX = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest|\d{4})$")


_BY_TOKENS = ("input", "output", "cached_input", "cache_write", "cache_write_hour", "audio_input", "audio_output")
"""The prices of tokens, which a long prompt multiplies."""

_KINDS = (
    ("cached_tokens", "cached_input", "prompt_tokens", "input", 1.0),
    ("cache_write_tokens", "cache_write", "prompt_tokens", "input", 2.0),  # OpenAI 1.25, Anthropic 1.25 and 2
    ("cache_write_hour_tokens", "cache_write_hour", "prompt_tokens", "input", 2.0),
    ("audio_prompt_tokens", "audio_input", "prompt_tokens", "input", 67.0),  # gpt-4o-mini-audio: 0.15 and 10
    ("audio_completion_tokens", "audio_output", "completion_tokens", "output", 34.0),  # the same: 0.6 and 20
)
"""Kinds of tokens with a price of their own: the field of usage that counts them, that of their price, the field that
they are a part of, the price that they have where theirs is not known, and how many times that they cost at most."""


class Price(Struct, frozen=True, omit_defaults=True):
    """US dollars for a million tokens.

    Attributes:
        input: Of tokens read.
        output: Of tokens written, thoughts included.
        cached_input: Of tokens read that the provider had in its cache; ``None`` where nobody knows.
        cache_write: Of tokens read that the provider put into its cache.
        cache_write_hour: Of those that it keeps there for an hour.
        audio_input, audio_output: Of sound, read and written.
        batch: The share of all these prices that answers of a batch cost.
        above: Tokens of a prompt from which on a request costs more.
        above_times: How many times as much what it reads costs, and at most what it writes.
        above_output_times: How many times as much what it writes costs; ``None`` where nobody knows.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    cache_write_hour: float | None = None
    audio_input: float | None = None
    audio_output: float | None = None
    batch: float | None = None
    above: int | None = None
    above_times: float | None = None
    above_output_times: float | None = None

    def of(self, prompt: int) -> Price:
        """Return the price of a request, by the tokens of its prompt."""
        return self if self.above is None or prompt <= self.above else self.longer

    @property
    def longer(self) -> Price:
        """The price of requests whose prompts are long."""
        read = self.above_times or 1.0
        written = self.above_output_times or read
        own = {name: value for name in _BY_TOKENS if (value := getattr(self, name)) is not None}
        return structs.replace(self, **{n: each * (written if "output" in n else read) for n, each in own.items()})

    def cost(self, usage: Usage, *, dearest: bool = False) -> float:
        """Return the cost of tokens, in US dollars.

        Args:
            usage: How many of which kind.
            dearest: Whether to reckon with the most that a kind may cost whose price is not known; if not, it counts
                as other tokens read or written do.
        """
        left = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
        total = 0.0
        for (_, price, whole, base, most), count in self._kinds(usage):
            left[whole] -= count
            own = getattr(self, price)
            total += count * (own if own is not None else getattr(self, base) * (most if dearest else 1.0))
        return (total + left["prompt_tokens"] * self.input + left["completion_tokens"] * self.output) / _MILLION

    @staticmethod
    def _kinds(usage: Usage) -> Iterator[tuple[tuple[str, str, str, str, float], int]]:
        """Yield how many tokens of each kind there are: never more than were read or written."""
        room = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
        for kind in _KINDS:
            if count := min(getattr(usage, kind[0]), room[kind[2]]):
                room[kind[2]] -= count
                yield kind, count

    def saved(self, batched: Usage, *, dearest: bool = False) -> float:
        """Return by how much tokens of batches are cheaper than :meth:`cost` says; 0 where nobody knows."""
        return (1.0 - self.batch) * self.cost(batched, dearest=dearest) if self.batch is not None else 0.0

    def cost_of_thinking(self, usage: Usage) -> float:
        """Return the cost of the tokens of thoughts, which is part of :meth:`cost`."""
        return min(usage.thinking_tokens, usage.completion_tokens) * self.output / _MILLION

    def cost_of_lost(self, usage: Usage) -> float:
        """Return the cost of the tokens of attempts that brought nothing, which is part of :meth:`cost`."""
        return self.cost(Usage(usage.lost_prompt_tokens, usage.lost_completion_tokens))

    def cost_of_kind(self, usage: Usage, kind: str) -> float:
        """Return the cost of one of :meth:`costs_of_kinds`; 0 where it is not known."""
        return self.costs_of_kinds(usage).get(kind, (0, None))[1] or 0.0

    def costs_of_kinds(self, usage: Usage) -> dict[str, tuple[int, float | None]]:
        """Return how many tokens there are of each kind, by the fields of usage, and what they cost.

        The cost is part of :meth:`cost`, and ``None`` where it is not known.
        """
        return {
            part: (count, None if (own := getattr(self, price)) is None else count * own / _MILLION)
            for (part, price, *_), count in self._kinds(usage)
        }

    def as_data(self) -> dict[str, float]:
        """Return the prices that are known, by name."""
        return {name: value for name, value in structs.asdict(self).items() if value is not None}


class PriceTable(Struct, frozen=True):
    """Prices as they were on ``date``.

    Attributes:
        date: When the prices were read.
        models: Prices by the names that their makers give models.
        providers: By provider, prices by the provider's names of models; they win over ``models``.
        source: Where the prices were read.
        batches: By provider, the share of a price that answers of a batch cost, of models that do not say it.
    """

    date: str
    models: dict[str, Price]
    providers: dict[str, dict[str, Price]] = {}
    source: str = ""
    batches: dict[str, float] = {}

    def price_of(self, model: str) -> Price | None:
        """Return the price of a model, or ``None`` where nobody knows it.

        Args:
            model: A name, after a provider and a slash where there is one (``aws/meta.llama3-8b-instruct-v1:0``).
                A version at its end, a region in front of a Bedrock id, and capitals do not matter.
        """
        found, share = self._listed(model), self.batches.get(provider_of(model.partition("/")[0]) or "")
        return found if found is None or found.batch is not None else structs.replace(found, batch=share)

    def _listed(self, model: str) -> Price | None:
        head, _, rest = model.partition("/")
        provider = provider_of(head)
        if provider is not None and (found := _price_in(self.providers.get(provider, {}), rest)) is not None:
            return found
        return _price_in(self.models, rest if provider else model) or _price_in(self.models, model.rpartition("/")[2])


def provider_of(name: str) -> str | None:
    """Return the name in the table of providers of one that has it, or another name for it; ``None`` where none has."""
    from proctor.engines.http.providers import providers

    return next((known for known, entry in providers().items() if name == known or name in entry.aliases), None)


def _price_in(prices: Mapping[str, Price], name: str) -> Price | None:
    known = {each.lower(): price for each, price in prices.items()}
    name = _REGION.sub("", name.lower())
    bare = _VERSION_SUFFIX.sub("", name)
    if (found := known.get(name) or known.get(bare)) is not None or bare != name:
        return found
    dated = {price for each, price in known.items() if _VERSION_SUFFIX.sub("", each) == name}
    agreed = {Price(price.input, price.output) for price in dated}
    if len(agreed) != 1:
        return None
    return dated.pop() if len(dated) == 1 else agreed.pop()


def price_table(path: Path | None = None) -> PriceTable:
    """Return the prices in a JSON file (``date``, ``models``, ``providers``).

    By default they are those of ``genai-prices``, where that is installed, and those that come with Proctor.

    Raises:
        UsageError: The file cannot be read or has another form.
    """
    try:
        return _own_prices() if path is None else _prices_in(path.absolute(), stamp_of(path))
    except (OSError, msgspec.MsgspecError) as error:
        example = json.dumps({"date": "2026-01-31", "models": {"my-model": {"input": 0.5, "output": 1.5}}})
        hint = f"it looks like this, in US dollars per million tokens: {example}"
        raise UsageError(
            "this is not a price table", location=Location(str(path)), why=reason_of(error), hint=hint
        ) from None


@lru_cache(maxsize=8)
def _prices_in(path: Path, changed: Stamp) -> PriceTable:
    del changed
    return msgspec.json.decode(path.read_bytes(), type=PriceTable)


@lru_cache(maxsize=1)
def _own_prices() -> PriceTable:
    from proctor.running.installed_prices import with_installed

    text = files("proctor.running").joinpath("prices.json").read_bytes()
    return with_installed(msgspec.json.decode(text, type=PriceTable))


@dataclass(slots=True)
class Allowance:
    """The budget of a run; a :class:`~proctor.running.session.Budget`.

    Before a request is sent, its prompt and its longest answer are held, so that a run never uses more: what is on its
    way counts as spent until it is back. Where nobody knows how long an answer may be, it is reckoned with the longest
    one so far, and no more requests are on their way than the engine really works on; the overrun is then theirs.

    Attributes:
        max_tokens: Tokens read and written together; ``None`` for no limit.
        max_usd: US dollars; needs ``price``.
        price: What the model costs.
        why: Why the last request was refused.
    """

    max_tokens: int | None = None
    max_usd: float | None = None
    price: Price | None = None
    tokens: int = field(default=0, init=False)
    usd: float = field(default=0.0, init=False)
    why: str = field(default="", init=False)
    _held_tokens: int = field(default=0, init=False, repr=False)
    _held_usd: float = field(default=0.0, init=False, repr=False)
    _has_written: bool = field(default=False, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)
    _pool: Pool | None = field(default=None, init=False, repr=False, compare=False)
    _process: int | None = field(default=None, init=False, repr=False, compare=False)
    _own: ModelAllowance = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._own = ModelAllowance(self, self.price)

    def claim(self, request: Generate | Score, engine: Engine) -> Claim | None:
        """Return what is held for a request; ``None`` where it is too much while others are on their way."""
        return self._own.claim(request, engine)

    def settle(self, claim: Claim, response: Response) -> None:
        """Count what an answer cost instead of what was held for it."""
        self._own.settle(claim, response)

    def of_model(self, model: str, prices: PriceTable | None = None) -> ModelAllowance:
        """Return this allowance for another model (a judge), which draws on the same means at its own price.

        Raises:
            UsageError: Dollars are limited and nobody knows what the model costs.
        """
        table = prices or price_table()
        price = table.price_of(model)
        if self.max_usd is not None and price is None:
            raise _unknown_price(model, table)
        return ModelAllowance(self, price)

    def hold(self, claim: Claim, price: Price | None) -> Claim | None:
        """Hold tokens and dollars for a request, or say in :attr:`why` why there are not enough."""
        usd = 0.0 if price is None else price.of(claim.prompt).cost(self._most(claim, price), dearest=True)
        wanted = claim._replace(held=claim.prompt + (claim.answer or 0), usd=usd)
        with self._lock:
            need = (self.tokens + self._held_tokens + wanted.held, self.usd + self._held_usd + wanted.usd)
            others = self._of_others(need)
            if self.max_tokens is not None and need[0] + others[0] > self.max_tokens:
                self.why = _used_up(f"{self.max_tokens:,} tokens", f"{self.tokens + int(others[0]):,}", wanted)
                return None
            if self.max_usd is not None and need[1] + others[1] > self.max_usd:
                self.why = _used_up(dollars(self.max_usd), dollars(self.usd + others[1]), wanted)
                return None
            self._held_tokens += wanted.held
            self._held_usd += wanted.usd
        return wanted

    def _of_others(self, need: tuple[int, float]) -> tuple[float, float]:
        """Return what other processes took of the means, as far as that keeps this one from what it needs."""
        pool = self._pool
        if pool is None or (need[0] <= pool.granted[0] and need[1] <= pool.granted[1]):
            return (0, 0.0)
        is_grown = pool.grow(need, (self.max_tokens, self.max_usd))
        return (0, 0.0) if is_grown else pool.of_others

    @contextmanager
    def shared(self, log: ResponseLog, engine: int) -> Iterator[None]:
        """Share the means with all processes that ask an engine through a log, within a block."""
        from proctor.running.shared_means import Pool

        pool = Pool(log, engine, self._process)
        self._process = pool.process
        with pool.held((self.tokens, self.usd)):
            self._pool = pool
            try:
                yield
            finally:
                self._pool = None
                pool.note((self.tokens, self.usd))

    def spend(self, claim: Claim, usage: Usage, price: Price | None, *, is_batched: bool = False) -> None:
        """Count what came back in place of what was held."""
        with self._lock:
            self._held_tokens -= claim.held
            self._held_usd -= claim.usd
            self.tokens += usage.prompt_tokens + usage.completion_tokens
            self._has_written = self._has_written or usage.cache_write_tokens > 0
            if price is not None:
                own = price.of(usage.of_answer[0])
                self.usd += own.cost(usage, dearest=True) - (own.saved(usage, dearest=True) if is_batched else 0.0)

    def _most(self, claim: Claim, price: Price) -> Usage:
        """Return the tokens of a request where all that is read goes into the provider's cache, if it may."""
        writes = self._has_written or (price.cache_write or 0.0) > price.input
        return structs.replace(claim.usage, cache_write_tokens=claim.prompt if writes else 0)


def _used_up(budget: str, spent: str, wanted: Claim) -> str:
    may = f"the next prompt has about {wanted.prompt:,} tokens, and its answer may have {wanted.answer or 0:,}"
    return f"the budget of {budget} has no room for another request ({spent} spent; {may})"


def dollars(usd: float) -> str:
    """Return an amount of US dollars in words, with as many digits as small ones need.

    >>> [dollars(12.5), dollars(0.0321), dollars(0.00005)]
    ['$12.50', '$0.0321', '$0.000050']
    """
    return f"${usd:,.{2 if usd >= 1 or not usd else 6 if usd < _A_CENT else 4}f}"


_A_CENT: Final = 0.01


class ModelAllowance:
    """A share in an allowance, for a model with a price of its own; a :class:`~proctor.running.session.Budget`.

    Args:
        whole: The allowance.
        price: What the model costs.
    """

    def __init__(self, whole: Allowance, price: Price | None) -> None:
        self.price = price
        self._whole = whole
        self._reckoner = Reckoner()
        self._open = 0

    @property
    def why(self) -> str:
        """The reason for which the last request was refused."""
        return self._whole.why

    def claim(self, request: Generate | Score, engine: Engine) -> Claim | None:
        """Return what is held for a request; ``None`` where it is too much while others are on their way."""
        claim = self._reckoner.claim(request, engine)
        if claim.answer is None:
            known = self._reckoner.longest
            if self._open >= (1 if known is None else engine.most_at_once):
                return None
            claim = claim._replace(answer=known or 1)
        held = self._whole.hold(claim, self.price)
        self._open += held is not None
        return held

    def settle(self, claim: Claim, response: Response) -> None:
        """Count what an answer cost instead of what was held for it."""
        self._open -= 1
        usage = self._reckoner.usage(claim, response)
        self._whole.spend(claim, usage, self.price, is_batched=response.way == BATCHED)


def make_allowance(
    model: str, *, tokens: int | None = None, usd: float | None = None, prices: Path | None = None
) -> Allowance | None:
    """Return the budget of a run on a model; ``None`` where nothing is limited.

    Args:
        model: The model's name, as :attr:`~proctor.engines.engine.Engine.price_name` has it.
        tokens: Most tokens, read and written together.
        usd: Most US dollars.
        prices: A price table of one's own.

    Raises:
        UsageError: Dollars are limited and nobody knows what the model costs, or a limit is not positive.
    """
    if (tokens is not None and tokens <= 0) or (usd is not None and usd <= 0):
        raise UsageError("a budget is more than nothing")
    price = price_table(prices).price_of(model)
    if usd is not None and price is None:
        raise _unknown_price(model, price_table(prices))
    return Allowance(tokens, usd, price) if tokens is not None or usd is not None else None


def _unknown_price(model: str, table: PriceTable) -> UsageError:
    return UsageError(
        f"a budget in dollars needs to know what '{model}' costs",
        why=f"the price table of {table.date} does not have it",
        hint="name a table of your own with --prices FILE.json, or limit tokens with --budget-tokens",
    )
