"""``proctor run CONFIG.py``: models and datasets of a config, its meta template and its summary."""

from __future__ import annotations

import csv
import json
import os

import pytest
import tests_commands

from proctor.cli.run_options import origin_of_model, spec_of_options
from proctor.testing.server import FaultServer

CONFIG = """
from opencompass.datasets import JsonlDataset
from opencompass.models import OpenAI
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

datasets = [dict(
    abbr=f'part_{part}', type=JsonlDataset, path='rows.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer', test_range=f'[{part}:{part + 2}]'),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template=dict(
            begin=[dict(role='SYSTEM', fallback_role='HUMAN', prompt='Add.')],
            round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator))) for part in range(2)]
models = [dict(type=OpenAI, abbr=f'model-{n}', path='m', key='secret', openai_api_base='BASE', max_out_len=5,
               meta_template=dict(round=[dict(role='HUMAN', api_role='HUMAN'),
                                         dict(role='BOT', api_role='BOT', generate=True)])) for n in range(2)]
summarizer = dict(summary_groups=[dict(name='all', subsets=['part_0', 'part_1'])])
"""
MINE = "models = [dict(type=OpenAI, abbr='mine', path='m', key='k', openai_api_base='http://x/v1', max_out_len=5)]\n"
ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(4)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "config.py").write_text(CONFIG)
    return tmp_path


def proctor(folder, *arguments):
    environment = {**os.environ, "PROCTOR_CACHE_DIR": str(folder / "cache")}
    return tests_commands.proctor(*arguments, cwd=folder, env=environment)


def test_models_sit_datasets_and_the_summarizer_sums_up(folder):
    asked = []
    with FaultServer(answer=lambda body: asked.append(body) or "2") as server:
        (folder / "config.py").write_text(CONFIG.replace("BASE", server.url))
        done = proctor(folder, "run", "config.py", "-o", "out")
        assert done.returncode == 0, done.stderr
    asked.sort(key=lambda body: body["messages"][0]["content"])
    assert asked[0]["messages"] == [{"role": "user", "content": "Add.\n0+0=?"}]
    assert asked[0]["max_tokens"] == 5
    with (folder / "out" / "summary.csv").open(newline="") as file:
        table = {row["dataset"]: row for row in csv.DictReader(file)}
    assert set(table["part_0"]) >= {"version", "metric", "mode", "model-0", "model-1"}
    assert [table[name]["model-1"] for name in ("part_0", "part_1", "all")] == ["50.00", "50.00", "50.00"]
    results = json.loads((folder / "out" / "model-0" / "results.json").read_text())["results"]
    assert results["all"]["score"] == 50
    assert "secret" not in (folder / "out" / "model-0" / "run.yaml").read_text()


def test_a_model_of_the_command_line_replaces_the_config_s(folder):
    done = proctor(
        folder, "run", "config.py", "--model", "scripted", "--model-args", "answer=2", "-t", "*_1", "-o", "o"
    )
    assert done.returncode == 0, done.stderr
    assert "part_1" in done.stdout
    assert "part_0" not in done.stdout
    again = proctor(folder, "run", "o")
    assert again.returncode == 0, again.stderr
    assert again.stdout == done.stdout


def test_a_model_of_a_config_sits_any_exam(folder):
    asked = []
    with FaultServer(answer=lambda body: asked.append(body) or "A") as server:
        (folder / "config.py").write_text(CONFIG.replace("BASE", server.url))
        arguments = ("run", "--model", "config.py::model-1", "--tasks", "samples.arithmetic", "--limit", "2", "-o", "o")
        done = proctor(folder, *arguments)
        assert done.returncode == 0, done.stderr
        assert len(asked) == 2
    several = proctor(folder, "run", "--model", "config.py", "--tasks", "samples.arithmetic")
    assert several.returncode == 2
    assert "config.py::model-0, config.py::model-1" in several.stderr


