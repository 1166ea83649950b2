"""Batch APIs that are not OpenAI's, and how each of them knows a batch again whose making was not answered.

Anthropic keeps no name: a batch is known by its time and its number of requests. Azure is not said to keep metadata: a
batch is known by the name of its file. Mistral keeps metadata; xAI and Google call a batch as it was told.

Sources, read in November 2026: Anthropic's reference (``/messages/batches``) and its Python package 2.12.0; Microsoft's
reference of batch deployments (api-version 2024-10-21); mistralai 3.7.0 (``client/models/batchjob.py``); xAI's guide of
its Batch API and xai-sdk 1.21.0 (``proto/v6/batch_pb2.pyi``); Google's guide of the Gemini Batch API, which takes lines
of OpenAI's form; litellm 1.110.2 (``llms/{azure,mistral,xai,gemini}/batches``) for what these leave out.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from proctor.engines.http.batches import Batch, BatchAPI, Door, Place, Result
from proctor.engines.http.protocols.protocol import Post, ProviderProtocol
from proctor.engines.http.retrying_client import failure_of
from proctor.engines.http.stored_batches import BedrockBatches, FireworksBatches, VertexBatches
from proctor.engines.http.transport import Reply
from proctor.errors import EngineError
from proctor.ir import Failure


class AnthropicBatches(BatchAPI):
    """Anthropic's: all requests in one body, results at one address."""

    most_requests: ClassVar[int] = 100_000
    most_bytes: ClassVar[int] = 240_000_000
    _route: ClassVar[str] = "/messages/batches"
    _next: ClassVar[str] = "after_id"
    _is_named: ClassVar[bool] = False

    def line(self, name: str, post: Post) -> bytes:
        """Return an entry of ``requests``."""
        return msgspec.json.encode({"custom_id": name, "params": post.body})

    async def prepared(self, lines: list[bytes], route: str, name: str) -> tuple[str, bytes, str]:
        """Send the requests of a batch, and return what makes it."""
        del route, name
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        return f"{self._url}{self._route}{self._query}", body, "application/json"

    def _is(self, listed: Mapping[str, Any], name: str, count: int, began: float) -> bool:
        del name
        counts = listed.get("request_counts") or {}
        made = datetime.fromisoformat(str(listed["created_at"])).timestamp()
        return sum(counts.values()) == count and made >= began - _CLOCKS_DIFFER

    def _read(self, said: Mapping[str, Any]) -> Batch:
        counts = said.get("request_counts") or {}
        is_over = said["processing_status"] == "ended"
        here = f"{self._url}{self._route}/{said['id']}/results{self._query}"  # wherever it says: the key goes along
        places = (here,) if is_over and said.get("results_url") else ()
        done = sum(count for name, count in counts.items() if name != "processing")
        return Batch(str(said["id"]), str(said["processing_status"]), is_over, done, places)

    def _result(self, line: bytes) -> Result:
        found = _ANTHROPIC.decode(line)
        if found.result.type == "succeeded":
            return Result(found.custom_id, bytes(found.result.message))
        if found.result.type == "errored":
            status = _STATUSES.get(((found.result.error or {}).get("error") or {}).get("type", ""), 500)
            reply = Reply(status, {}, msgspec.json.encode(found.result.error))
            return Result(found.custom_id, b"", failure_of(self._url, reply))
        return Result(found.custom_id, b"", Failure(found.result.type, f"the batch says '{found.result.type}' of it"))


_CLOCKS_DIFFER = 30.0
_STATUSES = {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404}


class _AnthropicResult(Struct):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"{}")
    error: dict[str, Any] | None = None


class _AnthropicLine(Struct):
    custom_id: str
    result: _AnthropicResult


_ANTHROPIC = msgspec.json.Decoder(_AnthropicLine)


class TogetherBatches(BatchAPI):
    """Together AI's: OpenAI's with a word of its own for files, and smaller ones."""

    purpose: ClassVar[str] = "batch-api"
    most_bytes: ClassVar[int] = 95_000_000


