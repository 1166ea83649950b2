"""Answers belong to models: the same one is found at another address, and another one there is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_logged import put_many

from proctor.cli.__main__ import main
from proctor.engines.engine_registry import make_engine
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt, Response, Rolling, content_key
from proctor.running import ResponseLog
from proctor.running.log import Key
from proctor.running.same_model import _is_same, _read, _written
from proctor.testing.faults import Fault, Faults
from proctor.testing.server import FaultServer


@pytest.fixture
def run(capsys, tmp_path, monkeypatch, log_place):
    """Run some questions at a server; returns exit code, errors and how many requests the server had."""
    monkeypatch.chdir(tmp_path)

    def at(server: FaultServer, first: int, last: int, *more: str, engine: str = "openai", args: str = ""):
        rows = [json.dumps({"question": f"{number}?", "answer": "yes"}) for number in range(first, last)]
        Path("q.jsonl").write_text("\n".join(rows))
        before = server.statistics()["requests"]
        given = f"model=m,base_url={server.url}{args}"
        code = main(
            (
                *("run", "q.jsonl", "--model", engine, "--model-args", given, "--log", log_place),
                *("--output", f"out{first}-{last}{engine}{len(args)}", *more),
            )
        )
        said = capsys.readouterr().err
        return code, said, server.statistics()["requests"] - before

    return at


def test_the_same_model_at_another_port_under_another_name_is_not_asked_again(run):
    with FaultServer(answer=lambda *_: "yes") as one, FaultServer(answer=lambda *_: "yes") as other:
        assert run(one, 0, 6)[::2] == (0, 6)
        assert run(other, 0, 6)[::2] == (0, 0)
        assert run(other, 0, 6, engine="vllm-server")[::2] == (0, 0)
        assert run(other, 0, 9)[::2] == (0, 3 + 3)  # the new ones, and three probes
        assert run(other, 0, 12)[::2] == (0, 3)


def test_another_model_at_a_new_address_is_refused_and_can_be_told_apart(run):
    with FaultServer(answer=lambda *_: "yes") as one, FaultServer(answer=lambda *_: "no") as other:
        run(one, 0, 6)
        code, said, asked = run(other, 0, 9)
        assert (code, asked) == (3, 3)
        assert f"the server at {other.url} has another model" in said
        assert "to a question that was answered with 'yes', it answers 'no'" in said
        assert "model_id=NAME" in said
        assert run(other, 0, 9, args=",model_id=second")[::2] == (0, 9)
        assert run(other, 0, 9, args=",model_id=m")[::2] == (0, 3)  # whoever knows better is believed


def test_some_equal_answers_are_enough(run):
    def nearly(body, *_):
        return "yes" if "0?" in body["messages"][0]["content"] else "yes, indeed"

    with FaultServer(answer=lambda *_: "yes") as one, FaultServer(answer=nearly) as other:
        run(one, 0, 6)
        assert run(other, 0, 9)[::2] == (0, 3 + 3)


def test_an_address_that_serves_another_model_now_is_refused_with_both(run, monkeypatch):
    says = iter(["org/small", "org/large"])
    monkeypatch.setattr("proctor.engines.http.openai_engine.root_of", lambda *_: next(says))
    with FaultServer(answer=lambda *_: "yes") as server:
        assert run(server, 0, 6)[0] == 0
        code, said, asked = run(server, 0, 9)
    assert (code, asked) == (3, 0)
    assert "'org/small'" in said
    assert "'org/large'" in said


def test_a_server_that_could_not_be_tried_is_tried_the_next_time(run):
    refuses = Faults.always(Fault("status", status=400))
    with FaultServer(answer=lambda *_: "yes") as one, FaultServer(faults=refuses) as other:
        run(one, 0, 6)
        run(other, 0, 9)
        other.behaviour.faults, other.behaviour.answer = Faults.none(), lambda *_: "no"
        code, said, _ = run(other, 0, 9)
    assert code == 3, said
    assert "has another model" in said


def test_a_probe_is_paid_by_the_budget(run):
    with FaultServer(answer=lambda *_: "yes") as one, FaultServer(answer=lambda *_: "yes") as other:
        run(one, 0, 6)
        code, said, asked = run(other, 0, 9, "--budget-tokens", "1")
    assert asked == 0
    assert code != 0, said


@pytest.mark.parametrize("spelled", [{"provider": None}, {"provider": "vllm-server", "n": None}])
def test_answers_of_earlier_logs_are_found(tmp_path, spelled):
    """Their engines have the address in their identity and in their values."""
    request = Generate(Prompt("2?"), Decoding(max_tokens=8))
    engine = make_engine("openai", {"model": "m", "base_url": "http://h:1"})
    values = {"base_url": "http://h:2/v1", "endpoint": "auto", "model": "m", "temperature": None, **spelled}
    with ResponseLog(tmp_path / "log.db") as log:
        old = log.engine_number(content_key("engine", "open_ai_engine", values), "m", values)
        apart = log.engine_number("other", "m", {**values, "temperature": 0.5})
        put_many(log, old, [(Key.of(request.key), Response(texts=("4",)))])
        put_many(log, apart, [(Key.of(request.key, 1), Response(texts=("5",)))])
        number = log.engine_number(engine.identity, "m", engine.identity_values())
        log.also_read(number, engine.is_model_of)
        keys = [Key.of(request.key), Key.of(request.key, 1)]
        assert log.has_many(number, keys) == {keys[0]}
        assert [each.texts for each in log.get_many(number, keys).values()] == [("4",)]


@pytest.mark.parametrize(
    "engine, recorded",
    [("openai", "b8661f9f4c38701918068143cfadf8ed"), ("vllm-server", "7b1988198de24c4e82ba6ef985007caf")],
)
def test_identities_of_earlier_versions_are_known(engine, recorded):
    """As the tree of 2026-11-28 made them, before addresses were left out."""
    made = make_engine(engine, {"model": "m", "base_url": "http://127.0.0.1:8000/v1"})
    assert made.earlier_identities == (recorded,)
    assert make_engine("openai", {"model": "m", "base_url": "https://h"}).earlier_identities == ()


def test_a_run_folder_of_an_earlier_version_goes_on(run):
    with FaultServer(answer=lambda *_: "yes") as server:
        assert run(server, 0, 3)[::2] == (0, 3)
        (folder,) = Path().glob("out*")
        spec = (folder / "run.yaml").read_text()
        engine = make_engine("openai", {"model": "m", "base_url": server.url})
        (folder / "run.yaml").write_text(spec.replace(engine.identity, engine.earlier_identities[0]))
        assert run(server, 0, 3)[::2] == (0, 0)
        (folder / "run.yaml").write_text(spec.replace(engine.identity, "a" * 32))
        code, said, _ = run(server, 0, 3)
    assert code == 2
    assert "holds another run" in said


@pytest.mark.parametrize(
    "request_",
    [
        Generate(Prompt("a"), Decoding(max_tokens=3, stop=("x",))),
        Generate(Prompt(({"role": "user", "content": "a"},))),
        Choose((Pair(Prompt("a"), " b"), Pair(Prompt("a"), " c"))),
        Likelihood(Prompt("a"), " b"),
    ],
)
def test_a_request_that_is_kept_is_the_same_when_it_is_read(request_):
    assert _read(_written(request_)).key == request_.key


@pytest.mark.parametrize(
    "request_", [Generate(Prompt("a"), Decoding(temperature=1.0)), Rolling("a"), Generate(Prompt("a" * 70_000))]
)
def test_what_is_drawn_long_or_of_another_kind_is_not_kept(request_):
    assert _written(request_) is None


@pytest.mark.parametrize(
    "body", [b"[", b"[]", b'["generate", "a", 3]', b'["choose", [1]]', b'["likelihood", [["a"]]]', b"3"]
)
def test_a_damaged_probe_is_none(body):
    assert _read(body) is None


def test_scores_of_other_precision_are_the_same():
    from proctor.ir import Scored

    def scored(*values):
        return Response(scores=tuple(Scored(each) for each in values))

    assert _is_same(scored(-10.0, -0.1), scored(-10.1, -0.11))
    assert not _is_same(scored(-10.0, -0.1), scored(-11.0, -0.1))
    assert not _is_same(scored(), scored())
