"""Streamed answers."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.protocols.openai_stream import parse_stream
from proctor.engines.http.retrying_client import ReplyError
from proctor.engines.http.transport import Reply
from proctor.ir import Decoding, Generate, Prompt
from proctor.testing import Fault, Faults, FaultServer


def stream(*events, done=True):
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def piece(text, index=0, reason=None):
    return {"choices": [{"index": index, "delta": {"content": text}, "finish_reason": reason}]}


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_streamed_and_whole_answers_are_equal(endpoint):
    requests = [Generate(Prompt(f"q {n}"), Decoding(count=1 + n % 2)) for n in range(6)]
    with FaultServer(answer=lambda body: f"three words {body.get('seed')}") as server:
        whole = dict(OpenAIEngine(model="m", base_url=server.url, endpoint=endpoint).generate(requests))
        engine = OpenAIEngine(model="m", base_url=server.url, endpoint=endpoint, stream=True)
        streamed = dict(engine.generate(requests))
    for n in range(6):
        assert streamed[n].texts == whole[n].texts
        assert streamed[n].usage == whole[n].usage
        assert streamed[n].finish_reasons == whole[n].finish_reasons
        assert 0 < streamed[n].timing.first_token_seconds <= streamed[n].timing.seconds
        assert whole[n].timing.first_token_seconds is None


def test_streaming_is_no_part_of_identity():
    assert OpenAIEngine(model="m", stream=True).identity == OpenAIEngine(model="m").identity


@pytest.mark.parametrize(
    "fault", [Fault("hangup"), Fault("truncated"), Fault("reset"), Fault("garbage"), Fault("empty")]
)
def test_a_stream_that_breaks_off_is_asked_again(fault):
    with FaultServer(faults=Faults.first(fault)) as server:
        [(_, response)] = list(
            OpenAIEngine(model="m", base_url=server.url, stream=True).generate([Generate(Prompt("q"))])
        )
        assert response.failure is None
        assert server.statistics()["requests"] == 2


def test_pieces_of_several_answers_may_interleave():
    body = stream(piece("a"), piece("x", 1), piece("b", reason="stop"), piece("y", 1, "length"))
    response = parse_stream(body, 2)
    assert response.texts == ("ab", "xy")
    assert response.finish_reasons == ("stop", "length")


def test_tool_calls_come_in_pieces():
    def call(index, **function):
        return {"choices": [{"delta": {"tool_calls": [{"index": index, "function": function}]}}]}

    body = stream(call(0, name="add", arguments=""), call(0, arguments='{"a":'), call(0, arguments=" 2}"))
    assert parse_stream(body).text == '{"name": "add", "arguments": {"a": 2}}'


def test_usage_and_log_probabilities():
    token = {"token": "a", "logprob": -0.5, "top_logprobs": [{"token": "b", "logprob": -1.0}]}
    event = {"choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": [token]}}]}
    response = parse_stream(stream(event, {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}))
    assert response.tokens[0][0].log_probability == -0.5
    assert response.usage.prompt_tokens == 3


def test_log_probabilities_of_streamed_completions():
    # vllm 0.33 (entrypoints/openai/completion): parallel lists in each event.
    def event(token, value):
        found = {"tokens": [token], "token_logprobs": [value], "text_offset": [0], "top_logprobs": [{token: value}]}
        return {"choices": [{"index": 0, "text": token, "logprobs": found}]}

    response = parse_stream(stream(event("a", -0.5), event("b", -1.0)))
    assert [(each.token, each.log_probability) for each in response.tokens[0]] == [("a", -0.5), ("b", -1.0)]


def test_groq_counts_tokens_in_a_place_of_its_own():
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    response = parse_stream(stream(piece("a"), {"choices": [], "x_groq": {"id": "r", "usage": usage}}))
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (3, 1)


@pytest.mark.parametrize("event", ["event: error\n", ""])
def test_an_error_in_a_stream_is_what_it_says(event):
    # LM Studio 0.4: the stream begins well, with status 200.
    said = "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9>= n_ctx: 4)."
    body = f'{event}data: {{"error":{{"message":"{said}"}}}}\n\n'.encode()

    class Server:
        async def post(self, url, content, headers, timeout_seconds):
            return Reply(200, {"content-type": "text/event-stream"}, body)

        async def close(self):
            pass

    engine = OpenAIEngine(model="m", base_url="http://h", stream=True, max_retries=3)
    engine._make_transport = Server
    [(_, response)] = list(engine.generate([Generate(Prompt("x"))]))
    assert (response.failure.kind, response.failure.attempts) == ("context_too_long", 1)
    assert "too long by 5 tokens" in response.failure.message


@pytest.mark.parametrize(
    "body",
    [
        b"",
        stream(piece("a"), done=False),
        stream({"error": {"message": "overloaded"}}),
        b"<html>",
        stream(),
    ],
)
def test_what_is_no_whole_stream(body):
    with pytest.raises(ReplyError):
        parse_stream(body)


def test_a_server_that_ends_without_saying_done():
    assert parse_stream(stream(piece("a", reason="stop"), done=False)).text == "a"


@given(st.lists(st.text(), min_size=1))
def test_any_pieces_make_up_the_text(pieces):
    assert parse_stream(stream(*map(piece, pieces))).text == "".join(pieces)


@given(st.binary())
def test_any_bytes_are_read_or_refused(body):
    for prefix in (b"", b"data: "):
        try:
            parse_stream(prefix + body)
        except (ReplyError, msgspec.DecodeError):
            continue


@pytest.mark.parametrize("end", [
    b'data: {"object": "error", "message": "out of memory", "code": 500}\n\ndata: [DONE]\n\n',
    b'event: error\ndata: {"message": "out of memory"}\n\ndata: [DONE]\n\n',
    b'event: error\r\ndata: {"detail": "out of memory"}\r\n\r\ndata: [DONE]\r\n\r\n',
    b'data: {"error": "out of memory"}\n\ndata: [DONE]\n\n',
])  # fmt: skip
def test_an_answer_that_ends_in_an_error_is_none_however_it_is_said(end):
    with pytest.raises(ReplyError, match="out of memory"):
        parse_stream(stream(piece("Par"), done=False) + end)


def test_an_event_after_an_error_of_another_one_is_not_called_one():
    body = b"event: message\n" + stream(piece("Paris", reason="stop"))
    assert parse_stream(body).text == "Paris"


def test_a_stream_without_words_in_their_places_is_no_empty_answer():
    with pytest.raises(ReplyError, match="neither in 'delta' nor in 'text'"):
        parse_stream(stream({"choices": [{"index": 0, "message": {"content": "Paris"}, "finish_reason": "stop"}]}))
    with pytest.raises(ReplyError, match="no content"):
        parse_stream(stream({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    assert parse_stream(stream(piece("", reason="stop"))).text == ""
