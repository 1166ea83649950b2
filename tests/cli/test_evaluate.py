import json
import subprocess
import sys

from proctor.recipes import load_recipe


def evaluate(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "proctor", "evaluate", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_predictions_of_a_file_are_scored(tmp_path):
    rows = list(load_recipe("samples.sentiment")()["test"])
    path = tmp_path / "predictions.jsonl"
    right = [json.dumps(row["target"]) for row in rows[:-1]]
    path.write_text("\n".join([*right, json.dumps({"prediction": "nonsense"})]) + "\n")
    done = evaluate("--dataset", "samples.sentiment", "--predictions", path, "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    assert 0.9 < scores["score"] < 1
    assert scores["score_ci_low"] <= scores["score"] <= scores["score_ci_high"]
    table = evaluate("--dataset", "samples.sentiment", "--predictions", path, "--instances")
    assert "Main Score" in table.stdout
    assert "processed_prediction" in table.stdout


def test_mistakes_are_named_with_their_line(tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.write_text('"a"\n{"b": 1}\n')
    done = evaluate("--dataset", "samples.sentiment", "--predictions", path)
    assert (done.returncode, f"{path}:2:1" in done.stderr) == (2, True)
    path.write_text('"a"\n')
    done = evaluate("--dataset", "samples.sentiment", "--predictions", path)
    assert "has 1 predictions for 96 instances" in done.stderr
    done = evaluate("--dataset", "samples.sentimnt", "--predictions", path)
    assert "did you mean 'samples.sentiment'" in done.stderr
    assert "Traceback" not in done.stderr
