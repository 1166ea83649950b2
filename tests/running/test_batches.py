"""Batches against simulated providers on a virtual clock: nothing is asked twice, nothing is lost, whatever happens."""

from __future__ import annotations

import asyncio
import json
import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import msgspec
import pytest
from batch_providers import KINDS, QUESTIONS, Killed, Provider, ask, engine_of, schedule, text_of
from running_fakes import ToyExam, question
from tests_virtual import VirtualLoop

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.transport import Reply, TransportError
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import EngineError, OutputError, UsageError
from proctor.ir import BATCHED, Decoding, Generate, Prompt, Span, Turn
from proctor.running import ResponseLog, run_exams
from proctor.running.batch_records import Record, batch_records
from proctor.running.batches import batched
from proctor.running.executors import distribute
from proctor.running.log_place import placed
from proctor.running.maintenance import merge

SCHEDULES = int(os.environ.get("PROCTOR_FAULT_SCHEDULES", "80")) // 8 or 1


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr("proctor.engines.http.stored_batches.BedrockBatches.least_requests", 3)


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
    happened = schedule(kind, seed, tmp_path)
    assert (happened["lost"], happened["paid twice"], happened["wrong"]) == (0, 0, 0)


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
    assert sum(response.usage.prompt_tokens for _, response in found) == 30
    assert batched(engine_of(provider), tmp_path / "b").draws_alike


def test_what_has_no_batches_is_refused_before_anything_is_asked(tmp_path):
    with pytest.raises(UsageError, match="asked in another way"):
        batched(ScriptedEngine(answer="x"), tmp_path / "log.db")
    for provider, why in (("deepseek", "mistral, xai, gemini"),):
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


@pytest.mark.parametrize("kind", ["open-ai", "anthropic", "aws"])
def test_processes_that_share_a_log_and_die_pay_nothing_twice(tmp_path, kind):
    provider, log = Provider(random.Random(f"{kind} shared"), kind), tmp_path / "log.db"

    def run(number):
        for attempt in range(30):
            with suppress(Killed, EngineError):
                engine = batched(engine_of(provider), placed(log))
                return run_exams([ToyExam("a", 40, question)], engine, log=log, output=tmp_path / f"{number}-{attempt}")
        raise AssertionError(f"process {number} has not ended")

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(run, range(3)))
    provider.end()
    assert max(provider.paid.values()) == 1
    assert provider.again == 0


def test_nobody_settles_a_batch_that_a_living_process_is_making(tmp_path):
    """A record without the provider's id belongs to whoever has claimed its requests, until he is dead."""
    provider, engine = Provider(), engine_of(Provider())
    with batch_records(tmp_path / "log.db") as records:
        other = Record("other", engine.identity, [request.key for request in QUESTIONS[6:]], time.time())
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


def test_what_a_judge_has_under_way_in_a_batch_is_not_paid_again_at_once(tmp_path, monkeypatch, capsys):
    from proctor.cli.__main__ import main

    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (tmp_path / "rows.csv").write_text("question,answer\n" + "".join(f"What is {n} + 2?,{n + 2}\n" for n in range(8)))

    class Slow(Provider):
        def _advanced(self, name):
            if len(self.batches) > 1:
                raise Killed
            return super()._advanced(name)

    provider = Slow()
    monkeypatch.setattr(OpenAIEngine, "_make_transport", staticmethod(lambda: provider))
    monkeypatch.setattr(OpenAIEngine, "_new_loop", VirtualLoop)
    given = ["run", "rows.csv", "-m", "openai/gpt-4o", "--judge", "openai/gpt-4.1", "--metric", "judge"]
    given += ["--log", str(tmp_path / "l.db"), "-o", str(tmp_path / "out"), "--allow-failures"]
    with pytest.raises(Killed):
        main([*given, "--batch"])
    asked = provider.direct.copy()
    assert main(given) != 0
    assert "batches of 'gpt-4.1' are under way" in capsys.readouterr().err
    assert provider.direct == asked


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


def test_schedules_notice_what_is_paid_twice(tmp_path, monkeypatch):
    """The simulated providers are no friends: without looking for batches whose making was not answered, they win."""

    async def nothing(*_given):
        return None

    monkeypatch.setattr("proctor.engines.http.batches.BatchAPI.find", nothing)
    assert sum(schedule("open-ai", seed, tmp_path)["paid twice"] for seed in range(20)) > 0


