"""Predictions and references that are none: failures with a count, and never a score without a word."""

import json
import math

import pytest

from proctor import evaluate
from proctor.cli.evaluate import _notes

NAN, INF = math.nan, math.inf
TEXTS = ("accuracy", "f1_macro", "f1_micro", "rouge", "string_containment", "token_overlap", "squad", "bleu", "wer")
GLOBAL = ("matthews_correlation", "normalized_sacrebleu", "f1_weighted")
NUMBERS = ("spearman", "kendalltau_b", "roc_auc")


def scored(metric, predictions, references):
    rows = [
        {"references": [each], "metrics": [f"metrics.{metric}"], "postprocessors": [], "task_data": "{}"}
        for each in references
    ]
    return evaluate(predictions, rows, calc_confidence_intervals=False)


@pytest.mark.parametrize("nothing", [None, NAN, INF, -INF])
@pytest.mark.parametrize("metric", [*TEXTS, *GLOBAL, *NUMBERS])
class TestNothing:
    def test_as_the_only_prediction(self, metric, nothing):
        results = scored(metric, [nothing], [1.0 if metric in NUMBERS else "1"])
        assert {each["kind"] for each in results.failures.values()} == {"no_prediction"}
        assert math.isnan(results.global_scores["score"])
        assert results.global_scores["num_of_instances"] == 0
        assert 2 <= len(list(_notes(results))) <= 3  # the score is said, the failures are, and why a metric gave up

    def test_as_the_only_reference(self, metric, nothing):
        results = scored(metric, [1.0 if metric in NUMBERS else "1"], [nothing])
        assert {each["kind"] for each in results.failures.values()} == {"no_reference"}
        assert math.isnan(results.global_scores["score"])

    def test_beside_others(self, metric, nothing):
        one, two = (0.0, 1.0) if metric in NUMBERS else ("yes it is so", "no it is not")
        results = scored(metric, [one, nothing, two, two, one], [one, one, two, two, nothing])
        assert {place: each["kind"] for place, each in results.failures.items()} == {
            1: "no_prediction",
            4: "no_reference",
        }
        assert results.global_scores["num_of_instances"] == 3


@pytest.mark.parametrize(
    "metric", [each for each in (*TEXTS, *GLOBAL) if each in ("rouge", "bleu", "wer", "token_overlap")]
)
@pytest.mark.parametrize("prediction", [{"a": 1}, ["x"], 1.0, True, b"x"])
def test_wrong_types_are_counted(metric, prediction):
    results = scored(metric, [prediction], ["1"])
    assert {each["kind"] for each in results.failures.values()} == {"wrong_type"}
    assert math.isnan(results.global_scores["score"])


def test_a_score_that_is_no_number_is_said():
    results = scored("spearman", [1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    assert math.isnan(results.global_scores["score"])
    assert any("is nan" in note for note in _notes(results))


def test_lines_of_predictions_that_are_none(tmp_path):
    from proctor.cli.evaluate import read_predictions
    from proctor.errors import DataError

    path = tmp_path / "p.jsonl"
    path.write_text('null\nNaN\n{"prediction": Infinity}\n')
    assert str(read_predictions(path)) == "[None, nan, inf]"
    for line in ("[" * 200_000, "9" * 10_000, json.dumps({"x": 1})):
        path.write_text(line)
        with pytest.raises(DataError):
            read_predictions(path)
