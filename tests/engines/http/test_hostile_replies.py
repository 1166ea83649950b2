"""Whatever a server sends back, an answer or a failure comes of it: never an exception, never more memory."""

import asyncio
import copy
import gzip
import json
import random
import socketserver
import threading
import time
import tracemalloc
import zlib

import pytest
from tests_pace import in_time

from proctor.engines.http import transport
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.protocols.openai_echo import align
from proctor.engines.http.protocols.openai_stream import parse_stream
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.safe_replies import answered_safely
from proctor.engines.http.transport import Reply
from proctor.ir import Choose, Decoding, Generate, Pair, Prompt, Response, Rolling, Scored, Usage
from proctor.running.codec import decode, encode

CHAT = Generate(Prompt([{"role": "user", "content": "q"}]))
TEXT = Generate(Prompt("q"))
OPENAI = {
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "An answer.", "tool_calls": None, "refusal": None},
            "finish_reason": "stop",
            "logprobs": {
                "content": [{"token": "An", "logprob": -0.5, "top_logprobs": [{"token": "A", "logprob": -1}]}]
            },
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}
COMPLETION = {
    "choices": [
        {
            "index": 0,
            "text": "An answer.",
            "finish_reason": "stop",
            "logprobs": {
                "tokens": ["An", " answer."],
                "token_logprobs": [-0.5, -0.25],
                "top_logprobs": [{"An": -0.5}, {" answer.": -0.25}],
                "text_offset": [0, 2],
            },
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}
ANTHROPIC = {
    "content": [{"type": "text", "text": "An answer."}, {"type": "tool_use", "name": "f", "input": {"a": 1}}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 1},
}
BEDROCK = {
    "output": {"message": {"role": "assistant", "content": [{"text": "An answer."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 3, "outputTokens": 2},
}
OLLAMA = {
    "message": {"content": "An answer.", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
    "done_reason": "stop",
    "prompt_eval_count": 3,
    "eval_count": 2,
    "logprobs": [{"token": "An", "logprob": -0.5}],
}
WATSONX = {
    "results": [
        {
            "generated_text": "An answer.",
            "generated_token_count": 2,
            "input_token_count": 3,
            "stop_reason": "eos_token",
            "generated_tokens": [{"text": "An", "logprob": -0.5, "top_tokens": [{"text": "A", "logprob": -1}]}],
        }
    ]
}
REPLICATE = {"status": "succeeded", "output": ["An", " answer."], "metrics": {"input_token_count": 3}}
EVENTS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "An"}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]}}]},
    {"choices": [{"index": 0, "delta": {"content": " answer."}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
]


def streamed(events):
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events) + b"data: [DONE]\n\n"


class Sends:
    """A transport that sends the same reply to everything."""

    def __init__(self, body, status=200, headers=None):
        self.reply = Reply(status, headers or {}, body)

    async def post(self, url, body, headers, timeout_seconds):
        return self.reply

    async def close(self):
        pass


def provider(name, **fields):
    keys = {"credentials": {"api_key": "sk-key-of-a-test-0", "project_id": "p"}}
    return lambda: ProviderEngine(model="m", provider=name, max_retries=0, **keys, **fields)


def openai(**fields):
    return lambda: OpenAIEngine(model="m", base_url="http://127.0.0.1:1/v1", max_retries=0, api_key="k", **fields)


PROTOCOLS = {
    "chat": (openai(logprobs=True), CHAT, OPENAI),
    "several": (openai(), Generate(Prompt("q"), Decoding(count=2)), {"choices": OPENAI["choices"] * 2}),
    "completions": (openai(endpoint="completions"), TEXT, COMPLETION),
    "echo": (openai(endpoint="completions"), Choose((Pair(Prompt("An"), " answer."),)), COMPLETION),
    "rolling": (openai(endpoint="completions"), Rolling("An answer."), COMPLETION),
    "stream": (openai(stream=True), CHAT, EVENTS),
    "anthropic": (provider("anthropic"), CHAT, ANTHROPIC),
    "bedrock": (provider("aws"), CHAT, BEDROCK),
    "ollama": (provider("ollama"), CHAT, OLLAMA),
    "text_generation": (provider("bam"), TEXT, WATSONX),
    "replicate": (provider("replicate"), CHAT, REPLICATE),
    "gemini": (provider("vertex-ai", base_url="https://us-central1-aiplatform.googleapis.com/v1"), CHAT, OPENAI),
}


def answer_to(name, body, status=200, headers=None):
    make, request, _ = PROTOCOLS[name]
    engine = make()
    engine._make_transport = lambda: Sends(body, status, headers)
    ask = engine.generate if isinstance(request, Generate) else engine.score
    [(_, response)] = list(ask([request]))
    return response


def check(response):
    """It is one of both, and it can be stored, as every answer is before it counts."""
    assert isinstance(response, Response)
    assert (response.failure is None) != (response.texts == () and response.scores == ())
    assert 0 <= response.usage.prompt_tokens <= 10**9
    assert 0 <= response.usage.completion_tokens <= 10**9
    assert decode(encode(response)).failure == response.failure or "\ud800" in str(response)


VALUES = [
    None,
    True,
    -1,
    10**30,
    1e308,
    "",
    "x",
    "12",
    "NaN",
    "\x00\x1b[31m\u202e",
    "\U0001f600" * 3,
    [],
    {},
    [None],
    [[[]]],
    {"a": None},
    {"error": {"message": "m", "code": 10**30}},
    -(2**63),
    2**64 - 1,
    2**64,
    0.5,
]


def places(data, path=()):
    yield path
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in children:
        yield from places(value, (*path, key))


def mutated(data, path, change):
    if not path:
        return change(data)
    made = copy.copy(data)
    made[path[0]] = mutated(data[path[0]], path[1:], change)
    return made


def as_body(data):
    return (
        streamed(data) if isinstance(data, list) and data and isinstance(data[0], dict) else json.dumps(data).encode()
    )


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_valid_reply_is_an_answer(name):
    response = answer_to(name, as_body(PROTOCOLS[name][2]))
    assert response.failure is None
    check(response)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_value_of_a_reply_may_be_any_other(name):
    data = PROTOCOLS[name][2]
    for path in places(data):
        for value in VALUES:
            check(answer_to(name, as_body(mutated(data, path, lambda _, value=value: value))))
        if path:
            gone = mutated(data, path[:-1], lambda part, key=path[-1]: without(part, key))
            check(answer_to(name, as_body(gone)))


def without(part, key):
    return (
        [each for place, each in enumerate(part) if place != key]
        if isinstance(part, list)
        else {name: value for name, value in part.items() if name != key}
    )


@pytest.mark.parametrize("name", PROTOCOLS)
def test_bytes_may_be_lost_doubled_and_turned(name):
    chance, body = random.Random(name), as_body(PROTOCOLS[name][2])
    for _ in range(150):
        torn = bytearray(body)
        for _ in range(chance.randint(1, 4)):
            start = chance.randrange(len(torn) or 1)
            end = start + chance.choice((1, 1, 2, 10, len(body)))
            torn[start:end] = chance.choice(
                (b"", b"\xff\xfe", b"\x00", b'"', b"[[[", b"}", b"1e999", bytes(torn[start:end]) * 3)
            )
        check(answer_to(name, bytes(torn)))


DEEP = 200_000
BAD = {
    "nothing": b"",
    "a blank": b" ",
    "null": b"null",
    "a number": b"1",
    "a text": b'"x"',
    "a page": b"<html><body>hello</body></html>",
    "arrays without an end": b"[" * DEEP,
    "deep arrays": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep in a place": b'{"choices":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep arguments": json.dumps(OPENAI).replace('"tool_calls": null', '"tool_calls":[{"function":{"name":"f","arguments":%s}}]'
        % ("[" * 900 + "]" * 900)).encode(),
    "deep error": b'{"error":' * 50_000 + b"1" + b"}" * 50_000,
    "bytes that are not text": b'{"choices":[{"message":{"content":"\xff\xfe\xfa"}}]}',
    "half a character": b'{"choices":[{"message":{"content":"\\ud800"},"finish_reason":"stop"}]}',
    "many tokens": json.dumps({**OPENAI, "usage": {"prompt_tokens": 10**30}}).encode(),
    "a very long number": b'{"usage":{"prompt_tokens":' + b"9" * 5000 + b"}}",
    "fewer tokens than none": json.dumps({**OPENAI, "usage": {"prompt_tokens": -5}}).encode(),
    "tokens as text": json.dumps({**OPENAI, "usage": {"prompt_tokens": "5"}}).encode(),
    "not a number": b'{"choices":[],"usage":{"prompt_tokens":NaN}}',
    "infinite": b'{"choices":[{"message":{"content":"x"},"logprobs":{"content":[{"token":"x","logprob":1e999}]}}]}',
    "no choices": b'{"choices":[]}',
    "choices of nothing": b'{"choices":[null]}',
    "an error that is a number": b'{"error":1}',
    "an error that is a list": b'{"error":[[[]]]}',
    "an error with a huge code": b'{"error":{"code":' + b"9" * 400 + b',"message":"x"}}',
    "errors in errors": json.dumps({"error": json.dumps({"error": json.dumps({"error": "x"})})}).encode(),
    "a long message": json.dumps({"error": {"message": "x" * 10**6}}).encode(),
    "numbers that are too long": json.dumps({"error": {"message": f"context length is {'9' * 5000} tokens"}}).encode(),
    "events of nothing": b"data:\n\ndata:\n\n",
    "events without an end": b"data: {" * 10_000,
    "a stream of garbage": b"data: \xff\xff\n\n" * 1000 + b"data: [DONE]\n\n",
    "only the end": b"data: [DONE]\n\n",
    "a thousand indexes": streamed([{"choices": [{"index": 10**18 + n, "delta": {"content": "x"}}]} for n in range(1000)]),
    "a byte order mark": b"\xef\xbb\xbf" + json.dumps(OPENAI).encode(),
    "two answers": json.dumps(OPENAI).encode() * 2,
}  # fmt: skip


@pytest.mark.parametrize("status", [200, 204, 301, 400, 500])
@pytest.mark.parametrize("what", BAD)
def test_a_bad_reply_is_a_value(what, status):
    for name in PROTOCOLS:
        response = answer_to(name, BAD[what], status)
        check(response)
        assert response.failure is not None or status < 300
        if response.failure is not None:
            assert len(response.failure.message) < 5000


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": text}
        for text in ("-1", "1e999", "NaN", "x", "Fri, 31 Dec 9999 23:59:59 GMT", "9" * 5000, "Mon, 1 Jan 2024", "\x00")
    ]
    + [{"location": "x" * 10**6}, {"location": "\x1b[31m"}, {"retry-after-ms": "1e400"}],
)
def test_headers_may_say_anything(headers):
    for status in (301, 302, 307, 429, 503):
        assert answer_to("chat", b"{}", status, headers).failure is not None


