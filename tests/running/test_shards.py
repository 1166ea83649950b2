"""Shards of processes that share nothing, and the logs that are merged afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.cli.__main__ import main
from proctor.errors import UsageError
from proctor.running.shards import Shard
from proctor.testing.server import FaultServer

COUNT = 11


def array(task: int, first: int, last: int, count: int) -> dict[str, str]:
    """Return what SLURM says to a task of an array."""
    said = {"ID": task, "MIN": first, "MAX": last, "COUNT": count}
    return {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in said.items()}


@pytest.mark.parametrize(
    "text, environment, found",
    [
        ("3/16", {}, Shard(3, 16)),
        ("auto", array(3, 1, 4, 4), Shard(3, 4)),
        ("auto/4", array(3, 0, 3, 4), Shard(4, 4)),
        ("auto/9", {"SLURM_ARRAY_TASK_ID": "8"}, Shard(9, 9)),
        ("auto", {"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, Shard(1, 2)),
        ("auto/3", {"JOB_COMPLETION_INDEX": "2"}, Shard(3, 3)),
    ],
)
def test_which_shard_it_is(text, environment, found):
    assert Shard.parsed(text, environment) == found


@pytest.mark.parametrize(
    "text, environment, message",
    [
        ("3", {}, "is not a shard"),
        ("3/", {}, "is not a shard"),
        ("a/b", {}, "is not a shard"),
        ("0/4", {}, "no shard 0 of 4"),
        ("5/4", {}, "no shard 5 of 4"),
        ("auto", {}, "no variable says"),
        ("auto", {"SLURM_ARRAY_TASK_ID": "2"}, "no variable says"),
        ("auto", array(3, 3, 3, 1), "a part of an array"),
        ("auto", array(7, 1, 7, 2), "a part of an array"),
        ("auto/16", array(1, 1, 7, 2), "a part of an array"),
        ("auto", array(4, 0, 6, 4), "a part of an array"),
        ("auto", {"JOB_COMPLETION_INDEX": "2"}, "no variable says"),
        ("auto/2", {"JOB_COMPLETION_INDEX": "2"}, "no shard 3 of 2"),
        ("auto/2", {"JOB_COMPLETION_INDEX": "x"}, "no variable says"),
    ],
)
def test_what_is_no_shard(text, environment, message):
    with pytest.raises(UsageError, match=message):
        Shard.parsed(text, environment)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a table of questions at a server, with a log of its own; returns the exit code and what was said."""
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text("".join(json.dumps({"question": f"{n}?", "answer": "yes"}) + "\n" for n in range(COUNT)))

    def call(server, log, *more):
        words = ["--model", "openai", "--model-args", f"model=m,base_url={server.url}", "--log", log]
        code = main(["run", "q.jsonl", *words, *more])
        return code, capsys.readouterr().err

    return call


def test_shards_ask_every_question_once_and_merge_into_the_results_of_one_run(run, capsys):
    with FaultServer(answer=lambda *_: "yes") as server:
        for number in (1, 2, 3):
            code, said = run(server, f"{number}.db", "--shard", f"{number}/3")
            assert code == 0, said
            assert f"shard {number}/3: {4 if number < 3 else 3} answers" in said
        assert server.statistics()["requests"] == COUNT
        assert main(["log", "merge", "1.db", "2.db", "3.db", "--log", "all.db"]) == 0
        assert capsys.readouterr().err.count("are new, 0 were there") == 3
        assert run(server, "all.db", "--output", "merged")[0] == 0
        assert server.statistics()["requests"] == COUNT
        assert run(server, "one.db", "--output", "whole")[0] == 0
    one, other = (json.loads((Path(name) / "results.json").read_text())["results"] for name in ("merged", "whole"))
    assert one == other


def test_what_differs_in_two_logs_is_told_and_the_first_stays(run, capsys):
    with FaultServer(answer=lambda *_: "yes") as server, FaultServer(answer=lambda *_: "no") as other:
        run(server, "1.db")
        run(other, "2.db")
        assert main(["log", "merge", "2.db", "--log", "1.db"]) == 1
        assert f"{COUNT} there with other words" in capsys.readouterr().err
        assert main(["log", "merge", "2.db", "--log", "2.db"]) == 2
        run(server, "1.db", "--output", "out", "--model-args", f"model=m,base_url={server.url},model_id=m")
    assert json.loads(Path("out/results.json").read_text())["results"]["q"]["score"] == 1.0


@pytest.mark.parametrize(
    "more",
    [
        ["--fail-under", "q=0.5"],
        ["--output", "x"],
        ["--precision", "0.1"],
        ["--tag", "x"],
        ["--json"],
        ["--every-score"],
        ["--write-out"],
        ["--executor", "ray"],
        ["--output-format", "lm-eval"],
    ],
)
def test_what_a_shard_cannot_do_is_refused(run, more):
    with FaultServer() as server:
        code, said = run(server, "1.db", "--shard", "1/2", *more)
        assert server.statistics()["requests"] == 0
    assert code == 2
    assert "would have no effect" in said


def test_a_shard_of_several_models_is_refused(run):
    with FaultServer() as server:
        code, said = run(server, "1.db", "--shard", "1/2", "--models", "dummy", "scripted")
        assert server.statistics()["requests"] == 0
    assert code == 2
    assert "--shard is for one model" in said