class AzureBatches(BatchAPI):
    """Azure OpenAI's: OpenAI's beside the deployments, with routes that name no version."""

    most_requests: ClassVar[int] = 100_000

    def __init__(self, door: Door, protocol: ProviderProtocol, place: Place) -> None:
        super().__init__(door, protocol, place)
        self._url = self._url.partition("/deployments/")[0]
        self._files: dict[str, set[str]] = {}

    def line(self, name: str, post: Post) -> bytes:
        """Return a request as a batch has it."""
        return msgspec.json.encode({"custom_id": name, "method": "POST", "url": post.route, "body": post.body})

    async def find(self, name: str, count: int, began: float) -> str | None:
        """Return the id of a batch of the file of a name; ``None`` without one."""
        named = [each async for each in self._listed("/files") if each.get("filename") == f"{name}.jsonl"]
        self._files.setdefault(name, set()).update(str(each["id"]) for each in named)
        return await super().find(name, count, began)

    async def _uploaded(self, content: bytes, name: str) -> str:
        file = await super()._uploaded(content, name)
        self._files.setdefault(name, set()).add(file)  # lists lag behind
        for _ in range(_PATIENCE):
            status = (await self._json(f"{self._url}/files/{file}")).get("status")
            if status not in ("pending", "running", "notRunning", "uploaded"):
                break
            await asyncio.sleep(_PATIENCE_SECONDS)
        return file

    def _making(self, file: str, route: str, name: str) -> dict[str, Any]:
        return {**super()._making(file, route, name), "endpoint": route}

    def _is(self, listed: Mapping[str, Any], name: str, count: int, began: float) -> bool:
        return listed.get("input_file_id") in self._files.get(name, ()) or super()._is(listed, name, count, began)


_PATIENCE, _PATIENCE_SECONDS = 60, 5.0
"""For five minutes a file is waited for that Azure looks through; then it says itself what it wants."""


class MistralBatches(BatchAPI):
    """Mistral's: jobs, whose model stands beside the lines."""

    _route: ClassVar[str] = "/batch/jobs"
    _limit: ClassVar[str] = "page_size"

    def line(self, name: str, post: Post) -> bytes:
        """Return a request as a job has it."""
        return msgspec.json.encode(
            {"custom_id": name, "body": {each: value for each, value in post.body.items() if each != "model"}}
        )

    def _making(self, file: str, route: str, name: str) -> dict[str, Any]:
        job = {"input_files": [file], "endpoint": f"/v1{route}", "model": self._model}
        return {**job, "metadata": {"proctor": name}, "timeout_hours": 24}

    def _more(self, page: Mapping[str, Any], number: int) -> str | None:
        return f"&page={number + 1}" if (number + 1) * 100 < int(page.get("total") or 0) else None

    def _read(self, said: Mapping[str, Any]) -> Batch:
        status = str(said["status"])
        files = [said.get(each) for each in ("output_file", "error_file")]
        reason = "; ".join(str(each.get("message")) for each in said.get("errors") or ())
        return Batch(
            str(said["id"]),
            status.lower(),
            status in ("SUCCESS", "FAILED", "TIMEOUT_EXCEEDED", "CANCELLED"),
            said.get("completed_requests") or 0,
            tuple(f"{self._url}/files/{each}/content" for each in files if each),
            reason if status == "FAILED" else "",
        )


class XAIBatches(BatchAPI):
    """xAI's: a file goes there as OpenAI's does, counters and pages of results come back."""

    most_bytes: ClassVar[int] = 24_000_000
    _items, _id = "batches", "batch_id"
    _next = _last = "pagination_token"

    def _making(self, file: str, route: str, name: str) -> dict[str, Any]:
        del route
        return {"name": name, "input_file_id": file}

    def _named(self, listed: Mapping[str, Any]) -> Any:
        return listed.get("name")

    async def look(self, batch: str, count: int) -> Batch:
        """Return what xAI says: a batch is over when nothing waits and all of it had come, or somebody ended it."""
        said = await self._json(f"{self._url}{self._route}/{batch}")
        state, reason = said.get("state") or {}, str(said.get("cancel_by_xai_message") or "")
        there, waiting = int(state.get("num_requests") or 0), int(state.get("num_pending") or 0)
        is_ended = said.get("cancel_time") is not None
        is_over = is_ended or (there >= count and not waiting)
        status = "cancelled" if is_ended else "completed" if is_over else "in_progress"
        return Batch(batch, status, is_over, there - waiting, reason=reason)

    async def _lines(self, batch: Batch) -> AsyncIterator[Any]:
        async for each in self._listed(f"{self._route}/{batch.id}/results", "results"):
            yield each

    def _result(self, line: Any) -> Result:
        name, came = str(line["batch_request_id"]), line.get("batch_result") or {}
        body = next(iter((came.get("response") or {}).values()), None)
        if body is not None:
            return Result(name, msgspec.json.encode(body))
        why = (came.get("error") or {}).get("message") or line.get("error_message") or "the batch has no answer"
        return Result(name, b"", Failure("server_error", str(why)))