# -- what comes over the wire -------------------------------------------------------------------------------------


class Wire:
    """A server that writes bytes as they are; ``forever`` after them, until the client has had enough."""

    def __init__(self, head, forever=b"", pause=0.0):
        class Handler(socketserver.BaseRequestHandler):
            def handle(handler):
                handler.request.recv(65536)
                try:
                    handler.request.sendall(head)
                    while forever:
                        handler.request.sendall(forever)
                        time.sleep(pause)
                except OSError:
                    pass

        socketserver.ThreadingTCPServer.daemon_threads = True
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(transport, "MOST_BYTES", 1 << 20)


def ask_wire(head, forever=b"", timeout=20.0, **fields):
    with Wire(head, forever) as wire:
        engine = OpenAIEngine(model="m", base_url=wire.url, max_retries=0, timeout=timeout, **fields)
        [(_, response)] = list(engine.generate([CHAT]))
    check(response)
    return response


def http(body, *headers):
    return "\r\n".join(("HTTP/1.1 200 OK", *headers, f"Content-Length: {len(body)}", "", "")).encode() + body


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "head, forever",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b": nothing\n\n" * 5000),
        (b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"x" * 4000 + b"\r\n"),
        (b"HTTP/1.1 200 " + b"x" * 100, b"x" * 65536),
    ],
    ids=["announced", "until closed", "chunks", "events", "headers", "status line"],
)
def test_a_reply_without_an_end_is_a_failure(small, head, forever, stream):
    tracemalloc.start()
    try:
        response = ask_wire(head, forever, stream=stream)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert response.failure is not None
    assert peak < 64 << 20


