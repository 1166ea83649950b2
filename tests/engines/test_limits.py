"""Concurrency that adapts, rate limits, budgets."""

import time

import pytest

from proctor.engines.openai import OpenAIEngine
from proctor.engines.prices import Price, SpendingLimit, price_table
from proctor.errors import UsageError, ValidationError
from proctor.ir import Generate, Prompt, Response, Usage
from proctor.testing import FaultServer
from proctor.testing.behaviour import Behaviour
from proctor.testing.virtual import VirtualLoop, simulated


def run(behaviour, count, **fields):
    """Return the answers and the virtual seconds it took."""
    engine = simulated(OpenAIEngine(model="m", base_url="http://simulated", **fields), behaviour)
    loops = []

    def new_loop():
        loops.append(VirtualLoop())
        return loops[-1]

    engine._new_loop = new_loop
    answers = dict(engine.generate(Generate(Prompt(f"Question {n} of many words?")) for n in range(count)))
    assert len(answers) == count
    assert all(response.failure is None for response in answers.values())
    return answers, loops[0].elapsed


@pytest.mark.parametrize("limit", [4, 16, 64])
def test_auto_finds_what_a_server_that_queues_can_take(limit):
    _, seconds = run(Behaviour(latency_seconds=0.05, max_concurrency=limit), 3000, max_concurrency="auto")
    assert 3000 * 0.05 / limit / seconds > 0.9


def test_auto_backs_off_from_a_server_that_turns_requests_away():
    behaviour = Behaviour(latency_seconds=0.5, max_concurrency=16, reject=True)
    _, seconds = run(behaviour, 2000, max_concurrency="auto", max_retries=100)
    refused = behaviour.most_in_flight
    assert refused <= 64
    assert 2000 * 0.5 / 16 / seconds > 0.5


def test_auto_on_a_real_server():
    with FaultServer(latency_seconds=0.05, max_concurrency=16) as server:
        engine = OpenAIEngine(model="m", base_url=server.url, max_concurrency="auto")
        began = time.monotonic()
        answers = dict(engine.generate(Generate(Prompt(str(n))) for n in range(600)))
        seconds = time.monotonic() - began
    assert all(response.failure is None for response in answers.values())
    assert seconds < 600 * 0.05 / 4


def test_requests_per_minute():
    _, seconds = run(Behaviour(), 95, requests_per_minute=30)
    assert 180 <= seconds < 200


def test_tokens_per_minute():
    answers, seconds = run(Behaviour(latency_seconds=0.1), 60, tokens_per_minute=100, max_concurrency=1)
    used = sum(each.usage.prompt_tokens + each.usage.completion_tokens for each in answers.values())
    assert seconds >= 60 * (used // 100 - 1)


def test_limits_do_not_eat_the_time_out():
    _, seconds = run(Behaviour(latency_seconds=1), 40, requests_per_minute=10, timeout=30)
    assert seconds > 100


@pytest.mark.parametrize("value", ["fast", 0, -1])
def test_concurrency_is_a_number_or_auto(value):
    with pytest.raises(ValidationError):
        OpenAIEngine(model="m", max_concurrency=value)


def answer(read, written):
    return Response(texts=("x",), usage=Usage(read, written))


def test_a_budget_in_tokens():
    budget = SpendingLimit("any", tokens=100)
    budget.spend(answer(60, 30))
    assert budget.exhausted is None
    budget.spend(answer(10, 0))
    assert "100 tokens" in budget.exhausted


def test_a_budget_in_dollars():
    budget = SpendingLimit("gpt-4o-2024-08-06", usd=0.01)
    price = price_table().prices["gpt-4o"]
    budget.spend(answer(1000, 700))
    assert budget.cost_usd == pytest.approx((1000 * price.input + 700 * price.output) / 1e6)
    assert budget.exhausted is None
    budget.spend(answer(1000, 700))
    assert price_table().date in budget.exhausted
    assert budget.summary()["prices_of"] == price_table().date


def test_a_model_without_a_price():
    with pytest.raises(UsageError, match="'mystery'"):
        SpendingLimit("mystery", usd=1)
    assert SpendingLimit("mystery", tokens=5).cost_usd is None
    assert SpendingLimit("mystery", usd=1, price=Price(1, 2)).cost_usd == 0


def test_the_price_table():
    table = price_table()
    assert len(table.date) == 10
    assert all(price.input >= 0 and price.output > 0 for price in table.prices.values())
    assert table.price_of("openai/gpt-4o-mini-2024-07-18") == table.prices["gpt-4o-mini"]
    assert table.price_of("nothing") is None