class GeminiBatches(BatchAPI):
    """Google's, of the Gemini API: lines of OpenAI's form, in a file of Google's own."""

    _items, _id, _route = "operations", "name", "/v1beta/batches"
    _limit, _next, _last = "pageSize", "pageToken", "nextPageToken"

    def __init__(self, door: Door, protocol: ProviderProtocol, place: Place) -> None:
        super().__init__(door, protocol, place)
        self._url = self._url.partition("/v1beta")[0]

    async def prepared(self, lines: list[bytes], route: str, name: str) -> tuple[str, bytes, str]:
        """Send the requests of a batch, and return what makes it."""
        del route
        file = await self._uploaded(b"\n".join(lines), name)
        made = {"batch": {"display_name": name, "input_config": {"file_name": file}}}
        place = f"{self._url}/v1beta/models/{self._model.removeprefix('models/')}:batchGenerateContent"
        return place, msgspec.json.encode(made), "application/json"

    async def _uploaded(self, content: bytes, name: str) -> str:
        about = {"X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start"}
        about |= {"X-Goog-Upload-Header-Content-Length": str(len(content))}
        about |= {"X-Goog-Upload-Header-Content-Type": "application/jsonl"}
        body, place = msgspec.json.encode({"file": {"display_name": name}}), f"{self._url}/upload/v1beta/files"
        began = await self._sure("POST", place, body, "application/json", about)
        there = next((value for key, value in began.headers.items() if key.lower() == "x-goog-upload-url"), "")
        if not there.startswith(f"{self._url}/"):  # the key goes along
            raise EngineError(
                "Google does not say where the file goes", why=f"it says '{there[:200]}'", hint="try later"
            )
        rest = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize"}
        reply = await self._sure("POST", there, content, "application/jsonl", rest)
        return str(msgspec.json.decode(reply.body)["file"]["name"])

    def _named(self, listed: Mapping[str, Any]) -> Any:
        return (listed.get("metadata") or {}).get("displayName")

    async def look(self, batch: str, count: int) -> Batch:
        """Return what Google says of a batch, which is called ``batches/…``."""
        del count
        said = await self._json(f"{self._url}/v1beta/{batch}")
        about, error = said.get("metadata") or {}, said.get("error") or {}
        status = str(about.get("state") or "BATCH_STATE_PENDING").removeprefix("BATCH_STATE_").lower()
        counts, file = about.get("batchStats") or {}, (about.get("output") or {}).get("responsesFile")
        done = sum(int(counts.get(each) or 0) for each in ("successfulRequestCount", "failedRequestCount"))
        places = (f"{self._url}/download/v1beta/{file}:download?alt=media",) if file else ()
        is_over = status in ("succeeded", "failed", "cancelled", "expired")
        return Batch(batch, status, is_over, done, places, str(error.get("message") or ""))

    def _result(self, line: bytes) -> Result:
        found = super()._result(line)
        if found.failure is not None:
            return found
        body = _in_snake_case(msgspec.json.decode(found.body))
        if usage := body.get("usage"):  # what was thought is in the total alone
            written = int(usage.get("total_tokens") or 0) - int(usage.get("prompt_tokens") or 0)
            usage["completion_tokens"] = max(written, int(usage.get("completion_tokens") or 0))
        return found._replace(body=msgspec.json.encode(body))


def _in_snake_case(value: Any) -> Any:
    """Return JSON with ``promptTokens`` as ``prompt_tokens``: Google writes names of fields in its own way."""
    if isinstance(value, dict):
        return {re.sub(r"(?<=[a-z])([A-Z])", r"_\1", key).lower(): _in_snake_case(each) for key, each in value.items()}
    return [_in_snake_case(each) for each in value] if isinstance(value, list) else value


APIS: Mapping[str, type[BatchAPI]] = {
    "open-ai": BatchAPI,
    "azure": AzureBatches,
    "groq": BatchAPI,
    "together-ai": TogetherBatches,
    "anthropic": AnthropicBatches,
    "mistral": MistralBatches,
    "xai": XAIBatches,
    "gemini": GeminiBatches,
    "aws": BedrockBatches,
    "fireworks": FireworksBatches,
    "vertex-ai": VertexBatches,
    "custom": BatchAPI,
    "vllm-server": BatchAPI,
}
"""By the provider's name in the table; a server of one's own copies OpenAI's, if it has any."""