BOMB = b"0" * (48 << 20)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "bare"])
def test_a_reply_that_inflates_is_a_failure(small, encoding, stream):
    bare = zlib.compressobj(wbits=-15)
    made = {"gzip": gzip.compress, "deflate": zlib.compress, "bare": lambda data: bare.compress(data) + bare.flush()}
    body = made[encoding](BOMB)
    tracemalloc.start()
    try:
        response = ask_wire(http(body, f"Content-Encoding: {encoding.replace('bare', 'deflate')}"), stream=stream)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "more than 1 MiB" in response.failure.message
    assert peak < 32 << 20


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "bare", "identity", "members"])
def test_a_deflated_answer_is_read(encoding):
    body, bare = json.dumps(OPENAI).encode(), zlib.compressobj(wbits=-15)
    made = {
        "gzip": gzip.compress,
        "x-gzip": gzip.compress,
        "deflate": zlib.compress,
        "bare": lambda data: bare.compress(data) + bare.flush(),
        "identity": bytes,
        "members": lambda data: gzip.compress(data[:50], mtime=0) + gzip.compress(data[50:]),
    }[encoding](body)
    name = {"bare": "deflate", "members": "gzip"}.get(encoding, encoding)
    assert ask_wire(http(made, f"Content-Encoding: {name}")).text == "An answer."


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\x00\x01\x02",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 000 NO\r\n\r\n",
        b"HTTP/1.1 99999 NO\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n",
        http(b"{}", "Content-Encoding: br"),
        http(b"{}", "Content-Encoding: gzip"),
        http(gzip.compress(b"{}", mtime=0)[:-5], "Content-Encoding: gzip"),
        http(b"{}", "Content-Encoding: gzip, gzip"),
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
def test_what_is_not_http_is_a_failure(head, stream):
    assert ask_wire(head, timeout=5.0, stream=stream).failure is not None


