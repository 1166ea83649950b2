"""What runs cost, and how they stay within their means."""

from __future__ import annotations

import json

import pytest
from running_fakes import ToyEngine, ToyExam

from proctor.errors import UsageError
from proctor.ir import Response, Usage
from proctor.running import run_exams
from proctor.running.budget import Allowance, Price, PriceTable, make_allowance, price_table


def test_the_table_that_comes_along_has_a_date_and_sane_prices():
    table = price_table()
    assert len(table.date) == len("2025-01-01")
    assert all(0 < price.input <= price.output < 1000 for price in table.models.values())


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o", "GPT-4o-2024-08-06", "gpt-4o-latest"])
def test_a_model_is_found_with_provider_and_version(name):
    assert price_table().price_of(name) == price_table().models["gpt-4o"]


def test_another_model_is_not_taken_for_one_that_is_known():
    assert price_table().price_of("gpt-4o-mini") != price_table().price_of("gpt-4o")
    assert price_table().price_of("gpt-4o-turbo-9000") is None
    assert price_table().price_of("SmolLM2-135M-Instruct") is None


def test_the_price_of_some_tokens():
    assert Price(2.5, 10.0).cost(Usage(1_000_000, 500_000)) == 7.5


def answer(tokens: int) -> Response:
    return Response(("a",), usage=Usage(tokens - 1, 1))


def test_a_budget_reckons_with_what_is_on_its_way():
    allowance = Allowance(max_tokens=100)
    assert allowance.refuses(50) is None
    for _ in range(5):
        allowance.spend(answer(10))
    assert allowance.refuses(4) is None
    assert allowance.refuses(5) == "the budget of 100 tokens is used up (50 spent)"


def test_a_budget_in_dollars():
    allowance = Allowance(max_usd=1.0, price=Price(1000.0, 1000.0))
    allowance.spend(answer(400))
    assert allowance.refuses(0) is None
    allowance.spend(answer(400))
    assert allowance.refuses(0) == "the budget of $1.00 is used up ($0.8000 spent)"


def test_no_limit_is_no_allowance():
    assert make_allowance("anything") is None
    assert make_allowance("anything", tokens=5) == Allowance(max_tokens=5)
    assert make_allowance("gpt-4o", usd=2.0).price == price_table().models["gpt-4o"]


def test_a_budget_in_dollars_needs_a_price(tmp_path):
    with pytest.raises(UsageError, match="what 'my-model' costs") as caught:
        make_allowance("my-model", usd=1.0)
    assert "--prices FILE.json" in str(caught.value)
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"date": "2026-01-31", "models": {"my-model": {"input": 1, "output": 2}}}))
    assert make_allowance("my-model", usd=1.0, prices=path).price == Price(1.0, 2.0)


@pytest.mark.parametrize("content", ["", "[]", '{"models": {}}', '{"date": "x", "models": {"m": {"input": "y"}}}'])
def test_a_bad_table_is_an_error_with_an_example(tmp_path, content):
    (tmp_path / "prices.json").write_text(content)
    with pytest.raises(UsageError, match="no price table") as caught:
        price_table(tmp_path / "prices.json")
    assert "per million tokens" in str(caught.value)


@pytest.mark.parametrize("limits", [{"tokens": 0}, {"usd": -1.0}])
def test_a_budget_of_nothing_is_refused(limits):
    with pytest.raises(UsageError, match="more than nothing"):
        make_allowance("gpt-4o", **limits)


def test_a_run_stays_within_its_tokens_and_goes_on_with_more(tmp_path):
    exam = ToyExam("a", 100)
    engine = ToyEngine()
    first = run_exams([exam], engine, log=tmp_path / "log.db", budget=Allowance(max_tokens=100))
    spent = sum(first.run["usage"]["a"].values())
    assert 80 < spent <= 100
    assert first.results["a"]["failure_kinds"] == {"budget": 100 - sum(engine.asked.values())}
    again = ToyEngine()
    second = run_exams([exam], again, log=tmp_path / "log.db")
    assert second.results["a"]["failures"] == 0
    assert not again.asked & engine.asked


def test_the_results_say_what_the_answers_cost(tmp_path):
    prices = PriceTable("2026-01-31", {"toy": Price(1e6, 2e6)})
    run_exams([ToyExam("a", 4)], ToyEngine(), log=tmp_path / "log.db")
    result = run_exams([ToyExam("a", 5)], ToyEngine(), log=tmp_path / "log.db", prices=prices)
    assert result.run["usage"]["a"] == {"prompt_tokens": 15, "completion_tokens": 5}
    assert result.run["cost"] == {
        "usd": 25.0,
        "usd_of_this_run": 5.0,
        "usd_per_million_tokens": {"input": 1e6, "output": 2e6},
        "prices_of": "2026-01-31",
    }
    assert "cost" not in run_exams([ToyExam("a", 5)], ToyEngine(), log=tmp_path / "log.db").run
