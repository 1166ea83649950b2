"""Prices of genai-prices count where it is installed; a stand-in has its shapes (0.2.3)."""

import sys
from dataclasses import dataclass
from decimal import Decimal
from types import ModuleType, SimpleNamespace

import pytest

from proctor.running import budget, installed_prices
from proctor.running.budget import Price, PriceTable, price_table


@dataclass
class Tier:
    start: int
    price: Decimal


@dataclass
class TieredPrices:
    base: Decimal
    tiers: list


KNOWN = {
    ("openai", "gpt-4o"): {"input_mtok": Decimal("2.5"), "output_mtok": Decimal(10), "cache_read_mtok": Decimal(1)},
    ("anthropic", "claude-new"): {
        "input_mtok": TieredPrices(Decimal("0.1"), [Tier(100_000, Decimal("0.5"))]),
        "output_mtok": TieredPrices(Decimal("0.5"), [Tier(100_000, Decimal("2.5"))]),
        "cache_write_1h_mtok": TieredPrices(Decimal("0.2"), []),
    },
}


@pytest.fixture
def installed(monkeypatch):
    asked = []

    def calc_price(usage, *, model_ref, provider_id):
        asked.append((provider_id, model_ref))
        if (found := KNOWN.get((provider_id, model_ref))) is None:
            raise LookupError(model_ref)
        return SimpleNamespace(model_price=SimpleNamespace(**found))

    module = ModuleType("genai_prices")
    module.calc_price, module.Usage = calc_price, lambda **counts: counts
    monkeypatch.setitem(sys.modules, "genai_prices", module)
    monkeypatch.setattr(installed_prices, "find_spec", lambda name: object())
    monkeypatch.setattr(installed_prices, "version", lambda name: "0.2.3")
    installed_prices._found.cache_clear()
    budget._own_prices.cache_clear()
    yield asked
    installed_prices._found.cache_clear()
    budget._own_prices.cache_clear()


def test_a_model_that_both_know_has_its_price_and_the_tables_batches(installed):
    table = price_table()
    assert table.source.startswith("genai-prices 0.2.3; of models that it does not have: litellm")
    assert table.price_of("gpt-4o") == table.price_of("openai/gpt-4o") == Price(2.5, 10.0, 1.0, batch=0.5)
    assert table.price_of("gpt-4o-mini") == Price(0.15, 0.6, 0.075, batch=0.5), "the table's own"


def test_steps_are_those_of_long_prompts(installed):
    found = price_table().price_of("anthropic/claude-new")
    times = pytest.approx(5.0)
    assert found == Price(0.1, 0.5, cache_write_hour=0.2, above=100_000, above_times=times, above_output_times=times)


def test_a_server_of_ones_own_costs_nothing(installed):
    assert price_table().price_of("qwen-3") is None
    assert price_table().price_of("vllm-server/qwen-3") is None
    assert installed == []


def test_a_table_of_ones_own_stands_alone(installed, tmp_path):
    (tmp_path / "p.json").write_text('{"date": "2026-01-31", "models": {"gpt-4o": {"input": 1, "output": 2}}}')
    assert price_table(tmp_path / "p.json").price_of("gpt-4o") == Price(1, 2)
    assert installed == []


def test_where_it_is_not_installed_the_table_is_as_it_was(monkeypatch):
    table = PriceTable("2026-01-31", {})
    monkeypatch.setattr(installed_prices, "find_spec", lambda name: None)
    assert installed_prices.with_installed(table) is table


def test_the_real_package_has_these_shapes():
    pytest.importorskip("genai_prices")
    installed_prices._found.cache_clear()
    found = installed_prices._found("openai/gpt-4o")
    assert found is not None
    assert (found.input, found.output) == (2.5, 10.0)
