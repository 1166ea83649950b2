"""What runs cost, and how they stay within their means."""

from __future__ import annotations

import json

import pytest
from running_fakes import ToyEngine, ToyExam

from proctor.engines import make_engine
from proctor.engines.http.providers import providers
from proctor.errors import UsageError
from proctor.ir import BATCHED, Decoding, Generate, Prompt, Response, Usage
from proctor.running import run_exams
from proctor.running.accounts import Distinct, Sent, cost_of
from proctor.running.budget import Allowance, Price, PriceTable, make_allowance, price_table
from proctor.running.log import Key
from proctor.testing.server import FaultServer


def test_the_table_that_comes_along_has_a_date_and_sane_prices():
    table = price_table()
    assert len(table.date) == len("2025-01-01")
    assert all(0 < price.input <= price.output < 1000 for price in table.models.values())


def test_the_table_says_where_its_prices_are_from():
    assert "litellm" in price_table().source
    assert price_table().date >= "2026-11-22"


@pytest.mark.parametrize(
    "name", ["gpt-4o", "openai/gpt-4o", "open-ai/gpt-4o", "GPT-4o-2024-08-06", "gpt-4o-2031-01-01"]
)
def test_a_model_is_found_with_provider_and_version(name):
    assert price_table().price_of(name) == price_table().models["gpt-4o"] == Price(2.5, 10.0, 1.25, batch=0.5)


def test_versions_with_prices_of_their_own_have_these():
    assert price_table().price_of("gpt-4o-2024-05-13") == Price(5.0, 15.0, batch=0.5)


def test_a_name_without_version_is_that_of_its_versions_where_they_agree():
    assert price_table().price_of("anthropic/claude-sonnet-4") == Price(3.0, 15.0, 0.3, 3.75)
    table = PriceTable("2026-01-31", {"m-20250101": Price(1, 2), "m-20250202": Price(1, 2), "n-20250101": Price(1, 2)})
    assert table.price_of("m") == Price(1, 2)
    other = PriceTable("2026-01-31", {**table.models, "n-20250202": Price(3, 4)})
    assert other.price_of("n") is None
    half = PriceTable(
        "2026-01-31", {**table.models, "m-20250202": Price(1, 2, 0.5)}
    )  # what a cache costs is not agreed
    assert half.price_of("m") == Price(1, 2)


def test_tokens_from_a_cache_cost_what_they_cost_there_and_never_nothing():
    usage = Usage(1_000_000, 100_000, thinking_tokens=50_000, cached_tokens=400_000)
    known, unknown = Price(10.0, 20.0, 1.0), Price(10.0, 20.0)
    assert known.cost(usage) == pytest.approx(6.0 + 0.4 + 2.0)
    assert known.costs_of_kinds(usage)["cached_tokens"] == (400_000, pytest.approx(0.4))
    assert unknown.costs_of_kinds(usage)["cached_tokens"] == (400_000, None)
    assert unknown.cost(usage) == pytest.approx(10.0 + 2.0)  # at most
    assert known.cost_of_thinking(usage) == pytest.approx(1.0)  # part of the 2.0
    more = Usage(10, 5, thinking_tokens=9, cached_tokens=99)  # a server that counts both on top
    assert known.cost(more) == pytest.approx((10 * 1.0 + 5 * 20.0) / 1e6)
    assert known.cost_of_thinking(more) == pytest.approx(5 * 20.0 / 1e6)


