"""Runs in the formats of others: what is in them, what is left out, and that they come back as they were."""

import json
import math
import re
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from conformance.own.options.exams import Model, made_up_rows, write_configs, write_task

from proctor.cli.__main__ import main
from proctor.dialects.resolve import resolve_tasks
from proctor.exchange.readers import observed
from proctor.exchange.why import explain
from proctor.recipes.options import ExamOptions
from proctor.results.summary import score_rows
from proctor.running.run import run_exams
from proctor.runs.stored_run import load_run
from proctor.settings import settings

ARGS = 'answer=positive,log_likelihoods={"A":-1.0,"B":-2.0,"C":-3.0,"D":-4.0}'
EXAMS = ("samples.sentiment", "samples.science")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    words = ["run", "--tasks", ",".join(EXAMS), "--model", "scripted", "--model-args", ARGS, "--limit", "6"]
    assert main([*words, "--output", str(folder), "--log", str(folder.parent / "log.db")]) == 0
    return folder


def export(run, to, folder, *more):
    code = main(["export", str(run), "--to", to, "-o", str(folder), *more])
    return code, sorted(path for path in folder.rglob("*") if path.is_file())


# -- Every Eval Ever --------------------------------------------------------------------------------------------------


def records(run, folder):
    code, files = export(run, "eee", folder, "--model-id", "org/scripted")
    assert code == 0
    return [path for path in files if not path.name.endswith("_samples.jsonl")]


def test_a_record_for_each_exam_with_its_instances(run, tmp_path):
    found = records(run, tmp_path)
    assert [path.relative_to(tmp_path).parts[:4] for path in found] == [
        ("data", name, "org", "scripted") for name in sorted(EXAMS)
    ]
    record = json.loads(found[0].read_text())
    (result,) = record["evaluation_results"]
    assert (record["schema_version"], result["evaluation_name"]) == ("0.3.0", "samples.science")
    interval = result["score_details"]["uncertainty"]["confidence_interval"]
    assert interval["lower"] < result["score_details"]["score"] < interval["upper"]
    assert (result["metric_config"]["min_score"], result["metric_config"]["max_score"]) == (0.0, 1.0)
    samples = (tmp_path / record["detailed_evaluation_results"]["file_path"]).read_text().splitlines()
    assert len(samples) == record["detailed_evaluation_results"]["total_rows"] == 6
    assert json.loads(samples[0])["evaluation"]["score"] in (0.0, 1.0)


def test_the_same_run_gives_the_same_bytes(run, tmp_path):
    one, two = records(run, tmp_path / "a"), records(run, tmp_path / "b")
    assert [path.name for path in one] == [path.name for path in two]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def scores(results, name):
    rows = score_rows({name: results[name]}, every_score=True)
    return [
        (each.metric, each.value, each.low, each.high, each.unit, each.asked, each.scored, each.is_main)
        for each in rows
    ]


def test_what_is_exported_and_imported_again_is_equal(run, tmp_path):
    before = load_run(run)
    for path in records(run, tmp_path / "records"):
        name = json.loads(path.read_text())["evaluation_results"][0]["evaluation_name"]
        folder = tmp_path / name
        assert main(["import", str(path), "-o", str(folder)]) == 0
        after = load_run(folder)
        assert not after.problem
        assert scores(before.results, name) == scores(after.results, name)
        (first,), (second,) = observed(f"{run}::{name}"), observed(str(folder))
        assert explain(first, second).layer is None
        again = records(folder, tmp_path / f"again_{name}")
        results = [json.loads(each.read_text())["evaluation_results"] for each in (path, *again)]
        assert results[0] == results[1]
    assert main(["import", str(path), "-o", str(folder)]) == 2


def test_a_model_needs_its_organization(run, tmp_path, capsys):
    assert export(run, "eee", tmp_path) == (2, [])
    assert "--model-id ORG/NAME" in capsys.readouterr().err


def test_the_official_models_take_it(run, tmp_path):
    eee = pytest.importorskip("every_eval_ever.eval_types")
    for path in records(run, tmp_path):
        eee.EvaluationLog.model_validate_json(path.read_text())


# -- lm-eval, inspect -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["lm-eval", "inspect"])
@pytest.mark.parametrize("exam", EXAMS)
def test_the_file_says_what_the_run_says(to, exam, run, tmp_path):
    code, _ = export(run, to, tmp_path)
    assert code == 0
    (first,), (second,) = observed(f"{run}::{exam}"), observed(f"{tmp_path}::{exam}")
    found = explain(first, second)
    assert (found.layer, found.alone, found.pairs) == (None, (0, 0), 6)
    assert found.means[0] == pytest.approx(found.means[1])


