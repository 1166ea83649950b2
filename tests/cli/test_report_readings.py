"""``proctor report --readings``: the scores of a run under other readings of its answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

YAML = """task: letters
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
metric_list: [{metric: exact_match}]
filter_list:
- {name: first, filter: [{function: regex, regex_pattern: "([AB])"}, {function: take_first}]}
"""
CONFIG = """from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.datasets import JsonlDataset
from opencompass.utils.text_postprocessors import first_option_postprocess

datasets = [dict(
    abbr="options", type=JsonlDataset, path="rows.jsonl", reader_cfg=dict(input_columns=["q"], output_column="a"),
    infer_cfg=dict(prompt_template=dict(type=PromptTemplate, template="{q}"), retriever=dict(type=ZeroRetriever),
                   inferencer=dict(type=GenInferencer)),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator),
                  pred_postprocessor=dict(type=first_option_postprocess, options="AB")))]
"""


@pytest.fixture
def run(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    rows = [{"q": f"Question {number}?", "a": "AB"[number % 2]} for number in range(6)]
    Path("rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    Path("letters.yaml").write_text(YAML)
    Path("options.py").write_text(CONFIG)

    def start(exam: str, answer: str) -> str:
        options = ["--model", "scripted", "--model-args", f"answer={answer}", "--log-samples", "--output", "out"]
        code, out, err = invoke("run", exam, *options)
        assert code == 0, err
        return out + err

    return start


def test_a_score_that_depends_on_the_reading_is_said_with_its_instances(run, invoke):
    assert "last resort" not in run("letters.yaml", "A or is it B")
    code, out, err = invoke("report", "--readings", "out", "--samples", "2")
    assert (code, err) == (0, "")
    assert (
        out.splitlines()[0] == "letters: exact_match,first of 6: the score is 0.0000 to 0.5000, as the answers are read"
    )
    assert "  the last match      0.5000" in out
    assert "6 change: 0, 1, …" in out
    assert "       6  the pattern ([AB])" in out
    (found,) = json.loads(invoke("report", "--readings", "out", "--json")[1])
    assert found["readings"]["strict"] == {
        "score": 0.0,
        "ci_low": 0.0,
        "ci_high": found["readings"]["strict"]["ci_high"],
        "changed": [0, 2, 4],
    }
    assert found["readings"]["last"]["changed"] == [0, 1, 2, 3, 4, 5]
    assert found["last_resort"] == []


def test_a_run_says_how_many_scores_hang_on_a_last_resort(run, invoke):
    said = run("options.py", "I say A maybe")
    assert "options: 6 of 6 scores hang on a last resort" in " ".join(said.split())
    assert json.loads(Path("out/results.json").read_text())["results"]["options"]["last_resort"] == 6
    out = invoke("report", "--readings", "out")[1]
    assert "any mention of an option" in out
    assert "only what is clear  0.0000" in out
    assert "6 of 6 scores hang on a last resort" in out


def test_what_is_scored_as_it_is_has_one_reading(run, invoke):
    Path("letters.yaml").write_text(YAML.partition("filter_list")[0])
    run("letters.yaml", "A")
    assert "scored as they are" in invoke("report", "--readings", "out")[1]


def test_readings_go_alone_and_need_samples(run, invoke):
    run("letters.yaml", "A")
    code, _, err = invoke("report", "--readings", "--items", "out")
    assert (code, "--readings stands alone" in err) == (2, True)
    code, _, err = invoke("report", "--json", "out")
    assert (code, "--items, --readings, --labels and --over" in err) == (2, True)
    Path("rows.jsonl").write_text(Path("rows.jsonl").read_text().replace("Question 3", "Another"))
    code, _, err = invoke("report", "--readings", "out")
    assert code == 1
    assert "letters: cannot be read again: the data of 'letters' is not what it was" in " ".join(err.split())
    Path("out/samples.jsonl").unlink()
    code, _, err = invoke("report", "--readings", "out")
    assert (code, "has no samples.jsonl" in err) == (2, True)