@pytest.mark.parametrize(
    "usage, price, usd, most",
    [
        # OpenAI's newest family: writes at 1.25 times
        (Usage(2_000, 10, cache_write_tokens=1_990), Price(10, 0, 1, 12.5), 10 * 10 + 1_990 * 12.5, None),
        # Anthropic: five minutes at 1.25, an hour at twice, what is found there at a tenth
        (Usage(6_000, 100, 0, 1_000, 2_000, 2_500), Price(4, 20, 0.4, 5, 8),
         500 * 4 + 1_000 * 0.4 + 2_000 * 5 + 2_500 * 8 + 100 * 20, None),
        # sound, read and written
        (Usage(100, 50, audio_prompt_tokens=60, audio_completion_tokens=40), Price(2.5, 10, None, None, None, 40, 80),
         40 * 2.5 + 60 * 40 + 10 * 10 + 40 * 80, None),
        # nobody knows what a write costs: as other tokens, and for a budget at twice that
        (Usage(2_000, 10, cache_write_tokens=1_990), Price(10, 0), 2_000 * 10, 10 * 10 + 1_990 * 20),
        # a server that counts more of a kind than it read
        (Usage(10, 0, 0, 8, 8), Price(1, 1, 0.5, 2), 8 * 0.5 + 2 * 2, None),
    ],
)  # fmt: skip
def test_every_kind_of_tokens_is_billed_at_its_own_price(usage, price, usd, most):
    assert price.cost(usage) == pytest.approx(usd / 1e6)
    assert price.cost(usage, dearest=True) == pytest.approx((usd if most is None else most) / 1e6)


def test_a_cost_says_on_which_side_of_it_the_truth_is():
    table = PriceTable("2026-01-31", {})
    written, read = Usage(100, 1, cache_write_tokens=50), Usage(100, 1, cached_tokens=50)
    assert cost_of(Price(1, 1), table, Sent(written), Sent(written))["usd_is_at_least"] is True
    assert cost_of(Price(1, 1), table, Sent(read), Sent(read))["usd_is_at_most"] is True
    both = cost_of(Price(1, 1), table, Sent(written + read), Sent(read))
    assert both["usd_is_about"] is True
    assert "50 cache_write_tokens" in both["why"]
    known = cost_of(Price(1, 1, 0.1, 1.25), table, Sent(written + read), Sent(read))
    assert not {"usd_is_at_least", "usd_is_at_most", "usd_is_about", "why"} & set(known)
    assert known["usd_cache_write"] == pytest.approx(50 * 1.25 / 1e6, abs=1e-6)


def test_keys_are_known_again_however_many_there_are(monkeypatch):
    monkeypatch.setattr("proctor.running.accounts._RECENT", 10)
    keys = [Key(number.to_bytes(16, "little"), repeat) for number in range(1, 200) for repeat in (0, 1)]
    seen = Distinct()
    for start in range(0, len(keys), 7):
        assert all(seen.first_times(keys[start : start + 7]))
    assert not any(seen.first_times(keys))
    assert seen.first_times([Key(b"\xff" * 16), Key(b"\xff" * 16), keys[0]]) == [True, False, False]


def test_the_table_knows_what_writing_into_caches_costs():
    opus, newest = price_table().price_of("claude-opus-5"), price_table().price_of("gpt-5.6")
    assert (opus.cache_write, opus.cache_write_hour) == (opus.input * 1.25, opus.input * 2)
    assert newest.cache_write == newest.input * 1.25


def test_the_table_knows_what_caches_of_the_big_providers_cost():
    for name in ("gpt-4o", "claude-sonnet-4-5", "deepseek/deepseek-chat", "o3"):
        price = price_table().price_of(name)
        assert 0 < price.cached_input < price.input
    assert all(price.cached_input is None or price.cached_input > 0 for price in price_table().models.values())


def test_another_model_is_not_taken_for_one_that_is_known():
    assert price_table().price_of("gpt-4o-mini") != price_table().price_of("gpt-4o")
    assert price_table().price_of("gpt-4o-turbo-9000") is None
    assert price_table().price_of("SmolLM2-135M-Instruct") is None
    assert price_table().price_of("aws/anthropic.claude-99-v1:0") is None


@pytest.mark.parametrize(
    "name",
    ["aws/meta.llama3-3-70b-instruct-v1:0", "bedrock/meta.llama3-3-70b-instruct-v1:0",
     "aws/us.meta.llama3-3-70b-instruct-v1:0", "aws/global.meta.llama3-3-70b-instruct-v1:0"],
)  # fmt: skip
def test_ids_of_bedrock(name):
    assert price_table().price_of(name) == price_table().providers["aws"]["meta.llama3-3-70b-instruct-v1:0"]


