"""Every form in which servers reply with thoughts, however the answer ended, whole and streamed: never a silent zero."""

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.engines import make_engine
from proctor.engines.conversation import converse
from proctor.engines.http.providers import providers
from proctor.ir import Converse, Decoding, Generate, Prompt, Response
from proctor.recipes.options import ExamOptions
from proctor.running import run_exams

THOUGHT, ANSWER = "The words are kind.", "positive"
HARMONY = (
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>"
)
QUOTED = "The tags <think> and </think> stand around thoughts."
ENDINGS = ("stop", "length", "content_filter")
NO_ANSWER = None
GREEDY = Decoding()

SHAPES: dict[str, tuple[dict[str, Any], dict[str, str | None]]] = {
    # the message, and what is to be graded by how it ended; NO_ANSWER is a failure of the kind 'thinking'
    "plain": ({"content": ANSWER}, {"stop": ANSWER, "length": ANSWER}),
    "quoted": ({"content": QUOTED}, {"stop": QUOTED, "length": QUOTED}),
    "nothing": ({"content": ""}, {"stop": "", "length": NO_ANSWER}),
    "reasoning_content": (
        {"content": ANSWER, "reasoning_content": THOUGHT},
        {"stop": ANSWER, "length": ANSWER},
    ),
    "reasoning_content alone": (
        {"content": None, "reasoning_content": THOUGHT},
        {"stop": NO_ANSWER, "length": NO_ANSWER},
    ),
    "reasoning": ({"content": ANSWER, "reasoning": THOUGHT}, {"stop": ANSWER, "length": ANSWER}),
    "reasoning alone": ({"content": "", "reasoning": THOUGHT}, {"stop": NO_ANSWER, "length": NO_ANSWER}),
    "reasoning_details": (
        {"content": ANSWER, "reasoning_details": [{"type": "reasoning.text", "text": THOUGHT, "index": 0}]},
        {"stop": ANSWER, "length": ANSWER},
    ),
    "reasoning_details alone": (
        {"content": None, "reasoning_details": [{"type": "reasoning.summary", "summary": THOUGHT}]},
        {"stop": NO_ANSWER, "length": NO_ANSWER},
    ),
    "all three": (
        {
            "content": ANSWER,
            "reasoning": THOUGHT,
            "reasoning_content": THOUGHT,
            "reasoning_details": [{"type": "reasoning.text", "text": THOUGHT}],
        },
        {"stop": ANSWER, "length": ANSWER},
    ),
    "thinking_blocks": (
        {"content": ANSWER, "thinking_blocks": [{"type": "thinking", "thinking": THOUGHT, "signature": "x"}]},
        {"stop": ANSWER, "length": ANSWER},
    ),
    "parts, Mistral": (
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                {"type": "text", "text": ANSWER},
            ]
        },
        {"stop": ANSWER, "length": ANSWER},
    ),
    "parts, Gemini": (
        {"content": [{"type": "text", "text": THOUGHT, "thought": True}, {"type": "text", "text": ANSWER}]},
        {"stop": ANSWER, "length": ANSWER},
    ),
    "parts, thoughts alone": (
        {"content": [{"type": "thinking", "thinking": THOUGHT}]},
        {"stop": NO_ANSWER, "length": NO_ANSWER},
    ),
    "<think>": ({"content": f"<think>{THOUGHT}</think>\n\n{ANSWER}"}, {"stop": ANSWER, "length": ANSWER}),
    "<think> open": ({"content": f"<think>{THOUGHT}"}, {"stop": NO_ANSWER, "length": NO_ANSWER}),
    "<think> and no more": ({"content": f"<think>{THOUGHT}</think>\n"}, {"stop": NO_ANSWER, "length": NO_ANSWER}),
    "<thinking>": ({"content": f"<thinking>\n{THOUGHT}\n</thinking>\n{ANSWER}"}, {"stop": ANSWER, "length": ANSWER}),
    "<thought>": ({"content": f"<thought>{THOUGHT}</thought>{ANSWER}"}, {"stop": ANSWER, "length": ANSWER}),
    "</think>": ({"content": f"{THOUGHT}\n</think>\n\n{ANSWER}"}, {"stop": ANSWER, "length": ANSWER}),
    "harmony": ({"content": HARMONY}, {"stop": ANSWER, "length": ANSWER}),
    "harmony open": ({"content": HARMONY.partition("<|end|>")[0]}, {"stop": NO_ANSWER, "length": NO_ANSWER}),
    "both": (
        {"content": f"<think>\n\n</think>\n\n{ANSWER}", "reasoning_content": THOUGHT},
        {"stop": ANSWER, "length": ANSWER},
    ),
}
WITHOUT_THOUGHTS = {"plain", "quoted", "nothing"}
USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}