def test_results_of_lm_eval_have_names_and_errors(run, tmp_path):
    export(run, "lm-eval", tmp_path)
    (file,) = tmp_path.rglob("results_*.json")
    document = json.loads(file.read_text())
    entry = document["results"]["samples.sentiment"]
    assert entry["f1_macro,none"] == load_run(run).results["samples.sentiment"]["f1_macro"]
    assert document["n-samples"]["samples.sentiment"] == {"original": 6, "effective": 6}
    assert document["higher_is_better"]["samples.sentiment"]["f1_macro"] is True


def test_logs_of_inspect_say_how_often_and_of_which_rows_each_exam_was_asked(run, tmp_path):
    export(run, "inspect", tmp_path)
    logs = [json.loads(each.read_text()) for each in sorted(tmp_path.rglob("*.json"))]
    assert {each["eval"]["config"]["epochs"] for each in logs} == {1}
    for each in logs:
        assert len(each["samples"]) == each["eval"]["dataset"]["samples"] == each["results"]["total_samples"] == 6
        assert [one["epoch"] for one in each["samples"]] == [1] * 6
        assert [one["id"] for one in each["samples"]] == each["eval"]["dataset"]["sample_ids"]


# -- .eval_results ------------------------------------------------------------------------------------------------------


def test_scores_for_the_models_repository(run, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("results.json", "samples.jsonl"):
        (folder / name).write_bytes((run / name).read_bytes())
    spec = yaml.safe_load((run / "run.yaml").read_text())
    spec["exams"]["samples.science"] = {"task": {"dataset_path": "org/science", "dataset_name": "easy"}}
    (folder / "run.yaml").write_text(yaml.safe_dump(spec))
    code, files = export(folder, "eval-results", tmp_path / "model", "--source-url", "https://example.org/run")
    assert code == 0
    assert [path.relative_to(tmp_path / "model").as_posix() for path in files] == [".eval_results/org__science.yaml"]
    (entry,) = yaml.safe_load(files[0].read_text())
    assert entry["dataset"] == {"id": "org/science", "task_id": "easy"}
    assert entry["value"] == load_run(run).results["samples.science"]["score"]
    assert entry["source"]["url"] == "https://example.org/run"
    assert "95% interval" in entry["notes"]


ENTRY_KEYS = {"dataset": dict, "value": (int, float), "date": str, "source": dict, "notes": str, "verifyToken": str}


def check_entries(text):
    """Check entries by the format's documents: keys, types, an id of the hub, a date; and the hub's own library."""
    from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries

    entries = yaml.safe_load(text)
    assert isinstance(entries, list)
    for entry in entries:
        assert all(isinstance(value, ENTRY_KEYS[key]) for key, value in entry.items())
        assert set(entry["dataset"]) <= {"id", "task_id", "revision"}
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", entry["dataset"]["id"])
        assert isinstance(entry["dataset"]["task_id"], str)
        assert math.isfinite(entry["value"])
        datetime.fromisoformat(entry["date"])
        assert set(entry.get("source", {"url": ""})) <= {"url", "name", "user", "org"}
    assert eval_result_entries_to_yaml(parse_eval_result_entries(entries)) == entries
    return entries


@pytest.mark.parametrize("source", [(), ("--source-url", "https://example.org/run")])
@pytest.mark.parametrize(
    "about",
    [
        {"dialect": "lm_eval", "task": {"dataset_path": "org/science", "dataset_name": "easy"}},
        {
            "recipe": {
                "card": {"loader": {"__type__": "load_hf", "path": "org/science", "name": "easy", "revision": "abc"}}
            }
        },
        {"dialect": "hub_yaml", "task": {"id": "easy", "dataset": "org/science", "solvers": [], "revision": "abc"}},
    ],
)
def test_entries_of_every_dialect_pass_the_hubs_own_reader_and_come_back(run, tmp_path, about, source):
    folder = copy_with(run, tmp_path, {"samples.science": about, "samples.sentiment": about})
    code, (file,) = export(folder, "eval-results", tmp_path / "model", *source)
    assert code == 0
    science, sentiment = sorted(check_entries(file.read_text()), key=lambda entry: "accuracy" not in entry["notes"])
    assert (science["dataset"]["id"], science["dataset"]["task_id"]) == ("org/science", "easy")
    assert science["value"] == load_run(run).results["samples.science"]["score"]
    assert sentiment["value"] == load_run(run).results["samples.sentiment"]["score"]
    assert ("source" in science) is bool(source)


@pytest.mark.parametrize(
    "about",
    [
        {"dialect": "aisbench", "dataset": {"path": "opencompass/science", "type": "ARCDataset"}},
        {"task": {"dataset_path": "made/here"}},
        {"task": {"dataset_path": "json"}},
    ],
)
def test_paths_that_are_no_ids_of_the_hub_are_not_taken_for_some(run, tmp_path, about, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made" / "here").mkdir(parents=True)
    folder = copy_with(run, tmp_path, {"samples.science": about})
    assert export(folder, "eval-results", tmp_path / "model")[0] == 2


def copy_with(run, target, exams):
    folder = target / "run"
    folder.mkdir()
    for name in ("results.json", "samples.jsonl"):
        (folder / name).write_bytes((run / name).read_bytes())
    spec = yaml.safe_load((run / "run.yaml").read_text())
    spec["exams"] = {**spec["exams"], **exams}
    (folder / "run.yaml").write_text(yaml.safe_dump(spec))
    return folder


def test_an_exam_without_a_dataset_is_named(run, tmp_path, capsys):
    assert export(run, "eval-results", tmp_path) == (2, [])
    assert "samples.science: it does not say which dataset of the hub" in capsys.readouterr().err


def test_an_option_of_another_form_is_refused(run, tmp_path, capsys):
    assert export(run, "inspect", tmp_path, "--model-id", "a/b") == (2, [])
    assert "an option of eee has no effect on inspect" in capsys.readouterr().err


# -- units, and archives of inspect -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def percent(tmp_path_factory):
    folder = tmp_path_factory.mktemp("percent")
    (folder / "rows.jsonl").write_text("".join(json.dumps({"q": n, "a": n % 2}) + "\n" for n in range(4)))
    (folder / "quiz.py").write_text(CONFIG)
    words = ["run", "--tasks", str(folder / "quiz.py"), "--model", "scripted", "--model-args", "answer=1"]
    assert main([*words, "--output", str(folder / "run"), "--log", str(folder / "log.db")]) == 0
    return folder / "run"


CONFIG = """
import os
datasets = [dict(
    abbr='quiz', type='JsonlDataset', path='rows.jsonl',
    reader_cfg=dict(input_columns=['q'], output_column='a'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}?'),
                   retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
""".replace("import os\n", "")


@pytest.mark.parametrize("to", ["lm-eval", "inspect", "eee"])
def test_percents_are_told_from_shares(to, percent, tmp_path):
    assert load_run(percent).results["quiz"]["unit"] == "percent"
    assert export(percent, to, tmp_path, *(["--model-id", "a/b"] if to == "eee" else []))[0] == 0
    (first,), (second,) = observed(str(percent)), observed(str(tmp_path))
    found = explain(first, second)
    assert (found.layer, found.means) == (None, (0.5, 0.5))
    assert second.score == pytest.approx(0.5)


def test_an_archive_that_inspect_wrote_is_read():
    """Written by inspect 0.3.285 (``write_eval_log``) from an exported log; its members are packed with zstd."""
    (exam,) = observed(str(Path(__file__).parent / "data" / "exam.eval"))
    assert (exam.name, exam.system, len(exam.instances)) == ("exam", "inspect", 24)
    assert exam.instances[0].prompt == "a good day 0"
    assert exam.mean("accuracy") == exam.score


# -- scores that are not one share of each instance ---------------------------------------------------------------------


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Return a function that runs a file of an exam with a scripted model, into a folder of a name."""
    monkeypatch.chdir(tmp_path)

    def run(path, **options):
        (exam,) = resolve_tasks([str(path)], ExamOptions(**options))
        model = Model(made_up_rows(20), fails=True)
        (entry,) = run_exams([exam], model.engine(), log=f"{len(options)}.db", output="run").results.values()
        return entry

    return run


def samples_of_lm_eval(folder):
    assert export("run", "lm-eval", folder)[0] == 0
    (file,) = folder.rglob("samples_*.jsonl")
    (results,) = folder.rglob("results_*.json")
    return json.loads(results.read_text()), [json.loads(line) for line in file.read_text().splitlines()]


def test_of_one_instance_no_standard_error_is_known(ran, tmp_path):
    assert ran(write_task(tmp_path, made_up_rows(20)), limit=1)["exact_match_stderr"] == "N/A"
    assert samples_of_lm_eval(tmp_path / "x")[0]["results"]["exam"]["exact_match_stderr,none"] == "N/A"


def test_each_filter_has_samples_of_its_own(ran, tmp_path, capsys):
    filters = [{"name": name, "filter": [{"function": "take_first"}]} for name in ("plain", "letter")]
    filters[1]["filter"].insert(0, {"function": "regex", "regex_pattern": "([a-z])"})
    entry = ran(write_task(tmp_path, made_up_rows(20), filter_list=filters))
    _, samples = samples_of_lm_eval(tmp_path / "x")
    for name, is_read in (("plain", True), ("letter", False)):
        own = [each for each in samples if each["filter"] == name]
        assert sum(each["exact_match"] for each in own) / len(own) == pytest.approx(entry[f"exact_match,{name}"])
        assert all(bool(each["filtered_resps"]) is is_read for each in own)
    assert entry["exact_match,plain"] > entry["exact_match,letter"] == 0.0
    assert "what filters but that of the main score read" in capsys.readouterr().err


def test_a_score_of_some_instances_says_of_how_many(ran, tmp_path):
    code = "return {'ok': True, **({} if doc['topic'] == 'a' else {'rare': 1.0})}"
    (tmp_path / "code.py").write_text(f"def judged(doc, results):\n    {code}\n")
    metrics = [{"metric": "ok", "aggregation": "mean", "higher_is_better": True}]
    metrics += [{"metric": "rare", "aggregation": "mean", "higher_is_better": False}]
    path = write_task(tmp_path, made_up_rows(20), metric_list=metrics, process_results="!function code.judged")
    path.write_text(path.read_text().replace('"!function code.judged"', "!function code.judged"))
    with settings.context(trust_code=True):
        entry = ran(path)
    ok, rare = score_rows({"exam": entry}, every_score=True)
    assert (ok.scored, rare.scored) == (entry["ok_n"], entry["rare_n"])
    assert rare.scored < ok.scored
    results, _ = samples_of_lm_eval(tmp_path / "x")
    assert results["higher_is_better"] == {"exam": {"ok": True}}  # of the other one a run folder says nothing
    assert results["n-samples"]["exam"]["effective"] == ok.scored


@pytest.mark.parametrize("evaluator", ["AccEvaluator", "AccwithDetailsEvaluator", "EMEvaluator"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_instances_of_exams_in_percent_are_shares(ran, tmp_path, evaluator, repeats):
    path = write_configs(tmp_path, {"exam": made_up_rows(20)})
    path.write_text(path.read_text().replace("AccEvaluator", evaluator))
    entry = ran(path, repeats=repeats)
    _, samples = samples_of_lm_eval(tmp_path / "lm")
    assert export("run", "inspect", tmp_path / "inspect")[0] == 0
    (file,) = (tmp_path / "inspect").rglob("*.json")
    logged = [each["scores"] for each in json.loads(file.read_text())["samples"]]
    name = entry["score_name"].partition(" (")[0]
    assert {sample[name] for sample in samples} <= {0.0, 1.0}
    assert any(name in each for each in logged)
    assert {each[name]["value"] for each in logged if name in each} <= {0.0, 1.0}
    assert export("run", "eee", tmp_path / "eee", "--model-id", "org/model")[0] == 0
    (lines,) = (tmp_path / "eee").rglob("*_samples.jsonl")
    assert {json.loads(line)["evaluation"]["score"] for line in lines.read_text().splitlines()} <= {0.0, 100.0}


def test_lm_evals_own_metrics_of_a_hundred_stay_so(ran, tmp_path):
    pytest.importorskip("sacrebleu")
    metrics = [{"metric": "exact_match"}, {"metric": "ter"}]
    entry = ran(write_task(tmp_path, made_up_rows(20), metric_list=metrics))
    results, _ = samples_of_lm_eval(tmp_path / "x")
    assert results["results"]["exam"]["ter,none"] == pytest.approx(entry["ter"])
    assert entry["ter"] > 1


def test_the_files_of_a_run_and_of_an_export_say_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_configs(tmp_path, {"exam": made_up_rows(20)})
    words = ["run", "--tasks", str(path), "--model", "scripted", "--model-args", "answer=yes", "--log", "log.db"]
    assert main([*words, "--output", "run", "--output-format", "lm-eval"]) == 0
    (written,) = (tmp_path / "run").rglob("results_*.json")
    (samples,) = (tmp_path / "run").rglob("samples_exam*.jsonl")
    results, exported = samples_of_lm_eval(tmp_path / "x")
    assert json.loads(written.read_text())["results"]["exam"]["accuracy,none"] == pytest.approx(0.5)
    assert results["results"]["exam"]["accuracy,none"] == pytest.approx(0.5)
    own = [json.loads(line)["accuracy"] for line in samples.read_text().splitlines()]
    assert own == [each["accuracy"] for each in exported]
