"""Conversations with any engine."""

from proctor.engines.conversation import converse
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Converse
from proctor.testing import FaultServer


def user(text):
    return {"role": "user", "content": text}


def test_each_turn_hears_what_was_said_before():
    engine = ScriptedEngine(function=lambda prompt: " / ".join(message["content"] for message in prompt.messages))
    request = Converse((user("a"), None, user("b"), None))
    [(_, response)] = list(converse(engine, [request]))
    assert response.texts == ("a", "a / a / b")
    assert response.finish_reasons == ("stop", "stop")


def test_conversations_of_all_lengths_and_windows():
    engine = ScriptedEngine(function=lambda prompt: str(len(prompt.messages)))
    requests = [Converse(tuple(turn for _ in range(n) for turn in (user("x"), None))) for n in range(9)]
    for window in (1, 2, 100):
        answers = dict(converse(engine, iter(requests), window))
        assert [answers[n].texts for n in range(9)] == [tuple(str(2 * k + 1) for k in range(n)) for n in range(9)]


def test_a_failure_ends_a_conversation_and_says_where():
    failing = ScriptedEngine(rules=[("^first$", "fine")])
    [(_, response)] = list(converse(failing, [Converse((user("first"), None, user("second"), None, None))]))
    assert response.failure.message.startswith("turn 2: ")
    assert response.texts == ()


def test_conversations_run_at_once():
    with FaultServer(latency_seconds=0.05) as server:
        engine = OpenAIEngine(model="m", base_url=server.url)
        requests = [Converse((user(f"{n}"), None, user("more"), None)) for n in range(20)]
        answers = dict(converse(engine, requests))
        assert server.statistics()["most_in_flight"] == 20
        assert server.statistics()["requests"] == 40
    assert all(len(answers[n].texts) == 2 for n in range(20))