def whole(message: dict[str, Any], ending: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": ending}
    return json.dumps({"choices": [choice], "usage": USAGE}).encode()


def streamed(message: dict[str, Any], ending: str) -> bytes:
    """Return the events of a reply, three letters at a time; parts and details come one by one."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for name in sorted(message, key=lambda name: name == "content"):  # thoughts come first
        value = message[name]
        if isinstance(value, str):
            deltas += [{name: value[start : start + 3]} for start in range(0, len(value), 3)]
        else:
            deltas += [{name: [part]} for part in value or ()]
    events = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events += [{"choices": [{"index": 0, "delta": {}, "finish_reason": ending}]}, {"choices": [], "usage": USAGE}]
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"


class _Stub(ThreadingHTTPServer):
    """Replies to everything with one body, and keeps what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply: Any = b""
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        reply = self.server.reply(body) if callable(self.server.reply) else self.server.reply
        self.send_response(200)
        kind = "text/event-stream" if reply.startswith(b"data:") else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running() -> Iterator[_Stub]:
    server = _Stub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def stub() -> Iterator[_Stub]:
    with running() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_URL", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


def ask(stub: _Stub, reply: Any, provider: str = "openai", decoding: Decoding = GREEDY, **args: Any) -> Response:
    stub.reply = reply
    stub.asked.clear()
    engine = make_engine(provider, {"model": "m", "base_url": stub.url, "max_retries": 0, **args})
    [(_, response)] = list(engine.generate([Generate(Prompt("Is it kind?"), decoding)]))
    return response


@pytest.mark.parametrize("form", [whole, streamed])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_cell(stub: _Stub, shape: str, ending: str, form: Any) -> None:
    message, expected = SHAPES[shape]
    response = ask(stub, form(message, ending), stream=form is streamed)
    if ending == "content_filter":
        assert response.failure is not None
        assert response.failure.kind == "content_filter"
        assert response.texts == ()
        return
    assert response.finish_reasons == (ending,)
    assert response.usage.completion_tokens == 7
    if expected[ending] is NO_ANSWER:
        assert response.failure is not None
        assert response.failure.kind == "thinking"
        assert "all 7 tokens went into thinking" in response.failure.message
        assert not response.failure.retryable
        assert (response.texts, response.usage.thinking_tokens) == ((), 7)
    else:
        assert response.failure is None
        assert response.texts == (expected[ending],)
    assert response.thoughts == (() if shape in WITHOUT_THOUGHTS else (THOUGHT,))


def test_the_table_has_all_that_the_issue_asks_for() -> None:
    assert len(SHAPES) * len(ENDINGS) * 2 >= 12 * 3 * 2


ANTHROPIC = {"content": [], "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 7}}
ANTHROPIC_THOUGHT = {"type": "thinking", "thinking": THOUGHT, "signature": "s"}
HIDDEN = {"type": "redacted_thinking", "data": "x"}
TEXT = {"type": "text", "text": ANSWER}
BEDROCK_THOUGHT = {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "s"}}}
OLLAMA = {"prompt_eval_count": 5, "eval_count": 7}


def of_anthropic(blocks: list[Any], reason: str) -> bytes:
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 3}
    return json.dumps({"content": blocks, "stop_reason": reason, "usage": usage}).encode()


def of_bedrock(blocks: list[Any], reason: str) -> bytes:
    usage = {"inputTokens": 5, "outputTokens": 7, "cacheReadInputTokens": 3}
    return json.dumps({"output": {"message": {"content": blocks}}, "stopReason": reason, "usage": usage}).encode()


