"""Simulated providers that read requests from a bucket or a data set of the user, and write answers there."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from proctor.engines.http.transport import Reply

FIREWORKS = "accounts/fireworks/models/llama-v3p1-8b-instruct"


def _amazon(world: Any, method: str, url: str, body: bytes, headers: Any) -> Reply:
    """Answer as Amazon Bedrock and S3 do."""
    parts = urlsplit(url)
    given = dict(parse_qsl(parts.query))
    if parts.netloc == "my-bucket.s3.us-east-1.amazonaws.com":
        assert "/us-east-1/s3/aws4_request" in headers["Authorization"]
        assert headers["x-amz-content-sha256"] == hashlib.sha256(body).hexdigest()
        if method == "PUT":
            world.files[parts.path] = body
            return Reply(200, {}, b"")
        number = parts.path.split("/")[-2]
        each = world.batches.get(number)
        if each is None or not any(each["files"]):
            return Reply(404, {}, b"<Error><Code>NoSuchKey</Code></Error>")
        assert parts.path == f"/exams/{number}/{each['said']['name']}.jsonl.out"
        return Reply(200, {}, b"\n".join(_amazon_line(each, line) for line in _lines_of(world, each)))
    assert "/us-east-1/bedrock/aws4_request" in headers["Authorization"]
    if parts.netloc == "bedrock-runtime.us-east-1.amazonaws.com":
        return world._at_once(json.loads(body))
    assert parts.netloc == "bedrock.us-east-1.amazonaws.com"
    if method == "POST":
        return _amazon_job(world, json.loads(body))
    if parts.path == "/model-invocation-jobs":
        found = [each for each in world._listed(given) if given["nameContains"] in each["jobName"]]
        size, start = min(world.page, int(given["maxResults"])), int(given.get("nextToken", 0))
        more = {"nextToken": str(start + size)} if start + size < len(found) else {}
        return world._json({"invocationJobSummaries": found[start : start + size], **more})
    return world._json(world._advanced(parts.path.removeprefix("/model-invocation-job/")))


def _amazon_job(world: Any, said: Any) -> Reply:
    for each in world.batches.values():
        if each["said"]["clientRequestToken"] == said["clientRequestToken"]:
            return world._made({"jobArn": world._shown(each)["jobArn"]})
    assert re.fullmatch(r"[a-zA-Z0-9]{1,63}(-*[a-zA-Z0-9\\+\\-\\.]){0,63}", said["jobName"])
    assert len(said["jobName"]) <= 63
    assert re.fullmatch(r"[a-zA-Z0-9]{1,256}", said["clientRequestToken"])
    assert said["modelInvocationType"] == "Converse"
    assert said["roleArn"] == "arn:aws:iam::123456789012:role/batches"
    assert said["outputDataConfig"] == {"s3OutputDataConfig": {"s3Uri": "s3://my-bucket/exams/"}}
    there = said["inputDataConfig"]["s3InputDataConfig"]["s3Uri"]
    said["name"] = there.removeprefix("s3://my-bucket/exams/").removesuffix(".jsonl")
    return world._create(said)


def _amazon_line(each: Any, line: Any) -> bytes:
    if "custom_id" not in line:
        return b'{"recordId": "1'
    found = {"recordId": line["custom_id"], "modelInput": each["requests"][line["custom_id"]]}
    if line["response"] is None:
        return json.dumps({**found, "error": {"errorCode": 500, "errorMessage": "expired"}}).encode()
    return json.dumps({**found, "modelOutput": line["response"]["body"]}).encode()


def _lines_of(world: Any, each: Any) -> list[Any]:
    return [json.loads(line) for name in each["files"] if name for line in world.files[name].splitlines()]


def _fireworks(world: Any, method: str, url: str, body: bytes, headers: Any) -> Reply:
    """Answer as Fireworks does, whose results lie in a store of somebody else."""
    parts = urlsplit(url)
    if parts.netloc == "storage.example":
        assert parts.query == "signature=1"
        assert "Authorization" not in headers
        return Reply(200, {}, world.files[parts.path[1:]])
    assert headers["Authorization"] == "Bearer k"
    assert parts.netloc == "api.fireworks.ai"
    if parts.path.startswith("/inference/"):
        return world._at_once(json.loads(body))
    path = parts.path.removeprefix("/v1/accounts/mine/")
    assert path != parts.path
    if method == "POST":
        return _told_fireworks(world, path.split("/"), body, dict(parse_qsl(parts.query)))
    return _seen_at_fireworks(world, *path.split("/"))


def _told_fireworks(world: Any, path: list[str], body: bytes, given: dict[str, str]) -> Reply:
    match path:
        case ["datasets"]:
            said = json.loads(body)
            if said["datasetId"] in world.names:
                return Reply(409, {}, b'{"code": 6, "message": "already exists"}')
            world.names[said["datasetId"]] = said["dataset"]["exampleCount"]
            return world._json({"name": said["datasetId"], "state": "UPLOADING"})
        case ["batchInferenceJobs"]:
            return _fireworks_job(world, json.loads(body), given["batchInferenceJobId"])
    name = path[1].removesuffix(":upload")
    content = body.split(b"\r\n\r\n", 1)[1].partition(b"\r\n--")[0]
    assert int(world.names[name]) == len(content.splitlines())
    world.files[name] = content
    return world._json({})


def _seen_at_fireworks(world: Any, kind: str, name: str) -> Reply:
    if kind == "batchInferenceJobs":
        job = next((each for each in world.batches.values() if each["name"] == name), None)
        return Reply(404, {}, b'{"message": "not found"}') if job is None else world._json(world._advanced(job["id"]))
    assert kind == "datasets"
    name, _, wanted = name.partition(":")
    if not wanted:
        return world._json({"name": name, "state": "UPLOADING" if world.chance(0.5) else "READY"})
    assert wanted == "getDownloadEndpoint"
    each = next(each for each in world.batches.values() if each["out"] == name)
    if not any(each["files"]):
        return Reply(404, {}, b'{"message": "resource not found"}')
    kinds = zip(("BIJOutputSet.jsonl", "error-data"), each["files"], strict=True)
    return world._json({"filenameToSignedUrls": _signed(world, each, dict(kinds))})


def _fireworks_job(world: Any, said: Any, name: str) -> Reply:
    if any(each["name"] == name for each in world.batches.values()):
        return Reply(409, {}, b'{"code": 6, "message": "already exists"}')
    assert re.fullmatch(r"[a-z][a-z0-9-]{0,62}", name)
    assert said["model"] == FIREWORKS
    return world._create({**said, "name": name})


def _signed(world: Any, each: Any, files: dict[str, Any]) -> dict[str, str]:
    found = {}
    for kind, name in files.items():
        lines = []
        for line in map(json.loads, world.files[name].splitlines()) if name else ():
            body = line.get("response") and line["response"]["body"]
            lines.append(
                {"custom_id": line.get("custom_id"), **({"response": body} if body else {"error": "too late"})}
            )
        world.files[f"{each['id']}/{kind}"] = b"\n".join(json.dumps(line).encode() for line in lines)
        found[f"dataset/{each['out']}/{kind}"] = f"https://storage.example/{each['id']}/{kind}?signature=1"
    return found


def _google(world: Any, method: str, url: str, body: bytes, headers: Any) -> Reply:
    """Answer as Vertex AI and Cloud Storage do."""
    assert headers["Authorization"] == "Bearer k"
    parts = urlsplit(url)
    given = dict(parse_qsl(parts.query))
    if parts.netloc == "storage.googleapis.com":
        return _google_storage(world, method, parts.path, given, body)
    assert parts.netloc == "us-central1-aiplatform.googleapis.com"
    path = parts.path.removeprefix("/v1/projects/mine/locations/us-central1/")
    if path.startswith("endpoints/openapi/"):
        return world._at_once(json.loads(body))
    if method == "POST":
        assert path == "batchPredictionJobs"
        said = json.loads(body)
        assert said["model"] == "publishers/meta/models/llama-3.3-70b-instruct-maas"
        return world._create({**said, "name": said["displayName"].removeprefix("proctor-")})
    if path == "batchPredictionJobs":
        (name,) = re.fullmatch(r'display_name="(proctor-\w+)"', given["filter"]).groups()
        found = [each for each in world._listed(given) if each["displayName"] == name]
        size, start = min(world.page, int(given["pageSize"])), int(given.get("pageToken", 0))
        more = {"nextPageToken": str(start + size)} if start + size < len(found) else {}
        return world._json({"batchPredictionJobs": found[start : start + size], **more})
    return world._json(world._advanced(path.removeprefix("batchPredictionJobs/")))


def _google_storage(world: Any, method: str, path: str, given: dict[str, str], body: bytes) -> Reply:
    if method == "POST":
        assert (path, given["uploadType"]) == ("/upload/storage/v1/b/my-bucket/o", "media")
        world.files[given["name"]] = body
        return world._json({"name": given["name"]})
    path = unquote(path.removeprefix("/storage/v1/b/my-bucket/o"))
    if path:
        assert given == {"alt": "media"}
        each = world.batches[path.split("/")[3]]
        lines = _lines_of(world, each) if path.endswith("predictions_0001.jsonl") else []
        return Reply(200, {}, b"\n".join(_google_line(line) for line in lines))
    number = re.fullmatch(r"exams/(\w+)/(\w+)/", given["prefix"])[2]
    files = ["predictions_0001.jsonl", "predictions_0002.jsonl"] if any(world.batches[number]["files"]) else []
    start = int(given.get("pageToken", 0))
    more = {"nextPageToken": "1"} if len(files) > 1 and not start else {}
    return world._json({"items": [{"name": given["prefix"] + each} for each in files[start : start + 1]], **more})


def _google_line(line: Any) -> bytes:
    if "custom_id" not in line:
        return b'{"custom_id": "1'
    response = line["response"]
    kept = {"response": response["body"]} if response else {"error": {"code": 4, "message": "expired"}}
    return json.dumps({"id": "1", "custom_id": line["custom_id"], **kept}).encode()


STORED = {"aws": _amazon, "fireworks": _fireworks, "vertex-ai": _google}