def test_a_model_s_config_is_found_in_an_included_folder_as_exams_are(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.py").write_text(CONFIG.partition("models = ")[0].partition("datasets = ")[0] + MINE)
    given = {"model": "mine", "model_args": (), "tasks": ("t.csv",), "limit": None, "include_paths": (str(tmp_path),)}
    spec = spec_of_options(given)
    assert (spec.model, spec.model_args["model"]) == ("openai", "m")
    assert spec.overrides["model_config"] == f"{tmp_path}/models/mine.py::mine"
    assert origin_of_model(given).is_config
    assert spec_of_options({**given, "include_paths": ()}).model == "mine", "elsewhere it means nothing"


def test_rows_of_one_s_own_are_an_exam(folder):
    options = [
        {"question": "Which is even?", "A": "1", "B": "2", "answer": "B"},
        {"question": "Odd?", "A": "1", "B": "2", "answer": "A"},
    ]
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in options))
    done = proctor(
        folder,
        "run",
        "--model",
        "scripted",
        "--model-args",
        "answer=B",
        "--tasks",
        "mine.jsonl[project=opencompass]",
        "-o",
        "o",
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((folder / "o" / "results.json").read_text())["results"]["mine"]
    assert (results["accuracy"], results["n"]) == (50, 2)


META = {
    "begin": "<s>",
    "round": [
        {"role": "HUMAN", "begin": "<|user|>", "end": "\n"},
        {"role": "BOT", "begin": "<|bot|>", "end": "<eoa>\n", "generate": True},
    ],
}
TASK = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
num_fewshot: 1
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
"""


@pytest.mark.parametrize("exam", ["config.py::part_0", "sums.yaml", "samples.arithmetic"])
def test_a_meta_template_lays_out_every_exam(folder, exam):
    (folder / "meta.json").write_text(json.dumps(META))
    (folder / "sums.yaml").write_text(TASK)
    done = proctor(folder, "show", exam, "--meta-template", "meta.json", "--json")
    assert done.returncode == 0, done.stderr
    prompt = json.loads(done.stdout.splitlines()[0])["prompt"]
    assert prompt.startswith("<s><|user|>")
    assert prompt.rstrip().removesuffix("Answer:").endswith("<|bot|>")


@pytest.mark.parametrize(
    "content, message",
    [('{"rounds": []}', "holds no meta template"), ("{", "neither JSON nor YAML"), (None, "there is no file")],
)
def test_a_meta_template_that_is_none(folder, content, message):
    if content is not None:
        (folder / "meta.json").write_text(content)
    done = proctor(folder, "show", "config.py", "--meta-template", "meta.json")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_validate_reads_configs(folder):
    assert proctor(folder, "validate", "config.py").returncode == 0
    (folder / "bad.py").write_text(CONFIG.replace("GenInferencer", "GenInferencr").replace("OpenAI", "Opaque"))
    done = proctor(folder, "validate", str(folder))
    assert done.returncode == 2
    assert "bad.py:9" in done.stderr or "bad.py:" in done.stderr
    assert "GenInferencer" in done.stderr
    assert "there is no engine" in done.stderr


def test_a_table_names_scores_in_the_order_of_their_evaluator(folder):
    rows = [
        {"prompt": f"q{n}", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}], "key": n} for n in range(2)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = CONFIG.replace("JsonlDataset", "IFEvalDataset").replace("AccEvaluator", "IFEvaluator")
    text = text.replace("icl_evaluator import IFEvaluator", "icl_evaluator import AccEvaluator")
    text = text.replace("import IFEvalDataset", "import IFEvalDataset, IFEvaluator").replace("range(2)]", "range(1)]")
    text = text.replace("['question']", "['prompt']").replace("'answer', test", "'reference', test")
    (folder / "config.py").write_text(text.replace("{question}", "{prompt}").replace("{answer}", ""))
    done = proctor(folder, "run", "config.py", "--model", "scripted", "--model-args", "answer=a", "-o", "out")
    assert done.returncode == 0, done.stderr
    with (folder / "out" / "summary.csv").open(newline="") as file:
        metrics = [row["metric"] for row in csv.DictReader(file) if row["dataset"] == "part_0"]
    levels = [("Prompt", "strict"), ("Inst", "strict"), ("Prompt", "loose"), ("Inst", "loose")]
    assert metrics == [f"{level}-level-{kind}-accuracy" for level, kind in levels]