def of_ollama(message: dict[str, Any], reason: str) -> bytes:
    return json.dumps({"message": message, "done_reason": reason, **OLLAMA}).encode()


OTHERS = [
    ("anthropic", of_anthropic([ANTHROPIC_THOUGHT, TEXT], "end_turn"), ANSWER),
    ("anthropic", of_anthropic([ANTHROPIC_THOUGHT, TEXT], "max_tokens"), ANSWER),
    ("anthropic", of_anthropic([ANTHROPIC_THOUGHT, HIDDEN, TEXT], "end_turn"), ANSWER),
    ("anthropic", of_anthropic([ANTHROPIC_THOUGHT], "max_tokens"), NO_ANSWER),
    ("anthropic", of_anthropic([ANTHROPIC_THOUGHT], "end_turn"), NO_ANSWER),
    ("aws", of_bedrock([BEDROCK_THOUGHT, {"text": ANSWER}], "end_turn"), ANSWER),
    ("aws", of_bedrock([BEDROCK_THOUGHT], "max_tokens"), NO_ANSWER),
    ("ollama", of_ollama({"content": ANSWER, "thinking": THOUGHT}, "stop"), ANSWER),
    ("ollama", of_ollama({"content": "", "thinking": THOUGHT}, "length"), NO_ANSWER),
    ("ollama", of_ollama({"content": None, "thinking": THOUGHT}, "stop"), NO_ANSWER),
    ("ollama", of_ollama({"content": f"<think>{THOUGHT}</think>{ANSWER}"}, "stop"), ANSWER),
    ("ollama", of_ollama({"content": f"<think>{THOUGHT}"}, "length"), NO_ANSWER),
]


@pytest.mark.parametrize("provider, reply, expected", OTHERS)
def test_the_other_protocols(stub: _Stub, provider: str, reply: bytes, expected: str | None) -> None:
    args = {} if provider == "ollama" else {"api_key": "k"}
    response = ask(stub, reply, provider, **args)
    assert response.thoughts == (THOUGHT,)
    if expected is NO_ANSWER:
        assert response.failure is not None
        assert response.failure.kind == "thinking"
    else:
        assert (response.failure, response.texts) == (None, (expected,))
    if provider != "ollama":
        assert response.usage.cached_tokens == 3


# -- what is counted ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "usage, written, thought, cached",
    [
        ({"completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 40}}, 50, 40, 0),
        ({"completion_tokens": 10, "completion_tokens_details": {"reasoning_tokens": 40}}, 50, 40, 0),
        (
            {"completion_tokens": 50, "total_tokens": 95, "completion_tokens_details": {"reasoning_tokens": 40}},
            90,
            40,
            0,
        ),
        ({"completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 4}}, 50, 0, 4),
        ({"completion_tokens": 50, "prompt_cache_hit_tokens": 4}, 50, 0, 4),
        ({"completion_tokens": 50, "completion_tokens_details": None, "prompt_tokens_details": "?"}, 50, 0, 0),
    ],
)
def test_tokens(stub: _Stub, usage: dict[str, Any], written: int, thought: int, cached: int) -> None:
    choice = {"message": {"content": ANSWER}, "finish_reason": "stop"}
    reply = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 5, **usage}}).encode()
    found = ask(stub, reply).usage
    assert (found.prompt_tokens, found.completion_tokens, found.thinking_tokens, found.cached_tokens) == (
        *(5, written),
        *(thought, cached),
    )


