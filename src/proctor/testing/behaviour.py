"""Behaviour of a test server for a request: on loopback, and in the transport without sockets."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import msgspec

from proctor.testing.answers import (
    CHAT,
    COMPLETIONS,
    OLLAMA,
    Answer,
    chat_reply,
    completion_reply,
    digest_answer,
    ollama_reply,
    prompt_text,
    request_key,
    stream_of,
)
from proctor.testing.faults import HARMLESS_KINDS, Fault, Faults

_REPLIES = {CHAT: chat_reply, COMPLETIONS: completion_reply, OLLAMA: ollama_reply}


@dataclass(frozen=True, slots=True)
class Plan:
    """A reply to send: a status, headers, a body, and the fault that spoils the sending."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    fault: Fault | None = None

    @property
    def seconds(self) -> float:
        """The seconds that sending takes."""
        return self.fault.seconds if self.fault else 0.0


@dataclass
class Behaviour:
    """A test server's mind.

    Args:
        answer: What the model says; by default a digest of the prompt.
        faults: When what goes wrong.
        latency_seconds: How long each answer takes.
        max_concurrency: Requests served at once; more wait their turn, or get 429 where ``reject`` is set.
        reject: Answer 429 beyond ``max_concurrency`` instead of letting requests wait.
        api_key: Key that a client must send as a bearer token; others get 401.
        models: Names that requests may use; empty means any. Others get 404.
        endpoints: Paths that exist; others get 404.
    """

    answer: Answer = digest_answer
    faults: Faults = field(default_factory=Faults.none)
    latency_seconds: float = 0.0
    max_concurrency: int | None = None
    reject: bool = False
    api_key: str | None = None
    models: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = (CHAT, COMPLETIONS, OLLAMA)
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    prompts: dict[str, str] = field(default_factory=dict)
    in_flight: int = 0
    most_in_flight: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self) -> bool:
        """Note that a request arrived; return whether there is room for it."""
        with self._lock:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            return self.max_concurrency is None or self.in_flight <= self.max_concurrency

    def leave(self) -> None:
        """Note that a request is done with."""
        with self._lock:
            self.in_flight -= 1

    def plan(self, path: str, authorization: str, content: bytes) -> Plan:
        """Decide what to send back for a request, and count it."""
        if self.api_key is not None and authorization != f"Bearer {self.api_key}":
            return error_plan(401, "Incorrect API key provided", "invalid_api_key")
        if path not in self.endpoints:
            return error_plan(404, f"no route {path}", "not_found")
        try:
            body = msgspec.json.decode(content)
        except msgspec.DecodeError as error:
            return error_plan(400, f"the body is not JSON: {error}", "invalid_request_error")
        if self.models and body.get("model") not in self.models:
            return error_plan(404, f"The model `{body.get('model')}` does not exist", "model_not_found")
        key = request_key(path, body)
        with self._lock:
            attempt = self.asked[key]
            self.asked[key] += 1
            self.prompts.setdefault(key, prompt_text(body))
        return self._reply(path, body, key, self.faults.of(key, attempt))

    def _reply(self, path: str, body: dict[str, Any], key: str, fault: Fault | None) -> Plan:
        if fault is not None and fault.kind == "status":
            headers = () if fault.retry_after is None else (("retry-after", fault.retry_after),)
            plan = error_plan(fault.status, fault.message, "scripted")
            return Plan(plan.status, plan.body, headers, fault)
        reply = _REPLIES.get(path, chat_reply)(body, self.answer)
        spoiled = _spoil(reply, fault)
        content = stream_of(spoiled) if body.get("stream") else msgspec.json.encode(spoiled)
        if fault is None or fault.kind in ("slow", *HARMLESS_KINDS):
            with self._lock:
                self.answered[key] += 1
        elif fault.kind == "truncated":
            content = content[: len(content) // 2]
        elif fault.kind == "garbage":
            content = b"<html>502 Bad Gateway</html>"
        return Plan(200, content, (), fault)

    def statistics(self) -> dict[str, Any]:
        """Return counts: requests by key, and answers by key."""
        with self._lock:
            return {
                "asked": dict(self.asked),
                "answered": dict(self.answered),
                "requests": sum(self.asked.values()),
                "answers": sum(self.answered.values()),
                "answered_twice": sum(1 for count in self.answered.values() if count > 1),
                "most_in_flight": self.most_in_flight,
            }

    def reset(self) -> None:
        """Forget what was counted."""
        with self._lock:
            self.asked.clear()
            self.answered.clear()
            self.prompts.clear()
            self.most_in_flight = self.in_flight


def error_plan(status: int, message: str, code: str) -> Plan:
    """Return a plan for an error in the shape of the OpenAI API."""
    return Plan(status, msgspec.json.encode({"error": {"message": message, "type": code, "code": code}}))


def _spoil(reply: dict[str, Any], fault: Fault | None) -> dict[str, Any]:
    kind = fault.kind if fault else ""
    if "choices" not in reply:
        return {} if kind == "empty" else reply
    if kind == "no_usage":
        return {name: value for name, value in reply.items() if name != "usage"}
    if kind == "empty":
        return {**reply, "choices": []}
    if kind == "wrong_id":
        choices = [{**choice, "index": choice["index"] + 7} for choice in reply["choices"]]
        return {**reply, "id": "cmpl-0", "choices": choices}
    if kind == "duplicate":
        return {**reply, "choices": [*reply["choices"], *reply["choices"]]}
    return reply