def events(count):
    """Chunks of a stream that has no line's end for long."""
    noted, content = transport._Events(), bytearray()
    for _ in range(count):
        content += b"x" * 256
        noted.note(content, 0.1)


def calls(count):
    piece = {"tool_calls": [{"index": 0, "function": {"name": "", "arguments": "x" * 50}}]}
    parse_stream(streamed([{"choices": [{"index": 0, "delta": piece}]}] * count))


WIDE, PART = "\u8a9e", "\ufffd"
ECHOES = {
    "ascii": ([" word"], " word"),
    "bytes": ([PART] * 3, WIDE),
    "bytes of several": ([PART, PART, PART + "a"], WIDE + "a"),
    "special tokens": (["", " word"], " word"),
    "empty": (["", "", WIDE], WIDE),
    "none": ([""], WIDE),
    "of another text": (["zz"], " word"),
    "of another text, in parts": (["zz" + PART], " word"),
    "blanks": (["zz"], " " * 5),
    "no blanks": (["word"], " word"),
    "blanks too many": ([" word"], "word"),
}
READERS = {
    **{name: lambda n, t=tokens, w=text: align(t * n, w * n, has_more=True) for name, (tokens, text) in ECHOES.items()},
    "tool calls": calls,
    "a line without end": events,
}


