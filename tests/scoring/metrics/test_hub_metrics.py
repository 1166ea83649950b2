"""What names of the hub's metrics compute, in the hub's own shapes."""

import pytest

from proctor.errors import ScoringError
from proctor.scoring.metrics import hugging_face
from proctor.scoring.metrics.hugging_face import hub_metric, register_hub_metric


@pytest.mark.parametrize(
    "package, name, predictions, references, arguments, scores",
    [
        ("sklearn", "accuracy", [1, 1], [[1], [0]], {}, {"accuracy": 0.5}),
        ("sklearn", "f1", [1, 1, 0], [1, 0, 0], {"average": None}, {"f1": [2 / 3, 2 / 3]}),
        ("sklearn", "precision", [1, 1], [1, 0], {}, {"precision": 0.5}),
        ("sklearn", "recall", [1, 0], [1, 1], {}, {"recall": 0.5}),
        ("sklearn", "mae", [1.0, 3.0], [1.0, 1.0], {}, {"mae": 1.0}),
        ("sklearn", "mse", [1.0, 3.0], [1.0, 1.0], {}, {"mse": 2.0}),
        ("sklearn", "matthews_correlation", [1, 0], [0, 1], {}, {"matthews_correlation": -1.0}),
        ("scipy", "spearmanr", [1, 3, 2], [1, 2, 3], {}, {"spearmanr": 0.5}),
        ("scipy", "pearsonr", [1, 2, 3], [1, 2, 3], {"return_pvalue": True}, {"pearsonr": 1.0, "p-value": 0.0}),
        ("sacrebleu", "chrf", ["a b"], ["a b"], {}, {"score": 100.0, "char_order": 6, "word_order": 0, "beta": 2}),
        ("sacrebleu", "ter", ["a c"], [["a b"]], {}, {"score": 50.0, "num_edits": 1, "ref_length": 2.0}),
        ("jiwer", "wer", ["a c"], ["a b"], {}, {"wer": 0.5}),
        ("math", "exact_match", ["a", "B"], ["a", "b"], {}, {"exact_match": 0.5}),
        ("math", "exact_match", ["a", "B"], ["a", "b"], {"ignore_case": True}, {"exact_match": 1.0}),
    ],
)
def test_a_metric_has_the_hubs_names_and_numbers(package, name, predictions, references, arguments, scores):
    pytest.importorskip(package)
    found = hub_metric(name)(predictions=predictions, references=references, **arguments)
    assert found.keys() == scores.keys()
    for key, value in scores.items():
        assert found[key] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("nested", [True, False])
def test_kinds_of_entities_have_the_hubs_four_numbers(nested):
    pytest.importorskip("seqeval")
    gold, said = ["B-PER", "O", "B-PER"], ["B-PER", "O", "B-LOC"]
    assert hub_metric("seqeval")(predictions=[said], references=[[gold]] if nested else [gold]) == {
        "LOC": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "number": 0},
        "PER": {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "number": 2},
        "overall_precision": 0.5,
        "overall_recall": 0.5,
        "overall_f1": 0.5,
        "overall_accuracy": pytest.approx(2 / 3),
    }


def test_squad_counts_answers_to_questions():
    given, gold = {"id": "1", "prediction_text": "the x"}, {"id": "1", "answers": {"text": ["x"], "answer_start": [0]}}
    assert hub_metric("squad")(predictions=[given], references=[gold]) == {"exact_match": 100.0, "f1": 100.0}


def test_a_name_is_known_where_somebody_has_registered_it(monkeypatch):
    monkeypatch.setattr(hugging_face, "_added", {})
    with pytest.raises(ScoringError, match="the hub metric 'mine' is not built in"):
        hub_metric("mine")
    register_hub_metric("mine", lambda predictions, references: {"mine": len(predictions)})
    assert hub_metric("mine")(predictions=[1], references=[1]) == {"mine": 1}
    with pytest.raises(ScoringError, match="did you mean 'accuracy'"):
        hub_metric("acuracy")
    with pytest.raises(ScoringError, match="runs code that a model wrote"):
        hub_metric("apps_metric")


def test_a_metric_of_texts_needs_to_know_their_language():
    with pytest.raises(ScoringError, match="bertscore needs lang or model_type"):
        hub_metric("bertscore")(predictions=["a"], references=["a"])
