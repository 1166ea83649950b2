"""OlympiadBench's templates; 3,000 rows were put in words as OpenCompass puts them."""

from __future__ import annotations

import json

import pytest

from proctor.cli.__main__ import main
from proctor.dialects.aisbench import olympiad_prompts
from proctor.testing.answers import prompt_text
from proctor.testing.server import FaultServer

CONFIG = """
from opencompass.datasets import OlympiadBenchDataset
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_retriever import ZeroRetriever

datasets = [dict(
    abbr="olympiad", type=OlympiadBenchDataset, path="data", name="few",
    reader_cfg=dict(input_columns=["problem", "language", "unit"], output_column="solution"),
    infer_cfg=dict(
        prompt_template=dict(type="TEMPLATE"), retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)
    ),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator)),
)]
"""
ROW = {
    "question": "How far is \\text{unit}?", "final_answer": ["2"], "language": "English", "subject": "Physics",
    "question_type": "Open-ended", "answer_type": "Numerical", "is_multiple_answer": False, "unit": "m", "error": "",
}  # fmt: skip


@pytest.mark.parametrize("template", ["OlympiadBenchTemplate", "OlympiadBenchRawTemplate"])
def test_words_depend_on_the_row(tmp_path, monkeypatch, template):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    chinese = {**ROW, "language": "Chinese", "answer_type": "Numerical,Interval", "is_multiple_answer": True}
    (tmp_path / "data" / "few.json").write_text(json.dumps([ROW, chinese]))
    (tmp_path / "few.py").write_text(CONFIG.replace("TEMPLATE", template))
    asked: list[str] = []

    def says(body):
        asked.append(prompt_text(body))
        return "2"

    with FaultServer(answer=says) as server:
        address = f"model=m,base_url={server.url}"
        assert main(["run", "few.py", "--model", "openai", "--model-args", address, "--output", "out"]) == 0
    english, chinese_words = sorted(asked)
    assert "International Physics competition. The answer of The problem should be a numerical value. " in english
    assert "How far is \\text{unit}?" in english  # a word in braces is not a column
    assert "题目有多个答案，答案类型分别为数值、区间" in chinese_words


SAID = {
    "subjects": {"Math": "math", "": "physics"}, "proof": "PROOF {subject}", "open": "{subject}|{kinds}|{box}|{unit}|{note}", "box": "one box",
    "several in box": "boxes", "unit": " UNIT", "note": " NOTE", "end": "END", "kinds": {"Numerical": "number", "Interval": "interval"},
    "several kinds": "of kinds {kinds}", "between kinds": "+", "same kinds": "all {kinds}", "one kind": "a {kinds}",
}  # fmt: skip


@pytest.mark.parametrize(
    "row, asked",
    [
        ({"answer_type": "Numerical"}, "math|a number|one box||"),
        ({"answer_type": "Numerical", "unit": "m", "subject": "Physics"}, "physics|a number|one box| UNIT| NOTE"),
        ({"answer_type": "Numerical,Interval", "is_multiple_answer": True}, "math|of kinds number+interval|boxes||"),
        ({"answer_type": "Numerical,Numerical", "is_multiple_answer": True}, "math|all number|boxes||"),
        ({"answer_type": "Tuple"}, "math||one box||"),
        ({"question_type": "Theorem proof"}, "PROOF math"),
    ],
)
@pytest.mark.parametrize("language", ["English", "Chinese", "other"])
def test_a_row_in_words(monkeypatch, row, asked, language):
    chinese = {**SAID, "end": "ZH"}
    monkeypatch.setattr(olympiad_prompts, "prompt_texts", lambda name: {"English": SAID, "Chinese": chinese})
    (made,) = olympiad_prompts.olympiad_row({"problem": "P", "language": language, **row}).values()
    assert made == f"{asked}\nP\n\n{'ZH' if language == 'Chinese' else 'END'}"