def test_what_a_batch_has_of_somebody_else_is_not_taken_for_ours(tmp_path):
    """Anthropic knows no names: a batch of another program may have been made at the same time, with as many requests."""

    class Shared(Provider):
        def _create(self, said):
            super()._create(
                {"requests": [{**each, "custom_id": f"theirs{n}"} for n, each in enumerate(said["requests"])]}
            )
            super()._create(said)
            (theirs, ours) = self.batches.values()
            self.batches = {"ours": ours, ours["id"]: ours, theirs["id"]: theirs}
            del self.batches["ours"]
            raise TransportError("timeout", "no answer")

    provider = Shared(kind="anthropic")
    assert len(ask(provider, tmp_path / "log.db", {})) == 12
    assert provider.created == 2
    assert max(provider.paid.values()) == 1


def test_a_batch_that_the_provider_does_not_have_is_not_sent_again_by_itself(tmp_path):
    provider = Provider()
    with pytest.raises(Killed):
        ask(provider, tmp_path / "log.db", {}, stop_after=1)

    class Other(Provider):
        async def get(self, url, *given):
            return Reply(404, {}, b"{}") if "/batches/" in url else await super().get(url, *given)

    with pytest.raises(EngineError, match="does not have the batch(?s:.)*one of the account(?s:.)*delete the row"):
        ask(Other(), tmp_path / "log.db", {})
    assert len(ask(provider, tmp_path / "log.db", {})) == 12
    assert provider.created == 1


def test_the_first_of_what_is_new_goes_alone_although_there_were_batches_before(tmp_path):
    provider = Provider()
    ask(provider, tmp_path / "log.db", {}, QUESTIONS[:6])
    ask(provider, tmp_path / "log.db", {}, QUESTIONS[6:])
    assert provider.direct == {"question 0": 1, "question 6": 1}


def test_a_batch_whose_results_are_gone_keeps_nobody_from_asking(tmp_path):
    engine = engine_of(Provider())
    with batch_records(tmp_path / "log.db") as records:
        month = 30 * 86_400
        records.write(Record("old", engine.identity, [each.key for each in QUESTIONS], time.time() - month, "batch0"))
    assert distribute(engine, log=tmp_path / "log.db") is engine
    assert len(ask(Provider(), tmp_path / "log.db", {})) == 12


def test_what_is_meant_for_one_provider_is_sent_in_its_batches(tmp_path):
    provider = Provider(kind="groq")
    engine = engine_of(provider, provider_specific_args={"groq": {"top_p": 0.5}})
    list(batched(engine, tmp_path / "log.db").generate(QUESTIONS))
    (batch,) = provider.batches.values()
    assert {each["top_p"] for each in batch["requests"].values()} == {0.5}


def test_what_cannot_be_sent_is_a_failure_of_its_own(tmp_path):
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
    broken = Generate(Prompt(({"role": "user", "content": [picture]},)), Decoding(max_tokens=5))
    found = dict(batched(engine_of(Provider(kind="aws")), tmp_path / "log.db").generate([*QUESTIONS, broken]))
    assert "images as data URLs only" in found[12].failure.message
    assert [number for number, each in found.items() if each.failure is not None] == [12]


def test_prompts_that_a_batch_finds_too_long_are_asked_without_demonstrations(tmp_path):
    class Small(Provider):
        def _line(self, name, body):
            if (size := len(text_of(body).split())) < 20:
                return super()._line(name, body)
            said = {"error": {"message": f"This model's maximum context length is 20 tokens. You sent {size}."}}
            return {"custom_id": name, "response": {"status_code": 400, "body": said}, "error": None}

        def _at_once(self, said):
            return super()._at_once(said) if len(text_of(said).split()) < 20 else self._refused(said)

        def _refused(self, said):
            return Reply(400, {}, json.dumps(self._line("", said)["response"]["body"]).encode())

    spans = [Span("word " * 20, "demo[0].question"), Span("the question", "question")]
    long = Generate(Prompt("".join(each.text for each in spans), lambda: (Turn("user", tuple(spans)),)))
    for truncate, said in (("demos", "answer to the question"), ("none", None)):
        provider = Small()
        engine = engine_of(provider, truncate=truncate)
        found = dict(batched(engine, tmp_path / f"{truncate}.db").generate([*QUESTIONS, long]))
        assert (found[12].text if found[12].failure is None else None) == said
        assert provider.direct["the question"] == (said is not None)
    assert "--truncate demos" in found[12].failure.message


