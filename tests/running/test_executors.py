"""Workers elsewhere: the same results, whatever happens to a worker."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from running_fakes import ToyEngine, choice

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.errors import MissingExtraError, UsageError
from proctor.ir import Generate, Likelihood, Prompt, Rolling
from proctor.running.executors import RayEngine, _computes_here, _keys_of, _reads_apart, bare, distribute
from proctor.running.ray_limits import OwnWindow

PROGRAM = Path(__file__).parent / "ray_program.py"


def test_the_local_executor_is_the_engine_itself():
    engine = ToyEngine()
    assert distribute(engine) is engine


def test_unknown_executors_and_impossible_numbers_are_refused():
    with pytest.raises(UsageError, match="no executor 'rey'") as caught:
        distribute(ToyEngine(), "rey")
    assert "did you mean 'ray'?" in str(caught.value)
    with pytest.raises(UsageError, match="0 workers"):
        distribute(ToyEngine(), "ray", workers=0)


def test_where_an_engine_runs_does_not_change_whose_answers_they_are():
    engine = ToyEngine()
    elsewhere = distribute(engine, "ray", workers=3)
    assert elsewhere.identity == engine.identity
    assert elsewhere.label == engine.label
    assert elsewhere.can_score


def test_what_is_said_of_workers_needs_workers():
    with pytest.raises(UsageError, match="--gpus-per-worker is for Ray"):
        distribute(ToyEngine(), gpus=1.0)


def test_keys_of_an_engine_travel_and_no_others(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-two")
    assert _keys_of(OpenAIEngine(model="m", base_url="http://h")) == {"OPENAI_API_KEY": "sk-one"}
    assert _keys_of(ToyEngine()) == {}


def test_a_worker_keeps_a_gpu_where_it_has_the_model_itself():
    assert _computes_here(ToyEngine())
    assert not _computes_here(OpenAIEngine(model="m", base_url="http://h"))


def test_what_is_known_of_servers_holds_wherever_they_are_asked_from():
    engine = OpenAIEngine(model="m", base_url="http://a,http://b", model_id="x")
    placed = distribute(engine, "ray")
    assert placed.server_addresses == engine.server_addresses
    assert placed.is_told_apart
    assert placed.at("http://b/v1").server_addresses == ("http://b/v1",)
    assert placed.is_model_of({"base_url": "http://c", "model": "x"})


def test_requests_travel_without_their_explanations():
    explained = Prompt("text", lambda: ())
    requests = [Generate(explained), choice("a", 1), Likelihood(explained, " yes"), Rolling("text")]
    for request in requests:
        assert pickle.loads(pickle.dumps(bare(request))).key == request.key


def test_without_ray_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError) as caught:
        list(RayEngine(engine=ToyEngine()).generate([Generate(Prompt("a"))]))
    assert "pip install 'proctor[ray]'" in str(caught.value)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_two_workers_one_killed(tmp_path):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("{"))  # Ray prints, too, when it likes
    report = json.loads(line)
    assert report["killed"]["same"]
    assert report["killed"]["workers"] == 3
    assert report["killed"]["answered"] == report["alone"]["answered"]
    # A worker that dies costs its requests in flight: at most two chunks of eight.
    assert report["killed"]["asked_again"] <= 16
    assert report["poison"]["failures"] == {"poison": 1, "fine": 0}
    assert report["broken"] == "EngineError: the model is broken"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_a_slow_answer_keeps_nothing_waiting_and_a_killed_worker_loses_its_slots():
    program = PROGRAM.with_name("ray_http_program.py")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=200, check=False)
    assert done.stdout, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("{"))
    report = json.loads(line)
    in_time = 1.1 * report["alone"] + 2.0  # seconds, on a busy machine; it is 8 where slow answers keep others waiting
    assert report["workers"] < in_time
    assert report["actors"] == 2
    assert 120 <= report["asked_for_120"] <= 120 + 18
    assert report["named"] < in_time, "named providers are fed one by one, too"
    assert report["in_a_minute"] == 30, "a limit is kept for all workers, and for all processes of a log"


def test_engines_that_ask_servers_are_fed_one_by_one():
    named = ProviderEngine(model="m", provider="vllm-server", endpoint="completions")
    for kind in ("generate", "score"):
        assert _reads_apart(OpenAIEngine(model="m", base_url="http://h"), kind)
        assert _reads_apart(named, kind)
        assert not _reads_apart(ProviderEngine(model="m", provider="hf-local"), kind)
        assert not _reads_apart(ToyEngine(), kind)


def test_a_window_of_a_run_alone_counts_what_was_sent(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("proctor.running.ray_limits.time.monotonic", lambda: now[0])
    window = OwnWindow()
    assert window.take("requests", 60.0, 0.0, 1.0, 50.0) == (50.0, 0.0)
    assert window.take("tokens", 60.0, 0.0, 1.0, 1.0) == (1.0, 0.0)
    now[0] += 10.0
    assert window.take("requests", 60.0, 5.0, 1.0, 50.0) == (5.0, 0.0)
    assert window.take("requests", 60.0, 0.0, 1.0, 50.0) == (0.0, 50.0)
    now[0] += 50.0
    assert window.take("requests", 60.0, 0.0, 1.0, 60.0) == (50.0, 0.0)


def test_an_engine_whose_provider_nobody_names_yet_is_placed(monkeypatch, tmp_path):
    monkeypatch.delenv("UNITXT_DEFAULT_PROVIDER", raising=False)
    engine = ProviderEngine(model="m")
    assert distribute(engine, log=tmp_path / "log.db") is engine
