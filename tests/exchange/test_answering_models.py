"""Who really answered is filed with every answer, and what compares runs says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from proctor.cli.__main__ import main
from proctor.engines.http.protocols import anthropic, ollama, openai_shapes, openai_stream

TASK = """
task: quiz
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n"], max_gen_toks: 8}
metric_list: [{metric: exact_match}]
"""


@contextmanager
def served(model: object, answer: str) -> Iterator[str]:
    """Serve one answer under a model's name."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
            body = json.dumps({"model": model, "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def run(folder: str, model: object, answer: str) -> dict[str, object]:
    with served(model, answer) as url:
        args = f"model=alias,base_url={url},max_retries=0"
        given = ["--tasks", "quiz.yaml", "--model", "openai", "--model-args", args, "--log", f"{folder}.db"]
        assert main(["run", *given, "--output", folder]) == 0
    return json.loads(Path(folder, "results.json").read_text())


@pytest.fixture(autouse=True)
def _quiz(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    Path("quiz.yaml").write_text(TASK)
    Path("rows.jsonl").write_text("".join(json.dumps({"question": f"q{n}", "answer": "x"}) + "\n" for n in range(6)))


def models_in(folder: str) -> set[object]:
    return {json.loads(line).get("model") for line in Path(folder, "samples.jsonl").read_text().splitlines()}


def test_who_answered_is_filed_and_told(capsys):
    old, new = run("old", "alias-2025", "x"), run("new", "alias-2026", "y")
    assert (models_in("old"), models_in("new")) == ({"alias-2025"}, {"alias-2026"})
    assert old["run"]["answered_by"] == {"quiz": {"alias-2025": 6}}
    prints = [each["results"]["quiz"]["fingerprint"] for each in (old, new)]
    assert prints[0]["engine"] != prints[1]["engine"]
    assert prints[0]["metrics"] == prints[1]["metrics"]
    capsys.readouterr()
    assert main(["why", "old", "new"]) == 0
    assert "they part first in the engine" in capsys.readouterr().out
    assert main(["same", "old", "new"]) == 0
    assert "answered by       alias-2025; alias-2026" in capsys.readouterr().out


@pytest.mark.parametrize("named", [None, 7, ["m"], "m" * 201])
def test_what_is_no_name_of_a_model_is_none(named):
    found = run("run", named, "x")
    assert models_in("run") == {None}
    assert "answered_by" not in found["run"]


def test_every_protocol_reads_the_name():
    chat = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "model": "m-1"}
    text = {"choices": [{"text": "x", "finish_reason": "stop"}], "model": "m-1"}
    event = {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}], "model": "m-1"}
    said = {"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn", "model": "m-1"}
    local = {"message": {"content": "x"}, "done_reason": "stop", "model": "m-1"}
    parsed = [
        openai_shapes.parse_chat(msgspec.json.encode(chat)),
        openai_shapes.parse_completion(msgspec.json.encode(text)),
        openai_stream.parse_stream(b"data: " + msgspec.json.encode(event) + b"\n\ndata: [DONE]\n\n"),
        anthropic.parse_messages(msgspec.json.encode(said)),
        ollama.parse_chat(msgspec.json.encode(local)),
    ]
    assert [each.model for each in parsed] == ["m-1"] * 5