def test_answers_of_batches_cost_half_at_providers_that_say_so_of_all_models():
    table = price_table()
    assert table.price_of("aws/meta.llama3-8b-instruct-v1:0").batch == 0.5
    assert table.price_of("groq/llama-3.1-8b-instant").batch is None
    own = PriceTable("2026-11-29", {"m": Price(1.0, 2.0), "n": Price(1.0, 2.0, batch=0.7)}, batches={"fireworks": 0.5})
    assert [own.price_of(f"fireworks/{name}").batch for name in ("m", "n")] == [0.5, 0.7]
    assert own.price_of("m").batch is None
    assert own.price_of("fireworks/other") is None


def test_providers_have_prices_of_their_own():
    table = price_table()
    found = [
        table.price_of("together-ai/meta-llama/Llama-3.3-70B-Instruct-Turbo"),
        table.price_of("watsonx/meta-llama/llama-3-3-70b-instruct"),
        table.price_of("groq/llama-3.3-70b-versatile"),
    ]
    assert None not in found
    assert len(set(found)) == 3
    assert table.price_of("rits/meta-llama/llama-3-3-70b-instruct") is None


def test_a_table_of_ones_own_may_leave_providers_out():
    table = PriceTable("2026-01-31", {"llama-3.3-70b-instruct-turbo": Price(1, 2)})
    assert table.price_of("together-ai/meta-llama/Llama-3.3-70B-Instruct-Turbo") == Price(1, 2)


@pytest.mark.parametrize(
    "provider, missing",
    [("open-ai", 0), ("anthropic", 0), ("aws", 0), ("groq", 0), ("mistral", 0), ("deepseek", 0), ("azure", 1),
     ("together-ai", 4), ("watsonx", 14)],
)  # fmt: skip
def test_models_of_the_provider_table_have_prices_where_these_are_public(provider, missing):
    entry = providers()[provider]
    unknown = [name for name in set(entry.models.values()) if price_table().price_of(f"{provider}/{name}") is None]
    assert len(unknown) <= missing, unknown


@pytest.mark.parametrize(
    "engine, name, billed",
    [
        (("together-ai", {"model": "llama-3-3-70b-instruct"}),
         "together-ai/meta-llama/Llama-3.3-70B-Instruct-Turbo", True),
        (("aws", {"model": "bedrock/claude-3-7-sonnet"}), "aws/anthropic.claude-3-7-sonnet-20250219-v1:0", True),
        (("openai", {"model": "gpt-4o", "base_url": "https://api.openai.com/v1"}), "gpt-4o", True),
        (("openai", {"model": "mine", "base_url": "http://127.0.0.1:8000"}), "mine", False),
        (("ollama", {"model": "llama-3-8b-instruct"}), "ollama/llama3:8b", False),
        (("scripted", {"answer": "x"}), "scripted", False),
    ],
)  # fmt: skip
def test_what_engines_are_called_in_price_tables(engine, name, billed):
    made = make_engine(*engine)
    assert (made.price_name, made.is_billed) == (name, billed)


def test_a_price_that_is_not_known_is_said_and_not_nothing(tmp_path):
    class Billed(ToyEngine):
        @property
        def is_billed(self):
            return True

    result = run_exams([ToyExam("a", 2)], Billed(), log=tmp_path / "log.db")
    assert result.run["cost"]["usd"] is None
    assert "no price is known for" in result.run["cost"]["why"]


def test_the_price_of_some_tokens():
    assert Price(2.5, 10.0).cost(Usage(1_000_000, 500_000)) == 7.5


def answer(tokens: int, prompt: int = 0) -> Response:
    return Response(("a",), usage=Usage(prompt or tokens - 1, tokens - prompt if prompt else 1))


def request(text: str = "aaa", max_tokens: int | None = 5) -> Generate:
    return Generate(Prompt(text), Decoding(max_tokens=max_tokens))


