"""The openai engine against a server on loopback."""

import asyncio
import json
import logging
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from proctor.artifacts import fetch_artifact
from proctor.engines.engine_registry import make_engine
from proctor.engines.http.openai_engine import OpenAIEngine, normal_url
from proctor.engines.http.transport import Reply
from proctor.errors import UnsupportedRequestError, UsageError, ValidationError
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt, Rolling
from proctor.testing import Fault, Faults, FaultServer
from proctor.testing.answers import log_probability, prompt_text


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_URL", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


def questions(count, **decoding):
    return [Generate(Prompt(f"Question {n}?"), Decoding(**decoding)) for n in range(count)]


def texts(engine, requests):
    answers = dict(engine.generate(requests))
    assert sorted(answers) == list(range(len(requests)))
    return [answers[position].texts for position in range(len(requests))]


def only(engine, request):
    [(_, response)] = list(engine.generate([request]))
    return response


# -- what is asked, what comes back -------------------------------------------------------------------------------


def test_strings_and_messages():
    bodies = []

    def answer(body):
        bodies.append(body)
        return "yes"

    with FaultServer(answer=answer) as server:
        engine = OpenAIEngine(model="m", base_url=server.url)
        chat = Prompt([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}])
        assert texts(engine, [Generate(Prompt("hello")), Generate(chat)]) == [("yes",), ("yes",)]
    by_length = sorted((body["messages"] for body in bodies), key=len)
    assert by_length == [[{"role": "user", "content": "hello"}], list(chat.payload)]
    assert all(body["model"] == "m" for body in bodies)
    assert all(body["temperature"] == 0.0 for body in bodies)


def test_decoding_reaches_the_server():
    bodies = []

    def answer(body):
        bodies.append(body)
        return "one\ntwo"

    decoding = Decoding(max_tokens=7, temperature=0.5, top_p=0.9, stop=("\n",), seed=3, extra={"min_p": 0.1})
    with FaultServer(answer=answer) as server:
        engine = OpenAIEngine(model="m", base_url=server.url, temperature=0.9, max_tokens=99, frequency_penalty=0.2)
        response = only(engine, Generate(Prompt("q"), decoding))
    assert response.texts == ("one",)
    assert response.finish_reasons == ("stop",)
    assert {key: value for key, value in bodies[0].items() if key not in ("model", "messages")} == {
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["\n"],
        "seed": 3,
        "min_p": 0.1,
        "frequency_penalty": 0.2,
    }


def test_what_a_request_leaves_open_the_engine_decides():
    bodies = []

    def answer(body):
        bodies.append(body)
        return ""

    with FaultServer(answer=answer) as server:
        engine = OpenAIEngine(model="m", base_url=server.url, temperature=0.9, max_tokens=99, stop="END", seed=5)
        only(engine, Generate(Prompt("q")))
    assert (bodies[0]["temperature"], bodies[0]["max_tokens"], bodies[0]["stop"], bodies[0]["seed"]) == (
        0.9,
        99,
        ["END"],
        5,
    )


def test_several_answers():
    with FaultServer() as server:
        response = only(OpenAIEngine(model="m", base_url=server.url), Generate(Prompt("q"), Decoding(count=3)))
    assert len(set(response.texts)) == 3
    assert response.finish_reasons == ("stop",) * 3


def test_completions():
    with FaultServer(answer=lambda body: f"got {body['prompt']}") as server:
        engine = OpenAIEngine(model="m", base_url=server.url, endpoint="completions")
        assert only(engine, Generate(Prompt("a prompt"))).text == "got a prompt"
        chat = only(engine, Generate(Prompt([{"role": "user", "content": "x"}])))
    assert chat.failure.kind == "engine"
    assert "one string" in chat.failure.message


def test_token_log_probabilities():
    with FaultServer(answer=lambda body: "one two") as server:
        chat = OpenAIEngine(model="m", base_url=server.url, logprobs=True, top_logprobs=2)
        response = only(chat, Generate(Prompt("q")))
        plain = OpenAIEngine(model="m", base_url=server.url, endpoint="completions", logprobs=True, top_logprobs=2)
        completion = only(plain, Generate(Prompt("q")))
    assert [token.token for token in response.tokens[0]] == ["one", " two"]
    assert response.tokens[0][1].log_probability == log_probability("one", " two")
    assert response.tokens[0][1].top[0] == (" two", response.tokens[0][1].log_probability)
    assert [token.token for token in completion.tokens[0]] == [" two"]


