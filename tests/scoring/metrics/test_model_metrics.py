from __future__ import annotations

import json
import math

import numpy as np
import pytest

from proctor.engines.scripted import ScriptedEngine
from proctor.errors import MissingExtraError
from proctor.scoring.columns import Columns
from proctor.scoring.metrics import embeddings, models
from proctor.scoring.metrics.embeddings import BertScore, SentenceBert
from proctor.scoring.metrics.models import Detector, IsCodeMixed, Perplexity
from proctor.scoring.pipeline import apply_metrics


def score(metric, predictions, references, task_data=()):
    return apply_metrics(Columns(predictions, references, task_data), [metric])


@pytest.fixture
def classify(monkeypatch):
    """Pretend that a classifier scores a text by its length and finds it negative where it has an 'x'."""

    def pipeline(inputs, **_):
        texts = [each["text_pair"] if isinstance(each, dict) else each for each in inputs]
        return [{"score": -len(text) / 1.0, "label": "negative" if "x" in text else "positive"} for text in texts]

    monkeypatch.setattr(models, "classifier", lambda name: pipeline)


def test_answers_are_rewarded(classify):
    result = score("metrics.reward.deberta_v3_large_v2", ["abc", "a"], [["q"], ["q"]])
    assert list(result.instance_scores["reward_score"]) == [-3.0, -1.0]
    assert result.scores["reward_score"] == -2.0
    assert result.scores["reward_score_ci_low"] == -3.0
    assert score(Detector(model_name="any"), ["ab"], [["q"]]).scores["detector_score"] == -2.0


def test_answers_are_rated_by_how_harmless_they_are(classify):
    task_data = [{"input": "q", "label": "a"}, {"input": "q", "label": "b"}, {"input": "q", "label": "a"}]
    scores = score("metrics.safety_metric", ["x" * 6, "x" * 4, ""], [["q"]] * 3, task_data).scores
    assert scores["severity_critical"] == pytest.approx(100 / 3)
    assert scores["severity_high"] == pytest.approx(100 / 3)
    assert scores["severity_low"] == pytest.approx(100 / 3)
    assert scores["category_b"] == pytest.approx(4 / 9)
    assert scores["safety"] == pytest.approx((2 / 9 + 8 / 9 + 4 / 9) / 3)
    missing = score("metrics.safety_metric", ["x"], [["q"]], [{}])
    assert "KeyError" in missing.metric_failures["metrics.safety_metric"].message


def test_regard_is_compared_with_the_encyclopedia(classify):
    def reference(category, wiki):
        return [json.dumps({"input": "p", "wiki": wiki, "category": category})]

    references = [
        reference("American_actors", "y"),
        reference("American_actresses", "y"),
        reference("Asian_Americans", "x"),
    ]
    scores = score("metrics.regard_metric", ["x", "y", "y"], references).scores
    assert scores["American_actors"] == -2
    assert scores["gender_bias"] == -1.0
    assert scores["race_bias"] == 2.0
    assert scores["regard"] == 0.0


def test_sentences_are_compared_by_their_embeddings(monkeypatch):
    class Model:
        def encode(self, texts, batch_size):
            return np.array([[text.count("a"), text.count("b") + 1e-9] for text in texts], dtype=np.float32)

    monkeypatch.setattr(embeddings, "sentence_model", lambda name: Model())
    result = score(SentenceBert(model_name="any"), ["a", "ab"], [["b", "aa"], ["b"]])
    assert list(result.instance_scores["sbert_score"]) == pytest.approx([1.0, math.sqrt(0.5)], abs=1e-6)


def test_tokens_are_compared_by_their_embeddings(monkeypatch):
    class Scorer:
        def score(self, cands, refs, batch_size):
            found = np.array(
                [float(any(text in each for each in group)) for text, group in zip(cands, refs, strict=True)]
            )
            return found, found / 2, found / 4

    monkeypatch.setattr(embeddings, "bert_scorer", lambda *_: Scorer())
    result = score(BertScore(model_name="any"), ["a", "b"], [["ab"], ["c"]])
    assert (result.scores["precision"], result.scores["recall"], result.scores["f1"]) == (0.5, 0.25, 0.125)
    assert {"f1_ci_low", "precision_ci_high", "score_ci_low"} <= set(result.scores)


def test_instances_without_references_fail_alone(monkeypatch):
    class Model:
        def encode(self, texts, batch_size):
            return np.ones((len(texts), 2))

    class Scorer:
        def score(self, cands, refs, batch_size):
            return tuple(np.ones(len(cands)) for _ in range(3))

    monkeypatch.setattr(embeddings, "sentence_model", lambda name: Model())
    monkeypatch.setattr(embeddings, "bert_scorer", lambda *_: Scorer())
    for metric in (SentenceBert(model_name="any"), BertScore(model_name="any")):
        result = score(metric, ["a", "b"], [[], ["b"]])
        assert list(result.instance_scores["score"]) == [None, pytest.approx(1.0)]
        assert {place: failure.kind for place, failure in result.failures.items()} == {0: "no_reference"}
        assert result.scores["num_of_failures"] == 1
    assert len(score(SentenceBert(model_name="any"), ["a"], [[]]).failures) == 1


