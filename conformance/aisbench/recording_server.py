"""A server on loopback that writes down every request, with answers that are a pure function of the request.

It speaks what AISBench's model classes speak: chat and completions (streamed or not, with ``prompt_logprobs``),
text-generation-inference, Triton, MindIE and VITA, and lists one model. It imports nothing of Proctor's, so that it
runs in AISBench's environment, too.
"""

# ruff: noqa: RUF001 - answers in other scripts

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODEL = "served-model"
_SAY = "\nSay exactly:\n"
"""Words before an answer that a question brings along."""
_SUM = re.compile(r"(\d+)\s*\+\s*(\d+)")


def words_of(body: dict[str, Any]) -> str:
    """Return the words of a request."""
    if "messages" in body:
        return "\n".join(_content(each.get("content")) for each in body["messages"])
    for name in ("prompt", "inputs", "text_input"):
        if name in body:
            return _content(body[name])
    return ""


def _content(value: Any) -> str:
    if isinstance(value, list):
        return "".join(str(part.get("text") or "") for part in value if isinstance(part, dict))
    return "" if value is None else str(value)


def answer_to(words: str) -> str:
    """Return what the model says: what it is told to; right sums unless odd; whether gold and answer agree."""
    if (gold := re.search(r"<Gold Target Begin>: \s*(.*?)\s*<", words)) is not None:
        given = re.search(r"<Predicted Answer Begin>: \s*(.*?)\s*<Predicted End>", words, re.DOTALL)
        numbers = re.findall(r"\d+", given.group(1)) if given else []
        return "A" if numbers and numbers[-1] == gold.group(1) else "I choose B"
    if _SAY in words:
        return words.partition(_SAY)[2]
    thought = "<think>2+2 is no help.</think>" if words.startswith("Think first") else ""
    if found := _SUM.findall(words):
        total = sum(map(int, found[-1]))
        return f"{thought}The answer is \\boxed{{{total if total % 4 else total + 1}}}. I choose A"
    return f"answer {blake2b(words.encode(), digest_size=4).hexdigest()}"


_SHAPES = (
    "{letter}",
    "The answer is {letter}.",
    "({letter}) because {word} is not {other}",
    "**{letter}**",
    "答案：{letter}。",
    "So it is \\boxed{{{number}}}.",
    "\\boxed{{{letter}}}",
    "{number}",
    "First {number} + 2. #### {number}\n\nQuestion: what is 7?",
    "Let us think. ANSWER: {letter}",
    "The answer is {number}.",
    "Yes",
    "no, {word}",
    "<conclude>{letter}</conclude>",
    "<think>{other} or {word}?</think>\n{letter}. {word}",
    "<thought>A</thought>The {word} {number}",
    "{word} {other} {word}",
    "the correct answer is ({letter}), {letter} and {word}.",
    "{letter}, {number}",
    "正确答案是{letter}，因为{word}",
    " {letter}\n{word}",
    "",
)


def varied_answer(words: str) -> str:
    """Return one of many shapes of an answer, drawn by digest, with letters, numbers and words of the question."""
    digest = blake2b(words.encode(), digest_size=8).digest()
    found = re.findall(r"\w+", words) or ["nothing"]
    return _SHAPES[digest[0] % len(_SHAPES)].format(
        letter="ABCD"[digest[1] % 4],
        number=next(iter(re.findall(r"\d+", words)[-1 - digest[2] % 2 :]), "12"),
        word=found[-1 - digest[3] % min(8, len(found))],
        other=found[-1 - digest[4] % min(20, len(found))],
    )


def log_probability(token: str, place: int) -> float:
    """Return the log-probability of a token: between -5 and 0, by digest."""
    return -(blake2b(f"{place}:{token}".encode(), digest_size=2).digest()[0] / 51)


def prompt_log_probabilities(words: str) -> list[Any]:
    """Return what vLLM gives with ``prompt_logprobs``: nothing for the first token, one entry for each other."""
    tokens = re.findall(r"\s*\S+", words) or [""]
    return [None, *({str(place): {"logprob": log_probability(token, place), "rank": 1, "decoded_token": token}}
                    for place, token in enumerate(tokens[1:], 1))]  # fmt: skip