def test_usage_is_counted_and_may_be_missing():
    with FaultServer(faults=Faults.by_key({})) as server:
        assert only(OpenAIEngine(model="m", base_url=server.url), Generate(Prompt("a b c"))).usage.prompt_tokens == 3
    with FaultServer(faults=Faults.always(Fault("no_usage"))) as server:
        response = only(OpenAIEngine(model="m", base_url=server.url), Generate(Prompt("a b c")))
    assert response.failure is None
    assert response.usage.prompt_tokens == 0


def test_timing_is_measured():
    with FaultServer(latency_seconds=0.1) as server:
        before = time.time()
        timing = only(OpenAIEngine(model="m", base_url=server.url), Generate(Prompt("q"))).timing
    assert 0.1 <= timing.seconds < 2
    assert before - 1 < timing.started < time.time()


# -- likelihoods --------------------------------------------------------------------------------------------------


@pytest.fixture
def scoring():
    with FaultServer() as server:
        yield OpenAIEngine(model="m", base_url=server.url, endpoint="completions")


def scored(engine, request):
    [(_, response)] = list(engine.score([request]))
    return response


def test_continuations_are_scored_by_echo(scoring):
    response = scored(scoring, Choose((Pair(Prompt("The sky is"), " blue"), Pair(Prompt("The sky is"), " very green"))))
    first, second = response.scores
    assert first.log_likelihood == log_probability("The sky is", " blue")
    assert first.token_count == 1
    expected = log_probability("The sky is", " very") + log_probability("The sky is very", " green")
    assert second.log_likelihood == pytest.approx(expected)
    assert second.token_count == 2
    assert response.usage.prompt_tokens == 4 + 5


def test_a_token_over_the_boundary_belongs_to_the_continuation(scoring):
    response = scored(scoring, Likelihood(Prompt("The sky is bl"), "ue today"))
    expected = log_probability("The sky is", " blue") + log_probability("The sky is blue", " today")
    assert response.scores[0].log_likelihood == pytest.approx(expected)


def test_greedy_means_that_no_other_token_was_likelier(scoring):
    greedy, other = [], []
    for number in range(40):
        score = scored(scoring, Likelihood(Prompt("Count"), f" {number}")).scores[0]
        (greedy if score.is_greedy else other).append(score.log_likelihood)
    assert greedy
    assert other
    assert min(greedy) >= -1.0 > max(other)


def test_rolling_leaves_out_only_the_first_token(scoring):
    response = scored(scoring, Rolling("one two three"))
    assert response.scores[0].log_likelihood == pytest.approx(
        log_probability("one", " two") + log_probability("one two", " three")
    )
    assert response.scores[0].token_count == 2


def test_a_first_token_that_is_left_out_is_said_once(scoring, heard):
    ways = [scored(scoring, each).way for each in (Rolling("one two"), Rolling("three four"), Rolling("a b", False))]
    assert ways == ["echo without the first token"] * 2 + [""]
    assert heard.text.count("the token is left out") == 1
    assert "prefix_token=TEXT" in heard.text


def test_choices_without_a_context_say_it_too(scoring):
    assert scored(scoring, Choose((Pair(Prompt(""), "one two"), Pair(Prompt(""), "two one")))).way
    assert not scored(scoring, Choose((Pair(Prompt("x"), " one"), Pair(Prompt("x"), " two")))).way


def test_first_tokens_count_behind_the_one_that_the_model_begins_with(heard):
    with FaultServer() as server:
        engine = OpenAIEngine(model="m", base_url=server.url, endpoint="completions", prefix_token="<s>")
        whole, part, continued = (scored(engine, each) for each in (
            Rolling(" one two"),
            Choose((Pair(Prompt(""), " one"), Pair(Prompt("The"), " sky"))),
            Rolling("one two", False),
        ))  # fmt: skip
        without = OpenAIEngine(model="m", base_url=server.url, endpoint="completions")
        assert engine.identity != without.identity
        assert "prefix_token" not in without.identity_values()
    assert whole.scores[0].log_likelihood == pytest.approx(
        log_probability("<s>", " one") + log_probability("<s> one", " two")
    )
    assert [each.log_likelihood for each in part.scores] == [
        log_probability("<s>", " one"),
        log_probability("The", " sky"),
    ]
    assert continued.scores[0].token_count == 1
    assert not heard.text


