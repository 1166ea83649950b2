from __future__ import annotations

import json
import math

import pytest

from proctor.errors import ScoringError, UsageError
from proctor.ir import Failure
from proctor.results.evaluate import evaluate, post_process


def make_row(number=0, **changes):
    row = {
        "source": f"question {number}",
        "target": "yes",
        "references": ["yes"],
        "metrics": ["metrics.accuracy"],
        "groups": [],
        "subset": [],
        "media": {"images": [], "audios": []},
        "postprocessors": ["processors.to_string_stripped"],
        "task_data": json.dumps({"text": f"question {number}", "metadata": {}}),
        "data_classification_policy": ["public"],
    }
    return {**row, **changes}


def make_rows(count, **changes):
    return [make_row(number, **changes) for number in range(count)]


def test_results_have_the_rows_with_their_scores():
    results = evaluate([" yes ", "no"], make_rows(2))
    assert results[0]["score"]["instance"] == {"accuracy": 1.0, "score": 1.0, "score_name": "accuracy"}
    assert results[0]["prediction"] == " yes "
    assert results[0]["processed_prediction"] == "yes"
    assert results[0]["processed_references"] == ["yes"]
    assert results[0]["task_data"]["source"] == "question 0"
    assert results.global_scores["accuracy"] == 0.5
    assert results.global_scores.score == results[1]["score"]["global"]["score"] == 0.5
    assert results.global_scores.score_name == "accuracy"
    assert results[0]["score"]["global"] is results[1]["score"]["global"]


@pytest.mark.parametrize(
    "metric, ends",
    [
        ("metrics.accuracy", ["score_name", "score"]),
        ("metrics.token_overlap", ["score", "score_name"]),
        ("metrics.f1_macro", ["score_name", "score"]),
    ],
)
def test_columns_stand_in_the_order_of_unitxt_s_metrics(metric, ends):
    table = evaluate(["yes", "no"], make_rows(2, metrics=[metric])).instance_scores.to_df()
    assert [name for name in table.columns if name.startswith("score")] == ends


def test_global_scores_are_shown_with_intervals():
    rows = make_rows(40, metrics=["metrics.f1_macro"], references=["yes"])
    summary = evaluate(["yes"] * 30 + ["no"] * 10, rows).global_scores.summary
    assert summary == (
        "| score_name   |   score | ci_low   | ci_high   |\n"
        "|:-------------|--------:|:---------|:----------|\n"
        "| f1_macro     |    0.86 | 0.75     | 0.93      |\n"
        "| f1_yes       |    0.86 |          |           |\n"
        "| score        |    0.86 | 0.75     | 0.93      |\n"
        "Main Score: f1_macro\n"
        "Num Instances: 40"
    )


def test_confidence_intervals_can_be_left_out():
    results = evaluate(["yes", "no", "yes"], make_rows(3), calc_confidence_intervals=False)
    assert not [name for name in results.global_scores if "_ci_" in name]


def test_the_first_metric_owns_the_score():
    rows = make_rows(4, metrics=["metrics.f1_micro", "metrics.accuracy", "metrics.accuracy[score_prefix=other_]"])
    scores = evaluate(["yes", "no", "yes", "yes"], rows).global_scores
    assert scores["score_name"] == "f1_micro"
    assert scores["score"] == scores["f1_micro"]
    assert scores["score_ci_low"] == scores["f1_micro_ci_low"]
    assert scores["other_accuracy"] == scores["accuracy"] == 0.75
    assert "other_accuracy_ci_low" in scores


def test_groups_have_scores_of_their_own():
    rows = [
        make_row(
            number,
            groups=[json.dumps({"template": f"t:{number % 2},x"}), json.dumps({"template": "t", "n": number % 3})],
        )
        for number in range(12)
    ]
    results = evaluate(["yes", "no"] * 6, rows)
    assert results.groups_scores["template"]["t:0,x"]["score"] == 1.0
    assert results.groups_scores["template"]["t:1,x"]["num_of_instances"] == 6
    assert set(results.groups_scores["template", "n"]) == {("t", 0), ("t", 1), ("t", 2)}
    assert results.groups_scores.summary.startswith("# Group By: template\n| template   |   score |")
    assert results.global_scores["num_of_instances"] == 12


