"""Batches in buckets and data sets: what users must say, and what is asked at once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from batch_providers import QUESTIONS, Provider, ask, engine_of

from proctor.effects import Author, written_by
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.transport import Reply
from proctor.errors import UsageError, ValidationError
from proctor.ir import Decoding, Generate
from proctor.running.batches import batched, has_batches


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr("proctor.engines.http.stored_batches.BedrockBatches.least_requests", 3)


def test_too_few_for_a_batch_are_asked_at_once_and_that_is_said(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(
        "proctor.running.batches.get_logger", lambda: SimpleNamespace(warning=lambda *each: said.append(each))
    )
    monkeypatch.setattr("proctor.engines.http.stored_batches.BedrockBatches.least_requests", 100)
    provider = Provider(kind="aws")
    assert len(ask(provider, tmp_path / "log.db", {})) == 12
    assert (provider.created, sum(provider.direct.values())) == (0, 12)
    ((text, *values),) = said
    assert text % tuple(values) == (
        "11 requests to 'amazon.nova-pro-v1:0' are asked at once, at the full price: a batch has 100 of them or more"
    )


@pytest.mark.parametrize(
    "kind,named,given",
    [
        ("aws", "batch_bucket", {}),
        ("aws", "batch_bucket", {"batch_bucket": "my-bucket"}),
        ("aws", "batch_role", {"batch_bucket": "s3://my-bucket"}),
        ("fireworks", "batch_account", {}),
        ("vertex-ai", "batch_bucket", {"batch_bucket": "s3://my-bucket"}),
    ],
)
def test_what_a_provider_needs_is_named_before_anything_is_asked(tmp_path, kind, named, given):
    engine = ProviderEngine(model="m", provider=kind, **given)
    with pytest.raises(UsageError, match=f"need {named}(?s:.)*--model-args {named}="):
        batched(engine, tmp_path / "log.db")
    assert not has_batches(engine), "a judge of this provider is asked at once"


def test_the_account_of_fireworks_may_stand_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("FIREWORKS_ACCOUNT_ID", "mine")
    assert batched(ProviderEngine(model="m", provider="fireworks"), tmp_path / "log.db")


def test_a_place_for_batches_is_refused_where_nobody_would_use_it():
    with pytest.raises(ValidationError, match="keeps no batches where 'batch_role' says"):
        ProviderEngine(model="m", provider="anthropic", batch_role="arn:aws:iam::123456789012:role/batches")


def test_a_file_that_names_a_bucket_has_to_be_allowed_to():
    with written_by(Author("exam.yaml")):
        engine = ProviderEngine(
            model="m", provider="aws", batch_bucket="s3://theirs/there", credentials={"region": "r"}
        )
    assert "net:s3://theirs" in {each.grant for each in engine.effects()}
    engine.come_from(SimpleNamespace(typed_fields=frozenset({"batch_bucket"}), is_of_config=False))
    assert "net:s3://theirs" not in {each.grant for each in engine.effects()}


@pytest.mark.parametrize(
    "provider,given,hosts",
    [
        ("aws", {"batch_bucket": "s3://mine"}, ["bedrock.us-east-1.amazonaws.com", "mine.s3.us-east-1.amazonaws.com"]),
        ("aws", {"batch_bucket": "s3://my.own"}, ["bedrock.us-east-1.amazonaws.com", "s3.us-east-1.amazonaws.com"]),
        ("aws", {}, []),
        ("vertex-ai", {"batch_bucket": "gs://mine", "credentials": {"project": "p"}}, ["storage.googleapis.com"]),
        ("fireworks", {"batch_account": "mine"}, ["storage.googleapis.com"]),
    ],
)
def test_the_wall_lets_the_hosts_of_batches_be_asked(provider, given, hosts):
    engine = ProviderEngine(model="m", provider=provider, **given)
    _, *others = [each.target.partition(":")[0] for each in engine.would_do() if each.kind == "net"]
    assert others == hosts


@pytest.mark.parametrize(
    "given,why",
    [
        ({"api_key": "k"}, "the API key of Bedrock opens no bucket"),
        ({"base_url": "https://mine.example"}, "mine.example"),
    ],
)
def test_batches_of_bedrock_need_keys_that_open_a_bucket(tmp_path, monkeypatch, given, why):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    there = {"batch_bucket": "s3://my-bucket/exams", "batch_role": "arn:aws:iam::123456789012:role/batches"}
    engine = ProviderEngine(model="m", provider="aws", **there, **given)
    engine._make_transport = lambda: Provider(kind="aws")
    with pytest.raises(UsageError, match=f"own addresses and keys(?s:.)*{why}"):
        list(batched(engine, tmp_path / "log.db").generate(QUESTIONS))


def test_vertex_ai_has_batches_of_open_models_at_googles_own_address(tmp_path):
    there = {"provider": "vertex-ai", "batch_bucket": "gs://my-bucket", "api_key": "k"}
    with pytest.raises(
        UsageError, match=r"no batches of 'google/gemini-2\.5-pro'(?s:.)*--model gemini/gemini-2\.5-pro"
    ):
        batched(ProviderEngine(model="google/gemini-2.5-pro", **there), tmp_path / "log.db")
    engine = ProviderEngine(model="meta/m", base_url="https://mine.example/v1", **there)
    with pytest.raises(UsageError, match="made at Google(?s:.)*not at https://mine.example/v1"):
        list(batched(engine, tmp_path / "log.db").generate(QUESTIONS))


def test_tools_are_asked_of_bedrock_at_once(tmp_path):
    provider = Provider(kind="aws")
    tool = {"function": {"name": "add", "parameters": {}}}
    asked = [Generate(each.prompt, Decoding(max_tokens=5, extra={"tools": [tool]})) for each in QUESTIONS[:2]]
    assert len(ask(provider, tmp_path / "log.db", {}, [*asked, *QUESTIONS[2:]])) == 12
    assert [set(each["requests"]) for each in provider.batches.values()] == [{each.key for each in QUESTIONS[3:]}]


def test_no_more_jobs_than_may_be_under_way_are_waited_for_and_not_lost(tmp_path, monkeypatch):
    monkeypatch.setattr("proctor.engines.http.batches.BatchAPI.most_requests", 4)

    class Few(Provider):
        def _create(self, said):
            if any(each["state"] == "running" for each in self.batches.values()):
                return Reply(
                    400, {"x-amzn-ErrorType": "ServiceQuotaExceededException"}, b'{"message": "too many jobs"}'
                )
            return super()._create(said)

    provider = Few(kind="aws")
    assert len(ask(provider, tmp_path / "log.db", {})) == 12
    assert set(provider.paid.values()) == {1}
    assert [len(each["requests"]) for each in provider.batches.values()] == [4, 4, 3]


def test_keys_that_a_provider_echoes_in_a_failure_are_not_filed(tmp_path, monkeypatch):
    monkeypatch.setattr("proctor.secrets._spellings", {"too late": None})  # what the provider says
    made = batched(engine_of(Provider(kind="fireworks", expires=True)), tmp_path / "log.db")
    failed = {each.failure.message for _, each in made.generate(QUESTIONS) if each.failure is not None}
    assert failed == {"the batch says [secret]"}
