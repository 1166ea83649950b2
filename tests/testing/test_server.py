"""The test server itself."""

import http.client
import json
import subprocess
import sys
import urllib.request

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.testing import Fault, Faults, FaultServer
from proctor.testing.answers import completion_reply, digest_answer, request_key, tokens_of
from proctor.testing.faults import FATAL_KINDS


def post(url, body, path="/chat/completions", **headers):
    request = urllib.request.Request(
        url + path, json.dumps(body).encode(), {"content-type": "application/json", **headers}
    )
    with urllib.request.urlopen(request) as reply:
        return json.loads(reply.read())


CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def test_answers_depend_on_the_prompt_alone():
    with FaultServer() as one, FaultServer() as two:
        assert post(one.url, CHAT) == post(two.url, CHAT)
        other = post(one.url, {**CHAT, "messages": [{"role": "user", "content": "ho"}]})
    assert other["choices"][0]["message"]["content"] != digest_answer(CHAT)


def test_what_was_asked_is_counted():
    with FaultServer() as server:
        post(server.url, CHAT)
        post(server.url, CHAT)
        post(server.url, {"model": "m", "prompt": "x"}, "/completions")
        statistics = server.statistics()
        assert statistics["requests"] == statistics["answers"] == 3
        assert statistics["answered_twice"] == 1
        assert statistics["asked"][request_key("/v1/chat/completions", CHAT)] == 2
        with urllib.request.urlopen(f"{server.url}/statistics") as reply:
            assert json.loads(reply.read()) == statistics
        server.behaviour.reset()
        assert server.statistics()["requests"] == 0


def test_models_are_listed():
    with FaultServer(models=("a", "b")) as server, urllib.request.urlopen(f"{server.url}/models") as reply:
        assert [model["id"] for model in json.loads(reply.read())["data"]] == ["a", "b"]


@pytest.mark.parametrize(
    "behaviour, body, status",
    [
        ({"api_key": "k"}, CHAT, 401),
        ({"models": ("a",)}, CHAT, 404),
        ({"faults": Faults.always(Fault("status", status=503, retry_after="7"))}, CHAT, 503),
    ],
)
def test_errors(behaviour, body, status):
    with FaultServer(**behaviour) as server, pytest.raises(urllib.error.HTTPError) as caught:
        post(server.url, body)
    assert caught.value.code == status
    assert "message" in json.loads(caught.value.read())["error"]
    if status == 503:
        assert caught.value.headers["retry-after"] == "7"


def test_broken_requests_and_unknown_routes():
    with FaultServer() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        statuses = []
        for path, body in (("/v1/chat/completions", b"{"), ("/v2/nowhere", b"{}")):
            connection.request("POST", path, body)
            reply = connection.getresponse()
            reply.read()
            statuses.append(reply.status)
        connection.close()
    assert statuses == [400, 404]


def test_one_connection_takes_many_requests_at_once():
    content = json.dumps(CHAT).encode()
    request = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(content) + content
    with FaultServer(latency_seconds=0.01) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.connect()
        connection.sock.sendall(request * 3)
        found = b""
        while found.count(b"HTTP/1.1 200") < 3 or not found.endswith(b"}"):
            found += connection.sock.recv(65536)
        connection.close()
        assert server.statistics()["answers"] == 3


def test_the_program():
    command = [sys.executable, "-W", "error", "-m", "proctor.testing.server", "--port", "0", "--latency", "0.01"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        assert post(url, CHAT)["choices"]
        process.terminate()


@given(st.text())
def test_tokens_make_up_the_text(text):
    assert "".join(tokens_of(text)) == text


@given(st.text(min_size=1).filter(str.strip))
def test_echo_returns_the_prompt_with_offsets(text):
    reply = completion_reply({"prompt": text, "echo": True, "logprobs": 1, "max_tokens": 1}, digest_answer)
    choice = reply["choices"][0]
    assert choice["text"].startswith(text)
    found = choice["logprobs"]
    for token, offset in zip(found["tokens"], found["text_offset"], strict=True):
        assert choice["text"][offset:].startswith(token)


@given(st.integers(), st.text(), st.integers(0, 5))
def test_schedules_are_functions_of_key_and_attempt(seed, key, attempt):
    assert Faults.random(seed).of(key, attempt) == Faults.random(seed).of(key, attempt)


def test_schedules_end():
    faults = Faults.random(1, rate=1.0, kinds=FATAL_KINDS, most_per_request=2)
    found = [faults.of("key", attempt) for attempt in range(4)]
    assert [fault is not None for fault in found] == [True, True, False, False]
