"""Configs in a clone of a fork of OpenCompass find the classes that the fork has, where code is trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_commands import proctor

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.guests import clones, code
from proctor.running.run import run_exams
from proctor.settings import settings

OWN = """
import json
from pathlib import Path

from datasets import Dataset
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import LOAD_DATASET, TEXT_POSTPROCESSORS

from .base import BaseDataset
from .words_of_fork import shout


@LOAD_DATASET.register_module()
class OwnCloneDataset(BaseDataset):
    @staticmethod
    def load(path):
        return Dataset.from_list([{"q": shout(each), "a": "B"} for each in json.loads(Path(path).read_text())])


@TEXT_POSTPROCESSORS.register_module("last-letter-of-clone")
def last_letter(text):
    return text[-1]


class OwnCloneEvaluator(BaseEvaluator):
    def score(self, predictions, references):
        right = [a == b for a, b in zip(predictions, references)]
        return {"accuracy": 100 * sum(right) / len(right)}
"""
CONFIG = """
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import FixKRetriever
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.datasets import OwnCloneDataset, OwnCloneEvaluator

datasets = [dict(
    abbr='own', type={kind}, path={path!r},
    reader_cfg=dict(input_columns=['q'], output_column='a', train_split='test', test_split='test'),
    infer_cfg=dict(
        ice_template=dict(type=PromptTemplate, template='{{q}}={{a}}'),
        prompt_template=dict(type=PromptTemplate, template='</E>{{q}}', ice_token='</E>'),
        retriever=dict(type=FixKRetriever),
        inferencer=dict(type=GenInferencer, fix_id_list=[1]),
    ),
    eval_cfg=dict(
        evaluator=dict(type=OwnCloneEvaluator), pred_postprocessor=dict(type='last-letter-of-clone')
    ),
)]
"""


def made(root: Path, kind: str = "OwnCloneDataset") -> Path:
    """Return a config in a clone."""
    package = root / "opencompass"
    for folder in (package / "openicl", package / "datasets", root / "configs" / "own"):
        folder.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ValueError('all of the fork is not what anybody wants')")
    (package / "datasets" / "__init__.py").write_text("import nothing_of_that_name")
    (package / "datasets" / "own.py").write_text(OWN)
    (package / "datasets" / "words_of_fork.py").write_text("def shout(text):\n    return text.upper()\n")
    rows = root / "rows.json"
    rows.write_text(json.dumps(["one", "two"]))
    config = root / "configs" / "own" / "own_gen.py"
    config.write_text(CONFIG.format(kind=kind, path=str(rows)))
    return config


@pytest.fixture(autouse=True)
def no_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clones, "_roots", {})
    monkeypatch.setattr(code, "_rooms", {})


@pytest.mark.parametrize("kind", ["OwnCloneDataset", "'OwnCloneDataset'"])
def test_classes_of_a_clone_run(kind: str, tmp_path: Path) -> None:
    config = made(tmp_path / kind.strip("'"), kind)
    with settings.context(trust_code=True):
        exams = resolve_tasks([str(config)])
        asked = [question.requests[0].prompt.text for question in exams[0].questions()]
        done = run_exams(exams, ScriptedEngine(answer="A or B"), log=tmp_path / "log.db", output=tmp_path / "run")
    assert asked == ["TWO=B\nONE", "TWO=B\nTWO"]
    assert done.results["own"]["accuracy"] == 100.0
    assert "opencompass.datasets.own" in (tmp_path / "run" / "run.yaml").read_text()


def test_without_trust_nothing_of_a_clone_runs(tmp_path: Path) -> None:
    config = made(tmp_path / "clone")
    with pytest.raises(ProctorError, match="trust-code"):
        run_exams(resolve_tasks([str(config)]), ScriptedEngine(answer="x"))


def test_a_second_clone_is_refused_in_one_process(tmp_path: Path) -> None:
    with settings.context(trust_code=True):
        list(resolve_tasks([str(made(tmp_path / "one"))])[0].questions())
        with pytest.raises(ProctorError, match="a second clone of opencompass"):
            list(resolve_tasks([str(made(tmp_path / "two"))])[0].questions())


def test_a_clone_is_valid_where_it_may_run(tmp_path: Path) -> None:
    config = made(tmp_path / "clone", "'OwnCloneDataset'")
    found = proctor("validate", config)
    assert "there is no dataset type" not in found.stderr
    assert proctor("validate", config, "--trust-code").returncode == 0


MODEL = """
from opencompass.models.base import BaseModel

class OwnCloneModel(BaseModel):
    def __init__(self, path, max_seq_len=2048, letter="A"):
        super().__init__(path=path, max_seq_len=max_seq_len)
        self.letter = letter

    def generate(self, inputs, max_out_len):
        return [self.letter for _ in inputs]
"""


@pytest.mark.parametrize("package", ["opencompass", "ais_bench"])
def test_a_model_of_a_clone_answers(package: str, tmp_path: Path) -> None:
    config = made(tmp_path / "clone")
    root = tmp_path / "clone" / package
    (root / ("openicl" if package == "opencompass" else "benchmark")).mkdir(parents=True, exist_ok=True)
    (root / "__init__.py").touch()
    (root / "own_models.py").write_text(MODEL)
    listed = "models = [dict(type=OwnCloneModel, abbr='own', path='nowhere', letter='B', max_out_len=5)]"
    config.write_text(f"from {package}.models import OwnCloneModel\n{config.read_text()}{listed}\n")
    done = proctor("run", config, "--trust-code", "--output", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "results.json").read_text())["results"]["own"]["accuracy"] == 100.0
    refused = proctor("run", config)
    assert "the model's type OwnCloneModel is code" in refused.stderr


LOOP = """
import os

from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import ICL_EVALUATORS


class LoopEvaluator(BaseEvaluator):
    def __init__(self, share):
        self.share = share

    def score(self, predictions, references):
        os.chdir("/")
        return {"accuracy": self.share}


for share in (1, 10):
    ICL_EVALUATORS.register_module(name=f"LoopEvaluator_{share}", module=lambda share=share: LoopEvaluator(share))
"""


def test_an_evaluator_that_a_clone_registers_in_a_loop_is_found_by_its_name(tmp_path, monkeypatch):
    config = made(tmp_path)
    (tmp_path / "opencompass" / "datasets" / "loop.py").write_text(LOOP)
    config.write_text(config.read_text().replace("type=OwnCloneEvaluator", "type='LoopEvaluator_' + '10'"))
    monkeypatch.chdir(tmp_path)
    with settings.context(trust_code=True):
        run = run_exams(resolve_tasks([str(config)]), ScriptedEngine(answers=["B"]), output=tmp_path / "out")
    assert Path.cwd() == tmp_path
    assert run.results["own"]["accuracy"] == 10.0


def test_its_code_is_that_of_the_module_which_registers_it(tmp_path):
    config = made(tmp_path)
    (tmp_path / "opencompass" / "datasets" / "loop.py").write_text(LOOP)
    (digest,) = clones.code_in_clone(config, "LoopEvaluator_10").items()
    assert digest[0] == "opencompass.datasets.loop"
    assert clones.code_in_clone(config, "OtherEvaluator_10") == {}
