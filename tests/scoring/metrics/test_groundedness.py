"""Faithfulness by HHEM: a model that brings its code along, stood in for by one that counts words."""

import json

import pytest

from proctor.artifacts import fetch_artifact
from proctor.errors import TrustError
from proctor.scoring.columns import Columns
from proctor.scoring.metrics.question_answering import FaithfulnessHHEM
from proctor.scoring.pipeline import apply_metrics
from proctor.settings import settings

CODE = """
import torch
from transformers import PretrainedConfig, PreTrainedModel


class WordsConfig(PretrainedConfig):
    model_type = "words"


class Words(PreTrainedModel):
    config_class = WordsConfig

    def __init__(self, config):
        super().__init__(config)
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.post_init()

    def PREDICT(self, pairs):
        shares = [len(set(b.split()) & set(a.split())) / len(b.split()) for a, b in pairs]
        assert len(pairs) <= 2, "more pairs than batch_size"
        return torch.tensor(shares)
"""


def _model(folder, method="predict"):
    pytest.importorskip("transformers")
    import torch
    from safetensors.torch import save_file

    folder.mkdir()
    classes = {"AutoConfig": "code_of_words.WordsConfig", "AutoModelForSequenceClassification": "code_of_words.Words"}
    (folder / "config.json").write_text(json.dumps({"model_type": "words", "auto_map": classes}))
    (folder / "code_of_words.py").write_text(CODE.replace("PREDICT", method))
    save_file({"weight": torch.zeros(1)}, folder / "model.safetensors", metadata={"format": "pt"})
    return str(folder)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    return tmp_path / "model"


COLUMNS = Columns(["red fox", "a blue fox", "old dog"], [["the red", "fox ran"], ["fox"], ["new dog"]])


@pytest.mark.slow
def test_answers_are_compared_with_all_their_contexts(place):
    metric = FaithfulnessHHEM(model_name=_model(place))
    with settings.context(trust_code=True):
        assert not list(metric.check())
        found = apply_metrics(COLUMNS, [metric])
        cut = apply_metrics(COLUMNS, [FaithfulnessHHEM(model_name=str(place), max_context_words=1)])
    assert list(found.instance_scores["hhem_score"]) == pytest.approx([1.0, 1 / 3, 0.5])
    assert found.scores["hhem_score"] == pytest.approx((1 + 1 / 3 + 0.5) / 3)
    assert list(cut.instance_scores["hhem_score"]) == pytest.approx([0.0, 1 / 3, 0.0])


def test_nothing_of_the_model_runs_without_trust(place):
    metric = FaithfulnessHHEM()
    (problem,) = metric.check()
    assert "brings code of its own" in problem.what
    assert "--trust-code" in problem.hint
    with pytest.raises(TrustError, match="hallucination_evaluation_model"):
        metric.compute([["a"]], ["a"], [{}])


@pytest.mark.slow
def test_a_model_that_scores_no_pairs_is_named(place):
    metric = FaithfulnessHHEM(model_name=_model(place, method="other"))
    with settings.context(trust_code=True):
        found = apply_metrics(COLUMNS, [metric])
    assert "has no method 'predict'" in str(found.failures or found)


@pytest.mark.parametrize(
    "name", ["faithfulness", "response_generation.faithfulness", "end_to_end.faithfulness", "external_rag.faithfulness"]
)
def test_the_catalog_has_it_for_each_kind_of_rows(name):
    pipeline = fetch_artifact(f"metrics.rag.{name}.vectara_hhem_2_1")
    assert isinstance(pipeline.metric, FaithfulnessHHEM)
    assert pipeline.main_score == "hhem_score"
