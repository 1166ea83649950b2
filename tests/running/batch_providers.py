"""Simulated providers of batches on a virtual clock, and schedules of faults over them."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl, urlsplit

from stored_providers import FIREWORKS, STORED
from tests_virtual import VirtualLoop

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.stored_batches import BedrockBatches
from proctor.engines.http.transport import Reply, TransportError
from proctor.errors import EngineError
from proctor.ir import Decoding, Generate, Prompt
from proctor.running.batches import batched
from proctor.running.log_place import placed

QUESTIONS = [Generate(Prompt(f"question {number}"), Decoding(max_tokens=5)) for number in range(12)]


class Killed(BaseException):
    """The process ends here."""


class Provider:
    """What a provider keeps: files, batches, how often it answered whom.

    Args:
        draw: Decides on faults; without one there are none.
        kind: Whose batches they are, by the name in the table.
        queue: Requests that may be queued at once.
        expires: Whether batches end half done the first time.
    """

    def __init__(self, draw: random.Random | None = None, kind: str = "open-ai", queue: int = 0, expires: bool = False):
        self.draw, self.kind, self.queue, self.expires = draw, kind, queue, expires
        self.files: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.paid: Counter[str] = Counter()
        self.direct: Counter[str] = Counter()
        self.created = 0
        self.again = 0  # requests that were asked at once after a batch had answered them
        self.faults: Counter[str] = Counter()
        self.page = 100 if draw is None else 2

    def chance(self, share: float) -> bool:
        return self.draw is not None and self.draw.random() < share

    def end(self) -> None:
        """Answer what nobody looks after any more: it is paid all the same."""
        for each in self.batches.values():
            if each["state"] == "running":
                self._finish(each)

    async def close(self) -> None:
        """Nothing is open."""

    async def get(self, url: str, headers: Any, timeout_seconds: float, most_bytes: int = 0) -> Reply:
        del timeout_seconds, most_bytes
        self._stumble()
        if self.kind in STORED:
            return STORED[self.kind](self, "GET", url, b"", headers)
        path, given = self._route_of(url)
        if path.endswith("/content") or path.startswith("/download/"):
            return Reply(200, {}, self.files[re.search(r"files?/(\w+)", path)[1]])
        if path.endswith("/results"):
            return self._results(path.split("/")[-2], given)
        if path == "/files":
            listed = [{"id": name, "filename": called} for name, called in self.names.items()]
            return self._page(listed, given, "id")
        if path.startswith("/files/"):
            return self._json({"id": path.split("/")[2], "status": "pending" if self.chance(0.5) else "processed"})
        if path in ("/batches", "/messages/batches", "/batch/jobs", "/v1beta/batches"):
            return self._page(self._listed(given), given, "id")
        return self._json(self._advanced(path.rpartition("/")[2]))

    def _listed(self, given: dict[str, str]) -> list[Any]:
        """Return the batches that a list has by now, newest first."""
        is_first = not {"after", "after_id", "pagination_token", "pageToken", "nextToken", "page"} & set(given)
        found = [each for each in reversed(self.batches.values()) if each["hidden"] <= 0]
        for each in self.batches.values():
            each["hidden"] -= is_first
        return [self._shown(each) for each in found]

    def _route_of(self, url: str) -> tuple[str, dict[str, str]]:
        """Return the route without what is the provider's, and the query; what belongs into each query is there."""
        parts = urlsplit(url)
        given = dict(parse_qsl(parts.query))
        if self.kind == "azure":
            assert given.pop("api-version") == "2024-10-21"
        assert not re.search(r"[?].*[?]", url)
        return re.sub(r"^/(?:v1(?=/)|openai/v1|openai(?!/v1)|v1beta/openai)", "", parts.path), given

    def _page(self, listed: list[Any], given: dict[str, str], name: str) -> Reply:
        """Return a page of a list in the provider's words."""
        size = min(self.page, int(given.get("limit") or given.get("page_size") or given["pageSize"]))
        if self.kind == "mistral":
            start = int(given.get("page", 0)) * size
            return self._json({"data": listed[start : start + size], "total": len(listed), "object": "list"})
        keys = [each.get(name) or each.get("batch_id") or each["name"] for each in listed]
        after = next(
            (given[each] for each in ("after", "after_id", "pagination_token", "pageToken") if each in given), ""
        )
        start = keys.index(after) + 1 if after else 0
        found, rest = listed[start : start + size], listed[start + size :]
        last = keys[start : start + size][-1] if found else None
        match self.kind:
            case "xai":
                return self._json({"batches": found, "pagination_token": last if rest else None})
            case "gemini":
                return self._json({"operations": found, **({"nextPageToken": last} if rest else {})})
        return self._json({"data": found, "has_more": bool(rest), "last_id": last})

    async def post(self, url: str, body: bytes, headers: Any, timeout_seconds: float) -> Reply:
        del timeout_seconds
        self._stumble()
        if self.kind in STORED:
            return STORED[self.kind](self, "POST", url, body, headers)
        path, _ = self._route_of(url)
        if path == "/files":
            name = f"file{len(self.files)}"
            self.files[name] = body.split(b"\r\n\r\n")[2].split(b"\r\n--")[0]
            self.names[name] = re.search(rb'filename="([^"]+)"', body)[1].decode()
            return self._json({"id": name})
        if path == "/upload/v1beta/files":
            assert headers["X-Goog-Upload-Command"] == "start"
            return Reply(200, {"X-Goog-Upload-URL": url + "/there"}, b"{}")
        if path == "/upload/v1beta/files/there":
            assert headers["X-Goog-Upload-Command"] == "upload, finalize"
            assert headers["x-goog-api-key"] == "k"
            name = f"file{len(self.files)}"
            self.files[name] = body
            return self._json({"file": {"name": f"files/{name}"}})
        if path in ("/batches", "/messages/batches", "/batch/jobs") or path.endswith(":batchGenerateContent"):
            return self._create(json.loads(body))
        return self._at_once(json.loads(body))

    async def put(self, url: str, body: bytes, headers: Any, timeout_seconds: float) -> Reply:
        del timeout_seconds
        self._stumble()
        return STORED[self.kind](self, "PUT", url, body, headers)

    def _at_once(self, said: Any) -> Reply:
        text = text_of(said)
        self.direct[text] += 1
        self.again += any(
            text_of(each["requests"][name]) == text for each in self.batches.values() for name in _kept(each)
        )
        return self._json(self._answer(said))

    def _stumble(self) -> None:
        if self._struck("kill", 0.03):
            raise Killed
        if self._struck("no reply", 0.05):
            raise TransportError("connection", "gone")

    def _struck(self, fault: str, share: float) -> bool:
        """Whether a fault happens now; it is counted."""
        is_now = self.chance(share)
        self.faults[fault] += is_now
        return is_now

    def _asked(self, said: Any) -> dict[str, Any]:
        """Return the requests of a batch; a body that does not fit the provider's reference is an error of ours."""
        if self.kind == "anthropic":
            return {each["custom_id"]: each["params"] for each in said["requests"]}
        if self.kind == "aws":
            lines = map(json.loads, self.files[f"/exams/{said['name']}.jsonl"].splitlines())
            return {each["recordId"]: each["modelInput"] for each in lines}
        if self.kind == "vertex-ai":
            (there,) = said["inputConfig"]["gcsSource"]["uris"]
            lines = [json.loads(line) for line in self.files[there.removeprefix("gs://my-bucket/")].splitlines()]
            assert all(each["body"]["model"] == MODELS[self.kind] for each in lines)
            return {each["custom_id"]: each["body"] for each in lines}
        if self.kind == "fireworks":
            lines = [json.loads(line) for line in self.files[said["inputDatasetId"].rpartition("/")[2]].splitlines()]
            assert all(set(each) == {"custom_id", "body"} and "model" not in each["body"] for each in lines)
            return {each["custom_id"]: each["body"] for each in lines}
        match self.kind:
            case "gemini":
                file = said["batch"]["input_config"]["file_name"].removeprefix("files/")
            case "mistral":
                assert (said["endpoint"], said["model"]) == ("/v1/chat/completions", "mistral-small-latest")
                (file,) = said["input_files"]
            case _:
                file = said["input_file_id"]
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        if self.kind == "mistral":
            assert all(set(each) == {"custom_id", "body"} and "model" not in each["body"] for each in lines)
        else:
            route = "/chat/completions" if self.kind == "azure" else "/v1/chat/completions"
            assert {(each["method"], each["url"]) for each in lines} == {("POST", route)}
            assert said.get("endpoint", route) == route
        return {each["custom_id"]: each["body"] for each in lines}

    def _create(self, said: Any) -> Reply:
        if self._struck("429 at creation", 0.2):
            return Reply(429, {}, b'{"error": {"message": "later"}}')
        if self._struck("no credit", 0.03):
            return Reply(402, {}, b'{"error": {"message": "no credit is left"}}')
        requests = self._asked(said)
        assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in requests)
        name = f"batch{len(self.batches):07}"
        running = sum(len(each["requests"]) for each in self.batches.values() if each["state"] == "running")
        too_much = self.queue and running + len(requests) > self.queue
        self.batches[name] = {
            "id": name, "requests": requests, "said": said, "looks": 0, "files": [], "paid": [],
            "hidden": 1 + self.chance(0.5) if self._struck("list lags", 0.3) else 0,
            "name": said.get("name"), "out": said.get("outputDatasetId", "").rpartition("/")[2],
            "state": "too much" if too_much else "running", "made": datetime.now(UTC).isoformat(),
        }  # fmt: skip
        self.created += 1
        return self._made(self._shown(self.batches[name]))

    def _made(self, shown: Any) -> Reply:
        """Answer that a batch was made, in one way or another."""
        if self._struck("lost reply to creation", 0.2):
            raise TransportError("timeout", "no answer")
        if self._struck("500 though created", 0.05):
            return Reply(500, {}, b"oh")
        if self._struck("unreadable reply to creation", 0.05):
            return Reply(200, {}, b"<html>")
        return self._json(shown)

    def _advanced(self, name: str) -> Any:
        each = self.batches[name]
        each["looks"] += 1
        if each["state"] == "running" and each["looks"] >= each.setdefault(
            "length", 3 if self.draw is None else self.draw.choice([2, 3, 3, 9])
        ):
            each["state"] = "over"
            self._finish(each)
        return self._shown(each)

    def _finish(self, each: Any) -> None:
        lines = [self._line(name, body) for name, body in each["requests"].items()]
        order = self.draw or random.Random(0)
        order.shuffle(lines)
        expired = lines[len(lines) // 2 :] if self.expires or self._struck("half expired", 0.2) else []
        if self._struck("all expired", 0.03):
            expired = lines
        self.expires = False
        done = lines[: len(lines) - len(expired)]
        for line in done:
            self.paid[line["custom_id"]] += 1
            each["paid"].append(line["custom_id"])
        out = done + [line for line in done if self._struck("line twice", 0.1)]
        if self._struck("line that nobody can read", 0.05):
            out = [*out, {"nothing": "of ours"}]
        if self.kind == "anthropic":
            lost = [{"custom_id": line["custom_id"], "result": {"type": "expired"}} for line in expired]
            self._store(each, out + lost)
            return
        error = {"code": "batch_expired", "message": "This request could not be executed before the window expired."}
        errors = [{"custom_id": line["custom_id"], "response": None, "error": error} for line in expired]
        if self.kind in ("gemini", "xai"):
            self._store(each, out + errors)
            return
        self._store(each, out)
        self._store(each, errors)

    def _store(self, each: Any, lines: list[Any]) -> None:
        name = f"{each['id']}" if self.kind in ("anthropic", "xai") else f"file{len(self.files)}"
        self.files[name] = b"\n".join(each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines)
        each["files"].append(name if lines else None)

    def _results(self, name: str, given: dict[str, str]) -> Reply:
        """Return Anthropic's results as they are, and xAI's a few at a time."""
        if self.kind == "anthropic":
            return Reply(200, {}, self.files[name])
        found = []
        for line in map(json.loads, self.files[name].splitlines()):
            if "custom_id" not in line:
                found.append(line)
                continue
            came = {"error": line["error"]}
            if line["response"] is not None:
                came = {"response": {"chat_get_completion": line["response"]["body"]}}
            found.append({"batch_request_id": line["custom_id"], "batch_result": came})
        start = int(given.get("pagination_token", 0))
        more = str(start + 5) if start + 5 < len(found) else None
        return self._json({"results": found[start : start + 5], "pagination_token": more})

    def _line(self, name: str, body: Any) -> Any:
        answer = self._answer(body)
        if self.kind == "anthropic":
            return {"custom_id": name, "result": {"type": "succeeded", "message": answer}}
        if self.kind == "gemini":
            answer["usage"] = {"promptTokens": 10, "completionTokens": 1, "totalTokens": 12}
            answer["choices"][0]["finishReason"] = answer["choices"][0].pop("finish_reason")
        return {"custom_id": name, "response": {"status_code": 200, "body": answer}, "error": None}

    def _answer(self, body: Any) -> Any:
        text = f"answer to {text_of(body)}"
        if self.kind == "aws":
            usage = {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}
            message = {"role": "assistant", "content": [{"text": text}]}
            return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}
        if self.kind == "anthropic":
            usage = {"input_tokens": 10, "output_tokens": 2}
            return {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": usage}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return {"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}

    def _shown(self, each: Any) -> Any:
        count, over, said = len(each["requests"]), each["state"] != "running", each["said"]
        match self.kind:
            case "anthropic":
                counts = {"processing": 0 if over else count, "succeeded": count if over else 0, "errored": 0}
                address = f"https://api.anthropic.com/v1/messages/batches/{each['id']}/results"
                status = "ended" if over else "in_progress"
                return {"id": each["id"], "processing_status": status, "request_counts": counts,
                        "created_at": each["made"], "results_url": address if over else None}  # fmt: skip
            case "xai":  # what is read of the file is counted first, and may wait for nobody before all is read
                there = count if over or each["looks"] > 1 else count // 2
                waiting = 0 if over or each["looks"] == 1 else there
                return {"batch_id": each["id"], "name": said["name"], "input_file_id": said["input_file_id"],
                        "state": {"num_requests": there, "num_pending": waiting}}  # fmt: skip
            case "gemini":
                about = {"displayName": said["batch"]["display_name"], "createTime": each["made"],
                         "state": "BATCH_STATE_SUCCEEDED" if over else "BATCH_STATE_RUNNING",
                         "batchStats": {"requestCount": str(count)}}  # fmt: skip
                about |= {"output": {"responsesFile": f"files/{each['files'][0]}"}} if over else {}
                return {"name": f"batches/{each['id']}", "metadata": about}
            case "aws":
                there = "arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/"
                status = (
                    ("PartiallyCompleted" if each["paid"] else "Expired") if over and each["files"][1] else "Completed"
                )
                return {"jobArn": there + each["id"], "jobName": said["jobName"], "status": status if over else "InProgress",
                        "inputDataConfig": said["inputDataConfig"], "processedRecordCount": count if over else 0}  # fmt: skip
            case "vertex-ai":
                status = (
                    ("PARTIALLY_SUCCEEDED" if each["paid"] else "EXPIRED") if over and each["files"][1] else "SUCCEEDED"
                )
                there = {
                    "gcsOutputDirectory": f"{said['outputConfig']['gcsDestination']['outputUriPrefix']}/{each['id']}"
                }
                return {"name": f"projects/mine/locations/us-central1/batchPredictionJobs/{each['id']}",
                        "displayName": said["displayName"], "outputInfo": there if over else {},
                        "state": f"JOB_STATE_{status}" if over else "JOB_STATE_RUNNING"}  # fmt: skip
            case "fireworks":
                status = ("EXPIRED" if each["files"][1] else "COMPLETED") if over else "RUNNING"
                return {"name": f"accounts/mine/batchInferenceJobs/{each['name']}", "state": f"JOB_STATE_{status}",
                        "jobProgress": {"totalProcessedRequests": count if over else 0}}  # fmt: skip
            case "mistral":
                shown = {"id": each["id"], "status": "SUCCESS" if over else "RUNNING", "metadata": said["metadata"],
                         "total_requests": count, "completed_requests": count if over else 0}  # fmt: skip
                return {**shown, **dict(zip(("output_file", "error_file"), each["files"], strict=False))}
        metadata = None if self.kind == "azure" else said.get("metadata")  # it is not said that Azure keeps it
        shown = {"id": each["id"], "status": "completed" if over else "in_progress", "metadata": metadata,
                 "input_file_id": said["input_file_id"],
                 "request_counts": {"total": count, "completed": count if over else 0, "failed": 0}}  # fmt: skip
        if each["state"] == "too much":
            errors = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]}
            return {**shown, "status": "failed", "errors": errors}
        return {**shown, **dict(zip(("output_file_id", "error_file_id"), each["files"], strict=False))}

    @staticmethod
    def _json(value: Any) -> Reply:
        return Reply(200, {}, json.dumps(value).encode())