@pytest.mark.parametrize("more", [{}, {"endpoint": "chat"}, {"endpoint": "completions", "scoring": "prompt_logprobs"}])
@pytest.mark.parametrize("name", ["prefix_token", "tokenizer"])
def test_a_prefix_that_nobody_would_read_is_refused(name, more):
    with pytest.raises(UsageError, match=f"{name} would decide nothing"):
        OpenAIEngine(model="m", base_url="http://127.0.0.1:9", **{name: "<s>"}, **more)


def test_a_tokenizer_is_refused_where_the_server_names_its_own_first_token():
    with pytest.raises(UsageError, match="tokenizer would decide nothing"):
        OpenAIEngine(
            model="m", base_url="http://127.0.0.1:9", endpoint="completions", scoring="llamacpp", tokenizer="/t"
        )
    assert make_engine("gguf", {"base_url": "http://127.0.0.1:9", "tokenizer": "/t"}).tokenizer is None


@pytest.mark.parametrize(
    "endpoint, from_start, way",
    [
        ("completions", True, "prompt_logprobs without the first token"),
        ("completions", False, ""),
        ("chat", True, ""),  # the server lays the words out, and begins with tokens of its own
    ],
)
def test_prompt_logprobs_say_what_they_leave_out(endpoint, from_start, way):
    reply = {"prompt_logprobs": [None, {"1": {"logprob": -1.0, "rank": 1}}], "choices": [{"text": "x", "message": {}}]}

    class Answering:
        async def post(self, *_):
            return Reply(200, {}, json.dumps({**reply, "choices": [{**reply["choices"][0], **reply}]}).encode())

        async def close(self):
            pass

    engine = OpenAIEngine(model="m", base_url="http://127.0.0.1:9", endpoint=endpoint, scoring="prompt_logprobs")
    engine._make_transport = Answering
    response = scored(engine, Rolling("one two", from_start))
    assert response.scores[0].log_likelihood == -1.0
    assert response.way == way


def test_files_of_a_tokenizer_are_looked_into_once(tmp_path, monkeypatch, heard):
    looked = []
    monkeypatch.setattr(
        "proctor.engines.http.protocols.openai.token_before_texts", lambda name: looked.append(name) or ""
    )
    with FaultServer() as server:
        engine = OpenAIEngine(
            model="m", base_url=server.url, endpoint="completions", tokenizer=str(tmp_path), max_concurrency=1
        )
        answers = dict(engine.score([Rolling(f"one two {number}") for number in range(5)]))
    assert {each.way for each in answers.values()} == {"echo without the first token"}
    assert looked == [str(tmp_path)]
    assert heard.text.count("is left out") == 1


@pytest.mark.parametrize(
    "files, first",
    [
        ({"tokenizer_config.json": {"bos_token": "<s>", "eos_token": "</s>"}}, "<s>"),
        ({"tokenizer_config.json": {"bos_token": {"content": "<s>"}}}, "<s>"),
        ({"tokenizer_config.json": {"bos_token": None, "eos_token": "</s>"}}, "</s>"),
        ({"tokenizer_config.json": {}, "special_tokens_map.json": {"bos_token": "<s>"}}, "<s>"),
        ({"tokenizer_config.json": []}, ""),
        ({}, ""),
    ],
)
def test_the_files_of_a_tokenizer_say_which_token_a_model_begins_with(files, first, tmp_path, heard):
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    with FaultServer() as server:
        values = {"model": "m", "base_url": server.url, "tokenizer": str(tmp_path)}
        engine = make_engine("local-completions", values)
        found = [scored(engine, each) for each in (Rolling(" one two"), Rolling(" two"), Likelihood(Prompt("a"), " b"))]
        plain = OpenAIEngine(model="m", base_url=server.url, endpoint="completions", prefix_token=first or None)
        wanted = [scored(plain, Rolling(" one two")), scored(plain, Rolling(" two"))]
    assert [each.scores for each in found[:2]] == [each.scores for each in wanted]
    assert (found[1].failure is None) == bool(first)
    assert found[2].scores[0].token_count == 1
    assert found[0].scores[0].token_count == (2 if first else 1)
    assert (found[0].usage.prompt_tokens > wanted[0].usage.prompt_tokens) == bool(first)  # asked without it first
    assert ("is left out" in heard.text) == (not first)