@pytest.mark.parametrize("name", READERS)
def test_twice_the_reply_takes_twice_the_time(name):
    def seconds(count):
        began = time.process_time()
        READERS[name](count)
        return time.process_time() - began

    once, four = (min(seconds(count) for _ in range(3)) for count in (2_000, 8_000))
    assert four < 9 * max(once, 0.001)  # four times, and not sixteen


def test_an_echo_is_read_fast():
    text = " word" * 8_000
    began = time.process_time()
    align([" word"] * 8_000, text, has_more=True)
    assert in_time(time.process_time() - began, 0.1)


@pytest.mark.parametrize(
    "scores, said",
    [
        ((Scored(0.0, True, 1), Scored(0.0, True, 1)), "of all 2 choices"),
        ((Scored(0.0, True, 3), Scored(-1.0, True, 3)), "over 3 tokens"),
        ((Scored(0.0, True, 1), Scored(-1.0, True, 1)), None),  # certain, as far as its precision goes
        ((Scored(0.0, True, 1),), None),
        ((Scored(-1.0, True, 2),), None),
    ],
)
def test_zeros_are_no_likelihoods(scores, said):
    async def answer():
        return Response(scores=scores, usage=Usage(7, 1))

    found = asyncio.run(answered_safely(answer))
    if said is None:
        assert found.scores == scores
    else:
        assert found.failure.kind == "engine"
        assert said in found.failure.message
        assert found.usage == Usage(7, 1)


def test_a_long_stream_is_read_in_linear_time():
    events = [{"choices": [{"index": 0, "delta": {"role": "x"}}]}] * 20_000
    body = streamed([*events, *EVENTS])
    began = time.process_time()
    assert ask_wire(http(body), stream=True).failure is None
    assert in_time(time.process_time() - began, 10)


