"""A server of the OpenAI protocol that streams its answers with pauses that a test chooses."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class PacedServer:
    """Answers chat requests, streamed, each word after a pause; use it in a ``with`` block.

    The events of an answer are: one with the role and no words, one for each pause, and one that counts tokens.

    Args:
        plans: Of each request in the order of arrival, the seconds before each word; the last plan holds for all later
            requests.

    Attributes:
        url: Its address, with ``/v1``.
    """

    def __init__(self, plans: Sequence[Sequence[float]]) -> None:
        self._plans = list(plans)
        self._lock = threading.Lock()
        self._arrived = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for event in server._events(body):
                    self.wfile.write(event)
                    self.wfile.flush()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def _events(self, body: Any) -> Any:
        with self._lock:
            plan = self._plans[min(self._arrived, len(self._plans) - 1)]
            self._arrived += 1
        yield _event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
        for number, pause in enumerate(plan):
            time.sleep(pause)
            yield _event({"choices": [{"index": 0, "delta": {"content": f"w{number} "}}]})
        usage = {"prompt_tokens": sum(len(str(m["content"]).split()) for m in body["messages"])}
        yield _event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        yield _event({"choices": [], "usage": {**usage, "completion_tokens": len(plan)}})
        yield b"data: [DONE]\n\n"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _event(data: Any) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