def test_a_single_token_without_context_has_no_likelihood():
    with FaultServer() as server:
        engine = OpenAIEngine(model="m", base_url=server.url, endpoint="completions", max_retries=0)
        assert "first token" in scored(engine, Likelihood(Prompt(""), "word")).failure.message


def test_chat_endpoints_cannot_score():
    engine = OpenAIEngine(model="m", base_url="http://127.0.0.1:9")
    assert not engine.can_score
    with pytest.raises(UnsupportedRequestError, match="endpoint=completions"):
        engine.score([Likelihood(Prompt("a"), "b")])


def test_chat_prompts_cannot_be_scored(scoring):
    assert scoring.can_score
    failure = scored(scoring, Likelihood(Prompt([{"role": "user", "content": "x"}]), "b")).failure
    assert not failure.retryable
    assert "one string" in failure.message


# -- addresses and keys -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address, expected",
    [
        ("http://h:8000", "http://h:8000/v1"),
        ("http://h:8000/", "http://h:8000/v1"),
        ("http://h:8000/v1", "http://h:8000/v1"),
        ("http://h:8000/v1/", "http://h:8000/v1"),
        ("http://h:8000/v1/chat/completions", "http://h:8000/v1"),
        ("http://h:8000/v1/completions/", "http://h:8000/v1"),
        ("h:8000", "http://h:8000/v1"),
        ("https://h/proxy", "https://h/proxy/v1"),
        ("https://h/v1beta/openai/", "https://h/v1beta/openai"),
        ("https://h/api/v3", "https://h/api/v3"),
    ],
)
def test_addresses(address, expected):
    assert normal_url(address) == expected
    assert normal_url(expected) == expected


def test_the_address_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h:1/")
    assert OpenAIEngine(model="m").identity == OpenAIEngine(model="m", base_url="http://h:1/v1").identity