def test_subsets_are_averaged():
    rows = [make_row(number, subset=["a"] if number < 6 else ["b", f"c{number % 2}"]) for number in range(12)]
    results = evaluate(["yes"] * 9 + ["no"] * 3, rows)
    assert results.subsets_scores["a"]["score"] == 1.0
    assert results.subsets_scores["b"]["c0"]["num_of_instances"] == 3
    assert results.subsets_scores["b"]["score_name"] == "subsets_mean"
    assert results.global_scores.score == pytest.approx((1 + results.subsets_scores["b"]["score"]) / 2)
    assert results.global_scores["num_of_instances"] == 12
    lines = results.subsets_scores.summary.splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["ALL", "a", "b", "b.c0", "b.c1"]


def test_groups_and_subsets_are_missed_with_a_hint():
    results = evaluate(["yes"], make_rows(1))
    with pytest.raises(ScoringError, match="group_by"):
        _ = results.groups_scores
    with pytest.raises(ScoringError, match="Benchmark"):
        _ = results.subsets_scores


def test_failed_instances_are_counted_and_in_no_number():
    predictions = ["yes", Failure("timeout", "no answer"), "no", "yes"]
    results = evaluate(predictions, make_rows(4))
    assert results.global_scores["accuracy"] == pytest.approx(2 / 3)
    assert results.global_scores["num_of_instances"] == 3
    assert results.global_scores["num_of_failures"] == 1
    assert results.failures == {1: {"kind": "timeout", "message": "no answer"}}
    assert results[1]["score"]["instance"]["score"] is None
    assert results.global_scores.summary.endswith("Num Instances: 3 (1 failed)\nFirst failure: no answer")


def test_a_processor_that_cannot_parse_fails_its_instance():
    rows = make_rows(3, postprocessors=["processors.literal_eval"], references=[["a"]])
    results = evaluate(["['a']", "[oops", "['b']"], rows)
    assert list(results.failures) == [1]
    assert "literal" in results.failures[1]["message"]
    assert results.global_scores["num_of_instances"] == 2


def test_all_instances_may_fail():
    results = evaluate([Failure("timeout", "no answer")] * 2, make_rows(2))
    assert math.isnan(results.global_scores.score)
    assert results.global_scores["num_of_instances"] == 0
    assert "2 failed" in results.global_scores.summary


def test_a_prediction_may_be_missing_altogether():
    assert evaluate(None, make_rows(2)).global_scores["accuracy"] == 0.0


@pytest.mark.parametrize("predictions", [[], ["yes"], ["yes"] * 3])
def test_lengths_must_agree(predictions):
    with pytest.raises(ScoringError, match="for 2 instances"):
        evaluate(predictions, make_rows(2))


def test_an_empty_dataset_is_refused():
    with pytest.raises(ScoringError, match="no instance|have nothing"):
        evaluate([], [])


def test_several_splits_are_refused():
    with pytest.raises(ScoringError, match="one split"):
        evaluate(["yes"], {"train": make_rows(1), "test": make_rows(1)})


def test_rows_without_metrics_are_refused():
    with pytest.raises(ScoringError, match="'metrics'"):
        evaluate(["yes"], [{"references": ["yes"], "postprocessors": [], "task_data": "{}"}])


def test_rows_may_have_processors_of_their_own():
    rows = [make_row(0), make_row(1, postprocessors=["processors.upper_case"], references=["yes"])]
    results = evaluate([" yes ", "yes"], rows)
    assert [row["processed_prediction"] for row in results] == ["yes", "YES"]
    assert results.global_scores.score == 1.0


def test_predictions_can_be_processed_alone():
    assert post_process([" a ", "b"], make_rows(2)) == ["a", "b"]