def test_a_budget_holds_the_prompt_and_the_longest_answer_of_what_is_on_its_way():
    allowance, engine = Allowance(max_tokens=100), ToyEngine()
    first = allowance.claim(request(), engine)
    assert first.held >= 1 + 5
    allowance.settle(first, answer(10, prompt=8))
    held = []
    while (claim := allowance.claim(request(), engine)) is not None:
        held.append(claim)
    assert [each.held for each in held] == [13] * 6  # 8 tokens of prompt, as counted, and the longest answer
    assert allowance.why.startswith(
        "the budget of 100 tokens has no room for another request (10 spent; the next prompt has about 8 tokens"
    )
    allowance.settle(held[0], answer(10, prompt=8))
    assert allowance.tokens == 20  # and 5 x 13 are held: there is room for one more
    assert allowance.claim(request(), engine) is not None
    assert allowance.claim(request(), engine) is None


def test_a_longer_prompt_costs_more():
    allowance, engine = Allowance(max_tokens=100), ToyEngine()
    assert allowance.claim(request("a" * 240), engine) is None
    assert allowance.claim(request("a" * 100), engine) is not None


def test_the_longest_answer_of_an_engine_counts_where_a_request_names_none():
    class Long(ToyEngine):
        def decoding_defaults(self):
            return {"max_tokens": 90}

    assert Allowance(max_tokens=100).claim(request(max_tokens=None), Long()) is None
    assert Allowance(max_tokens=200).claim(request(max_tokens=None), Long()) is not None


def test_an_engine_that_counts_nothing_is_reckoned_by_lengths():
    allowance, engine = Allowance(max_tokens=100), ToyEngine()
    claim = allowance.claim(request("a" * 90), engine)
    allowance.settle(claim, Response(("b" * 30,)))
    assert allowance.tokens == claim.prompt + 10


def test_a_budget_in_dollars():
    allowance, engine = Allowance(max_usd=1.0, price=Price(1000.0, 2000.0)), ToyEngine()
    claim = allowance.claim(request(max_tokens=200), engine)
    allowance.settle(claim, answer(500, prompt=300))
    assert allowance.usd == pytest.approx(0.7)
    assert allowance.claim(request(max_tokens=1), engine) is None
    assert allowance.why.startswith("the budget of $1.00 has no room for another request ($0.7000 spent")


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
    with pytest.raises(UsageError, match="not a price table") as caught:
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
    assert first.stopped == first.run["stopped"]
    assert "the budget of 100 tokens has no room" in first.stopped
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


@pytest.mark.parametrize("concurrency, limit", [(1, None), (1, 8), (4, 8), (32, 8), (32, None)])
def test_a_server_is_asked_no_more_than_the_budget_pays(tmp_path, concurrency, limit):
    decoding = Decoding(max_tokens=limit)
    exam = ToyExam("a", 300, lambda name, number: Generate(Prompt(f"{name} {number % 10} {number // 10}"), decoding))
    with FaultServer() as server:
        engine = make_engine("openai", {"model": "m", "base_url": server.url, "max_concurrency": concurrency})
        result = run_exams([exam], engine, log=tmp_path / "log.db", budget=Allowance(max_tokens=400))
        asked = server.statistics()["requests"]
    spent = sum(result.run["usage"]["a"].values())
    most = spent / asked
    assert 400 - 2 * (most + 24) - (0 if limit else concurrency * most) <= spent
    assert spent <= 400 + (0 if limit else concurrency * most)
    assert result.results["a"]["failure_kinds"] == {"budget": 300 - asked}


def test_a_budget_that_does_not_pay_for_one_request_asks_nothing(tmp_path):
    engine = ToyEngine()
    exam = ToyExam("a", 3, lambda name, number: Generate(Prompt(f"{name} {number}"), Decoding(max_tokens=500)))
    result = run_exams([exam], engine, log=tmp_path / "log.db", budget=Allowance(max_tokens=100))
    assert not engine.asked
    assert "its answer may have 500" in result.stopped