def _kept(each: Any) -> Any:
    """Return the requests of a batch that are answered, or will be."""
    return each["requests"] if each["state"] == "running" else each["paid"]


def text_of(body: Any) -> str:
    """Return what is asked in a body."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


MODELS = {
    "anthropic": "claude-haiku-4-5", "azure": "my-deployment", "mistral": "mistral-small-latest", "xai": "grok-4",
    "gemini": "gemini-2.5-flash", "groq": "llama-3.1-8b-instant", "together-ai": "m", "aws": "amazon.nova-pro-v1:0",
    "fireworks": FIREWORKS, "vertex-ai": "meta/llama-3.3-70b-instruct-maas",
}  # fmt: skip
KINDS = ["open-ai", *MODELS]


def engine_of(provider: Provider, **fields: Any) -> OpenAIEngine:
    if provider.kind == "open-ai":
        made = OpenAIEngine(model="gpt-4o", base_url="https://api.openai.com/v1", api_key="k", **fields)
    else:
        if provider.kind == "azure":
            fields["credentials"] = {"host": "https://mine.openai.azure.com"}
        if provider.kind == "aws":
            fields["credentials"] = {
                "aws_access_key_id": "AKID",
                "aws_secret_access_key": "secret",
                "region": "us-east-1",
            }
            fields |= {"batch_bucket": "s3://my-bucket/exams", "batch_role": "arn:aws:iam::123456789012:role/batches"}
        else:
            fields["api_key"] = "k"
        if provider.kind == "fireworks":
            fields["batch_account"] = "mine"
        if provider.kind == "vertex-ai":
            fields |= {"credentials": {"project": "mine"}, "batch_bucket": "gs://my-bucket/exams"}
        made = ProviderEngine(model=MODELS[provider.kind], provider=provider.kind, **fields)
    made._make_transport = lambda: provider
    made._new_loop = VirtualLoop
    return made


def ask(provider: Provider, log: Any, answers: dict[str, Any], requests: Any = QUESTIONS, stop_after: int = 1 << 30):
    """Ask what the log does not have, as a run does; the process may end after some answers."""
    open_ = [request for request in requests if request.key not in answers]
    for count, (position, response) in enumerate(batched(engine_of(provider), placed(log)).generate(open_)):
        if count >= stop_after:
            raise Killed
        if response.failure is None:
            answers[open_[position].key] = response
    return answers


def schedule(kind: str, seed: int, folder: Path) -> Counter[str]:
    """Ask with faults until everything is answered; return what happened."""
    draw = random.Random(f"{kind} {seed}")
    provider, answers, happened = Provider(draw, kind), {}, Counter()
    with patch.object(BedrockBatches, "least_requests", 3):
        while len(answers) < len(QUESTIONS) and happened["starts"] < 100:
            happened["starts"] += 1
            try:
                ask(provider, folder / f"{kind}-{seed}.db", answers, stop_after=draw.choice([2, 5, 1 << 30]))
            except (Killed, EngineError) as error:
                happened["kills" if isinstance(error, Killed) else "errors"] += 1
    provider.end()
    happened.update(provider.faults)
    happened["batches"] = provider.created
    happened["lost"] = len(QUESTIONS) - len(answers)
    happened["paid twice"] = sum(count - 1 for count in provider.paid.values()) + provider.again
    happened["asked at once"] = sum(provider.direct.values())
    happened["wrong"] = sum(
        answers[each.key].text != f"answer to {each.prompt.text}" for each in QUESTIONS if each.key in answers
    )
    return happened