def test_what_is_asked_anew_takes_nothing_else_of_its_batch_along(tmp_path):
    provider = Provider()
    ask(provider, tmp_path / "log.db", {})
    with batch_records(tmp_path / "log.db") as records:
        records.forget_read({QUESTIONS[3].key})
    answers = ask(provider, tmp_path / "log.db", {})  # as after a power loss that took the last answers of the log
    assert len(answers) == 12
    assert provider.created == 2
    assert {key for key, times in provider.paid.items() if times > 1} == {QUESTIONS[3].key}
    with batch_records(tmp_path / "log.db") as records:
        records.forget_read({each.key for each in QUESTIONS})
        assert records.of(engine_of(provider).identity) == []


def test_a_process_that_slept_while_another_took_over_sends_nothing(tmp_path):
    """A laptop was closed while it uploaded: its claims went to another process, which forgot its batch."""
    log = tmp_path / "log.db"

    class Slept(Provider):
        async def post(self, url, *given):
            reply = await super().post(url, *given)
            if url.endswith("/files") and len(self.files) == 1:
                await asyncio.to_thread(ask, self, log, {}, QUESTIONS[1:])
            return reply

    provider = Slept()
    assert len(ask(provider, log, {})) == 12
    theirs, left = ([*each["requests"]] for each in provider.batches.values())
    assert theirs == [each.key for each in QUESTIONS[2:]]
    assert left == [QUESTIONS[1].key], "what the other asked at once stands in no batch"


def test_batches_without_names_are_known_by_the_order_in_which_they_were_made(tmp_path):
    """Two processes died as they made batches of as many requests, before they heard of them."""
    provider = Provider(kind="anthropic")
    engine = engine_of(provider)
    for number, part in enumerate((QUESTIONS[:6], QUESTIONS[6:])):
        keys = [each.key for each in part]
        with batch_records(tmp_path / "log.db") as records:
            records.write(Record(f"{number}", engine.identity, keys, time.time()))
        requests = [{"custom_id": each.key, "params": {"messages": [{"content": each.prompt.text}]}} for each in part]
        provider._create({"requests": requests})
    assert len(ask(provider, tmp_path / "log.db", {})) == 12
    assert (provider.created, set(provider.paid.values()), provider.direct) == (2, {1}, {})


def test_results_are_fetched_where_the_key_belongs(tmp_path):
    class Elsewhere(Provider):
        def _shown(self, each):
            return super()._shown(each) | {"results_url": "https://evil.example/results"}

        async def get(self, url, *given):
            assert url.startswith("https://api.anthropic.com/")
            return await super().get(url, *given)

    assert len(ask(Elsewhere(kind="anthropic"), tmp_path / "log.db", {})) == 12


def test_an_account_without_credit_is_not_waited_for(tmp_path):
    class Poor(Provider):
        def _create(self, said):
            self.created += 1
            return Reply(
                429, {}, b'{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}'
            )

    provider = Poor()
    with pytest.raises(EngineError, match="does not take the batch(?s:.)*exceeded your current quota"):
        ask(provider, tmp_path / "log.db", {})
    assert provider.created == 1


def test_an_answer_that_nobody_can_read_was_paid_all_the_same(tmp_path):
    class Odd(Provider):
        def _line(self, name, body):
            answer = {"choices": "none", "usage": {"prompt_tokens": 10, "completion_tokens": 2}}
            return {"custom_id": name, "response": {"status_code": 200, "body": answer}, "error": None}

    found = dict(batched(engine_of(Odd()), tmp_path / "log.db").generate(QUESTIONS))
    assert found[5].failure.kind == "protocol"
    assert (found[5].usage.prompt_tokens, found[5].usage.lost_completion_tokens, found[5].way) == (10, 2, BATCHED)


def test_what_nobody_can_read_of_a_batch_is_said_and_nothing_is_lost(tmp_path):
    provider = Provider()

    class Odd(Provider):
        def _shown(self, each):
            return {"id": each["id"]} if each["looks"] else super()._shown(each)

    odd = Odd()
    with pytest.raises(EngineError, match="what the provider says of a batch cannot be read(?s:.)*KeyError"):
        ask(odd, tmp_path / "log.db", {})
    provider.__dict__.update(odd.__dict__)
    assert len(ask(provider, tmp_path / "log.db", {})) == 12
    assert set(provider.paid.values()) == {1}