class RecordingServer:
    """The server, in a thread. A context manager.

    Attributes:
        requests: Path and body of every request, in the order of arrival.
        keys: The values of ``Authorization`` that came.
    """

    def __init__(self, answer: Callable[[str], str] = answer_to) -> None:
        """Create the server.

        Args:
            answer: What the model says to the words of a request.
        """
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.keys: set[str] = set()
        recorded, keys = self.requests, self.keys

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                self._send(json.dumps({"object": "list", "data": [{"id": MODEL}]}).encode(), "application/json")

            def do_POST(self) -> None:
                keys.add(self.headers.get("Authorization", ""))
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                recorded.append((self.path, body))
                pieces = list(reply_to(self.path, body, answer))
                if len(pieces) == 1 and not _streams(self.path, body):
                    self._send(pieces[0], "application/json")
                else:
                    self._send(b"".join(pieces), "text/event-stream")

            def _send(self, data: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _streams(path: str, body: dict[str, Any]) -> bool:
    return bool(body.get("stream")) or path.endswith("generate_stream")


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def reply_to(path: str, body: dict[str, Any], answer: Callable[[str], str] = answer_to) -> Iterator[bytes]:
    """Yield the pieces of the reply to a request."""
    words = words_of(body)
    text = answer(words)
    halves = [text[: len(text) // 2], text[len(text) // 2 :]]
    usage = {"prompt_tokens": len(words.split()), "completion_tokens": len(text.split())}
    if path.endswith(("/chat/completions", "/v1/completions")):
        yield from _openai(path, body, words, text, halves, usage)
    elif path.endswith("/generate_stream") and "/v2/" in path:
        yield from (_event({"text_output": half}) for half in halves)
    elif "/v2/" in path:
        yield json.dumps({"text_output": text}).encode()
    elif path.endswith(("/infer", "/generate_stream")):
        yield _event({"generated_text": None})
        yield _event({"generated_text": text})
    elif isinstance(body.get("prompt"), list):
        yield json.dumps({"text": [text]}).encode()
    else:
        yield json.dumps({"generated_text": text}).encode()


def _openai(
    path: str, body: dict[str, Any], words: str, text: str, halves: list[str], usage: dict[str, int]
) -> Iterator[bytes]:
    is_chat = path.endswith("/chat/completions")
    if body.get("stream"):
        for half in halves:
            part: dict[str, Any] = {"delta": {"content": half}} if is_chat else {"text": half}
            yield _event({"choices": [{"index": 0, **part}]})
        end: dict[str, Any] = {"delta": {}} if is_chat else {"text": ""}
        yield _event({"choices": [{"index": 0, **end, "finish_reason": "stop"}], "usage": usage})
        yield b"data: [DONE]\n\n"
        return
    said: dict[str, Any] = {"message": {"role": "assistant", "content": text}} if is_chat else {"text": text}
    if is_chat and body.get("tools"):
        said["message"] |= {"content": None, "tool_calls": [_tool_call(body["tools"][0]["function"], words)]}
    reply: dict[str, Any] = {"choices": [{"index": 0, "finish_reason": "stop", **said}], "usage": usage}
    if "prompt_logprobs" in body:
        (reply if is_chat else reply["choices"][0])["prompt_logprobs"] = prompt_log_probabilities(words)
    yield json.dumps(reply).encode()


def _tool_call(function: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a call of a function: its numbers are those of the words, in order, its texts their last word."""
    numbers = iter(re.findall(r"\d+", words))
    described = function["parameters"]["properties"]
    given = {
        name: int(next(numbers, "0")) if described[name]["type"] == "integer" else words.rsplit(maxsplit=1)[-1]
        for name in function["parameters"]["required"]
    }
    return {"id": "c", "type": "function", "function": {"name": function["name"], "arguments": json.dumps(given)}}
