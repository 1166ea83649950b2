"""Classes of models beside configs: their own methods answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_commands import proctor

MODEL = """
from opencompass.models.base import BaseModel

class Mine(BaseModel):
    def __init__(self, path, answer="B", meta_template=None, **more):
        super().__init__(path, meta_template=meta_template)
        self.answer = answer

    def generate(self, inputs, max_out_len, stopping_criteria=()):
        with open("asked.jsonl", "a") as file:
            import json
            file.write(json.dumps([inputs, max_out_len]) + "\\n")
        return [self.answer for _ in inputs]
"""
CONFIG = """
from mine import Mine
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.datasets import JsonlDataset

datasets = [dict(
    abbr="letters", type=JsonlDataset, path="rows.jsonl",
    reader_cfg=dict(input_columns=["q"], output_column="a", train_split="train", test_split="train"),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template=dict(round=[dict(role="HUMAN", prompt="{q}")])),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer, max_out_len=7),
    ),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator)),
)]
models = [dict(
    type=Mine, abbr="mine", path="x", answer="B", batch_size=2,
    meta_template=dict(round=[dict(role="HUMAN", begin="U: ", end="; "), dict(role="BOT", begin="A: ", generate=True)]),
)]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder with a config, its class and its rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MODEL)
    (tmp_path / "exam.py").write_text(CONFIG)
    rows = [{"q": f"{number}?", "a": letter} for number, letter in enumerate("BCB")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_a_class_beside_a_config_answers_in_batches_in_its_own_layout(folder: Path) -> None:
    done = proctor("run", "exam.py", "--trust-code", "--output", "out", "--log", "log.db")
    assert done.returncode == 0, done.stdout + done.stderr
    asked = [json.loads(line) for line in (folder / "asked.jsonl").read_text().splitlines()]
    assert asked == [[["U: 0?; A: ", "U: 1?; A: "], 7], [["U: 2?; A: "], 7]]
    assert json.loads((folder / "out" / "results.json").read_text())["results"]["letters"]["accuracy"] == pytest.approx(
        200 / 3
    )


def test_it_is_asked_once_and_anew_when_its_code_has_changed(folder: Path) -> None:
    command = ("run", "exam.py", "--trust-code", "--log", "log.db")
    assert proctor(*command, "--output", "one").returncode == 0
    assert proctor(*command, "--output", "two").returncode == 0
    assert len((folder / "asked.jsonl").read_text().splitlines()) == 2
    (folder / "mine.py").write_text(MODEL.replace("return [self.answer", "return ['C'"))
    assert proctor(*command, "--output", "three").returncode == 0
    assert len((folder / "asked.jsonl").read_text().splitlines()) == 4


def test_without_trust_it_is_refused_with_the_flag(folder: Path) -> None:
    done = proctor("run", "exam.py")
    assert done.returncode != 0
    assert "--trust-code" in done.stdout + done.stderr
    assert not (folder / "asked.jsonl").exists()


def test_an_override_that_nothing_calls_is_refused_before_anybody_is_asked(folder: Path) -> None:
    (folder / "mine.py").write_text(MODEL + "    def parse_template(self, *_):\n        return 'x'\n")
    done = proctor("run", "exam.py", "--trust-code")
    assert done.returncode != 0
    assert "Mine.parse_template would never be called" in done.stdout + done.stderr


def test_what_fails_in_it_is_the_failure_of_the_questions(folder: Path) -> None:
    (folder / "mine.py").write_text(MODEL.replace("return [self.answer for _ in inputs]", "raise ValueError('no')"))
    done = proctor("run", "exam.py", "--trust-code", "--output", "out", "--log", "log.db")
    assert "Mine.generate failed: ValueError: no" in done.stdout + done.stderr
    assert json.loads((folder / "out" / "results.json").read_text())["results"]["letters"]["num_of_failures"] == 3
