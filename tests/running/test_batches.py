"""Batches against simulated providers on a virtual clock: nothing is asked twice, nothing is lost, whatever happens."""

from __future__ import annotations

import json
import os
import random
import re
import threading
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest
from running_fakes import ToyExam, question
from tests_virtual import VirtualLoop

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.transport import Reply, TransportError
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import EngineError, OutputError, UsageError
from proctor.ir import BATCHED, Decoding, Generate, Prompt
from proctor.running import ResponseLog, run_exams
from proctor.running.batch_records import Record, batch_records
from proctor.running.batches import batched
from proctor.running.executors import distribute
from proctor.running.log_place import placed
from proctor.running.maintenance import merge

SCHEDULES = int(os.environ.get("PROCTOR_FAULT_SCHEDULES", "80")) // 8 or 1
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
        self.page = 100 if draw is None else 2

    def chance(self, share: float) -> bool:
        return self.draw is not None and self.draw.random() < share

    async def close(self) -> None:
        """Nothing is open."""

    async def get(self, url: str, headers: Any, timeout_seconds: float, most_bytes: int = 0) -> Reply:
        del headers, timeout_seconds, most_bytes
        self._stumble()
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
            return self._page([self._shown(each) for each in reversed(self.batches.values())], given, "id")
        return self._json(self._advanced(path.rpartition("/")[2]))

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
        said = json.loads(body)
        self.direct[said["messages"][-1]["content"]] += 1
        return self._json(self._answer(said))

    def _stumble(self) -> None:
        if self.chance(0.01):
            raise Killed
        if self.chance(0.05):
            raise TransportError("connection", "gone")

    def _asked(self, said: Any) -> dict[str, Any]:
        """Return the requests of a batch; a body that does not fit the provider's reference is an error of ours."""
        if self.kind == "anthropic":
            return {each["custom_id"]: each["params"] for each in said["requests"]}
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
        if self.chance(0.2):
            return Reply(429, {}, b'{"error": {"message": "later"}}')
        requests = self._asked(said)
        assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in requests)
        name = f"batch{len(self.batches)}"
        running = sum(len(each["requests"]) for each in self.batches.values() if each["state"] == "running")
        too_much = self.queue and running + len(requests) > self.queue
        self.batches[name] = {
            "id": name, "requests": requests, "said": said, "looks": 0, "files": [],
            "state": "too much" if too_much else "running", "made": datetime.now(UTC).isoformat(),
        }  # fmt: skip
        self.created += 1
        if self.chance(0.2):
            raise TransportError("timeout", "no answer")  # it was made all the same
        return self._json(self._shown(self.batches[name]))

    def _advanced(self, name: str) -> Any:
        each = self.batches[name]
        each["looks"] += 1
        if each["state"] == "running" and each["looks"] >= 3:
            each["state"] = "over"
            self._finish(each)
        return self._shown(each)

    def _finish(self, each: Any) -> None:
        lines = [self._line(name, body) for name, body in each["requests"].items()]
        order = self.draw or random.Random(0)
        order.shuffle(lines)
        expired = lines[len(lines) // 2 :] if self.expires or self.chance(0.2) else []
        self.expires = False
        done = lines[: len(lines) - len(expired)]
        for line in done:
            self.paid[line["custom_id"]] += 1
        out = done + [line for line in done if self.chance(0.1)]  # some stand there twice
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
        self.files[name] = "\n".join(json.dumps(line) for line in lines).encode()
        each["files"].append(name if lines else None)

    def _results(self, name: str, given: dict[str, str]) -> Reply:
        """Return Anthropic's results as they are, and xAI's a few at a time."""
        if self.kind == "anthropic":
            return Reply(200, {}, self.files[name])
        found = []
        for line in map(json.loads, self.files[name].splitlines()):
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
        text = f"answer to {body['messages'][-1]['content']}"
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


MODELS = {
    "anthropic": "claude-haiku-4-5", "azure": "my-deployment", "mistral": "mistral-small-latest", "xai": "grok-4",
    "gemini": "gemini-2.5-flash", "groq": "llama-3.1-8b-instant", "together-ai": "m",
}  # fmt: skip
KINDS = ["open-ai", *MODELS]


def engine_of(provider: Provider, **fields: Any) -> OpenAIEngine:
    if provider.kind == "open-ai":
        made = OpenAIEngine(model="gpt-4o", base_url="https://api.openai.com/v1", api_key="k", **fields)
    else:
        if provider.kind == "azure":
            fields["credentials"] = {"host": "https://mine.openai.azure.com"}
        made = ProviderEngine(model=MODELS[provider.kind], provider=provider.kind, api_key="k", **fields)
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


@pytest.mark.parametrize("kind", KINDS)
def test_questions_are_answered_in_one_batch(tmp_path, kind):
    provider = Provider(kind=kind)
    answers = ask(provider, tmp_path / "log.db", {})
    assert {each.text for each in answers.values()} == {f"answer to question {number}" for number in range(12)}
    assert provider.created == 1
    assert provider.direct == {"question 0": 1}  # the first goes alone, and teaches what the model takes
    assert [each.way for each in answers.values()].count(BATCHED) == 11
    assert {(each.usage.prompt_tokens, each.usage.completion_tokens) for each in answers.values()} == {(10, 2)}
    ask(provider, tmp_path / "log.db", answers)
    assert provider.created == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_nothing_is_paid_twice_and_nothing_lost(tmp_path, kind, seed):
    draw = random.Random(f"{kind} {seed}")
    provider, answers = Provider(draw, kind), {}
    for _ in range(100):
        try:
            ask(provider, tmp_path / "log.db", answers, stop_after=draw.choice([2, 5, 1 << 30]))
        except (Killed, EngineError):
            continue
        if len(answers) == len(QUESTIONS):
            break
    assert len(answers) == len(QUESTIONS)
    assert max(provider.paid.values(), default=0) <= 1
    for request in QUESTIONS:
        assert answers[request.key].text == f"answer to {request.prompt.text}"


def test_a_batch_of_xai_that_was_ended_from_outside_says_why(tmp_path):
    class Ended(Provider):
        def _shown(self, each):
            ended = {"cancel_time": "2026-11-29", "cancel_by_xai_message": "line 3 is not JSON"}
            return super()._shown(each) | (ended if each["looks"] > 2 else {})

        def _results(self, name, given):
            return self._json({"results": []})

    found = dict(batched(engine_of(Ended(kind="xai")), tmp_path / "log.db").generate(QUESTIONS))
    assert {each.failure.message for number, each in found.items() if number} == {"line 3 is not JSON"}


def test_google_may_not_send_the_key_elsewhere(tmp_path):
    class Elsewhere(Provider):
        async def post(self, url, *rest):
            reply = await super().post(url, *rest)
            return reply._replace(headers=dict.fromkeys(reply.headers, "https://evil.example/there"))

    with pytest.raises(EngineError, match="does not say where the file goes"):
        dict(batched(engine_of(Elsewhere(kind="gemini")), tmp_path / "log.db").generate(QUESTIONS))


def test_what_expired_is_a_failure_and_is_asked_again_alone(tmp_path):
    provider = Provider(expires=True)
    answers = ask(provider, tmp_path / "log.db", {})
    assert 0 < len(answers) < len(QUESTIONS)
    ask(provider, tmp_path / "log.db", answers)
    assert len(answers) == len(QUESTIONS)
    assert provider.created == 2
    assert set(provider.paid.values()) == {1}


def test_more_than_may_be_queued_is_sent_in_parts(tmp_path):
    provider = Provider(queue=4)
    assert len(ask(provider, tmp_path / "log.db", {})) == len(QUESTIONS)
    assert set(provider.paid.values()) == {1}


def test_batches_are_no_larger_than_the_provider_takes(tmp_path, monkeypatch):
    monkeypatch.setattr("proctor.engines.http.batches.BatchAPI.most_requests", 5)
    provider = Provider()
    assert len(ask(provider, tmp_path / "log.db", {})) == len(QUESTIONS)
    assert [len(each["requests"]) for each in provider.batches.values()] == [5, 5, 1]


def test_equal_questions_are_sent_once_and_draws_differ(tmp_path):
    provider = Provider()
    found = list(batched(engine_of(provider), tmp_path / "b").generate([*QUESTIONS[:3], *QUESTIONS[:3]]))
    assert sorted(position for position, _ in found) == list(range(6))
    assert sum(response.usage.prompt_tokens for _, response in found) == 40  # the first was asked by itself
    assert batched(engine_of(provider), tmp_path / "b").draws_alike


def test_what_has_no_batches_is_refused_before_anything_is_asked(tmp_path):
    with pytest.raises(UsageError, match="asked in another way"):
        batched(ScriptedEngine(answer="x"), tmp_path / "log.db")
    for provider, why in (
        ("aws", "bucket of S3"),
        ("vertex-ai", "Cloud Storage"),
        ("deepseek", "mistral, xai, gemini"),
    ):
        with pytest.raises(UsageError, match=f"no batch API of '{provider}'(?s:.)*{why}"):
            batched(ProviderEngine(model="m", provider=provider), tmp_path / "log.db")
    with pytest.raises(UsageError, match="streamed"):
        batched(OpenAIEngine(model="m", base_url="https://api.openai.com/v1", stream=True), tmp_path / "log.db")


def test_a_run_without_batches_does_not_pay_again_what_is_under_way(tmp_path):
    provider = Provider()
    with pytest.raises(Killed):
        ask(provider, tmp_path / "log.db", {}, stop_after=1)
    engine = engine_of(provider)
    with pytest.raises(UsageError, match="under way"):
        distribute(engine, log=tmp_path / "log.db")
    assert distribute(engine_of(Provider(kind="anthropic")), log=tmp_path / "log.db") is not None
    ask(provider, tmp_path / "log.db", {})
    assert distribute(engine, log=tmp_path / "log.db") is engine


def test_a_record_that_cannot_be_read_is_said(tmp_path):
    (tmp_path / "log.db.batches").mkdir()
    (tmp_path / "log.db.batches" / "x.json").write_text("{")  # where earlier versions wrote them down
    with pytest.raises(OutputError, match="cannot be read"):
        ask(Provider(), tmp_path / "log.db", {})
    (tmp_path / "log.db.batches" / "x.json").unlink()
    with ResponseLog(tmp_path / "log.db") as log, closing(log.connect()) as connection:
        connection.execute("INSERT INTO batches VALUES ('y', 'e', X'7b')")
    with pytest.raises(OutputError, match="y in the table batches"):
        ask(Provider(), tmp_path / "log.db", {})


def test_what_an_earlier_version_wrote_down_in_a_folder_is_gone_on_with(tmp_path):
    provider, answers = Provider(), {}
    with pytest.raises(Killed):
        ask(provider, tmp_path / "log.db", answers, stop_after=1)
    (tmp_path / "log.db.batches").mkdir()
    with batch_records(tmp_path / "log.db") as records:
        (record,) = records.of(engine_of(provider).identity)
        records.forget(record)
        (tmp_path / "log.db.batches" / "x.json").write_bytes(msgspec.json.encode(record))
    ask(provider, tmp_path / "log.db", answers)
    assert (len(answers), provider.created) == (len(QUESTIONS), 1)
    assert not list((tmp_path / "log.db.batches").iterdir())


def test_a_batch_that_one_process_began_another_collects(tmp_path, postgres):
    """Here with a database between them, whose password stands in no place but the address."""
    provider, answers, place = Provider(), {}, postgres.address()
    with pytest.raises(Killed):
        ask(provider, place, answers, stop_after=1)
    with pytest.raises(UsageError, match="under way"):
        distribute(engine_of(provider), log=place)
    with ResponseLog(place) as source, ResponseLog(tmp_path / "file.db") as target:
        merge(target, source)
    ask(provider, tmp_path / "file.db", dict(answers))
    ask(provider, place, answers)
    assert (len(answers), provider.created) == (len(QUESTIONS), 1)
    assert distribute(engine_of(provider), log=place) is not None


def test_processes_at_once_divide_the_questions_and_make_no_batch_twice(tmp_path, log_place):
    provider, exams = Provider(), [ToyExam("a", 40, question)]
    failed = []

    def run(number):
        try:
            engine = batched(engine_of(provider), placed(log_place))
            run_exams(exams, engine, log=log_place, output=tmp_path / f"o{number}")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed
    assert sum(provider.paid.values()) + sum(provider.direct.values()) == 40
    assert max([*provider.paid.values(), *provider.direct.values()]) == 1


def test_nobody_settles_a_batch_that_a_living_process_is_making(tmp_path):
    """A record without the provider's id belongs to whoever has claimed its requests, until he is dead."""
    provider, engine = Provider(), engine_of(Provider())
    with batch_records(tmp_path / "log.db") as records:
        other = Record("other", engine.identity, [request.key for request in QUESTIONS[6:]], 1.0)
        records.write(other)
    assert len(ask(provider, tmp_path / "log.db", {}, QUESTIONS[:6])) == 6
    with batch_records(tmp_path / "log.db") as records:
        assert other in records.of(engine.identity)
    answers = ask(provider, tmp_path / "log.db", {}, QUESTIONS)  # who claims them now settles it
    assert len(answers) == len(QUESTIONS)
    assert max(provider.paid.values()) == 1


def test_what_dies_while_another_process_asks_is_not_sent_again(tmp_path):
    """Its claims go to the other one in the middle of a call, after that one looked which batches there are."""
    provider, log = Provider(), tmp_path / "log.db"

    def freed():
        yield from QUESTIONS[:3]
        with pytest.raises(Killed):
            ask(provider, log, {}, QUESTIONS[3:], stop_after=1)
        yield from QUESTIONS[4:]  # the other has asked the first of its own by itself

    answers = dict(batched(engine_of(provider), log).generate(freed()))
    assert len(answers) == 11
    assert provider.created == 2
    assert set(provider.paid.values()) == {1}


def test_a_run_in_batches_from_the_command_line(tmp_path, monkeypatch, capsys, log_place):
    from proctor.cli.__main__ import main

    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    provider = Provider()
    monkeypatch.setattr(OpenAIEngine, "_make_transport", staticmethod(lambda: provider))
    monkeypatch.setattr(OpenAIEngine, "_new_loop", VirtualLoop)
    model = "model=gpt-4o,base_url=https://api.openai.com/v1,api_key=k"
    given = ["run", "-m", "openai", "-a", model, "-t", "samples.sentiment", "--limit", "4", "--batch"]
    assert main([*given, "--log", log_place, "-o", str(tmp_path / "out")]) == 0
    run = json.loads((tmp_path / "out" / "results.json").read_text())["run"]
    assert run["ways_of_asking"] == {"samples.sentiment": {"batch": 3}}
    assert run["cost"]["usd"] == pytest.approx((10 * 2.5 + 2 * 10) * (1 + 3 * 0.5) / 1e6, abs=1e-6)
    assert run["cost"]["usd_saved_by_batches"] > 0


@pytest.mark.parametrize("is_batched", [True, False])
def test_judges_are_asked_in_batches_where_the_run_is(tmp_path, monkeypatch, is_batched):
    from proctor.cli.__main__ import main

    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (tmp_path / "rows.csv").write_text("question,answer\n" + "".join(f"What is {n} + 2?,{n + 2}\n" for n in range(8)))
    provider = Provider()
    monkeypatch.setattr(OpenAIEngine, "_make_transport", staticmethod(lambda: provider))
    monkeypatch.setattr(OpenAIEngine, "_new_loop", VirtualLoop)
    given = ["run", "rows.csv", "-m", "openai/gpt-4o", "--judge", "openai/gpt-4.1", "--metric", "judge"]
    given += ["--log", str(tmp_path / "l.db"), "-o", str(tmp_path / "out"), "--allow-failures"]
    assert main([*given, *(["--batch"] if is_batched else [])]) == 0
    run = json.loads((tmp_path / "out" / "results.json").read_text())["run"]
    (judge,) = run["judges"].values()
    assert judge["asked"] == 8
    assert provider.created == (2 if is_batched else 0), "a batch of questions, and one for the judge"
    assert sum(provider.direct.values()) == (2 if is_batched else 16), "the first of each goes alone"
    assert sum(provider.paid.values()) == (14 if is_batched else 0)
    assert main([*given, "--refresh", *(["--batch"] if is_batched else [])]) == 0
    assert provider.created == (4 if is_batched else 0), (
        "what was set aside is not read from the batches that are known"
    )
    assert sum(provider.direct.values()) == (4 if is_batched else 32)
