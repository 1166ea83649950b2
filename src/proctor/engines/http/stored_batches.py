"""Batch APIs that read requests from a bucket or a data set of the user's account, and write the results there.

Making a job is idempotent at two: Amazon Bedrock is given a token, and Fireworks the id of the job. Vertex AI knows the
name of a job. What is written stays where it is; nothing is deleted there.

Sources, read in November 2026: Amazon's service model (botocore 1.44.5, ``data/bedrock/2023-04-20``) and its guide of
batch inference (``batch-inference-data``, ``batch-inference-results``); Fireworks' guide of batch inference and
fireworks-ai 1.2.30 (``types/batch_inference_job.py``, ``resources/datasets.py``); Google's discovery documents
(``aiplatform.v1``, ``storage.v1``) and its guide of batches of open models, whose lines have OpenAI's form.

They do not say, and public programs do: the key of Bedrock's results (``ID/NAME.jsonl.out``) and its least number of
requests (100); that lines of Fireworks' results are ``custom_id`` and the bare answer, and that a data set wants
``exampleCount``. Nobody says what a line in a file of errors of Fireworks and of Vertex AI is, nor whether ``response``
is a bare answer there: of lines only ``custom_id`` is relied on, and both forms of an answer are read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec

from proctor.engines.http.authorization import AWSSignature
from proctor.engines.http.batches import Batch, BatchAPI, BatchGoneError, Door, Need, Place, Result, form_of
from proctor.engines.http.protocols.protocol import Post, ProviderProtocol
from proctor.engines.http.retrying_client import failure_of
from proctor.engines.http.transport import Reply
from proctor.errors import EngineError, UsageError
from proctor.ir import Failure

_FOLDER = r"[a-z0-9][-.a-z0-9]{1,61}[a-z0-9](?:/[-!_*'().a-zA-Z0-9]+)*/?"
_VERTEX = re.compile(r"https://([a-z0-9-]+-)?aiplatform\.googleapis\.com/")
_RUNTIME = re.compile(r"https://bedrock-runtime(-fips)?\.([a-z0-9-]+)\.(amazonaws\.com(?:\.cn)?)")


def _parts(bucket: str) -> tuple[str, str]:
    """Return the name in the address of a bucket, and the folder in it with its slash."""
    name, _, folder = bucket.partition("://")[2].rstrip("/").partition("/")
    return name, folder and f"{folder}/"


class _StoredBatches(BatchAPI):
    """What they have: results that stand in files, which are there where a job got as far as answers."""

    _whole: ClassVar[frozenset[str]]
    """The states in which there are files in any case."""

    @classmethod
    def hosts(cls, url: str, place: Place) -> tuple[str, ...]:
        """Return where results lie: both others keep them in Cloud Storage."""
        del url, place
        return ("storage.googleapis.com",)

    async def results(self, batch: Batch) -> list[Result]:
        """Return the results of a job that is over: none where it ended before there were any."""
        try:
            return await super().results(batch)
        except BatchGoneError:
            if batch.status in self._whole:
                raise
            return []

    def _result(self, line: bytes) -> Result:
        said = msgspec.json.decode(line)
        response, name = said.get("response"), str(said["custom_id"])
        answer = response.get("body", response) if isinstance(response, dict) else None
        if isinstance(answer, dict) and answer.get("choices"):
            return Result(name, msgspec.json.encode(answer))
        why = said.get("error") or response or "the batch has no answer"
        return Result(name, b"", Failure("server_error", f"the batch says {str(why)[:_LONGEST]}"))


class BedrockBatches(_StoredBatches):
    """Amazon Bedrock's: model invocation jobs over requests of Converse, in a bucket of S3."""

    needs: ClassVar[tuple[Need, ...]] = (
        Need("bucket", "s3://" + _FOLDER, "s3://BUCKET/FOLDER", "where requests and answers lie, in its region"),
        Need("role", r"arn:aws(-[^:]+)?:iam::[0-9]{12}:role/.+", "arn:aws:iam::ACCOUNT:role/NAME", "as whom it reads"),
    )
    least_requests: ClassVar[int] = 100
    _items, _id, _route = "invocationJobSummaries", "jobArn", "/model-invocation-job"
    _limit, _next, _last = "maxResults", "nextToken", "nextToken"
    _full: ClassVar[re.Pattern[bytes] | None] = re.compile(rb"ServiceQuotaExceeded|Throttling")
    _whole: ClassVar[frozenset[str]] = frozenset({"completed", "partiallycompleted"})

    def __init__(self, door: Door, protocol: ProviderProtocol, place: Place) -> None:
        super().__init__(door, protocol, place)
        hosts = self.hosts(self._url, place)
        if not hosts or not isinstance(place.authorize, AWSSignature):
            why = "the API key of Bedrock opens no bucket" if hosts else f"they are not made at {self._url}"
            hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, and leave base_url out"
            what = "--batch: batches of Amazon Bedrock need Amazon's own addresses and keys"
            raise UsageError(what, why=why, hint=hint)
        self._sign = place.authorize
        bucket, self._folder = _parts(place.bucket)
        self._url = f"https://{hosts[0]}"
        self._bucket = f"https://{hosts[1]}/" if hosts[1].startswith(f"{bucket}.") else f"https://{hosts[1]}/{bucket}/"

    @classmethod
    def hosts(cls, url: str, place: Place) -> tuple[str, ...]:
        """Return the host of jobs and that of the bucket; none where the address is not Amazon's."""
        if (found := _RUNTIME.fullmatch(url)) is None:
            return ()
        bucket, s3 = _parts(place.bucket)[0], f"s3.{found[2]}.{found[3]}"
        return f"bedrock{found[1] or ''}.{found[2]}.{found[3]}", s3 if "." in bucket else f"{bucket}.{s3}"

    def takes(self, post: Post) -> bool:
        """Whether a job may have a request: Converse's may offer no tools there."""
        return "toolConfig" not in post.body

    def line(self, name: str, post: Post) -> bytes:
        """Return a request as a job has it."""
        return msgspec.json.encode({"recordId": name, "modelInput": post.body})

    async def _asked(self, method: str, url: str, *rest: Any) -> Reply:
        service = "s3" if url.startswith(self._bucket) else "bedrock"
        signed = self._sign.headers(url, rest[0] or b"", method, service)
        return await self._door(method, url, *rest[:2], signed, is_bare=True)

    async def prepared(self, lines: list[bytes], route: str, name: str) -> tuple[str, bytes, str]:
        """Send the requests of a batch, and return what makes it."""
        del route
        await self._sure("PUT", self._object(f"{name}.jsonl"), b"\n".join(lines), "application/jsonl")
        there = self._place.bucket.rstrip("/")
        made = {
            "jobName": f"proctor-{name}",
            "clientRequestToken": name,
            "modelId": self._model,
            "modelInvocationType": "Converse",
            "roleArn": self._place.role,
            "inputDataConfig": {"s3InputDataConfig": {"s3InputFormat": "JSONL", "s3Uri": f"{there}/{name}.jsonl"}},
            "outputDataConfig": {"s3OutputDataConfig": {"s3Uri": f"{there}/"}},
        }
        return f"{self._url}{self._route}", msgspec.json.encode(made), "application/json"

    def _object(self, name: str) -> str:
        return self._bucket + quote(self._folder + name, safe="/-_.~")

    def _candidates(self, name: str) -> AsyncIterator[Mapping[str, Any]]:
        return self._listed(f"{self._route}s?nameContains=proctor-{name}")

    def _named(self, listed: Mapping[str, Any]) -> Any:
        return str(listed["jobName"]).removeprefix("proctor-")

    async def look(self, batch: str, count: int) -> Batch:
        """Return what Amazon says of a job, which is called by its ARN."""
        del count
        number = batch.rpartition("/")[2]
        said = await self._json(f"{self._url}{self._route}/{number}")
        status = str(said["status"]).lower()
        file = str(said["inputDataConfig"]["s3InputDataConfig"]["s3Uri"]).rpartition("/")[2]
        is_over = status in ("completed", "partiallycompleted", "failed", "stopped", "expired")
        reason = "" if status in self._whole else str(said.get("message") or "")
        return Batch(
            batch,
            status,
            is_over,
            said.get("processedRecordCount") or 0,
            (self._object(f"{number}/{file}.out"),) if is_over else (),
            reason,
        )

    def _result(self, line: bytes) -> Result:
        said = msgspec.json.decode(line)
        if "modelOutput" in said:
            return Result(str(said["recordId"]), msgspec.json.encode(said["modelOutput"]))
        error = said["error"]
        body = msgspec.json.encode({"message": error.get("errorMessage")})
        failure = failure_of(self._url, Reply(int(error.get("errorCode") or 500), {}, body))
        return Result(str(said["recordId"]), b"", failure)


