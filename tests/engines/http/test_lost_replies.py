"""What attempts cost that brought no answer: told by replies that cannot be used, unknown where none came."""

import asyncio
import json

import pytest

from proctor.engines.http.lost_replies import tokens_said
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.transport import Reply, TransportError
from proctor.ir import Decoding, Generate, Prompt, Usage
from proctor.running.accounts import Sent, cost_of
from proctor.running.budget import Allowance, Price, PriceTable
from proctor.running.reckoning import Reckoner

PRICE, TABLE = Price(10.0, 20.0), PriceTable("2026-11-29", {})
REQUEST = Generate(Prompt("2 + 2?"), Decoding(max_tokens=50))


def answer(reason="stop"):
    choice = {"message": {"content": "4"}, "finish_reason": reason}
    return {"choices": [choice], "usage": {"prompt_tokens": 1000, "completion_tokens": 10}}


class Fails:
    """A transport that does what a list says, the last for ever."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)

    async def post(self, url, body, headers, timeout_seconds):
        await asyncio.sleep(0)
        found = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, Reply) else Reply(200, {}, json.dumps(found).encode())

    async def close(self):
        pass


def asked(monkeypatch, *outcomes, retries=3):
    monkeypatch.setattr("proctor.engines.http.retry.RetryPolicy.wait_seconds", lambda *_: 0.0)
    engine = OpenAIEngine(model="m", base_url="http://127.0.0.1:1/v1", max_retries=retries)
    engine._make_transport = lambda: Fails(*outcomes)
    [(_, response)] = engine.generate([REQUEST])
    return response


def test_an_unfinished_answer_is_billed_and_counted(monkeypatch):
    response = asked(monkeypatch, answer("error_of_some_kind"), answer("error_of_some_kind"), answer())
    assert response.failure is None
    assert response.usage == Usage(3000, 30, lost_prompt_tokens=2000, lost_completion_tokens=20)
    assert response.usage.of_answer == (1000, 10)
    cost = cost_of(PRICE, TABLE, Sent(response.usage), Sent(response.usage))
    assert cost["usd"] == pytest.approx(3 * (1000 * 10 + 10 * 20) / 1e6)
    assert cost["usd_lost"] == pytest.approx(2 * (1000 * 10 + 10 * 20) / 1e6)
    assert "usd_is_at_least" not in cost


def test_a_failure_costs_what_its_attempts_cost(monkeypatch):
    response = asked(monkeypatch, answer("error_of_some_kind"), retries=2)
    assert response.failure is not None
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (3000, 30)


def test_what_a_time_out_costs_nobody_knows(monkeypatch):
    response = asked(monkeypatch, TransportError("timeout", "no answer"), answer())
    assert response.usage == Usage(1000, 10, unknown_attempts=1)
    cost = cost_of(PRICE, TABLE, Sent(response.usage), Sent(response.usage))
    assert cost["usd_is_at_least"] is True
    assert "1 attempt ended without a reply" in cost["why"]


@pytest.mark.parametrize(
    "outcome", [Reply(503, {}, b"loading"), TransportError("unreachable", "nobody there"), Reply(200, {}, b"<html>")]
)
def test_what_nobody_worked_at_costs_nothing(monkeypatch, outcome):
    assert asked(monkeypatch, outcome, answer()).usage == Usage(1000, 10)


def test_a_budget_reckons_an_unknown_attempt_at_its_dearest(monkeypatch):
    engine = OpenAIEngine(model="m", base_url="http://127.0.0.1:1/v1")
    allowance = Allowance(max_usd=1.0, price=PRICE)
    claim = allowance.claim(REQUEST, engine)
    allowance.settle(claim, asked(monkeypatch, TransportError("connection", "reset"), answer()))
    dearest = PRICE.cost(Usage(1000 + claim.prompt, 10 + 50))
    assert allowance.usd == pytest.approx(dearest)
    assert Reckoner().usage(claim, asked(monkeypatch, answer())) == Usage(1000, 10)


@pytest.mark.parametrize(
    "body, counts",
    [
        ({"usage": {"prompt_tokens": 7, "completion_tokens": 3}}, (7, 3)),
        ({"usage": {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 90}}, (97, 3)),
        ({"usage": {"inputTokens": 7, "outputTokens": 3, "cacheWriteInputTokens": 20}}, (27, 3)),
        ({"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3}}, (7, 3)),
        ({"usage": {"prompt_tokens": -7, "completion_tokens": "many"}}, (0, 0)),
        ({"usage": {"prompt_tokens": 7, "input_tokens": 7, "completion_tokens": 3, "output_tokens": 3}}, (7, 3)),
        ({"usage": None}, (0, 0)),
        ({"usage": [[]]}, (0, 0)),
        ({"error": "no"}, (0, 0)),
    ],
)
def test_counts_are_found_in_any_protocol(body, counts):
    assert tokens_said(json.dumps(body).encode()) == counts


def test_counts_are_found_at_the_end_of_a_stream_that_broke_and_damage_is_no_count():
    events = b'data: {"choices": []}\n\ndata: {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}\n\ndata: {"cho'
    assert tokens_said(b"x" * 100_000 + events) == (5, 2)
    assert tokens_said(b'{"usage": {"prompt_tokens": 5, "comp') == (0, 0)
    assert tokens_said(b'{"usage": ' + b"[" * 50_000) == (0, 0)
