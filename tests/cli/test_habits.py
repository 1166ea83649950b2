"""AISBench's and OpenCompass' command lines: every option has its effect, has none and says so, or is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_commands import proctor

from proctor.cli.habits import MODES, in_our_words, mode_of
from proctor.dialects.aisbench.flags import FLAGS
from proctor.dialects.aisbench.resolve import resolve_name
from proctor.errors import UsageError
from proctor.recipes.options import ExamOptions
from proctor.testing.server import FaultServer

AISBENCH = (
    "models datasets summarizer debug search dry-run mode reuse work-dir config-dir max-num-workers max-workers-per-gpu "
    "num-prompts num-warmups merge-ds dump-eval-details dump-extract-rate pressure pressure-time custom-dataset-path "
    "custom-dataset-meta-path custom-dataset-data-type custom-dataset-infer-method"
)
OPENCOMPASS = (
    "slurm dlc models datasets summarizer debug dry-run accelerator mode reuse work-dir config-dir config-verbose lark "
    "max-num-workers max-workers-per-gpu retry dump-eval-details dump-res-length analysis-repeat dump-extract-rate "
    "station-path station-overwrite read-from-station dataset-num-runs dump-only-message-path partition quotatype qos "
    "aliyun-cfg hf-type hf-path model-kwargs tokenizer-path tokenizer-kwargs peft-path peft-kwargs generation-kwargs "
    "max-seq-len max-out-len min-out-len batch-size num-gpus hf-num-gpus pad-token-id stop-words custom-dataset-path"
)
ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(4)]
CONFIG = """
from opencompass.datasets import JsonlDataset
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
sums_datasets = [dict(
    abbr=f'part_{part}', type=JsonlDataset, path='rows.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer', test_range=f'[{part}:{part + 2}]'),
    infer_cfg=dict(prompt_template=dict(type=PromptTemplate, template='{question}'),
                   retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator))) for part in range(2)]