@pytest.mark.parametrize("way", ["field", "environment"])
def test_the_key_is_sent_and_nowhere_else(way, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    if way == "environment":
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    given = {"api_key": "sk-secret"} if way == "field" else {}
    with FaultServer(api_key="sk-secret") as server:
        engine = OpenAIEngine(model="m", base_url=server.url, **given)
        assert only(engine, Generate(Prompt("q"))).failure is None
        other = OpenAIEngine(model="m", base_url=server.url, api_key="another")
    assert engine.identity == other.identity
    assert (
        "sk-secret" not in repr(engine) + str(engine) + engine.to_json() + str(engine.identity_values()) + caplog.text
    )
    assert fetch_artifact(engine.to_dict()).identity == engine.identity


def test_what_changes_answers_changes_identity():
    base = OpenAIEngine(model="m", base_url="http://h")
    assert base.identity == OpenAIEngine(model="m", base_url="http://h/v1/", max_concurrency=3, timeout=9).identity
    others = [
        OpenAIEngine(model="n", base_url="http://h"),
        OpenAIEngine(model="m", base_url="https://h"),
        OpenAIEngine(model="m", base_url="https://h2"),
        OpenAIEngine(model="m", base_url="http://h", model_id="other"),
        OpenAIEngine(model="m", base_url="http://h", endpoint="completions"),
        OpenAIEngine(model="m", base_url="http://h", temperature=0.5),
        OpenAIEngine(model="m", base_url="http://h", extra_body={"x": 1}),
    ]
    assert len({base.identity, *(other.identity for other in others)}) == 8


@pytest.mark.parametrize(
    "engine, fields",
    [
        ("openai", {"model": "m", "base_url": "http://node7:8001"}),
        ("openai", {"model": "m", "base_url": "http://node7:8001", "model_id": "m"}),
        ("openai", {"model": "other", "base_url": "https://h", "model_id": "m"}),
        ("vllm-server", {"model": "m", "base_url": "http://h"}),
        ("local-chat-completions", {"model": "m", "base_url": "http://h/v1/chat/completions"}),
    ],
)
def test_an_answer_belongs_to_a_model_and_not_to_an_address_or_a_spelling(engine, fields):
    assert make_engine(engine, fields).identity == OpenAIEngine(model="m", base_url="http://h").identity


@pytest.mark.parametrize("engine", ["anthropic", "ollama", "llamacpp"])
def test_servers_that_speak_otherwise_are_other_models(engine):
    fields = {"model": "m", "base_url": "http://h"} if engine != "llamacpp" else {"model": "m"}
    assert make_engine(engine, fields).identity != OpenAIEngine(model="m", base_url="http://h").identity


def test_assigning_an_address_takes_effect():
    engine = OpenAIEngine(model="m", base_url="http://h")
    engine.base_url = "http://other"
    engine.endpoint = "completions"
    assert engine.identity == OpenAIEngine(model="m", base_url="http://other", endpoint="completions").identity
    assert engine.can_score


@pytest.mark.parametrize("fields", [{"max_concurrency": 0}, {"timeout": -1}, {"endpoint": "talk"}, {"modle": "m"}])
def test_fields_are_checked(fields):
    with pytest.raises(ValidationError):
        OpenAIEngine(model="m", **fields)


# -- faults -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        Fault("reset"),
        Fault("hangup"),
        Fault("truncated"),
        Fault("garbage"),
        Fault("empty"),
        Fault("slow", seconds=0.3),
        Fault("stall", seconds=0.1),
        Fault("wrong_id"),
        Fault("duplicate"),
        Fault("status", status=500),
        Fault("status", status=503, retry_after="0"),
        Fault("status", status=429, retry_after="0"),
        Fault("status", status=408),
        Fault("status", status=409),
    ],
    ids=lambda fault: f"{fault.kind}{fault.status if fault.kind == 'status' else ''}",
)
def test_a_fault_on_every_first_attempt_changes_nothing(fault):
    with FaultServer() as server:
        expected = texts(OpenAIEngine(model="m", base_url=server.url), questions(12))
    with FaultServer(faults=Faults.first(fault)) as server:
        assert texts(OpenAIEngine(model="m", base_url=server.url), questions(12)) == expected
        assert server.statistics()["answered_twice"] == 0


def test_a_server_that_sends_every_reply_twice_does_not_mix_up_answers():
    with FaultServer(answer=lambda body: f"to {prompt_text(body)}", faults=Faults.always(Fault("twice"))) as server:
        found = texts(OpenAIEngine(model="m", base_url=server.url, max_concurrency=2), questions(200))
        assert server.statistics()["requests"] == 200
    assert found == [(f"to Question {n}?",) for n in range(200)]


def test_retry_after_is_honoured():
    with FaultServer(faults=Faults.first(Fault("status", status=429, retry_after="1"))) as server:
        began = time.monotonic()
        assert only(OpenAIEngine(model="m", base_url=server.url), Generate(Prompt("q"))).failure is None
    assert time.monotonic() - began >= 1.0


def test_it_gives_up_with_a_reason_after_max_retries():
    with FaultServer(faults=Faults.always(Fault("status", status=503, retry_after="0", message="down"))) as server:
        failure = only(OpenAIEngine(model="m", base_url=server.url, max_retries=3), Generate(Prompt("q"))).failure
        assert server.statistics()["requests"] == 4
    assert (failure.kind, failure.attempts, failure.retryable) == ("server_error", 4, True)
    assert "down" in failure.message


def test_it_gives_up_when_the_time_is_over():
    with FaultServer(faults=Faults.always(Fault("stall", seconds=30))) as server:
        began = time.monotonic()
        failure = only(OpenAIEngine(model="m", base_url=server.url, timeout=0.5), Generate(Prompt("q"))).failure
    assert time.monotonic() - began < 3
    assert failure.kind == "timeout"


def test_one_attempt_may_be_shorter_than_the_whole():
    with FaultServer(faults=Faults.first(Fault("stall", seconds=30))) as server:
        engine = OpenAIEngine(model="m", base_url=server.url, timeout=20, attempt_timeout=0.2)
        assert only(engine, Generate(Prompt("q"))).failure is None