def test_long_prompts_cost_what_the_provider_asks_for_them():
    """By the formula of OpenAI and Google: each request has one price, that of its prompt's length, for all its tokens."""
    price = price_table().price_of("gpt-5.6")
    assert (price.above, price.above_times, price.above_output_times) == (272_000, 2.0, 1.5)
    usages = [Usage(272_000, 100), Usage(272_001, 100, cached_tokens=70_000), Usage(300_000, 50, thinking_tokens=20)]
    responses = [Response(texts=("a",), usage=each, way=way) for each in usages for way in ("", BATCHED)]
    sent = Sent.of(responses, price.above)
    short, cached, long = (272_000 * 4 + 100 * 20, 202_001 * 8 + 70_000 * 0.8 + 100 * 30, 300_000 * 8 + 50 * 30)
    true = 1.5 * (short + cached + long) / 1e6  # once as usual, once at half the price
    assert sent.cost(price) == pytest.approx(true, rel=1e-12)
    cost = cost_of(price, price_table(), sent, Sent())
    assert (cost["usd"], cost["usd_of_this_run"]) == (pytest.approx(true, abs=1e-6), 0.0)
    assert cost["usd_cached"] == pytest.approx(2 * 70_000 * 0.8 / 1e6)
    assert cost["usd_thinking"] == pytest.approx(2 * 20 * 30 / 1e6)
    assert cost["usd_saved_by_batches"] == pytest.approx(true / 3, abs=1e-6)
    assert not any(name.startswith("usd_is") for name in cost)
    spent = Allowance(max_usd=100.0, price=price)
    for each in responses:
        claim = spent.claim(Generate(Prompt("x"), Decoding(max_tokens=100)), ToyEngine())
        spent.settle(claim, each)
    assert spent.usd == pytest.approx(true, rel=1e-12)


def test_what_long_prompts_have_written_is_reckoned_at_most_where_nobody_knows():
    price = Price(1.0, 4.0, above=100, above_times=2.0)
    sent = Sent.of([Response(texts=("a",), usage=Usage(101, 10))], 100)
    cost = cost_of(price, price_table(), sent, sent)
    assert cost["usd"] == pytest.approx((101 * 2 + 10 * 8) / 1e6)
    assert cost["usd_is_at_most"] is True
    assert "after prompts of more than 100 tokens" in cost["why"]
    assert cost["usd_long_prompts"] == pytest.approx((101 + 10 * 4) / 1e6, abs=1e-6)


def test_a_run_says_what_its_long_prompts_cost(tmp_path):
    table = PriceTable("2026-11-29", {"toy": Price(1.0, 4.0, above=6, above_times=2.0, above_output_times=1.5)})

    def asked(name, number):
        return Generate(Prompt("word " * (3 + number)), Decoding(max_tokens=5))

    with FaultServer(answer=lambda *_: "yes") as server:
        engine = make_engine("openai", {"model": "toy", "base_url": server.url})
        result = run_exams([ToyExam("a", 8, asked)], engine, log=tmp_path / "log.db", prices=table)
    reads = [3 + number for number in range(8)]
    true = sum(read * (2 if read > 6 else 1) + 4 * (1.5 if read > 6 else 1) for read in reads) / 1e6
    assert result.run["cost"]["usd"] == result.run["cost"]["usd_of_this_run"] == pytest.approx(true, abs=1e-6)
    again = run_exams([ToyExam("a", 8, asked)], engine, log=tmp_path / "log.db", prices=table)
    assert (again.run["cost"]["usd"], again.run["cost"]["usd_of_this_run"]) == (pytest.approx(true, abs=1e-6), 0.0)


def test_long_prompts_are_held_at_their_price():
    price = price_table().price_of("claude-haiku-5-5")
    assert (price.above, price.above_times, price.above_output_times) == (100_000, 5.0, 5.0)
    spent = {}
    for read in (100_000, 100_001):
        allowance = Allowance(max_usd=1.0, price=price)
        claim = allowance.claim(Generate(Prompt("x" * 3 * read), Decoding(max_tokens=10)), ToyEngine())
        allowance.settle(claim, Response(texts=("a",), usage=Usage(read, 10)))
        spent[read] = allowance.usd
    assert spent[100_001] == pytest.approx(5 * spent[100_000], rel=1e-4)
