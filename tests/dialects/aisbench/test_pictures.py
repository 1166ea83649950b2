"""Exams with pictures: from a config and its files to what a server is sent."""

from __future__ import annotations

import base64
import io
import json

import pytest

from proctor.cli.__main__ import main
from proctor.dialects.aisbench.datasets import dataset_splits
from proctor.dialects.aisbench.values import Reference
from proctor.errors import DataError
from proctor.testing.server import FaultServer

CONFIG = """
from ais_bench.benchmark.datasets import MMStarDataset, MMStarEvaluator
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer
from ais_bench.benchmark.openicl.icl_prompt_template.icl_prompt_template_mm import MMPromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import ZeroRetriever
mmstar_datasets = [dict(
    abbr='mmstar', type=MMStarDataset, path='table.tsv',
    reader_cfg=dict(input_columns=['question', 'image'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type=MMPromptTemplate, template=dict(round=[dict(role='HUMAN', prompt_mm={
            'text': {'type': 'text', 'text': 'Question: {question}'},
            'image': {'type': 'image_url', 'image_url': {'url': 'file://{image}'}}})])),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
    eval_cfg=dict(evaluator=dict(type=MMStarEvaluator)))]
"""


def picture():
    image = pytest.importorskip("PIL.Image")
    target = io.BytesIO()
    image.new("RGB", (4, 3), (200, 90, 60)).save(target, "PNG")
    return target.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    packed = base64.b64encode(picture() + b"\0" * 64).decode()
    rows = [("0", packed, "What?", "red", "blue", "A", "c"), ("1", "0", "And this?", "red", "blue", "B", "d")]
    head = ("index", "image", "question", "A", "B", "answer", "category")
    (tmp_path / "table.tsv").write_text("".join("\t".join(row) + "\n" for row in (head, *rows)))
    (tmp_path / "config.py").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def test_pictures_of_a_table_are_sent_as_they_are_and_answers_scored(folder, capsys):
    asked = []
    with FaultServer(answer=lambda body: asked.append(body) or "A") as server:
        model = ["--model", "openai", "--model-args", f"model=m,base_url={server.url}"]
        code = main(["run", "config.py", *model, "-o", "out"])
    assert code == 0, capsys.readouterr().err
    assert len(asked) == 2
    for body in asked:
        shown, words = body["messages"][-1]["content"]
        assert base64.b64decode(shown["image_url"]["url"].partition("base64,")[2]).startswith(picture())
        assert words["text"].startswith("Question: ")
        assert "A. red\nB. blue\n" in words["text"]
    results = json.loads((folder / "out" / "results.json").read_text())["results"]["mmstar"]
    assert (results["score_name"], results["score"], results["c"], results["d"]) == ("Overall", 50, 100, 0)


def rows(name, **arguments):
    config = {"type": Reference(f"ais_bench.benchmark.datasets.{name}"), **arguments}
    return list(dataset_splits(config)[""]())


def test_sounds_and_films_stay_files(folder):
    (folder / "sounds").mkdir()
    (folder / "sounds" / "a_cough.wav").write_bytes(b"RIFF")
    found = rows("VocalSoundDataset", path="sounds", audio_type="audio_path")
    assert found[0]["answer"] == "cough"
    assert found[0]["audio_url"].endswith("a_cough.wav")
    (folder / "own.jsonl").write_text(json.dumps({"type": "video", "path": ["x.mp4"], "question": "q"}) + "\n")
    with pytest.raises(DataError, match="frames of films"):
        rows("MMCustomDataset", path="own.jsonl", mm_type="base64")


@pytest.mark.parametrize(
    "name, why",
    [("SyntheticDataset", "under load"), ("GEditDataset", "pictures")],
)
def test_what_is_left_to_other_programs_says_so(folder, name, why):
    with pytest.raises(DataError, match=why):
        rows(name, path="x")


def test_a_template_of_a_config_names_only_what_there_is(folder):
    import pandas as pd

    (folder / "mmmu").mkdir()
    row = {"question": ["q"], "options": ["['a', 'b']"], "answer": ["A"], "question_type": ["multiple-choice"]}
    pd.DataFrame(row).to_parquet(folder / "mmmu" / "validation-0.parquet")
    found = rows("MMMUDataset", path="mmmu", mult_choice_prompt="{question} {{x}} {letters}")
    assert found[0]["question"] == "q {x} A,B"
    for wrong in ("{question.__class__}", "{other}", "{question!r}"):
        with pytest.raises(DataError, match="cannot be filled"):
            rows("MMMUDataset", path="mmmu", mult_choice_prompt=wrong)


