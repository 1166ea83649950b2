"""Logs of other systems beside a Proctor run of the same exam: compared, imported, reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.cli.__main__ import main
from proctor.exchange.foreign_runs import write_foreign
from proctor.exchange.observed import Observed, ObservedExam
from proctor.exchange.readers import observed
from proctor.runs.stored_run import load_run

COUNT = 30
ROWS = [{"question": f"Which number comes after {n}?", "answer": f"number {n + 1}"} for n in range(COUNT)]
MINE = [row["answer"] if n != 7 else "no" for n, row in enumerate(ROWS)]
THEIRS = [row["answer"] if n >= 3 else "number 0" for n, row in enumerate(ROWS)]


def prompt(row: dict[str, str]) -> str:
    return f"Q: {row['question']}\nA:"


def lm_eval(folder: Path) -> Path:
    """Samples and results as lm-eval 0.4.13 writes them."""
    folder.mkdir()
    stamp = "2026-11-28T15-47-23.030886"
    lines = [
        {
            "doc_id": n, "doc": row, "target": row["answer"], "filter": "none", "metrics": ["exact_match"],
            "arguments": {"gen_args_0": {"arg_0": prompt(row), "arg_1": {"until": ["\n"], "max_gen_toks": 16}}},
            "resps": [[THEIRS[n]]], "filtered_resps": [THEIRS[n]], "doc_hash": "", "prompt_hash": "", "target_hash": "",
            "exact_match": float(THEIRS[n] == row["answer"]),
        }
        for n, row in enumerate(ROWS)
    ]  # fmt: skip
    (folder / f"samples_after_{stamp}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / f"results_{stamp}.json").write_text(json.dumps({"results": {"after": {"exact_match,none": 0.9}}}))
    return folder


def inspect(folder: Path) -> Path:
    """A log as inspect 0.3 writes it, with the parts that are read: it does not hold the rows."""
    samples = [
        {
            "id": n, "epoch": 1, "input": prompt(row), "target": row["answer"],
            "messages": [{"role": "user", "content": prompt(row)}, {"role": "assistant", "content": THEIRS[n]}],
            "output": {"choices": [{"message": {"role": "assistant", "content": THEIRS[n]}, "stop_reason": "stop"}]},
            "scores": {"match": {"value": "C" if THEIRS[n] == row["answer"] else "I", "answer": THEIRS[n]}},
        }
        for n, row in enumerate(ROWS)
    ]  # fmt: skip
    scores = [{"name": "match", "scorer": "match", "metrics": {"accuracy": {"name": "accuracy", "value": 0.9}}}]
    log = {"version": 2, "status": "success", "eval": {"task": "after", "model": "mockllm/model"}, "samples": samples}
    folder.with_suffix(".json").write_text(json.dumps({**log, "results": {"scores": scores}}))
    return folder.with_suffix(".json")


def unitxt(folder: Path) -> Path:
    """Instances as Unitxt 1.26 returns them: the question as sent stands among the fields of the task, too."""
    lines = [
        {
            "source": prompt(row), "prediction": THEIRS[n], "processed_prediction": THEIRS[n],
            "references": [row["answer"]], "target": row["answer"], "metrics": ["metrics.accuracy"],
            "task_data": json.dumps({**row, "metadata": {"num_demos": 0}, "source": prompt(row)}),
            "score": {
                "instance": {"accuracy": float(THEIRS[n] == row["answer"]), "score_name": "accuracy"},
                "global": {"score": 0.9, "score_name": "accuracy", "accuracy": 0.9},
            },
        }
        for n, row in enumerate(ROWS)
    ]  # fmt: skip
    folder.with_suffix(".json").write_text(json.dumps(lines))
    return folder.with_suffix(".json")


def unitxt_instances(folder: Path) -> Path:
    """What ``list(results.instance_scores)`` holds: the scores of each instance beside its fields."""
    lines = [
        {
            **row, "metadata": {"num_demos": 0}, "source": prompt(row), "metrics": ["metrics.accuracy"],
            "target": row["answer"], "references": [row["answer"]], "groups": [], "subset": [], "prediction": THEIRS[n],
            "processed_prediction": THEIRS[n], "processed_references": [row["answer"]],
            "accuracy": float(THEIRS[n] == row["answer"]), "score_name": "accuracy",
            "score": float(THEIRS[n] == row["answer"]),
        }
        for n, row in enumerate(ROWS)
    ]  # fmt: skip
    folder.with_suffix(".json").write_text(json.dumps(lines))
    return folder.with_suffix(".json")


def aisbench(folder: Path) -> Path:
    """Predictions and results of ``ais_bench --dump-eval-details`` 3.1: details say what was extracted, not whether right."""
    for part in ("predictions", "results"):
        (folder / part / "m").mkdir(parents=True)
    sent = [[{"role": "HUMAN", "prompt": prompt(row)}] for row in ROWS]
    lines = [
        {"data_abbr": "after", "id": n, "success": True, "uuid": f"{n:032}", "origin_prompt": sent[n],
         "prediction": THEIRS[n], "gold": row["answer"]}
        for n, row in enumerate(ROWS)
    ]  # fmt: skip
    details = {
        str(n): {
            "prompt": sent[n],
            "origin_prediction": THEIRS[n],
            "predictions": THEIRS[n],
            "references": row["answer"],
        }
        for n, row in enumerate(ROWS)
    }
    (folder / "predictions" / "m" / "after.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "results" / "m" / "after.json").write_text(json.dumps({"accuracy": 90.0, "details": details}))
    return folder


SYSTEMS = {each.__name__: each for each in (lm_eval, inspect, unitxt, unitxt_instances, aisbench)}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A Proctor run of the exam."""
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    task = {
        "task": "after", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(tmp_path / "rows.jsonl")}},
        "test_split": "test", "output_type": "generate_until", "doc_to_text": "Q: {{question}}\nA:",
        "doc_to_target": "{{answer}}", "generation_kwargs": {"until": ["\n"]}, "metric_list": [{"metric": "exact_match"}],
    }  # fmt: skip
    Path("after.yaml").write_text(json.dumps(task))
    answers = {f"comes after {n}?\nA:": answer for n, answer in enumerate(MINE)}
    Path("run.yaml").write_text(
        json.dumps({"model": "scripted", "tasks": ["after.yaml"], "model_args": {"answers": answers}})
    )
    assert main(["run", "run.yaml", "--log-samples", "-o", "mine", "-q"]) == 0
    return "mine"