class FireworksBatches(_StoredBatches):
    """Fireworks': batch inference jobs over data sets of an account."""

    needs: ClassVar[tuple[Need, ...]] = (
        Need("account", r"[a-zA-Z0-9-]+", "ACCOUNT", "whose data sets requests and answers are (FIREWORKS_ACCOUNT_ID)"),
    )
    most_bytes: ClassVar[int] = 140_000_000  # a form may have 150 MB
    _id: ClassVar[str] = "name"
    _whole: ClassVar[frozenset[str]] = frozenset({"completed"})

    def __init__(self, door: Door, protocol: ProviderProtocol, place: Place) -> None:
        super().__init__(door, protocol, place)
        self._root = self._url.partition("/inference/")[0] + "/v1"
        self._url = f"{self._root}/accounts/{place.account}"

    def takes(self, post: Post) -> bool:
        """Whether a job may have a request: it has chats only."""
        return post.route == "/chat/completions"

    def line(self, name: str, post: Post) -> bytes:
        """Return a request as a job has it: without the model, which the job names."""
        body = {each: value for each, value in post.body.items() if each != "model"}
        return msgspec.json.encode({"custom_id": name, "body": body})

    async def _asked(self, method: str, url: str, *rest: Any) -> Reply:
        is_elsewhere = not url.startswith(f"{self._root}/")  # results have signed addresses: the key stays here
        return await self._door(method, url, *rest, is_bare=is_elsewhere)

    async def prepared(self, lines: list[bytes], route: str, name: str) -> tuple[str, bytes, str]:
        """Send the requests of a batch, and return what makes it."""
        del route
        account = f"accounts/{self._place.account}"
        await self._stored(f"proctor-in-{name}", lines)
        made = {
            "displayName": f"proctor-{name}",
            "model": self._model,
            "inputDatasetId": f"{account}/datasets/proctor-in-{name}",
            "outputDatasetId": f"{account}/datasets/proctor-out-{name}",
        }
        place = f"{self._url}/batchInferenceJobs?batchInferenceJobId=proctor-{name}"
        return place, msgspec.json.encode(made), "application/json"

    async def _stored(self, name: str, lines: list[bytes]) -> None:
        """Make a data set of some lines, and wait until it can be read."""
        made = {"datasetId": name, "dataset": {"userUploaded": {}, "exampleCount": str(len(lines))}}
        body, there = msgspec.json.encode(made), f"{self._url}/datasets/{name}"
        await self._sure("POST", f"{self._url}/datasets", body, "application/json", fine=(HTTPStatus.CONFLICT,))
        await self._sure("POST", f"{there}:upload", *form_of(b"\n".join(lines), f"{name}.jsonl"))
        for _ in range(_PATIENCE):
            if (await self._json(there)).get("state") == "READY":
                return
            await asyncio.sleep(_PATIENCE_SECONDS)
        why = f"the data set {name} is not ready after {_PATIENCE * _PATIENCE_SECONDS:,.0f} seconds"
        raise EngineError("no batch can be made", why=why, hint="run the same command again: it goes on")

    async def _candidates(self, name: str) -> AsyncIterator[Mapping[str, Any]]:
        try:
            yield await self._json(f"{self._url}/batchInferenceJobs/proctor-{name}")
        except BatchGoneError:
            return

    def _named(self, listed: Mapping[str, Any]) -> Any:
        return str(listed["name"]).rpartition("/proctor-")[2]

    async def look(self, batch: str, count: int) -> Batch:
        """Return what Fireworks says of a job, which is called ``accounts/…/batchInferenceJobs/…``."""
        del count
        said = await self._json(f"{self._root}/{batch}")
        status = str(said["state"]).removeprefix("JOB_STATE_").lower()
        file = f"proctor-out-{batch.rpartition('/proctor-')[2]}"
        is_over = status in ("completed", "failed", "expired", "early_stopped", "cancelled", "deleted", "archived")
        done = (said.get("jobProgress") or {}).get("totalProcessedRequests") or 0
        reason = str((said.get("status") or {}).get("message") or "") if status == "failed" else ""
        return Batch(batch, status, is_over, int(done), (file,) if is_over else (), reason)

    async def _lines(self, batch: Batch) -> AsyncIterator[Any]:
        for place in batch.places:
            said = await self._json(f"{self._url}/datasets/{place}:getDownloadEndpoint")
            for url in (said.get("filenameToSignedUrls") or {}).values():
                if not url.startswith("https://"):
                    raise EngineError("Fireworks does not say where results are", why=f"it says '{url[:200]}'")
                for line in (await self._got(url)).body.splitlines():
                    if line.strip():
                        yield line