RECORDED = """
from ais_bench.benchmark.datasets import MMCustomEvaluator
from opencompass.datasets import JsonlDataset
from opencompass.openicl.icl_inferencer import GenInferencer, PPLOnlyInferencer
from opencompass.openicl.icl_evaluator import AveragePPLEvaluator
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
def_ = dict(type=JsonlDataset, path='own.jsonl')
datasets = [
    dict(abbr='recorded', reader_cfg=dict(input_columns=['question'], output_column='answer'), infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template='{question}'), retriever=dict(type=ZeroRetriever),
        inferencer=dict(type=GenInferencer)), eval_cfg=dict(evaluator=dict(type=MMCustomEvaluator)), **def_),
    dict(abbr='losses', reader_cfg=dict(input_columns=['question'], output_column=None), infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template='{question}'), retriever=dict(type=ZeroRetriever),
        inferencer=dict(type=PPLOnlyInferencer)), eval_cfg=dict(evaluator=dict(type=AveragePPLEvaluator)), **def_)]
"""


def test_an_evaluator_that_measures_nothing_records_and_losses_of_texts_are_measured(folder, capsys):
    (folder / "own.jsonl").write_text(json.dumps({"question": "1+1=?", "answer": "2"}) + "\n")
    (folder / "recorded.py").write_text(RECORDED)
    code = main(["run", "recorded.py", "--model", "dummy", "-o", "out"])
    assert code == 0, capsys.readouterr().err
    results = json.loads((folder / "out" / "results.json").read_text())["results"]
    assert "score" not in results["recorded"]
    assert results["losses"]["score_name"] == "average_ppl"
    assert "says 1 whatever was answered" in (folder / "out" / "run.yaml").read_text()


WITHOUT = ("without bbox", "without eval", "without content")
OCRBENCH = (
    CONFIG.replace("MMStarDataset", "OCRBenchV2Dataset")
    .replace("MMStarEvaluator", "OCRBenchV2Evaluator")
    .replace("mmstar", "ocrbench_v2")
)


@pytest.fixture
def ocrbench(folder):
    pytest.importorskip("lxml")
    packed = base64.b64encode(picture() + b"\0" * 64).decode()
    rows = [
        ("0", packed, "Which way?", "['exit']", "text recognition en", *WITHOUT),
        ("1", "0", "Where? Give a box.", "[0, 0, 10, 10]", "text grounding en", *WITHOUT),
        ("2", "0", "As HTML.", "['<table><tr><td>exit</td></tr></table>']", "table parsing cn", *WITHOUT),
        ("3", "0", "哪里?", "['北京']", "cognition VQA cn", *WITHOUT),
    ]
    head = ("index", "image", "question", "answer", "category", "bbox_raw", "eval", "content")
    text = "".join("\t".join(row) + "\n" for row in (head, *rows))
    (folder / "table.tsv").write_text(text, encoding="utf-8")
    (folder / "config.py").write_text(OCRBENCH)
    return folder


def test_ocrbench_is_scored_and_its_scores_stay_in_order(ocrbench, capsys):
    with FaultServer(answer=lambda body: "exit 北京 [0, 0, 10, 5] <table><tr><td>exit</td></tr></table>") as server:
        model = ["--model", "openai", "--model-args", f"model=m,base_url={server.url}"]
        code = main(["run", "config.py", *model, "-o", "out", "--output-format", "aisbench"])
    assert code == 0, capsys.readouterr().err
    results = json.loads((ocrbench / "out" / "results.json").read_text())["results"]["ocrbench_v2"]
    assert (results["score_name"], results["score"]) == ("English Overall Score", 75)
    assert results["Chinese Overall Score"] == 100
    in_order = ["English Overall Score", "Chinese Overall Score"]
    kept = next(iter((ocrbench / "out" / "results").rglob("ocrbench_v2.json")))
    assert list(json.loads(kept.read_text())) == in_order
    capsys.readouterr()
    (ocrbench / "out" / "results.json").unlink()
    (ocrbench / "out" / "run.yaml").unlink()
    for mode in ("viz", "eval"):
        assert main(["run", "config.py", "--mode", mode, "-w", "out"]) == 0, capsys.readouterr().err
        shown = capsys.readouterr().out
        lines = shown[shown.rindex("version") :].splitlines()
        found = [name for line in lines for name in in_order if name in line]
        assert found[:2] == in_order, (mode, shown)