def test_task_data_may_hold_nan_and_be_decoded_already():
    rows = [make_row(0, task_data='{"x": NaN}'), make_row(1, task_data={"x": 1})]
    results = evaluate(["yes", "yes"], rows)
    assert math.isnan(results[0]["task_data"]["x"])
    with pytest.raises(ScoringError, match="not JSON"):
        evaluate(["yes"], [make_row(0, task_data="{")])


def test_a_dataset_of_the_hub_library_is_read_by_column():
    datasets = pytest.importorskip("datasets")
    rows = make_rows(5)
    rows[0]["source"] = json.dumps([{"role": "user", "content": "hello"}])
    dataset = datasets.Dataset.from_list(rows).select([0, 2, 4])
    results = evaluate(["yes", "no", "yes"], dataset)
    assert results[0]["source"] == [{"role": "user", "content": "hello"}]
    assert [row["task_data"]["text"] for row in results] == ["question 0", "question 2", "question 4"]
    assert results.global_scores["accuracy"] == pytest.approx(2 / 3)


def test_instance_scores_become_tables():
    pytest.importorskip("pandas")
    results = evaluate(["yes", "no"], make_rows(2))
    frame = results.instance_scores.to_df(columns=["text", "prediction", "score"])
    assert frame.to_dict("list") == {
        "text": ["question 0", "question 1"],
        "prediction": ["yes", "no"],
        "score": [1.0, 0.0],
    }
    assert list(results.instance_scores.to_df(flatten=False)["score"])[0] is results[0]["score"]
    for wanted in (UsageError, KeyError):  # programs expect what pandas raises
        with pytest.raises(wanted, match="no instance has a column 'predicton'"):
            results.instance_scores.to_df(columns=["text", "predicton"])
    with pytest.raises(KeyError, match="did you mean 'prediction'"):
        results.instance_scores.to_markdown(columns=["predicton"])
    assert results.instance_scores.to_markdown(columns=["prediction"]).splitlines()[2] == "|  0 | yes          |"
    assert "accuracy: 1.0" in results.instance_scores.summary
    global_frame = results.global_scores.to_df()
    assert list(global_frame.columns) == ["score", "ci_low", "ci_high"]
    assert global_frame.loc["accuracy", "score"] == 0.5


def test_scores_print_readably():
    results = evaluate(["yes", "no", "yes"], make_rows(3))
    assert repr(results.global_scores).startswith("accuracy (float):\n    0.67\naccuracy_ci_low (float):\n    0\n")
    assert "    prediction (str):\n        no\n" in repr(results.instance_scores)
    assert results.instances_scores == results.instance_scores


def test_a_metric_that_cannot_be_computed_is_named_in_the_summary():
    rows = make_rows(2, metrics=["metrics.accuracy", "metrics.pearson"], references=[1.0])
    rows = [{**rows[0], "postprocessors": []}]
    results = evaluate([1.0], rows)
    assert "Failed: metrics.pearson: " in results.global_scores.summary
    assert math.isnan(results.global_scores["pearsonr"])


@pytest.mark.parametrize("wrong", ["yes", {"a": 1}, 5])
def test_predictions_are_a_list(wrong):
    with pytest.raises(ScoringError, match="not a list"):
        evaluate(wrong, make_rows(3))


def test_results_say_what_was_evaluated_and_who_predicted():
    from proctor.engines import ScriptedEngine
    from proctor.recipes import create_dataset
    from proctor.tasks import Task

    task = Task(input_fields={"q": str}, reference_fields={"a": str}, prediction_type=str, metrics=["metrics.accuracy"])
    dataset = create_dataset(task=task, test_set=[{"q": "is it", "a": "yes"}], template="templates.empty", split="test")
    found = evaluate(ScriptedEngine(answer="yes").infer(dataset), dataset).metadata
    assert found["dataset"] == {"recipe": "", "split": "test"}
    assert found["predictions"]["inference_engine_type"] == "ScriptedEngine"
    assert set(evaluate(["yes"], list(dataset)).metadata) == {"creation_time"}