@pytest.mark.parametrize(
    "piece", [b"[],", b"{},", b'"",', b"1.5,", b"null,", b"data: {}\n", b"data:\n", b'{"text":""},'], ids=str
)
def test_what_many_values_take_is_bounded(piece):
    body = piece * ((32 << 20) // len(piece))
    body = body if piece.startswith(b"data") else b'{"choices":[' + body[:-1] + b"]}"
    tracemalloc.start()
    try:
        began = time.process_time()
        for name in ("chat", "stream"):
            assert answer_to(name, body).failure is not None
        assert in_time(time.process_time() - began, 4)  # twice, with every allocation traced
        assert tracemalloc.get_traced_memory()[1] < 256 << 20
    finally:
        tracemalloc.stop()


# -- refusals -----------------------------------------------------------------------------------------------------


def chat_with(message=None, **choice):
    given = {"message": {"content": "Sorry."} if message is None else message, "finish_reason": "stop", **choice}
    return {"choices": [given], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


def stream_with(delta, reason):
    return [{"choices": [{"index": 0, "delta": {"content": "So"}}]}, {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}]  # fmt: skip


REFUSED = [
    ("chat", chat_with(finish_reason="content_filter")),
    ("chat", chat_with({"content": None}, finish_reason="content_filter")),
    ("chat", {"choices": [{"finish_reason": "content_filter"}]}),
    ("chat", chat_with({"content": None, "refusal": "I cannot help."})),
    ("chat", chat_with(finish_reason="content_filter: PROHIBITED_CONTENT")),
    ("chat", chat_with(finish_reason="SAFETY")),
    ("chat", chat_with(finish_reason="sensitive")),
    ("chat", chat_with(finish_reason="refusal")),
    ("several", {"choices": [*OPENAI["choices"], {"index": 1, "finish_reason": "content_filter"}]}),
    ("gemini", {"choices": [], "promptFeedback": {"blockReason": "SAFETY"}}),
    ("gemini", {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
    ("completions", {"choices": [{"text": "", "finish_reason": "content_filter"}]}),
    ("stream", stream_with({}, "content_filter")),
    ("stream", stream_with({"refusal": "I cannot"}, "stop")),
    ("anthropic", {**ANTHROPIC, "stop_reason": "refusal"}),
    ("anthropic", {"content": [], "stop_reason": "refusal"}),
    ("bedrock", {**BEDROCK, "stopReason": "guardrail_intervened"}),
    ("bedrock", {**BEDROCK, "stopReason": "content_filtered"}),
    ("text_generation", {"results": [{"generated_text": "", "stop_reason": "moderation"}]}),
    ("replicate", {"status": "failed", "error": "NSFW content detected. Try again."}),
]


@pytest.mark.parametrize("name, data", REFUSED)
def test_a_refused_answer_is_a_failure_of_its_own(name, data):
    response = answer_to(name, as_body(data))
    assert response.failure.kind == "content_filter"
    assert not response.failure.retryable
    assert response.failure.attempts == 1
    assert response.texts == ()


def test_a_refused_answer_costs_what_it_costs():
    response = answer_to("chat", as_body(chat_with(finish_reason="content_filter")))
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (7, 3)


@pytest.mark.parametrize(
    "status, error",
    [
        (400, {"code": "content_filter", "message": "The response was filtered due to Azure's content management policy"}),
        (400, {"code": "invalid_prompt", "message": "Your prompt was flagged as potentially violating our usage policy."}),
        (400, {"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."}),
        (403, {"code": 403, "message": "Your chosen model requires moderation on OpenAI. Your input was flagged."}),
    ],
)  # fmt: skip
def test_a_refused_prompt_is_the_same_failure(status, error):
    assert answer_to("chat", json.dumps({"error": error}).encode(), status).failure.kind == "content_filter"


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", "", "eos", "end_turn", "STOP", "COMPLETE"])
def test_other_ends_are_answers(reason):
    assert answer_to("chat", as_body(chat_with(finish_reason=reason))).failure is None


@pytest.mark.parametrize(
    "reason", ["insufficient_system_resource", "network_error", "cancelled", "whatever", "x" * 999]
)
def test_an_end_that_nobody_knows_is_a_failure_that_names_it_and_is_asked_again(reason):
    failure = answer_to("chat", as_body(chat_with(finish_reason=reason))).failure
    assert (failure.kind, failure.retryable) == ("unfinished", True)
    assert f"'{reason[:80]}'" in failure.message


def test_a_refused_answer_is_in_no_number_and_counted(tmp_path):
    from proctor import LoadFromDictionary, Task, TaskCard
    from proctor.dialects.resolve import resolve_tasks
    from proctor.recipes import DatasetRecipe
    from proctor.running.run import run_exams
    from proctor.templates import InputOutputTemplate

    replies = {"Bad": chat_with(finish_reason="content_filter"), "Good": chat_with({"content": "yes"})}
    rows = [{"q": "Good?", "a": "yes"}, {"q": "Bad?", "a": "yes"}]
    task = Task(input_fields={"q": str}, reference_fields={"a": str}, prediction_type=str, metrics=["metrics.accuracy"])
    recipe = DatasetRecipe(
        card=TaskCard(loader=LoadFromDictionary(data={"test": rows}), task=task),
        template=InputOutputTemplate(input_format="{q}", output_format="{a}"),
    )

    class Replies(Sends):
        async def post(self, url, body, headers, timeout_seconds):
            return Reply(200, {}, json.dumps(replies["Bad" if b"Bad" in body else "Good"]).encode())

    engine = OpenAIEngine(model="m", base_url="http://127.0.0.1:1", api_key="k")
    engine._make_transport = lambda: Replies(b"")
    result = run_exams(list(resolve_tasks([recipe.to_json()])), engine, log=tmp_path / "log.db")
    [scores] = result.results.values()
    assert (scores["accuracy"], scores["num_of_instances"]) == (1.0, 1)
    assert scores["failure_kinds"] == {"content_filter": 1}
