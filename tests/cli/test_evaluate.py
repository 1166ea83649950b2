import json

from tests_commands import proctor

from proctor.recipes import load_recipe
from proctor.running.log import ResponseLog


def evaluate(*arguments):
    return proctor("evaluate", *arguments)


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


def test_no_file_is_named_that_nobody_wrote(tmp_path):
    path = tmp_path / "answered.csv"
    path.write_text("question,answer,prediction\nq,a,a\n")
    done = evaluate(path, "--metric", "judge", "--judge", "scripted")
    assert "to ask again what failed: the same command" in done.stderr
    assert "samples.jsonl" not in done.stderr


def test_what_failed_is_said_and_counted(tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.write_text('"positive"\nnull\n5\n')
    three = ("--dataset", "samples.sentiment[max_test_instances=3]", "--predictions", path)
    done = evaluate(*three)
    assert done.returncode == 1
    assert "1 of 3 instances failed (no_prediction); the first is 1: there is no prediction (None)" in done.stderr
    assert "1 of 3 instances failed (wrong_type); the first is 2:" in done.stderr
    assert "Num Instances: 1 (2 failed)" in done.stdout
    assert evaluate(*three, "--allow-failures").returncode == 0


def test_a_metric_that_cannot_be_computed_is_said(tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.write_text('"positive"\n')
    recipe = "samples.sentiment[max_test_instances=1,metrics=[metrics.reward.deberta_v3_large_v2]]"
    done = evaluate("--dataset", recipe, "--predictions", path)
    assert done.returncode in (1, 3)  # 3: transformers is not installed
    assert (
        "metrics.reward.deberta_v3_large_v2 failed: OSError: the model" in done.stderr or "pip install" in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_a_mistyped_metric_is_found_before_a_model_is_asked(tmp_path):
    asked = ("--model", "scripted", "--model-args", "answer=positive", "--log", tmp_path / "log.db")
    exam = "samples.sentiment[metrics=[metrics.acuracy]]"
    done = proctor("run", *asked, "--tasks", exam, "--output", tmp_path / "run")
    assert done.returncode == 2
    assert "did you mean 'metrics.accuracy'" in done.stderr
    with ResponseLog(tmp_path / "log.db") as log:
        assert log.stats().responses == 0


def test_what_a_recipe_reads_elsewhere_is_allowed_once(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    folder, other = tmp_path / "exam", tmp_path / "other"
    folder.mkdir(), other.mkdir()
    (other / "rows.csv").write_text("question,answer\nWhy?,so\n")
    task = {"__type__": "task", "input_fields": {"question": "str"}, "reference_fields": {"answer": "str"}}
    card = {
        "__type__": "task_card",
        "loader": {"__type__": "load_csv", "files": {"test": str(other / "rows.csv")}},
        "task": {**task, "prediction_type": "str", "metrics": ["metrics.accuracy"]},
    }
    template = {"__type__": "input_output_template", "input_format": "{question}", "output_format": "{answer}"}
    recipe = folder / "recipe.json"
    recipe.write_text(json.dumps({"__type__": "dataset_recipe", "card": card, "template": template}))
    path = tmp_path / "predictions.jsonl"
    path.write_text('"so"\n')
    monkeypatch.chdir(folder)
    call = ("--dataset", recipe, "--predictions", path, "--no-intervals")
    refused = evaluate(*call)
    assert refused.returncode == 2, refused.stderr
    assert f"--allow read:{other / 'rows.csv'}" in refused.stderr
    allowed = evaluate(*call, "--allow", f"read:{other}", "--json")
    assert json.loads(allowed.stdout)["score"] == 1.0, allowed.stderr
    assert evaluate(*call).returncode == 0  # it is remembered


def predictions_of(tmp_path, *lines):
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return ("--dataset", f"samples.sentiment[max_test_instances={len(lines)}]", "--predictions", path)


def test_thoughts_are_not_graded(tmp_path):
    rows = list(load_recipe("samples.sentiment")()["test"])[:4]
    other = {"positive": "negative", "negative": "positive"}
    thought = [f"<think>{other[row['target'].strip()]}?</think>\n{row['target']}" for row in rows]
    given = predictions_of(tmp_path, *thought)
    assert json.loads(evaluate(*given, "--json").stdout)["accuracy"] == 1
    raw = evaluate(*given, "--json", "--answers", "raw")
    assert json.loads(raw.stdout)["accuracy"] == 0


def test_what_a_line_says_about_its_prediction_counts(tmp_path):
    rows = list(load_recipe("samples.sentiment")()["test"])[:5]
    cut = {"prediction": rows[0]["target"], "finish_reason": "length", "thinking": "hm"}
    filtered = {"prediction": "I cannot", "finish_reason": "content_filter"}
    lost = {"prediction": "<think>hm", "finish_reason": "length"}
    slow = {"prediction": None, "failure": {"kind": "timeout", "message": "slow"}}
    given = predictions_of(tmp_path, cut, filtered, lost, slow, rows[4]["target"])
    done = evaluate(*given)
    assert done.returncode == 1
    for kind, first in {"content_filter": 1, "thinking": 2, "timeout": 3}.items():
        assert f"1 of 5 instances failed ({kind}); the first is {first}:" in done.stderr
    assert "note: 1 of 2 answers were cut off" in done.stderr
    assert "note: 1 of 3 answers never came" in done.stderr
    assert "Num Instances: 2 (3 failed)" in done.stdout
    strict = evaluate(*given, "--truncated", "fail")
    assert "1 of 5 instances failed (truncated); the first is 0:" in strict.stderr


def test_lines_of_aisbench_are_put_in_the_order_of_their_rows(tmp_path):
    """They stand in the order of arrival."""
    rows = list(load_recipe("samples.sentiment")()["test"])[:3]
    said = [
        {"data_abbr": "d", "id": place, "success": True, "uuid": "u", "prediction": row["target"]}
        for place, row in enumerate(rows)
    ]
    arrived = [said[2], said[0], said[1]]
    assert len({row["target"] for row in rows}) > 1
    assert json.loads(evaluate(*predictions_of(tmp_path, *arrived), "--json").stdout)["accuracy"] == 1
    failed = {**said[0], "success": False, "prediction": "", "error_info": "time-out"}
    done = evaluate(*predictions_of(tmp_path, said[2], failed, said[1]))
    assert "1 of 3 instances failed (engine); the first is 0: time-out" in done.stderr
    twice = evaluate(*predictions_of(tmp_path, said[1], said[0], said[1]))
    assert twice.returncode == 2
    assert "row 1 has several answers" in twice.stderr
    missing = evaluate(*predictions_of(tmp_path, said[2], said[0]))
    assert "row 1 has no answer" in missing.stderr


def test_answers_in_the_table_itself_are_scored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    right = ["question,answer,prediction,model", "France?,Paris,It is Paris,Rome", "Japan?,Tokyo,,Tokyo"]
    (tmp_path / "own.csv").write_text("\n".join(right) + "\n")
    done = evaluate("own.csv", "--metric", "includes", "exact", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["own"]
    assert (found["includes"], found["exact_match"], found["n"], found["failures"]) == (0.5, 0.0, 2, 0)
    other = evaluate("own.csv", "--prediction-column", "model", "--json")
    assert json.loads(other.stdout)["own"]["exact_match"] == 0.5
    absent = evaluate("own.csv", "--prediction-column", "modle")
    assert "own.csv has no column 'modle'" in absent.stderr
    assert "its columns are question, answer, prediction, model" in absent.stderr


def test_answers_stand_in_lines_of_text_or_in_another_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\nFrance?,Paris\nJapan?,Tokyo\n")
    (tmp_path / "said.txt").write_bytes(b"Paris\r\nIn Tokyo\r\n")
    (tmp_path / "said.csv").write_text("whatever\nRome\nTokyo\n")
    (tmp_path / "said.jsonl").write_text('{"model": "Paris"}\n{"model": "Tokyo"}\n')
    for file, more, score in (
        ("said.txt", (), 0.5),
        ("said.csv", (), 0.5),
        ("said.jsonl", ("--prediction-column", "model"), 1.0),
    ):
        done = evaluate("q.csv", "--predictions", file, *more, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["q"]["exact_match"] == score
    (tmp_path / "said.txt").write_text("Paris\n")
    assert evaluate("q.csv", "--predictions", "said.txt").returncode == 2


def test_one_exam_and_its_predictions_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no exam to score for" in evaluate().stderr
    assert "'a.csv' and 'b.csv' are two exams" in evaluate("a.csv", "--tasks", "b.csv").stderr
    nothing = evaluate("samples.sentiment")
    assert "there are no predictions for 'samples.sentiment'" in nothing.stderr
    assert "--predictions" in nothing.stderr


def test_a_cell_with_a_number_or_nothing_is_not_an_empty_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"{n}-{n}?", "answer": "0", "prediction": said} for n, said in enumerate((0, "0", None, ""))]
    (tmp_path / "own.json").write_text(json.dumps(rows))
    done = evaluate("own.json", "--json")
    found = json.loads(done.stdout)["own"]
    assert (done.returncode, found["failures"], found["empty"]) == (1, 1, 1)
    assert found["exact_match"] == 2 / 3
    assert json.loads(evaluate("own.json[answer_column=answer]", "--json").stdout)["own"]["exact_match"] == 2 / 3


def test_a_column_that_cannot_be_had_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\nFrance?,Paris\n")
    (tmp_path / "said.txt").write_text("Paris\n")
    (tmp_path / "said.jsonl").write_text('"Paris"\n')
    (tmp_path / "said.csv").write_text("whatever\nParis\n")
    (tmp_path / "task.yaml").write_text("task: a\n")
    for file, said in (("txt", "no column 'x'"), ("jsonl", "has no 'x'"), ("csv", "no column 'x'")):
        done = evaluate("q.csv", "--predictions", f"said.{file}", "--prediction-column", "x")
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "there are no predictions for 'task.yaml'" in evaluate("task.yaml").stderr


def test_answers_to_multiple_choice_are_letters_or_texts_of_choices(invoke, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mc.csv").write_text("question,A,B,answer\n1+1?,one,two,B\n2+2?,four,five,A\n3+3?,six,ten,A\n")
    (tmp_path / "said.txt").write_text("B\nfour\nThe answer is B.\n")
    code, out, err = invoke("evaluate", "mc.csv", "--predictions", "said.txt", "--json")
    assert code == 0, err
    (found,) = json.loads(out).values()
    assert round(found["score"] * 3) == 2
    assert found["variant"] in caplog.text
