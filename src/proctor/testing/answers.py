"""Deterministic answers in the shape of the OpenAI API: a pure function of the request's body."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

import msgspec

Body = Mapping[str, Any]
"""The decoded JSON body of a request."""
Answer = Callable[[Body], str]
"""What a test model says to a request."""

_ENCODER = msgspec.json.Encoder(order="deterministic")
_TOKEN = re.compile(r"\s*\S+|\s+$")
CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
OLLAMA = "/api/chat"


def request_key(path: str, body: Body) -> str:
    """Return a digest of what was asked: 16 hexadecimal digits, independent of dict order."""
    return blake2b(_ENCODER.encode((path, body)), digest_size=8).hexdigest()


def prompt_text(body: Body) -> str:
    """Return the words of a request: its prompt, or its messages joined by newlines."""
    if "prompt" in body:
        return str(body["prompt"])
    return "\n".join(_content_text(message.get("content")) for message in body.get("messages", ()))


def _content_text(content: object) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def digest_answer(body: Body) -> str:
    """Say something that depends on nothing but the prompt (and the seed, where one is given)."""
    text = f"{prompt_text(body)}|{body.get('seed')}"
    return f"answer {blake2b(text.encode(), digest_size=4).hexdigest()}"


def tokens_of(text: str) -> list[str]:
    """Cut a text into the tokens of the test model: words with the blanks before them."""
    return _TOKEN.findall(text)


def log_probability(before: str, token: str) -> float:
    """Return the test model's log-probability of a token after a text: between -10 and 0, by digest."""
    digest = blake2b(f"{before}\x00{token}".encode(), digest_size=4).digest()
    return -int.from_bytes(digest, "big") / 2**32 * 10


def chat_reply(body: Body, answer: Answer) -> dict[str, Any]:
    """Return the reply to a chat request."""
    texts = _texts(body, answer)
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
            **({"logprobs": {"content": _chat_log_probabilities(text)}} if body.get("logprobs") else {}),
        }
        for index, text in enumerate(texts)
    ]
    return _envelope(body, "chat.completion", choices, texts)


def completion_reply(body: Body, answer: Answer) -> dict[str, Any]:
    """Return the reply to a completion request, with echo log-probabilities where they are asked for."""
    prompt = str(body.get("prompt", ""))
    wanted = body.get("max_tokens") != 0
    texts = _texts(body, answer) if wanted else [""] * int(body.get("n") or 1)
    if body.get("echo"):
        texts = [prompt + (" " + tokens_of(text)[0].strip() if text else "") for text in texts]
    choices = [
        {
            "index": index,
            "text": text,
            "finish_reason": "stop",
            "logprobs": _completion_log_probabilities(text) if body.get("logprobs") is not None else None,
        }
        for index, text in enumerate(texts)
    ]
    return _envelope(body, "text_completion", choices, texts)


def ollama_reply(body: Body, answer: Answer) -> dict[str, Any]:
    """Return the reply to a chat request in Ollama's own protocol."""
    stop = (body.get("options") or {}).get("stop")
    text = _cut(answer(body), {"stop": stop})
    return {
        "model": body.get("model", ""),
        "message": {"role": "assistant", "content": text},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": len(prompt_text(body).split()),
        "eval_count": len(text.split()),
    }


def stream_of(reply: Mapping[str, Any]) -> bytes:
    """Return a reply as server-sent events, one for each token."""
    events: list[dict[str, Any]] = []
    for choice in reply["choices"]:
        is_chat = "message" in choice
        text = choice["message"]["content"] if is_chat else choice["text"]
        for token in tokens_of(text):
            piece: dict[str, Any] = {"delta": {"content": token}} if is_chat else {"text": token}
            events.append({"choices": [{"index": choice["index"], **piece, "finish_reason": None}]})
        end: dict[str, Any] = {"delta": {}} if is_chat else {"text": ""}
        events.append({"choices": [{"index": choice["index"], **end, "finish_reason": choice["finish_reason"]}]})
    if "usage" in reply:
        events.append({"choices": [], "usage": reply["usage"]})
    lines = [b"data: " + msgspec.json.encode({"id": reply["id"], **event}) for event in events]
    return b"\n\n".join([*lines, b"data: [DONE]", b""])


def _texts(body: Body, answer: Answer) -> list[str]:
    count = int(body.get("n") or 1)
    if count == 1:
        return [_cut(answer(body), body)]
    return [_cut(answer({**body, "seed": f"{body.get('seed')}/{index}"}), body) for index in range(count)]


def _cut(text: str, body: Body) -> str:
    stop = body.get("stop") or ()
    for mark in [stop] if isinstance(stop, str) else stop:
        text = text.partition(mark)[0]
    return text


def _chat_log_probabilities(text: str) -> list[dict[str, Any]]:
    found, before = [], ""
    for token in tokens_of(text):
        value = log_probability(before, token)
        found.append({"token": token, "logprob": value, "top_logprobs": [{"token": token, "logprob": value}]})
        before += token
    return found


def _completion_log_probabilities(text: str) -> dict[str, Any]:
    tokens = tokens_of(text)
    offsets = [sum(map(len, tokens[:index])) for index in range(len(tokens))]
    values: list[float | None] = [
        log_probability(text[:offset], token) for offset, token in zip(offsets, tokens, strict=True)
    ]
    top: list[dict[str, float] | None] = [
        {token: value, " other": -1.0} for token, value in zip(tokens, values, strict=True) if value is not None
    ]
    if values:
        values[0], top[0] = None, None
    return {"tokens": tokens, "token_logprobs": values, "top_logprobs": top, "text_offset": offsets}


def _envelope(body: Body, kind: str, choices: list[dict[str, Any]], texts: list[str]) -> dict[str, Any]:
    read, written = len(prompt_text(body).split()), sum(len(text.split()) for text in texts)
    return {
        "id": f"cmpl-{request_key(kind, body)}",
        "object": kind,
        "created": 0,
        "model": body.get("model", ""),
        "choices": choices,
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }
