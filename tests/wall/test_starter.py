"""Commands that run models work behind the wall: what they need is started outside, and what they write is written."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from proctor.wall import what_can_stand

pytestmark = pytest.mark.skipif(not what_can_stand().files, reason="this kernel has no landlock")

SCRIPTED = ("--model", "scripted", "--model-args")
WALL = "the kernel holds files, ports, programs; a watch over Python"
CONFIG = """
from opencompass.datasets import HumanevalDataset, HumanEvalEvaluator
datasets = [dict(abbr='he', type=HumanevalDataset, path='he.jsonl',
  reader_cfg=dict(input_columns=['prompt'], output_column='task_id', train_split='test'),
  infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{prompt}'),
    retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
  eval_cfg=dict(evaluator=dict(type=HumanEvalEvaluator)))]
"""
ROW = {
    "task_id": "HumanEval/0",
    "prompt": "def f(x):\n    '''double'''\n",
    "entry_point": "f",
    "test": "def check(c):\n    assert c(2) == 4\n",
}


@pytest.fixture
def proctor(tmp_path, monkeypatch):
    """Run the program in a folder of its own, with a place for what is temporary."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "work").mkdir()

    def run(*words, **how):
        command = [sys.executable, "-m", "proctor", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path / "work", **how)

    return run


def test_programs_of_models_run_in_a_prison_and_the_run_names_the_wall(proctor, tmp_path):
    (tmp_path / "work" / "he.py").write_text(CONFIG)
    (tmp_path / "work" / "he.jsonl").write_text(json.dumps(ROW) + "\n")
    done = proctor("run", "he.py", *SCRIPTED, "answer=def f(x): return 2*x", "--output", "out")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "work" / "out" / "results.json").read_text())
    assert found["results"]["he"]["humaneval_pass@1"] == 100.0
    assert found["run"]["wall"] == WALL
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_search_that_does_not_end_is_ended_behind_the_wall(proctor, tmp_path):
    task = "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: r.jsonl}}\ntest_split: test\n"
    task += "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{q}}'\nmetric_list: [{metric: exact_match}]\n"
    task += "filter_list: [{name: f, filter: [{function: regex, regex_pattern: '(a|aa)+$'}, {function: take_first}]}]\n"
    (tmp_path / "work" / "t.yaml").write_text(task)
    (tmp_path / "work" / "r.jsonl").write_text('{"q": "x"}\n')
    done = proctor("run", "t.yaml", *SCRIPTED, f"answer={'a' * 60}c")
    assert "does not end on a text of 61 characters" in done.stderr


def test_a_folder_that_was_made_for_a_run_which_is_refused_is_gone(proctor, tmp_path):
    assert proctor("run", "nothing_like_it", *SCRIPTED, "answer=B", "--output", "a/b").returncode == 2
    assert list((tmp_path / "work").iterdir()) == list((tmp_path / "tmp").iterdir()) == []


def test_what_is_temporary_goes_with_a_process_that_is_killed(proctor, tmp_path):
    command = [sys.executable, "-m", "proctor", "view", "--port", "0", "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, cwd=tmp_path / "work", text=True) as process:
        process.stderr.readline()
        assert list((tmp_path / "tmp").glob("proctor-*"))
        os.kill(process.pid, signal.SIGKILL)
    end = time.monotonic() + 10
    while list((tmp_path / "tmp").glob("proctor-*")) and time.monotonic() < end:
        time.sleep(0.05)
    assert not list((tmp_path / "tmp").glob("proctor-*"))


def test_permissions_that_somebody_else_wrote_are_told_and_nothing_is_used(proctor, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    place = tmp_path / "data" / "proctor" / "kept" / "allowed.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({"x": {"exam": "x", "allowed": ["read:/"]}, "seal": "0" * 64}))
    done = proctor("show", "samples.science")
    assert done.returncode == 3
    assert "somebody else wrote it" in done.stderr
