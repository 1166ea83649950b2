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

from proctor.errors import MissingExtraError, UsageError
from proctor.ir import Generate, Likelihood, Prompt, Rolling
from proctor.running.executors import RayEngine, bare, distribute

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