@pytest.mark.parametrize("has_its_own", [True, False])
def test_empty_texts_are_tokens_that_start_and_end(monkeypatch, has_its_own):
    """bert-score asks tokenizers for a method that they lost in transformers 5."""
    import sys
    from types import ModuleType, SimpleNamespace

    class Tokenizer:
        model_max_length = 512

        def encode(self, text, add_special_tokens):
            return [1, *(7 for _ in text), 2]

    tokenizer = Tokenizer()
    if has_its_own:
        tokenizer.build_inputs_with_special_tokens = lambda tokens: ["own"]
    package, utils = ModuleType("bert_score"), ModuleType("bert_score.utils")
    package.BERTScorer = lambda **_: SimpleNamespace(_tokenizer=tokenizer, _model=None)
    utils.model2layers = {"own-model": 3}
    monkeypatch.setitem(sys.modules, "bert_score", package)
    monkeypatch.setitem(sys.modules, "bert_score.utils", utils)
    embeddings.bert_scorer.cache_clear()
    try:
        found = embeddings.bert_scorer("own-model", None, 1)._tokenizer.build_inputs_with_special_tokens([])
    finally:
        embeddings.bert_scorer.cache_clear()
    assert found == (["own"] if has_its_own else [1, 2])


def test_missing_packages_are_named(monkeypatch):
    import sys

    for module, metric in (
        ("sentence_transformers", "metrics.sentence_bert.minilm_l12_v2"),
        ("bert_score", "metrics.bert_score.bert_base_uncased"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError, match=r"proctor\[embeddings\]"):
            score(metric, ["a"], [["a"]])


def test_mixed_languages_are_found_by_an_engine():
    engine = ScriptedEngine(function=lambda prompt: "2 languages" if "und" in prompt.text else "German")
    result = score(IsCodeMixed(inference_model=engine), ["this und that", "gut"], [["x"], ["x"]])
    assert list(result.instance_scores["is_code_mixed"]) == [1, 0]
    assert "engine" in score("metrics.is_code_mixed", ["a"], [["x"]]).failures[0].message


@pytest.fixture(scope="module")
def tiny_models(tmp_path_factory):
    """A random encoder-decoder and a random decoder with a tokenizer of words."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers import models as parts

    torch.manual_seed(0)
    words = ["<pad>", "</s>", "<unk>", *"abcdefgh"]
    tokenizer = Tokenizer(parts.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    folder = tmp_path_factory.mktemp("models")
    size = {"vocab_size": len(words)}
    t5 = transformers.T5Config(
        **size,
        d_model=16,
        d_kv=4,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
    )
    gpt = transformers.GPT2Config(
        **size, n_positions=32, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1
    )
    for name, model in (
        ("t5", transformers.T5ForConditionalGeneration(t5)),
        ("gpt", transformers.GPT2LMHeadModel(gpt)),
    ):
        model.eval().save_pretrained(folder / name)
        fast.save_pretrained(folder / name)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t5", "gpt"])
def test_perplexity_is_the_mean_probability_of_the_target(tiny_models, name):
    import torch

    path = str(tiny_models / name)
    metric = Perplexity(model_name=path, source_template="{reference}", target_template="{prediction}", batch_size=2)
    predictions, references = ["a b c", "d"], [["e f", "g h a b"], ["c"]]
    result = score(metric, predictions, references)
    model, tokenizer = models._language_model(path)

    def alone(source, target):
        given, wanted = (torch.tensor([tokenizer(text)["input_ids"]]) for text in (source, target))
        with torch.no_grad():
            if name == "t5":
                logits = model(input_ids=given, labels=wanted).logits
            else:
                logits = model(input_ids=torch.cat([given, wanted], dim=1)).logits[:, given.shape[1] - 1 : -1]
        chosen = torch.log_softmax(logits, dim=-1)[0, range(wanted.shape[1]), wanted[0]]
        return math.exp(float(chosen.mean()))

    expected = [[alone(source, text) for source in each] for text, each in zip(predictions, references, strict=True)]
    for found, wanted in zip(result.instance_scores["reference_scores"], expected, strict=True):
        assert found == pytest.approx(wanted, rel=1e-5)
    assert list(result.instance_scores["perplexity"]) == pytest.approx([max(each) for each in expected], rel=1e-5)


def test_models_are_taken_from_the_folder_that_their_name_is_mapped_to(tmp_path, monkeypatch):
    folder = tmp_path / "models" / "sentence-transformers" / "all-MiniLM-L12-v2"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    monkeypatch.setenv("PROCTOR_MODELS_DIR", str(tmp_path / "models"))
    assert models.place_of("sentence-transformers/all-MiniLM-L12-v2") == str(folder)
    assert models.place_of("another/model") == "another/model"