class VertexBatches(_StoredBatches):
    """Vertex AI's, of open models: jobs over lines of OpenAI's form, in a bucket of Cloud Storage."""

    needs: ClassVar[tuple[Need, ...]] = (
        Need("bucket", "gs://" + _FOLDER, "gs://BUCKET/FOLDER", "where requests and answers lie"),
    )
    _items, _id, _route = "batchPredictionJobs", "name", "/batchPredictionJobs"
    _limit, _next, _last = "pageSize", "pageToken", "nextPageToken"
    _whole: ClassVar[frozenset[str]] = frozenset({"succeeded", "partially_succeeded"})
    _storage: ClassVar[str] = "https://storage.googleapis.com"

    def __init__(self, door: Door, protocol: ProviderProtocol, place: Place) -> None:
        super().__init__(door, protocol, place)
        if not _VERTEX.match(self._url):  # the key goes to Cloud Storage as well
            hint = "leave base_url and VERTEX_BASE_URL out, or leave --batch out"
            raise UsageError("--batch: batches of Vertex AI are made at Google", why=f"not at {self._url}", hint=hint)
        self._url = self._url.removesuffix("/endpoints/openapi")
        self._root = self._url.partition("/projects/")[0]
        self._bucket, self._folder = _parts(place.bucket)

    @classmethod
    def check(cls, provider: str, model: str, place: Place) -> None:
        """Check that a model is an open one; errors as in :class:`BatchAPI`."""
        if model.startswith("google/"):
            why = "Google's own models want lines of another form there"
            hint = f"use --model gemini/{model.removeprefix('google/')}, or leave --batch out"
            raise UsageError(f"--batch: there are no batches of '{model}' at '{provider}'", why=why, hint=hint)
        super().check(provider, model, place)

    async def prepared(self, lines: list[bytes], route: str, name: str) -> tuple[str, bytes, str]:
        """Put the requests of a job into the bucket, and return what makes it."""
        del route
        there = f"{self._storage}/upload/storage/v1/b/{self._bucket}/o?uploadType=media&name="
        file = f"{self._folder}{name}.jsonl"
        await self._sure("POST", there + quote(file, safe=""), b"\n".join(lines), "application/jsonl")
        maker, _, model = self._model.partition("/")
        made = {
            "displayName": f"proctor-{name}",
            "model": f"publishers/{maker}/models/{model}",
            "inputConfig": {"instancesFormat": "jsonl", "gcsSource": {"uris": [f"gs://{self._bucket}/{file}"]}},
            "outputConfig": {
                "predictionsFormat": "jsonl",
                "gcsDestination": {"outputUriPrefix": f"gs://{self._bucket}/{self._folder}{name}"},
            },
        }
        return f"{self._url}{self._route}", msgspec.json.encode(made), "application/json"

    def _candidates(self, name: str) -> AsyncIterator[Mapping[str, Any]]:
        return self._listed(f"{self._route}?filter=" + quote(f'display_name="proctor-{name}"', safe=""))

    def _named(self, listed: Mapping[str, Any]) -> Any:
        return str(listed["displayName"]).removeprefix("proctor-")

    async def look(self, batch: str, count: int) -> Batch:
        """Return what Google says of a job, which is called ``projects/…/batchPredictionJobs/…``."""
        del count
        said = await self._json(f"{self._root}/{batch}")
        status = str(said["state"]).removeprefix("JOB_STATE_").lower()
        is_over = status in ("succeeded", "partially_succeeded", "failed", "cancelled", "expired")
        stats, there = said.get("completionStats") or {}, (said.get("outputInfo") or {}).get("gcsOutputDirectory")
        done = sum(int(stats.get(each) or 0) for each in ("successfulCount", "failedCount"))
        reason = str((said.get("error") or {}).get("message") or "")
        return Batch(batch, status, is_over, done, (there,) if is_over and there else (), reason)

    async def _lines(self, batch: Batch) -> AsyncIterator[Any]:
        here = f"{self._storage}/storage/v1/b/{self._bucket}/o"
        for place in batch.places:
            folder = quote(place.removeprefix(f"gs://{self._bucket}/").rstrip("/") + "/", safe="")
            page = await self._json(f"{here}?prefix={folder}")
            names = [each["name"] for each in page.get("items") or ()]
            while more := page.get("nextPageToken"):
                page = await self._json(f"{here}?prefix={folder}&pageToken={quote(more, safe='')}")
                names += [each["name"] for each in page.get("items") or ()]
            for each in names:
                for line in (await self._got(f"{here}/{quote(each, safe='')}?alt=media")).body.splitlines():
                    if line.strip():
                        yield line


_PATIENCE, _PATIENCE_SECONDS = 60, 5.0
"""For five minutes a data set is waited for."""
_LONGEST = 1000
