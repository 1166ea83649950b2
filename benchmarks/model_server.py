"""A server with a model behind it that speaks as vLLM, SGLang and llama.cpp do, and counts what it computes.

Tokens are computed as vLLM's prefix cache (V1) leaves them: blocks of 16 with chained hashes, the least recently used
go first, hits are rounded down to blocks, the last token is always computed, and log-probabilities of a prompt skip
reading the cache, while they still fill it. SGLang's radix cache is reckoned by the same rule, from
``logprob_start_len`` on. Habits are those of versions and of servers that only look alike.
"""

from __future__ import annotations

import json
import math
import re
import threading
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

BLOCK = 16
HABITS = (
    "", "old", "ignores", "leaves out", "zeros", "processed", "other tokens", "no tokenize", "no prompt tokens",
    "logits",
)  # fmt: skip


_KNOWN = (
    "Question what is number one two three four Answer which of these words them none at all Also Always other the some"
)


class HashedModel:
    """A model without weights: likelihoods come from a checksum of the last three tokens: words, and letters of others.

    Args:
        merges: Further tokens, which reach over the boundaries of words.
    """

    def __init__(self, *merges: str) -> None:
        known = _KNOWN.split()
        letters = [chr(code) for code in (10, *range(32, 127))]
        self._names = [
            "<s>",
            *letters,
            *(f" {each}" for each in letters),
            *known,
            *(f" {each}" for each in known),
            *merges,
        ]
        self._ids = {name: number for number, name in reversed(list(enumerate(self._names)))}
        longest = sorted(merges, key=len, reverse=True)
        self._words = re.compile("|".join([*map(re.escape, longest), r" ?\w+", r"\s", r" ?[^\w\s]"]))
        self._rows = np.random.default_rng(1).normal(0, 1.5, (128, len(self._names)))

    def encode(self, text: str, *, special: bool = True) -> list[int]:
        """Return the tokens of a text."""
        ids = [0] * special
        for word in self._words.findall(text):
            if word in self._ids:
                ids.append(self._ids[word])
            else:
                first, rest = (word[:2], word[2:]) if word.startswith(" ") else (word[:1], word[1:])
                ids += [self._ids[first], *(self._ids[letter] for letter in rest)]
        return ids

    def decode(self, token: int) -> str:
        """Return the text of a token."""
        return self._names[token]

    def log_probabilities(self, ids: Sequence[int], places: Sequence[int]) -> list[np.ndarray[Any, Any]]:
        """Return the logarithms of the probabilities of what comes behind each of the places."""
        found = []
        for place in places:
            number = zlib.crc32(repr(list(ids[max(0, place - 2) : place + 1])).encode())
            logits = self._rows[number % 128] + self._rows[number // 128 % 128]
            found.append(logits - np.log(np.exp(logits).sum()))
        return found


class PrefixCache:
    """vLLM's prefix cache; ``computed`` counts the tokens that were not in it."""

    def __init__(self, blocks: int = 1 << 40) -> None:
        self._blocks = blocks
        self._held: OrderedDict[int, bool] = OrderedDict()
        self.computed = self.read = 0

    def run(self, ids: Sequence[int], *, skips: bool = False, upto: int | None = None) -> int:
        """Read a prompt; return how many of its tokens the cache had."""
        hashes, last = [], 0
        for start in range(0, len(ids) - len(ids) % BLOCK, BLOCK):
            last = hash((last, tuple(ids[start : start + BLOCK])))
            hashes.append(last)
        most = 0 if skips else (len(ids) - 1 if upto is None else min(upto, len(ids) - 1)) // BLOCK
        hits = 0
        while hits < min(most, len(hashes)) and hashes[hits] in self._held:
            hits += 1
        for each in reversed(hashes):
            self._held.pop(each, None)
            self._held[each] = True
        while len(self._held) > self._blocks:
            self._held.popitem(last=False)
        self.read += len(ids)
        self.computed += len(ids) - hits * BLOCK
        return hits * BLOCK


class ModelServer:
    """The server, in a thread; a context manager.

    Args:
        kind: ``vllm``, ``sglang``, ``llamacpp``, or empty for one that says nothing of itself.
        habit: One of :data:`HABITS`.
        model: Has ``encode``, ``decode`` and ``log_probabilities``.
        blocks: Of the cache.
    """

    def __init__(self, kind: str = "vllm", habit: str = "", model: Any = None, blocks: int = 1 << 40) -> None:
        self.kind, self.habit, self.model = kind, habit, model or HashedModel()
        self.cache = PrefixCache(blocks)
        self.asked: Counter[str] = Counter()
        self.bodies: list[tuple[str, Any]] = []
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self._send(outer.look(self.path))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.asked[self.path] += 1
                    outer.bodies.append((self.path, body))
                    self._send(outer.answer(self.path, body))

            def _send(self, value: Any) -> None:
                content = json.dumps({"error": {"message": "no such route"}} if value is None else value).encode()
                self.send_response(404 if value is None else 400 if "error" in value else 200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        ThreadingHTTPServer.request_queue_size = 256
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def requests(self) -> int:
        """Requests that the model answered."""
        return sum(count for path, count in self.asked.items() if path != "/tokenize")

    def look(self, path: str) -> Any:
        """Answer a GET."""
        if path == "/v1/models":
            return {"data": [{"id": "m"}]}
        signs = {"vllm": "/version", "sglang": "/get_model_info", "llamacpp": "/props"}
        said = {"version": "0.33.0", "model_path": "m", "default_generation_settings": {}, "bos_token": "<s>"}
        return said if path == signs.get(self.kind) else None

    def answer(self, path: str, body: Any) -> Any:
        """Answer a POST."""
        if path == "/tokenize" and self.habit != "no tokenize":
            text, special = (
                body.get("prompt", body.get("content")),
                body.get("add_special_tokens", body.get("add_special")),
            )
            return {"tokens": self.model.encode(text, special=special)}
        routes: dict[str, Callable[[Any], Any]] = {"/v1/completions": self._completion}
        routes |= {"/generate": self._generate} if self.kind == "sglang" else {}
        routes |= {"/completion": self._llama} if self.kind == "llamacpp" else {}
        return routes[path](body) if path in routes else None

    # -- vLLM and whoever echoes ----------------------------------------------------------------------------------

    def _completion(self, body: Any) -> Any:
        ids = self.model.encode(body["prompt"])
        is_echo = bool(body.get("echo")) and self.kind != "llamacpp"
        hits = self.cache.run(ids, skips=is_echo)
        written = 0
        if is_echo:
            names, values, tops = self._echoed(ids)
        else:
            names, values, tops, written = self._written(body, ids)
        choice: dict[str, Any] = {"index": 0, "finish_reason": "length", "text": body["prompt"] * is_echo + "?"}
        choice["logprobs"] = {"tokens": names, "token_logprobs": values, "top_logprobs": tops, "text_offset": []}
        if body.get("return_token_ids") and self.habit != "no prompt tokens":
            choice["prompt_token_ids"] = ids
        usage = {"prompt_tokens": len(ids), "completion_tokens": max(1, written)}
        return {"choices": [choice], "usage": {**usage, "prompt_tokens_details": {"cached_tokens": hits}}, "model": "m"}

    def _echoed(self, ids: list[int]) -> tuple[list[str], list[Any], list[Any]]:
        after = self.model.log_probabilities(ids, range(len(ids)))
        best = int(after[-1].argmax())
        names = [self.model.decode(each) for each in [*ids, best]]
        names[0] = "" if ids[0] == 0 else names[0]
        values = [None, *(float(row[token]) for row, token in zip(after, [*ids[1:], best], strict=True))]
        tops = [None]
        for row, name, value in zip(after, names[1:], values[1:], strict=True):
            top = int(row.argmax())
            tops.append({self.model.decode(top): float(row[top]), name: value})
        return names, values, tops

    def _written(self, body: Any, ids: list[int]) -> tuple[list[str], list[Any], list[Any], int]:
        is_old = self.habit in ("old", "ignores")
        wanted = [] if is_old else body.get("logprob_token_ids") or []
        allowed = None if self.habit == "ignores" else body.get("allowed_token_ids")
        grammar = None if self.habit == "ignores" else (body.get("structured_outputs") or {}).get("choice")
        path = self.model.encode(grammar[0], special=False) if grammar else None
        names, values, tops = [], [], []
        for step in range(body["max_tokens"]):
            row = self._row(ids, [*wanted, *(allowed or [])], is_masked=path is not None)
            token = path[step] if path else allowed[0] if allowed else int(row.argmax())
            listed = {int(row.argmax()), token, *wanted}
            if self.habit == "leaves out" and wanted:
                listed.discard(wanted[-1])
            if self.habit == "other tokens":
                token = int(row.argmin())
            names.append(f"token_id:{token}")
            values.append(float(row[token]))
            tops.append({f"token_id:{each}": float(row[each]) for each in listed})
            ids = [*ids, token]
        return names, values, tops, len(names)

    def _row(self, ids: list[int], candidates: list[int], *, is_masked: bool) -> Any:
        (row,) = self.model.log_probabilities(ids, [len(ids) - 1])
        if self.habit == "zeros":
            return row * 0
        if self.habit == "logits":
            return row + 20
        if self.habit == "processed" and candidates:
            total = math.log(sum(math.exp(row[each]) for each in set(candidates)))
            return np.where(np.isin(np.arange(len(row)), candidates), row - total, -np.inf)
        return row * 0 if is_masked else row  # what a grammar leaves is certain, as vLLM reports it

    # -- SGLang ---------------------------------------------------------------------------------------------------

    def _generate(self, body: Any) -> Any:
        several = isinstance(body["input_ids"][0], list)
        found = []
        for place, ids in enumerate(body["input_ids"] if several else [body["input_ids"]]):
            start = body.get("logprob_start_len", -1)
            found.append(self._generated(body, ids, start[place] if isinstance(start, list) else start))
        return found if several else found[0]

    def _generated(self, body: Any, ids: list[int], start: int) -> Any:
        hits = self.cache.run(ids, upto=None if start < 0 else start)
        row = self._row(ids, [], is_masked=False)
        best = int(row.argmax())
        meta: dict[str, Any] = {"prompt_tokens": len(ids), "completion_tokens": 1, "cached_tokens": hits}
        meta["output_token_logprobs"] = [[float(row[best]), best, None]]
        if (wanted := body.get("token_ids_logprob")) and self.habit not in ("ignores", "old"):
            kept = wanted[:-1] if self.habit == "leaves out" else wanted
            meta["output_token_ids_logprobs"] = [[[float(row[each]), each, None] for each in kept]]
        if start >= 0 and self.habit != "ignores":
            rows = self.model.log_probabilities(ids, range(start, len(ids) - 1))
            shift = 1 if self.habit == "other tokens" else 0
            pairs = list(zip(rows, ids[start + 1 :], strict=True))
            meta["input_token_logprobs"] = [
                [None, ids[start], None], *([float(each[token]), token + shift, None] for each, token in pairs)
            ]  # fmt: skip
            if self.habit == "leaves out":
                meta["input_token_logprobs"][1][0] = None
            tops = [[[float(each.max()), int(each.argmax()), None]] for each in rows]
            meta["input_top_logprobs"] = [None, *tops]
        return {"text": "?", "output_ids": [best], "meta_info": meta}

    # -- llama.cpp ------------------------------------------------------------------------------------------------

    def _llama(self, body: Any) -> Any:
        ids = body["prompt"]
        self.cache.run(ids)
        row = self._row(ids, [], is_masked=False)
        token = body["logit_bias"][0][0] if body.get("logit_bias") else int(row.argmax())
        order = np.argsort(-row)[: body["n_probs"]]
        top = [{"id": int(each), "logprob": float(row[each])} for each in order]
        return {"completion_probabilities": [{"id": token, "logprob": float(row[token]), "top_logprobs": top}]}