"""
SUMMARIZER = (
    "summarizer = dict(dataset_abbrs=['both'], summary_groups=[dict(name='both', subsets=['part_0', 'part_1'])])"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "sums_gen.py").write_text(CONFIG)
    (tmp_path / "configs" / "summarizers").mkdir(parents=True)
    (tmp_path / "configs" / "summarizers" / "both.py").write_text(SUMMARIZER)
    (tmp_path / "configs" / "datasets").mkdir()
    (tmp_path / "configs" / "datasets" / "sums_again_gen.py").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


SCRIPTED = ("--model", "scripted", "--model-args", "answer=2")


@pytest.mark.parametrize("name", sorted({*AISBENCH.split(), *OPENCOMPASS.split()}))
def test_every_option_of_theirs_is_taken_noted_or_refused(name):
    known = {each.name: each for each in FLAGS}
    if name == "batch-size":  # ours has the same name
        assert "--batch-size" not in known
        return
    found = known[f"--{name}"]
    given = [found.name, *(["1"] if found.takes != "nothing" else [])]
    try:
        ours, habits = in_our_words(given)
    except UsageError as error:
        assert error.diagnostics[0].why
        return
    assert ours or habits.values or habits.notes


def test_several_values_equal_signs_underscores_and_short_names():
    ours, habits = in_our_words(
        [
            "--datasets",
            "a",
            "b",
            "--work_dir=out",
            "--models",
            "x",
            "y",
            "-r",
            "run.py",
            "-m",
            "infer",
            "--num-prompts=3",
        ]
    )
    assert ours == ["--tasks", "a", "--tasks", "b", "--output", "out", "run.py", "--limit", "3"]
    assert habits.models == ["x", "y"]
    assert habits.mode == "infer"
    assert habits["--reuse"] is True
    assert in_our_words(["-m", "scripted", "-a", "answer=2"])[0] == ["-m", "scripted", "-a", "answer=2"]


@pytest.mark.parametrize("mode", ["perf", "perf_viz", "infer_judge", "nonsense"])
def test_modes_that_are_not_here_say_what_is(mode):
    with pytest.raises(UsageError) as caught:
        mode_of(mode)
    assert caught.value.diagnostics[0].hint
    assert mode not in MODES
    if mode.startswith("perf"):
        assert "vllm bench serve" in str(caught.value)


def test_names_of_datasets_are_run_with_a_summarizer_s_table(invoke, folder):
    code, _, err = invoke(
        "run", *SCRIPTED, "--datasets", "sums_again_gen", "--config-dir", "configs", "--summarizer", "both",
        "--work-dir", "out", "--num-prompts", "1", "--max-num-workers", "4",
    )  # fmt: skip
    assert code == 0, err
    assert "--max-num-workers has no effect here" in err
    assert (folder / "out" / "summary.csv").read_text().splitlines()[1].startswith("both,")
    results = json.loads((folder / "out" / "results.json").read_text())["results"]
    assert results["part_0"]["n"] == 1


def test_several_models_each_have_a_folder(invoke, folder):
    models = "from opencompass.models import OpenAI\nmodels = [dict(type=OpenAI, abbr=f'm{n}', path='m', key='k') for n in range(2)]"
    (folder / "configs" / "models").mkdir()
    (folder / "configs" / "models" / "two.py").write_text(models)
    code, out, err = invoke("run", "sums_gen.py", "--models", "configs/models/two.py", "--dry-run", "-w", "out")
    assert code == 0, err
    assert out.count("part_0: 2 instances, 2 requests") == 2
    assert "out/m0" in err
    assert "out/m1" in err
    assert not (folder / "out").exists()


def test_search_prints_files_and_refuses_names_that_are_none(invoke, folder):
    code, out, _ = invoke("run", "--search", "--datasets", "sums_again_gen", "--config-dir", "configs")
    assert code == 0
    assert out.split() == ["--datasets", "sums_again_gen", str(folder / "configs/datasets/sums_again_gen.py")]
    code, _, err = invoke("run", "--search", "--datasets", "nothing_gen", "--config-dir", "configs")
    assert code == 2
    assert "nothing_gen" in err


def test_mode_infer_records_and_mode_eval_grades_what_was_recorded(invoke, folder):
    code, _, err = invoke(
        "run", "sums_gen.py", *SCRIPTED, "--mode", "infer", "-w", "out/20260101_000000", "--output-format", "aisbench"
    )
    assert code == 0, err
    code, out, err = invoke("run", "sums_gen.py", "--mode", "eval", "-w", "out", "--reuse", "--json")
    assert code == 0, err
    scores = {name: entry["score"] for name, entry in json.loads(out)["scripted"].items()}
    assert scores == {"part_0": 50.0, "part_1": 50.0}
    results = folder / "out/20260101_000000/results/scripted"
    assert json.loads((results / "part_0.json").read_text()) == {"accuracy": 50.0}
    lines = results.parents[1] / "predictions/scripted/part_0.jsonl"
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    lines.write_text("".join(json.dumps({**row, "prediction": "nothing"}) + "\n" for row in rows))
    assert invoke("run", "sums_gen.py", "--mode", "eval", "-w", "out")[0] == 0
    assert json.loads((results / "part_0.json").read_text()) == {"accuracy": 0.0}
    assert json.loads((results / "part_1.json").read_text()) == {"accuracy": 50.0}
    assert " 0.00" in invoke("run", "sums_gen.py", "--mode", "viz", "-w", "out")[1]


def test_models_of_a_config_folder_are_recorded_then_graded_by_code_beside_the_config(invoke, folder):
    (folder / "own_metric.py").write_text(
        "from opencompass.openicl.icl_evaluator import BaseEvaluator\n"
        "class Last(BaseEvaluator):\n"
        "    def score(self, predictions, references):\n"
        "        hits = sum(p[-1:] == r for p, r in zip(predictions, references))\n"
        "        return {'last': 100 * hits / len(references)}\n"
    )
    datasets = CONFIG.replace("AccEvaluator)", "Last)").replace("import AccEvaluator", "import BaseEvaluator")
    (folder / "configs" / "datasets" / "sums_own_gen.py").write_text("from own_metric import Last\n" + datasets)
    (folder / "configs" / "models").mkdir()
    with FaultServer(answer=lambda _: "2") as server:
        models = f"[dict(type=OpenAI, abbr=f'm{{n}}', path=f'm{{n}}', key='k', openai_api_base='{server.url}') for n in (0, 1)]"
        (folder / "configs" / "models" / "two.py").write_text(
            f"from opencompass.models import OpenAI\nmodels = {models}"
        )
        typed = ("run", "--models", "two", "--datasets", "sums_own_gen", "--config-dir", "configs", "--trust-code")
        code, _, err = invoke(*typed, "-w", "out", "--mode", "infer", "--output-format", "aisbench")
        assert code == 0, err
        assert invoke(*typed, "-w", "runs")[0] == 0
    code, out, err = invoke(*typed, "-w", "out", "--mode", "eval", "--json")
    assert code == 0, err
    assert {(m, e): each["score"] for m, found in json.loads(out).items() for e, each in found.items()} == {
        ("m0", "part_0"): 50.0, ("m0", "part_1"): 50.0, ("m1", "part_0"): 50.0, ("m1", "part_1"): 50.0,
    }  # fmt: skip
    for place in ("out", "runs"):
        code, out, _ = invoke(*typed[:1], *typed[3:], "-w", place, "--mode", "viz")
        assert (code, out.count("50.00")) == (0, 4)


def test_scores_that_cannot_be_written_are_printed_all_the_same(invoke, folder, monkeypatch):
    invoke("run", "sums_gen.py", *SCRIPTED, "--mode", "infer", "-w", "out", "--output-format", "aisbench")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("proctor.exchange.aisbench_files.write_text", refuse)
    code, out, err = invoke("run", "sums_gen.py", "--mode", "eval", "-w", "out", "--json")
    assert code == 0
    assert json.loads(out)["scripted"]["part_0"]["score"] == 50.0
    assert "the scores were not written into out: Permission denied" in err


@pytest.mark.parametrize(
    "typed, words",
    [
        (["--fail-under", "sums=0.5"], "--fail-under has no effect with --mode eval"),
        (["--output-format", "aisbench"], "--output-format has no effect with --mode eval"),
        (["--precision", "0.1"], "--precision has no effect with --mode eval"),
        (["--budget-tokens", "5"], "--budget-tokens has no effect with --mode eval"),
    ],
)
def test_what_concerns_asking_is_refused_where_nobody_is_asked(invoke, folder, typed, words):
    code, _, err = invoke("run", "sums_gen.py", "--mode", "eval", "-w", "out", *typed)
    assert code == 2
    assert words in err


def test_a_command_that_is_typed_once_more_to_grade_may_name_the_model_s_arguments(invoke, folder):
    invoke("run", "sums_gen.py", *SCRIPTED, "-m", "infer", "-w", "out", "--output-format", "aisbench")
    code, _, err = invoke("run", "sums_gen.py", *SCRIPTED, "-m", "eval", "-w", "out")
    assert code == 0
    assert "--model-args has no effect with --mode eval" in err
    assert "did you mean 'eval'" in invoke("run", "sums_gen.py", "-m", "evl", "-w", "out")[2]


def _predictions(folder, time, lines):
    place = folder / "W" / time / "predictions" / "m"
    place.mkdir(parents=True)
    for name, text in lines.items():
        (place / name).write_text(text)


def _line(place, prediction, **more):
    return (
        json.dumps({"id": place, "data_abbr": "x", "success": True, "uuid": "u", "prediction": prediction, **more})
        + "\n"
    )


def test_predictions_of_aisbench_and_of_opencompass_s_parts_are_graded_by_position(invoke, folder):
    part = '{"0": {"origin_prompt": "q", "prediction": "%s"}}'
    _predictions(folder, "20260101_000000", {"part_0.jsonl": _line(0, "9")})
    _predictions(
        folder,
        "20260102_000000",
        {"part_0.jsonl": _line(1, "2") + _line(0, "0"), "part_1_1.json": part % "3", "part_1_0.json": part % "2"},
    )
    code, out, err = invoke("run", "sums_gen.py", "-m", "eval", "-w", "W", "-r", "--json")
    assert code == 0, err
    assert {name: entry["score"] for name, entry in json.loads(out)["m"].items()} == {"part_0": 100.0, "part_1": 50.0}
    code, out, err = invoke("run", "sums_gen.py", "-m", "eval", "-w", "W", "-r", "20260101_000000", "--json")
    assert code == 1  # part_1 is not there, and of part_0 one prediction is missing: a failure, not a wrong answer
    assert "no predictions of 'm' for 'part_1'" in err
    entry = json.loads(out)["m"]["part_0"]
    assert (entry["n"], entry["failures"], entry["failure_kinds"]) == (2, 1, {"missing": 1})


def test_what_failed_there_is_a_failure_here(invoke, folder):
    failed = json.dumps({"id": 1, "success": False, "error_info": "time-out", "prediction": ""}) + "\n"
    _predictions(folder, "t", {"part_0.jsonl": _line(0, "0") + failed, "part_1.jsonl": _line(0, "2") + _line(1, "4")})
    code, out, err = invoke("run", "sums_gen.py", "--mode", "eval", "-w", "W/t", "--json")
    assert code == 1, err
    assert json.loads(out)["m"]["part_0"]["failures"] == 1
    code, out, _ = invoke("run", "sums_gen.py", "--mode", "eval", "-w", "W/t", "--allow-failures")
    assert code == 0


@pytest.mark.parametrize("text", ['{"id": 0}', "no json", '{"id": "x", "prediction": "2"}'])
def test_lines_that_are_no_predictions_are_named_by_file_and_line(invoke, folder, text):
    _predictions(folder, "t", {"part_0.jsonl": _line(1, "2") + text + "\n"})
    code, _, err = invoke("run", "sums_gen.py", "--mode", "eval", "-w", "W/t")
    assert code != 0
    assert "part_0.jsonl:2" in err


def test_results_of_an_earlier_run_are_shown_without_asking(invoke, folder):
    place = folder / "W" / "t" / "results" / "m"
    place.mkdir(parents=True)
    (place / "part_0.json").write_text('{"accuracy": 37.5, "details": []}')
    code, out, err = invoke("run", "sums_gen.py", "--mode", "viz", "-w", "W/t")
    assert code == 0, err
    assert "37.50" in out
    assert invoke("run", *SCRIPTED, "--tasks", "samples.arithmetic", "-o", "own", "--limit", "2")[0] == 0
    code, out, _ = invoke("run", "--mode", "viz", "-w", "own")
    assert code == 0
    assert "samples.arithmetic" in out


def test_scores_of_a_run_are_shown_in_the_order_of_the_evaluator(invoke, folder):
    """IFEval names the share of prompts before that of instructions, and results.json is sorted."""
    del folder
    gold = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    Path("rows.jsonl").write_text("".join(json.dumps({"q": f"q{i}", "gold": gold}) + "\n" for i in range(2)))
    Path("followed.py").write_text(
        "datasets = [dict(abbr='followed', type='HFDataset', path='json', data_files='rows.jsonl',"
        " reader_cfg=dict(input_columns=['q'], output_column='gold', train_split='train', test_split='train'),"
        " infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'),"
        " retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),"
        " eval_cfg=dict(evaluator=dict(type='IFEvaluator')))]"
    )
    code, _, err = invoke("run", *SCRIPTED, "--tasks", "followed.py", "-o", "own")
    assert code == 0, err
    code, out, err = invoke("run", "--mode", "viz", "-w", "own", "--json")
    assert code == 0, err
    shown = list(json.loads(out)["followed"])
    names = [f"{level}-level-{how}-accuracy" for how in ("strict", "loose") for level in ("Prompt", "Inst")]
    assert [name for name in shown if name in names] == names


def test_a_model_of_the_hub_is_described_as_there(invoke, folder):
    arguments = ("--hf-path", "hub/x", "--hf-type", "base", "--datasets", "sums_gen.py", "--dry-run")
    more = (
        "--model-kwargs",
        "device_map='auto'",
        "torch_dtype=torch.float16",
        "--max-out-len",
        "9",
        "--hf-num-gpus",
        "1",
    )
    code, out, err = invoke("run", *arguments, *more)
    assert code == 0, err
    assert "2 requests to hub/x" in out
    code, _, err = invoke("run", *arguments, "--tokenizer-kwargs", "add_prefix=1")
    assert code == 2
    assert "add_prefix" in err
    assert "belongs to --hf-path" in invoke("run", "--datasets", "sums_gen.py", "--peft-path", "p")[2]


def test_rows_of_one_s_own_are_asked_as_the_project_asks(invoke, folder):
    given = ("--custom-dataset-path", "rows.jsonl", "--custom-dataset-data-type", "qa", "-o", "out")
    code, _, err = invoke("run", *SCRIPTED, *given)
    assert code == 0, err
    assert "the prompt is that of opencompass" in err
    code, out, err = invoke("show", "rows.jsonl[data_type=qa,project=aisbench]")
    assert code == 0, err
    assert "Question: 0+0=?" in out


@pytest.mark.parametrize("wrong", ["rows.jsonl[kind=qa]", "rows.jsonl[project=none]"])
def test_what_a_file_of_rows_has_not_is_refused(folder, wrong):
    with pytest.raises(UsageError, match="there is no project|has no 'kind'"):
        resolve_name(wrong, ExamOptions())


def test_other_commands_say_what_an_option_is_here(invoke, folder):
    assert "here it is --tasks, of proctor run" in invoke("show", "--datasets", "x")[2]


@pytest.mark.parametrize("part", ["meta-path", "data-type", "infer-method"])
def test_what_says_something_of_no_file_is_refused(invoke, folder, part):
    code, _, err = invoke("run", *SCRIPTED, "--datasets", "sums_gen", f"--custom-dataset-{part}", "gen")
    assert code == 2
    assert f"--custom-dataset-{part} belongs to --custom-dataset-path" in err


def test_a_custom_dataset_that_is_not_there(invoke, folder):
    code, _, err = invoke("run", *SCRIPTED, "--custom-dataset-path", "nothere.jsonl")
    assert code == 2
    assert "there is no file 'nothere.jsonl'" in err


def test_a_rehearsal_asks_no_server_for_the_name_of_its_model(invoke, folder):
    (folder / "served.py").write_text(
        "from ais_bench.benchmark.models import VLLMCustomAPIChat\n"
        "models = [dict(type=VLLMCustomAPIChat, abbr='m', path='', model='', host_port=1)]"
    )
    code, out, err = invoke("run", "sums_gen.py", "--models", "served.py", "--dry-run")
    assert code == 0, err
    assert "2 requests to" in out
    assert "is called after the model, which is not known" in err


def test_one_metric_option_takes_several_metrics_and_all_are_shown(folder):
    (folder / "q.csv").write_text("question,answer\nCapital of France?,Paris\n")
    (folder / "regex").write_text("a file of that name is no metric")
    typed = ("--metric", "includes", "exact", "regex:^P", "regex", "-m", "scripted", "--metric=f1", "f1")
    taken = ["--metric", "includes", "--metric", "exact", "--metric", "regex:^P", "regex", "-m", "scripted"]
    assert in_our_words(typed)[0] == [*taken, "--metric=f1", "f1"]
    run = proctor(
        "run", "q.csv", "--metric", "includes", "exact", "-m", "scripted", "--model-args", "answer=It is Paris"
    )
    rows = [line.split() for line in run.stdout.splitlines()]
    assert [row[:3] for row in rows if row[1:2] == ["includes"]] == [["q", "includes", "1.0000"]]
    assert [row[:2] for row in rows if row[:1] == ["exact_match"]] == [["exact_match", "0.0000"]]
    shown = proctor("show", "q.csv", "--metric", "includes", "exact", "--docs", "1")
    assert shown.returncode == 0, shown.stderr
    assert in_our_words(["--prompts", "a.txt", "b.txt", "q.csv"])[0] == [
        "--prompts",
        "a.txt",
        "--prompts",
        "b.txt",
        "q.csv",
    ]
    ours, habits = in_our_words(["--models", "x", "y", "q.csv"])
    assert (ours, habits.values["--models"]) == (["q.csv"], ["x", "y"])
    wrong = proctor("run", "q.csv", "bleu", "-m", "dummy")
    assert "hint: 'bleu' is a metric: --metric bleu" in wrong.stderr
    assert in_our_words(["--metric", "f1_macro", "accuracy", "metrics.rouge", "q.csv"])[0][-2:] == [
        "metrics.rouge",
        "q.csv",
    ]
    of_catalog = proctor("run", "q.csv", "--metric", "f1_macro", "metrics.accuracy", "-m", "dummy")
    assert {"f1_macro", "accuracy"} <= set(of_catalog.stdout.split())
    wrong = proctor("run", "q.csv", "--metric", "macro-f1", "-m", "dummy")
    assert "hint: did you mean 'f1_macro'?" in wrong.stderr