def compared(capsys: pytest.CaptureFixture[str], *names: object) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["compare", *map(str, names), "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_log_is_compared_instance_by_instance_and_what_was_not_checked_is_said(system, mine, tmp_path, capsys):
    (found,) = compared(capsys, mine, SYSTEMS[system](tmp_path / "theirs"))
    assert (found["n"], found["alone_first"], found["alone_second"]) == (COUNT, 0, 0)
    assert (found["better"], found["worse"], found["difference"]) == (1, 3, pytest.approx(-2 / COUNT))
    assert found["sentence"].startswith("not decided: 4 flips are too few")
    assert "one of the runs does not say by which definitions" in found["notes"][-1]


def test_the_logs_of_all_systems_stand_beside_each_other(mine, tmp_path, capsys):
    logs = [make(tmp_path / name) for name, make in SYSTEMS.items()]
    found = compared(capsys, *logs, mine)
    assert [(each["n"], each["better"], each["worse"]) for each in found] == [*[(COUNT, 0, 0)] * 4, (COUNT, 3, 1)]
    assert "neither run says by which definitions" in found[0]["notes"][-1]


def test_a_worse_log_fails_as_a_run_does(mine, tmp_path, capsys):
    path = lm_eval(tmp_path / "theirs")
    for file in path.glob("samples_*"):
        file.write_text(file.read_text().replace('"exact_match": 1.0', '"exact_match": 0.0'))
    for file in path.glob("results_*"):
        file.write_text(file.read_text().replace("0.9", "0.0"))
    assert main(["compare", mine, str(path), "--fail-if-worse"]) == 1
    assert "FAILED" in capsys.readouterr().err


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_imported_log_has_its_scores_and_is_read_by_all(system, mine, tmp_path, capsys):
    path = SYSTEMS[system](tmp_path / "theirs")
    assert main(["import", str(path), "-o", "imported"]) == 0
    run = load_run(Path("imported"))
    ((name, entry),) = run.results.items()
    assert (run.problem, entry["score"], entry["n"], entry["unit"]) == ("", pytest.approx(0.9), COUNT, "share")
    (again,) = observed("imported")
    assert again.mean(again.metric) == pytest.approx(0.9)
    assert main(["import", str(path), "-o", "imported"]) == 2
    capsys.readouterr()
    assert main(["report", "--items", "imported", mine]) == 0
    if name == "after":
        assert "30 questions, 2 models" in capsys.readouterr().out


def test_failures_stay_failures_and_scores_without_ends_have_no_unit(tmp_path):
    known = Observed(0, prompt="a", references=("x",), answer=("x",), scores={"f": 3.5})
    lost = Observed(1, prompt="b", references=("y",), failure="the server is away")
    assert write_foreign([ObservedExam("e", "lm-eval", [known, lost], "f")], tmp_path / "run") == ["e"]
    entry = load_run(tmp_path / "run").results["e"]
    assert (entry["score"], entry["unit"], entry["n"], entry["failures"]) == (3.5, "raw", 2, 1)
    lines = [json.loads(line) for line in (tmp_path / "run" / "samples.jsonl").read_text().splitlines()]
    assert lines[1]["failure"]["message"] == "the server is away"


def test_a_file_that_nobody_known_wrote_is_refused(mine, capsys):
    assert main(["compare", mine, "rows.jsonl"]) == 2
    assert "rows.jsonl holds no results that can be read here" in capsys.readouterr().err


def test_a_file_without_scores_of_instances_is_refused(mine, tmp_path, capsys):
    path = lm_eval(tmp_path / "theirs")
    for file in path.glob("samples_*"):
        file.write_text(file.read_text().replace('"metrics": ["exact_match"]', '"metrics": []'))
    assert main(["compare", mine, str(path)]) == 2
    said = capsys.readouterr().err
    assert "the file has no scores of instances" in said
    assert "--dump-eval-details" in said