def test_other_errors_are_not_tried_again():
    with FaultServer(faults=Faults.always(Fault("status", status=400, message="bad field"))) as server:
        failure = only(OpenAIEngine(model="m", base_url=server.url), Generate(Prompt("q"))).failure
        assert server.statistics()["requests"] == 1
    assert (failure.kind, failure.retryable) == ("refused", False)


def test_a_wrong_key_stops_everything_at_once():
    with FaultServer(api_key="right") as server:
        engine = OpenAIEngine(model="m", base_url=server.url, api_key="wrong", max_concurrency=4)
        answers = dict(engine.generate(questions(500)))
        assert server.statistics()["requests"] == 0
    assert len(answers) == 500
    assert {response.failure.kind for response in answers.values()} == {"authentication"}
    assert len({response.failure.message for response in answers.values()}) == 1
    assert "wrong" not in answers[0].failure.message


def test_a_server_that_wants_a_key_says_where_to_put_it(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with FaultServer(api_key="right") as server:
        engine = OpenAIEngine(model="m", base_url=server.url)
        ((_, response),) = engine.generate([Generate(Prompt("x"))])
    assert response.failure.kind == "authentication"
    assert response.failure.message.endswith("no key was given: export OPENAI_API_KEY=…")


def test_an_unknown_model_stops_everything_at_once():
    with FaultServer(models=("a", "b")) as server:
        answers = dict(OpenAIEngine(model="c", base_url=server.url, max_concurrency=4).generate(questions(500)))
    assert {response.failure.kind for response in answers.values()} == {"not_found"}
    assert "`c` does not exist" in answers[499].failure.message


def test_no_server_is_said_soon():
    with FaultServer() as server:
        gone = server.url
    began = time.monotonic()
    answers = dict(OpenAIEngine(model="m", base_url=gone).generate(questions(300)))
    assert time.monotonic() - began < 15
    assert len(answers) == 300
    assert {response.failure.kind for response in answers.values()} == {"unreachable"}
    assert "base_url" in answers[0].failure.message


def test_a_server_that_dies_in_the_middle_leaves_failures_and_the_rest():
    server = FaultServer(latency_seconds=0.01).start()
    engine = OpenAIEngine(model="m", base_url=server.url, max_retries=1, max_concurrency=4)
    answers = {}
    for position, response in engine.generate(questions(200)):
        answers[position] = response
        if len(answers) == 20:
            server.stop()
    assert sorted(answers) == list(range(200))
    failed = [response for response in answers.values() if response.failure]
    assert 100 < len(failed) <= 180
    assert {response.failure.kind for response in failed} <= {"unreachable", "connection"}


def test_a_server_that_speaks_another_protocol():
    with FaultServer(faults=Faults.always(Fault("garbage"))) as server:
        failure = only(OpenAIEngine(model="m", base_url=server.url, max_retries=1), Generate(Prompt("q"))).failure
    assert failure.kind == "protocol"
    assert "<html>" in failure.message


def test_the_servers_concurrency_is_used_and_not_exceeded():
    with FaultServer(latency_seconds=0.02) as server:
        texts(OpenAIEngine(model="m", base_url=server.url, max_concurrency=8), questions(100))
        assert server.statistics()["most_in_flight"] == 8


# -- where it is called from ----------------------------------------------------------------------------------------


def test_works_in_a_notebook_and_in_threads():
    with FaultServer() as server:
        engine = OpenAIEngine(model="m", base_url=server.url)

        async def cell():
            return len(dict(engine.generate(questions(10))))

        assert asyncio.run(cell()) == 10
        found = []
        threads = [threading.Thread(target=lambda: found.append(asyncio.run(cell()))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [10] * 4


def test_ctrl_c_ends_it_at_once():
    program = """
        import sys
        from proctor.engines.http.openai_engine import OpenAIEngine
        from proctor.ir import Generate, Prompt
        engine = OpenAIEngine(model="m", base_url=sys.argv[1])
        print("ready", flush=True)
        for answer in engine.generate(Generate(Prompt(str(n))) for n in range(100)):
            pass
    """
    with FaultServer(latency_seconds=60) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        process.stdout.readline()
        while server.behaviour.in_flight < 32:
            time.sleep(0.01)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
        assert time.monotonic() - began < 5
    assert b"KeyboardInterrupt" in errors
    assert b"Task was destroyed" not in errors
    assert b"Unclosed" not in errors


def test_the_prompt_of_a_test_request_can_be_read():
    with FaultServer() as server:
        texts(OpenAIEngine(model="m", base_url=server.url), questions(3))
        assert sorted(server.behaviour.prompts.values()) == [f"Question {n}?" for n in range(3)]
        assert prompt_text({"prompt": "p"}) == "p"


@pytest.mark.parametrize("kind", ["empty", "garbage", "truncated", "hangup", "reset", "duplicate", "wrong_id"])
def test_faults_while_scoring_change_nothing(kind):
    requests = [Likelihood(Prompt(f"The sky {n} is"), " blue") for n in range(8)]
    with FaultServer() as server:
        calm = dict(OpenAIEngine(model="m", base_url=server.url, endpoint="completions").score(requests))
    with FaultServer(faults=Faults.first(Fault(kind))) as server:
        rough = dict(OpenAIEngine(model="m", base_url=server.url, endpoint="completions").score(requests))
    assert {n: each.scores for n, each in rough.items()} == {n: each.scores for n, each in calm.items()}


@pytest.mark.parametrize(
    "way",
    [
        "ignores",
        "n must be 1 when using greedy sampling, got 3.",
        "Field 'n': Value must be between 1 <= value <= 1, but got 3",
        "'n' : number must be at most 1",
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_servers_that_give_one_answer_are_asked_one_at_a_time(way, stream):
    sent = []

    class OneAnswer:
        """Ollama and LM Studio ignore ``n``; vLLM (greedy), llama.cpp's server (slots) and Groq refuse it."""

        async def post(self, url, body, headers, timeout_seconds):
            asked = json.loads(body)
            sent.append(asked)
            if way != "ignores" and asked.get("n", 1) > 1:
                return Reply(400, {}, json.dumps({"error": {"message": way}}).encode())
            if stream:
                piece = {"choices": [{"index": 0, "delta": {"content": str(asked["seed"])}, "finish_reason": "stop"}]}
                return Reply(200, {}, f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n".encode())
            choice = {"index": 0, "message": {"content": str(asked["seed"])}, "finish_reason": "stop"}
            return Reply(200, {}, json.dumps({"choices": [choice]}).encode())

        async def close(self):
            pass

    engine = OpenAIEngine(model="m", base_url="http://h", max_concurrency=1, seed=5, stream=stream)
    engine._make_transport = OneAnswer
    answers = texts(engine, [Generate(Prompt(f"Question {n}?"), Decoding(count=3)) for n in range(2)])
    assert answers == [("5", "6", "7")] * 2
    assert [body.get("n", 1) for body in sent] == [3, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("endpoint, expected", [("completions", 256), ("chat", None)])
def test_completions_are_not_ended_by_the_servers_own_limit(endpoint, expected):
    bodies = []

    def answer(body):
        bodies.append(body)
        return "x"

    with FaultServer(answer=answer) as server:
        only(OpenAIEngine(model="m", base_url=server.url, endpoint=endpoint), Generate(Prompt("q")))
        only(OpenAIEngine(model="m", base_url=server.url, endpoint=endpoint, max_tokens=7), Generate(Prompt("r")))
    assert [body.get("max_tokens") for body in bodies] == [expected, 7]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("reason", ["error", "abort"])
def test_an_answer_that_the_server_could_not_finish_is_none(reason, count):
    class Broken:
        async def post(self, url, body, headers, timeout_seconds):
            choices = [{"index": n, "message": {"content": "half"}, "finish_reason": reason} for n in range(count)]
            return Reply(200, {}, json.dumps({"choices": choices}).encode())

        async def close(self):
            pass

    engine = OpenAIEngine(model="m", base_url="http://h", max_retries=0)
    engine._make_transport = Broken
    failure = only(engine, Generate(Prompt("x"), Decoding(count=count))).failure
    assert failure.kind == "protocol"
    assert reason in failure.message