@pytest.mark.parametrize("form", [whole, streamed])
def test_gemini_counts_thoughts_in_the_total_alone(stub: _Stub, form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(USAGE, "total_tokens", 127)
    reply = form({"content": ANSWER}, "stop")
    found = ask(stub, reply, model="gemini-3-flash", stream=form is streamed).usage
    assert (found.completion_tokens, found.thinking_tokens) == (107, 100)
    assert ask(stub, reply, model="m", stream=form is streamed).usage.completion_tokens == 7


def test_hidden_thoughts_are_known_by_their_tokens(stub: _Stub) -> None:
    usage = {"completion_tokens": 64, "completion_tokens_details": {"reasoning_tokens": 64}}
    choice = {"message": {"content": ""}, "finish_reason": "stop"}
    response = ask(stub, json.dumps({"choices": [choice], "usage": usage}).encode())
    assert response.failure is not None
    assert response.failure.kind == "thinking"


# -- several answers, stop strings, marks of one's own --------------------------------------------------------------


def test_several_answers_of_which_one_is_missing(stub: _Stub) -> None:
    texts = [f"<think>{THOUGHT}</think>{ANSWER}", f"<think>{THOUGHT}"]
    choices = [{"index": n, "message": {"content": text}, "finish_reason": "stop"} for n, text in enumerate(texts)]
    response = ask(stub, json.dumps({"choices": choices}).encode(), decoding=Decoding(count=2))
    assert response.failure is not None
    assert response.failure.kind == "thinking"
    assert "1 of 2 answers" in response.failure.message
    assert response.written == tuple(texts)


def test_stop_strings_count_in_the_answer_only_where_the_model_is_said_to_think(stub: _Stub) -> None:
    text = f"<think>One.\nTwo.</think>{ANSWER}\nQuestion: what else?"
    response = ask(stub, whole({"content": text}, "stop"), decoding=Decoding(stop=("\n",)), thinking_tokens=100)
    assert "stop" not in stub.asked[0]
    assert (response.texts, response.thoughts) == ((ANSWER,), ("One.\nTwo.",))
    ask(stub, whole({"content": "x"}, "stop"), decoding=Decoding(stop=("\n",)))
    assert stub.asked[0]["stop"] == ["\n"]


def test_a_stop_string_that_ended_the_thoughts_is_named(stub: _Stub) -> None:
    response = ask(stub, whole({"content": "<think>One."}, "stop"), decoding=Decoding(stop=("\n",)))
    assert response.failure is not None
    assert "stop string" in response.failure.message
    assert "--thinking-tokens" in response.failure.message


def test_marks_of_the_users_own(stub: _Stub) -> None:
    reply = whole({"content": f"[[{THOUGHT}]] {ANSWER}"}, "stop")
    assert ask(stub, reply).texts == (f"[[{THOUGHT}]] {ANSWER}",)
    assert ask(stub, reply, think_start="[[", think_end="]]").texts == (ANSWER,)
    assert ask(stub, whole({"content": f"{THOUGHT}]]{ANSWER}"}, "stop"), think_end="]]").texts == (ANSWER,)
    lost = ask(stub, whole({"content": THOUGHT}, "stop"), think_end="]]")
    assert lost.failure is not None
    assert lost.failure.kind == "thinking"
    assert ask(stub, whole({"content": ANSWER, "reasoning": THOUGHT}, "stop"), think_end="]]").texts == (ANSWER,)


@pytest.mark.parametrize("ending, is_missing", [("length", True), ("stop", False)])
def test_a_family_whose_template_begins_the_thoughts(stub: _Stub, ending: str, is_missing: bool) -> None:
    """DeepSeek-R1 behind a server without a reasoning parser writes neither mark where it is cut off."""
    response = ask(stub, whole({"content": THOUGHT}, ending), model="deepseek-ai/DeepSeek-R1")
    assert (response.failure is not None) is is_missing


def test_where_the_server_tells_thoughts_apart_its_text_is_the_answer(stub: _Stub) -> None:
    """A cut-off answer of such a model, from a server that counts thoughts and does not show them, or without any."""
    usage = {"completion_tokens": 64, "completion_tokens_details": {"reasoning_tokens": 60}}
    reply = json.dumps({"choices": [{"message": {"content": "pos"}, "finish_reason": "length"}], "usage": usage})
    assert ask(stub, reply.encode(), model="DeepSeek-R1").texts == ("pos",)
    assert ask(stub, whole({"content": "pos"}, "length"), model="DeepSeek-R1", thinking="off").texts == ("pos",)


# -- how long and how hard ------------------------------------------------------------------------------------------


def test_the_allowance_comes_on_top(stub: _Stub) -> None:
    ask(stub, whole({"content": ANSWER}, "stop"), decoding=Decoding(max_tokens=4), thinking_tokens=1000)
    assert stub.asked[0]["max_tokens"] == 1004
    ask(stub, whole({"content": ANSWER}, "stop"), thinking_tokens=1000)
    assert "max_tokens" not in stub.asked[0]


LEVELS = [
    (
        "openai",
        "m",
        "low",
        {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": True, "thinking": True}},
    ),
    ("openai", "m", "off", {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}),
    ("openrouter", "m", "high", {"reasoning": {"effort": "high"}}),
    ("open-ai", "gpt-5.2", "off", {"reasoning_effort": "none"}),
    ("open-ai", "o3", "medium", {"reasoning_effort": "medium"}),
    ("deepseek", "deepseek-chat", "on", {"thinking": {"type": "enabled"}}),
    ("groq", "openai/gpt-oss-20b", "low", {"reasoning_effort": "low"}),
    ("groq", "qwen/qwen3-32b", "off", {"reasoning_effort": "none"}),
    ("anthropic", "claude-opus-4-6", "low", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
    ("anthropic", "claude-sonnet-4-5", "off", {"thinking": {"type": "disabled"}}),
    ("anthropic", "claude-sonnet-4-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
    ("ollama", "gpt-oss:20b", "high", {"think": "high"}),
    ("ollama", "qwen3", "off", {"think": False}),
]


@pytest.mark.parametrize("provider, model, level, fields", LEVELS)
def test_levels_in_each_providers_own_words(
    stub: _Stub, provider: str, model: str, level: str, fields: dict[str, Any]
) -> None:
    reply = {"ollama": of_ollama({"content": ANSWER}, "stop"), "anthropic": of_anthropic([TEXT], "end_turn")}
    key = {} if provider in ("ollama", "openai") else {"api_key": "k"}
    found = reply.get(provider, whole({"content": ANSWER}, "stop"))
    response = ask(stub, found, provider, Decoding(max_tokens=4), thinking=level, **{**key, "model": model})
    assert response.texts == (ANSWER,)
    assert {name: stub.asked[0].get(name) for name in fields} == fields
    if fields.get("thinking", {}) == {"type": "enabled", "budget_tokens": 2048}:
        assert stub.asked[0]["max_tokens"] == 4 + 2048
        assert "temperature" not in stub.asked[0]


@pytest.mark.parametrize(
    "provider, args, said",
    [
        ("ollama", {"model": "qwen3", "thinking": "low"}, "off, on"),
        ("open-ai", {"model": "gpt-4o", "thinking": "low"}, "no way to say"),
        ("replicate", {"model": "meta/llama", "thinking": "off"}, "--thinking-tokens works alone"),
        ("openai", {"model": "m", "thinking": "low", "endpoint": "completions"}, "completions endpoint"),
        ("openai", {"model": "m", "thinking": "hard"}, "thinking"),
        ("scripted", {"answer": "x", "thinking": "low"}, "no argument"),
    ],
)
def test_where_there_are_no_words_it_is_an_error(provider: str, args: dict[str, Any], said: str) -> None:
    from proctor.errors import ProctorError

    with pytest.raises(ProctorError, match=said):
        make_engine(provider, args)


FIELDS = json.loads((Path(__file__).parent / "provider_fields.json").read_text())
DOCUMENTED = {
    "open-ai": "openai chat",
    "azure": "openai chat",
    **{name: name for name in ("anthropic", "ollama", "mistral", "together-ai", "groq", "watsonx")},
}


@pytest.mark.parametrize("provider", DOCUMENTED)
def test_words_are_fields_that_the_provider_documents(provider: str) -> None:
    words = providers()[provider].thinking
    sent = {field for entry in words for body in entry.levels.values() for field in body}
    assert sent
    assert sent <= set(FIELDS[DOCUMENTED[provider]]["all"])


def test_both_belong_to_the_identity_and_nothing_else_changes_it() -> None:
    def identity(**args: Any) -> str:
        return make_engine("openai", {"model": "m", "base_url": "http://127.0.0.1:1", **args}).identity

    given = [{}, {"thinking": "low"}, {"thinking": "high"}, {"thinking_tokens": 5}, {"think_end": "x"}]
    assert len({identity(**args) for args in given}) == len(given)
    assert identity(thinking=None) == identity()
    assert identity(thinking=False) == identity(thinking="off")  # as YAML reads it
    values = make_engine("openai", {"model": "m"}).identity_values()
    assert not {"thinking", "thinking_tokens", "think_start", "think_end"} & values.keys()


# -- conversations --------------------------------------------------------------------------------------------------


def test_turns_carry_the_answer_only(stub: _Stub) -> None:
    stub.reply = whole({"content": f"<think>{THOUGHT}</think>{ANSWER}"}, "stop")
    stub.asked.clear()
    engine = make_engine("openai", {"model": "m", "base_url": stub.url})
    turns = ({"role": "user", "content": "a"}, None, {"role": "user", "content": "b"}, None)
    [(_, response)] = list(converse(engine, [Converse(turns)]))
    assert (response.texts, response.thoughts) == ((ANSWER, ANSWER), (THOUGHT, THOUGHT))
    assert stub.asked[1]["messages"][1] == {"role": "assistant", "content": ANSWER}
    stub.asked.clear()
    keeping = make_engine("openai", {"model": "m", "base_url": stub.url, "thoughts_in_turns": True})
    assert keeping.identity == engine.identity
    [_] = list(converse(keeping, [Converse(turns)]))
    said = {"role": "assistant", "content": ANSWER, "reasoning_content": THOUGHT}
    assert stub.asked[1]["messages"][1] == said


def test_secrets_are_not_in_thoughts(stub: _Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890abcdefgh")
    said = "the key is sk-1234567890abcdefgh"
    response = ask(stub, whole({"content": f"<think>{said}</think>x", "reasoning": said}, "stop"))
    assert "1234567890" not in "".join((*response.thoughts, *response.written, *response.texts))


# -- in a run -------------------------------------------------------------------------------------------------------


def test_a_run_over_every_cell_has_no_silent_zero(stub: _Stub, tmp_path: Path) -> None:
    """Each instance gets a reply of its own: what is scored is an answer, and all else is counted with its reason."""
    cells = [(shape, ending) for ending in ENDINGS for shape in SHAPES][::2]  # as many as the exam has instances
    [exam] = resolve_tasks(["samples.sentiment"], ExamOptions(limit=len(cells)))
    replies = iter(cells * 10)
    stub.reply = lambda body: whole(SHAPES[(cell := next(replies))[0]][0], cell[1])
    stub.asked.clear()
    engine = make_engine("openai", {"model": "m", "base_url": stub.url, "max_concurrency": 1})
    result = run_exams([exam], engine, log=tmp_path / "log.db")
    sent = (cells * 10)[: len(stub.asked)]
    expected = Counter(
        "content_filter" if ending == "content_filter" else "thinking"
        for shape, ending in sent
        if ending == "content_filter" or SHAPES[shape][1][ending] is NO_ANSWER
    )
    failures = Counter(failure.kind for failure in result.grades[exam.name].failures.values())
    assert set(failures) == set(expected) == {"content_filter", "thinking"}
    assert result.run["requests"]["failed"] == expected.total()
    again = run_exams([exam], engine, log=tmp_path / "log.db", retry_failed=False)
    assert again.run["requests"]["asked"] == 0
    assert again.results == result.results


def test_the_command_line(stub: _Stub, tmp_path: Path) -> None:
    stub.reply = whole({"content": f"<think>{THOUGHT}</think>{ANSWER}"}, "stop")
    stub.asked.clear()
    model = ("--model", "openai", "--model-args", f"model=m,base_url={stub.url}")
    options = (
        "--tasks",
        "samples.sentiment",
        "--limit",
        "2",
        "--log",
        tmp_path / "log.db",
        "--output",
        tmp_path / "run",
    )
    command = [sys.executable, "-m", "proctor", "run", *model, "--thinking", "low", "--thinking-tokens", "90", *options]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {(body["reasoning_effort"], body["max_tokens"] > 90) for body in stub.asked} == {("low", True)}
    samples = [json.loads(line) for line in (tmp_path / "run" / "samples.jsonl").read_text().splitlines()]
    assert [sample["output"] for sample in samples] == [ANSWER] * 2
    saved = (tmp_path / "run" / "run.yaml").read_text()
    assert "thinking_tokens: 90" in saved
