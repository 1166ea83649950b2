from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.data.operator import SequentialOperator
from proctor.errors import ArtifactError, MissingExtraError, PolicyError, ScoringError
from proctor.ir import Exchange, Failure
from proctor.ir.question import Question
from proctor.scoring.columns import ABSENT, Columns
from proctor.scoring.global_metric import GlobalMetric
from proctor.scoring.instance_metric import BulkInstanceMetric, InstanceMetric
from proctor.scoring.map_reduce import MapReduceMetric, MultiTurnMetric, ReductionInstanceMetric
from proctor.scoring.metrics.accuracy import Accuracy, AccuracyFast
from proctor.scoring.metrics.binary import F1Binary
from proctor.scoring.metrics.f1 import F1Fast, F1Resampler
from proctor.scoring.metrics.labels import F1MacroMultiLabel, F1Weighted
from proctor.scoring.metrics.spans import NER
from proctor.scoring.metrics.strings import StringContainment, TokenOverlap
from proctor.scoring.metrics.translation import NormalizedSacrebleu
from proctor.scoring.pipeline import MetricScorers, MetricsList, apply_metrics, grade
from proctor.scoring.reductions import MaxReduction, MeanReduction, RootMeanReduction, SequentialSuccess
from proctor.scoring.text.processor_steps import Processors, ProcessorsOfEach, process, process_each, processor_steps
from proctor.scoring.text.processors import PostProcess
from proctor.scoring.text.text_processors import Lower, LowerCase, Upper
from proctor.statistics.intervals import wilson


class SumAccuracy(InstanceMetric):
    main_score = "sum_accuracy"
    reduction_map = {"mean": ["sum_accuracy"]}
    ci_scores = ["sum_accuracy"]
    prediction_type = int
    relative_tolerance: float = 0

    def compute(self, references, prediction, task_data):
        actual = task_data["num1"] + task_data["num2"]
        return {self.main_score: float(math.isclose(actual, prediction, rel_tol=self.relative_tolerance))}


class Longest(GlobalMetric):
    main_score = "longest"
    prediction_type = str

    def compute(self, references, predictions, task_data):
        if "bomb" in predictions:
            raise ValueError("bomb")
        return {self.main_score: float(max(map(len, predictions)))}


class Lengths(BulkInstanceMetric):
    main_score = "length"
    reduction_map = {"mean": ["length"]}

    def compute(self, references, predictions, task_data):
        return [{"length": len(each)} for each in predictions]


class Squares(MapReduceMetric[float, float]):
    main_score = "squares"

    def map(self, prediction, references, task_data):
        return prediction**2

    def reduce(self, intermediates):
        return {"squares": float(sum(intermediates))}


class MatchMax(ReductionInstanceMetric[str, dict[str, float]]):
    main_score = "match"
    reduction = MaxReduction()

    def map(self, prediction, references, task_data):
        return {"match": float(prediction in references)}


def test_a_metric_written_as_in_the_seed_works():
    task_data = [{"num1": 2, "num2": 3}, {"num1": 300, "num2": 500}, {"num1": -25, "num2": 75}]
    result = grade(Columns([3, 799, 50], [[5], [800], [50]], task_data), [SumAccuracy()])
    assert list(result.instance_scores["sum_accuracy"]) == [0.0, 0.0, 1.0]
    assert list(result.instance_scores["score_name"]) == ["sum_accuracy"] * 3
    rounded = {name: round(value, 2) if isinstance(value, float) else value for name, value in result.scores.items()}
    assert rounded == {
        "num_of_instances": 3,
        "sum_accuracy": 0.33,
        "score": 0.33,
        "score_name": "sum_accuracy",
        "sum_accuracy_ci_low": 0.0,
        "sum_accuracy_ci_high": 1.0,
        "score_ci_low": 0.0,
        "score_ci_high": 1.0,
    }


def test_an_instance_that_raises_fails_and_the_rest_count():
    result = grade(Columns([5, 5], [[5], [5]], [{"num1": 2, "num2": 3}, {}]), [SumAccuracy()])
    assert result.scores["sum_accuracy"] == 1.0
    assert result.scores["num_of_instances"] == 1
    assert result.scores["num_of_failures"] == 1
    assert "KeyError" in result.failures[1].message
    assert result.instance_scores["sum_accuracy"][1] is None


@pytest.mark.parametrize("prediction", [None, 5.5, "5", ["5"]])
def test_a_prediction_of_the_wrong_type_fails(prediction):
    task_data = [{"num1": 2, "num2": 3}] * 2
    result = grade(Columns([5, prediction], [[5], [5]], task_data), [SumAccuracy()])
    assert result.failures[1].kind == "wrong_type"
    assert "int" in result.failures[1].message


def test_references_of_the_wrong_shape_fail():
    columns = Columns([5, 5, 5], [5, ["5"], [5]], [{"num1": 2, "num2": 3}] * 3)
    assert sorted(grade(columns, [SumAccuracy()]).failures) == [0, 1]
    single = SumAccuracy(single_reference_per_prediction=True)
    result = grade(Columns([5, 5], [[5, 6], [5]], [{"num1": 2, "num2": 3}] * 2), [single])
    assert "exactly one reference" in result.failures[0].message


def test_a_global_metric_is_computed_on_all_and_on_each():
    result = grade(Columns(["a", "bbb", "cc"], [["x"]] * 3), [Longest()])
    assert result.scores["longest"] == 3.0
    assert list(result.instance_scores["longest"]) == [1.0, 3.0, 2.0]
    assert result.scores["score_ci_low"] <= 3.0
    without = grade(Columns(["a", "bbb"], [["x"]] * 2), [Longest(process_single_instances=False, n_resamples=0)])
    assert all(math.isnan(value) for value in without.instance_scores["longest"])
    assert "score_ci_low" not in without.scores


def test_a_global_metric_leaves_out_the_instance_that_breaks_it():
    result = grade(Columns(["a", "bomb", "cc"], [["x"]] * 3), [Longest()])
    assert result.scores["longest"] == 2.0
    assert result.scores["num_of_instances"] == 2
    assert list(result.failures) == [1]
    assert list(result.instance_scores["longest"]) == [1.0, None, 2.0]


def test_a_metric_that_never_works_is_a_failure_of_the_metric():
    class Broken(GlobalMetric):
        main_score = "broken"
        process_single_instances = False

        def compute(self, references, predictions, task_data):
            raise ZeroDivisionError("by zero")

    result = grade(Columns(["a"], [["a"]]), ["metrics.accuracy", Broken()])
    assert result.scores["score"] == 1.0
    assert math.isnan(result.scores["broken"])
    assert "by zero" in result.metric_failures["Broken"].message
    assert "by zero" in result.scores["metric_failures"]["Broken"]


def test_a_model_that_cannot_be_loaded_is_a_failure_of_the_metric():
    class Loading(BulkInstanceMetric):
        main_score = "loading"
        reduction_map = {"mean": ["loading"]}
        _calls = 0

        def compute(self, references, predictions, task_data):
            self._calls += 1
            raise OSError("no such model")

    metric = Loading()
    result = grade(Columns(["a"] * 5, [["a"]] * 5), ["metrics.accuracy", metric])
    assert result.scores["accuracy"] == 1.0
    assert result.metric_failures["Loading"].message == "OSError: no such model"
    assert metric._calls == 1
    assert not result.failures


def test_a_missing_package_is_raised_with_what_to_install():
    class Needy(InstanceMetric):
        main_score = "needy"
        reduction_map = {"mean": ["needy"]}

        def compute(self, references, prediction, task_data):
            import no_such_package_anywhere  # noqa: F401

    with pytest.raises(MissingExtraError, match="pip install no_such_package_anywhere"):
        grade(Columns(["a"], [["a"]]), [Needy()])

    class NeedyClass(Needy):
        _requirements_list = {"no_such_package_anywhere": "get it from the cellar"}

    with pytest.raises(MissingExtraError, match="cellar"):
        NeedyClass()


def test_bulk_metrics_score_all_at_once_and_one_by_one_where_that_fails():
    result = grade(Columns(["a", 5, "ccc"], [["x"]] * 3), [Lengths()])
    assert result.scores["length"] == 2.0
    assert list(result.failures) == [1]
    assert {"length_ci_low", "score_ci_high"} <= set(result.scores)


def test_a_weighted_win_rate_counts_ties_as_half():
    class Battles(BulkInstanceMetric):
        main_score = "battles"
        reduction_map = {"weighted_win_rate": ["battles"]}

        def compute(self, references, predictions, task_data):
            return [{"battles": each} for each in predictions]

    assert grade(Columns([3, -1, 0], [["x"]] * 3), [Battles()]).scores["battles"] == 4 / 6


def test_map_reduce_metrics_bootstrap_what_they_reduce():
    result = grade(Columns([1.0, 2.0, 3.0], [[0.0]] * 3), [Squares(score_prefix="my_")])
    assert result.scores["my_squares"] == 14.0
    assert result.scores["score_name"] == "my_squares"
    assert result.scores["my_squares_ci_low"] < 14.0 < result.scores["my_squares_ci_high"]
    assert list(result.instance_scores["my_squares"]) == [1.0, 4.0, 9.0]


def test_maxima_are_reduced_with_their_interval():
    result = grade(Columns(["a", "b"], [["a"], ["c"]]), [MatchMax()])
    assert result.scores["match"] == 1.0


def test_scores_may_be_taken_from_other_fields():
    columns = Columns(["x"], [["x"]], [{"mine": "a", "theirs": {"gold": ["a", "b"]}}])
    metric = AccuracyFast(prediction_field="mine", reference_field="theirs/gold")
    assert grade(columns, [metric]).scores["accuracy"] == 1.0
    missing = grade(columns, [AccuracyFast(prediction_field="nowhere")])
    assert missing.failures[0].kind == "missing_field"


def test_groups_are_reduced_as_units_or_by_instance():
    class Fixed(Accuracy):
        subgroup_column = "kind"
        reduction_map = {"group_mean": {"agg_func": ["gap", lambda by: np.mean(by["a"]) - np.mean(by["b"]), True]}}

    class Free(Accuracy):
        reduction_map = {"group_mean": {"agg_func": ["top", max, False]}}

    task_data = [{"group_id": number // 2, "kind": "ab"[number % 2]} for number in range(8)]
    columns = Columns(["x", "y"] * 3 + ["y", "y"], [["x"]] * 8, task_data)
    fixed = grade(columns, [Fixed()]).scores
    assert fixed["fixed_group_gap_accuracy"] == fixed["score"] == 0.75
    assert fixed["score_name"] == "fixed_group_gap_accuracy"
    assert "fixed_group_gap_accuracy_ci_low" in fixed
    assert grade(columns, [Free()]).scores["group_top_accuracy"] == 0.75


def test_turns_of_a_conversation_are_reduced_in_order():
    task_data = [
        {"conversation": {"id": f"c{number // 3}", "dialog": ["turn"] * (2 * (number % 3) + 2)}} for number in range(6)
    ]
    metric = MultiTurnMetric(metric=AccuracyFast(), in_group_reduction=SequentialSuccess())
    result = grade(Columns(["a", "a", "b", "b", "a", "a"], [["a"]] * 6, task_data), [metric])
    assert result.scores["accuracy"] == pytest.approx((2 / 3 + 0) / 2)
    assert list(result.instance_scores["accuracy"]) == [1, 1, 0, 0, 1, 1]


def test_metric_lists_stand_for_their_metrics():
    chosen = MetricsList(items=["metrics.f1_micro", "metrics.accuracy"])
    assert set(grade(Columns(["a"], [["a"]]), [chosen]).scores) >= {"f1_micro", "accuracy"}
    assert len(chosen) == 2
    assert [metric.main_score for metric in chosen] == ["f1_micro", "accuracy"]
    with pytest.raises(ScoringError, match="no metric"):
        grade(Columns(["a"], [["a"]]), [])
    with pytest.raises(ScoringError, match="not a metric"):
        grade(Columns(["a"], [["a"]]), ["processors.lower_case"])
    with pytest.raises(ArtifactError, match=r"metrics\.acuracy"):
        grade(Columns(["a"], [["a"]]), ["metrics.acuracy"])


def test_data_that_a_metric_may_not_see_is_refused():
    metric = AccuracyFast(data_classification_policy=["public"])
    assert grade(Columns(["a"], [["a"]], classes=[["public", "x"]]), [metric]).scores["score"] == 1.0
    with pytest.raises(PolicyError, match="proprietary"):
        grade(Columns(["a"], [["a"]], classes=[["proprietary"]]), [metric])


def test_stale_intervals_of_another_metric_do_not_stay():
    metrics = [AccuracyFast(n_resamples=None), F1Fast(main_score="f1_micro", averages=["micro"])]
    scores = grade(Columns(["a", "b", "a"], [["a"]] * 3), metrics).scores
    assert scores["score_name"] == "accuracy"
    assert "score_ci_low" not in scores
    assert "f1_micro_ci_low" in scores


labels = st.sampled_from(["a", "b", "c", "", "ä"])


@settings(deadline=None, max_examples=12)
@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=25))
def test_f1_equals_scikit_learns(pairs):
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    predictions, golds = zip(*pairs, strict=True)
    present = list(dict.fromkeys(golds))
    scores = grade(Columns(predictions, [[gold] for gold in golds]), [F1Fast(n_resamples=None)]).scores
    for name, average in (("f1_macro", "macro"), ("f1_micro", "micro")):
        expected = sklearn_metrics.f1_score(golds, predictions, average=average, labels=present, zero_division=0)
        assert scores[name] == pytest.approx(expected, abs=1e-12)
    each = sklearn_metrics.f1_score(golds, predictions, average=None, labels=present, zero_division=0)
    assert [scores[f"f1_{label}"] for label in present] == pytest.approx(list(each), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(labels, labels), min_size=2, max_size=15), st.booleans())
def test_f1_resamples_counts_as_if_they_were_labels(pairs, small):
    from proctor.scoring.metrics import f1
    from proctor.statistics.resampling import Opaque

    metric = F1Fast()
    intermediates = [f1.LabelPair(*pair) for pair in pairs]
    names = ["f1_macro", "f1_micro", f"f1_{pairs[0][1]}"]
    fast = metric.resampler(intermediates, names)
    assert isinstance(fast, F1Resampler)

    def slow(row: Any) -> list[float]:
        scores = metric.reduce([intermediates[i] for i in row])
        return [scores.get(name, math.nan) for name in names]

    opaque = Opaque(len(pairs), slow)
    rows = np.random.default_rng(0).integers(0, len(pairs), (9, len(pairs)))
    before = f1.SMALL_TABLE
    f1.SMALL_TABLE = before if small else 0
    try:
        assert fast.resampled(rows) == pytest.approx(opaque.resampled(rows), nan_ok=True)
        assert fast.leave_one_out() == pytest.approx(opaque.leave_one_out(), nan_ok=True)
    finally:
        f1.SMALL_TABLE = before


def test_instances_have_only_the_class_scores_they_have():
    result = grade(Columns(["a", "b"], [["a"], ["c"]]), ["metrics.f1_macro"])
    assert result.instance_scores["f1_a"][1] is ABSENT
    assert result.instance_scores["f1_c"][1] == 0.0


def test_no_interval_has_width_0():
    scores = grade(Columns(["a"] * 5, [["a"]] * 5), ["metrics.accuracy"]).scores
    assert (scores["accuracy_ci_low"], scores["accuracy_ci_high"]) == wilson(5, 5)
    wrong = grade(Columns(["b"] * 4, [["a"]] * 4), ["metrics.f1_macro", "metrics.squad", "metrics.rouge"]).scores
    for name in ("score", "f1_macro", "f1", "rougeL"):
        assert (wrong[f"{name}_ci_low"], wrong[f"{name}_ci_high"]) == wilson(0, 4)
    one = grade(Columns(["a"], [["a"]]), ["metrics.accuracy"]).scores
    assert (one["score_ci_low"], one["score_ci_high"]) == wilson(1, 1)
    lengths = grade(Columns(["aa"] * 4, [["aa"]] * 4), ["metrics.char_edit_distance", "metrics.wer"]).scores
    assert not [name for name in lengths if name.endswith(("_ci_low", "_ci_high"))]  # an edit distance has no end


def test_reductions_leave_out_nan():
    assert MeanReduction().reduce([{"a": 1.0}, {"a": math.nan}, {"a": 2.0, "b": 4.0}]) == {"a": 1.5, "b": 4.0}
    assert RootMeanReduction().reduce([{"a": 4.0}]) == {"a": 2.0}
    assert MaxReduction().reduce([{"a": 4.0}, {"a": math.nan}]) == {"a": 4.0}


def test_predictions_that_failed_are_passed_on_with_their_reason():
    result = apply_metrics(Columns([Failure("timeout", "late"), "a"], [["a"], ["a"]]), ["metrics.accuracy"])
    assert result.failures[0].kind == "timeout"
    assert result.scores["num_of_instances"] == 1


def test_what_is_wrong_with_an_instance_is_said_in_words():
    columns = Columns([None, 5, "yes", "yes"], [["yes"], ["yes"], "yes", []], [{}] * 4)
    found = grade(columns, ["metrics.accuracy"], ["processors.lower_case"])
    assert {position: failure.kind for position, failure in found.failures.items()} == {
        0: "no_prediction", 1: "wrong_type", 2: "wrong_type", 3: "no_reference",
    }  # fmt: skip
    assert found.failures[0].message == "there is no prediction (None)"
    assert "of type int" in found.failures[1].message
    assert found.failures[2].message == "the references are of type str, not a list"
    assert found.failures[3].message.startswith("metrics.accuracy needs a reference, and there is none")
    assert found.scores["num_of_failures"] == 4


@pytest.mark.parametrize("wrong", [None, 5])
def test_what_is_no_metric_is_refused(wrong):
    with pytest.raises(ArtifactError, match="an artifact is wanted"):
        apply_metrics(Columns(["a"], [["a"]]), [wrong])


ROWS = Columns(["A", Failure("timeout", "late"), "c"], [["A"], ["B"], ["C"]], [{"n": 1}, {"n": 2}, {"n": 3}])


def test_an_operator_on_rows_leaves_failures_as_they_are():
    (step,) = processor_steps([{"__type__": "copy", "field": "references/0", "to_field": "prediction"}])
    assert step.scope == "row"
    found = step.process(ROWS)
    assert found.predictions == ["A", ROWS.predictions[1], "C"]
    assert found.references == [["A"], ["B"], ["C"]]
    (odd,) = processor_steps([{"__type__": "copy", "field": "references/0/x", "to_field": "prediction"}])
    assert all(isinstance(each, Failure) for each in odd.process(ROWS).predictions)


def test_an_operator_on_streams_sees_everything_and_keeps_the_number():
    (step,) = processor_steps([{"__type__": "set", "fields": {"prediction": "same"}, "apply_to_streams": None}])
    assert step.process(ROWS.select([0, 2])).predictions == ["same", "same"]
    (cut,) = processor_steps([{"__type__": "filter_by_condition", "values": {"prediction": "A"}, "condition": "eq"}])
    assert cut.scope == "column"
    assert cut.process(ROWS.select([0])).predictions == ["A"]
    with pytest.raises(ScoringError, match="changed the number"):
        cut.process(ROWS.select([0, 2]))


def test_equal_processors_of_questions_are_the_same_steps():
    def question(processors):
        return Question(0, {}, Exchange(()), (), processors=processors)

    steps_of = ProcessorsOfEach(["processors.lower_case", "processors.lower_cas"])
    first = steps_of(question(["processors.lower_case"]))
    assert [step.name for step in first] == ["processors.lower_case"]
    assert steps_of(question(["processors.lower_case"])) is first
    assert steps_of(question(None)) == ()
    given = [{"__type__": "set", "fields": {"prediction": "x"}}]
    assert steps_of(question(given)) is steps_of(question([dict(reversed(given[0].items()))])) is not first
    (problem,) = steps_of.check()
    assert "processors.lower_cas" in problem.what
    assert list(ProcessorsOfEach().check()) == []


def test_references_that_cannot_be_processed_are_failures():
    (step,) = processor_steps([{"__type__": "post_process", "operator": {"__type__": "cast", "to": "int"}}])
    found = step.process(Columns(["1", "2", "3"], [["1"], ["two"], "3"]))
    assert found.predictions == [1, 2, 3]
    assert found.references[0] == [1]
    assert "two" in found.references[1].message
    assert "not a list" in found.references[2].message


@pytest.mark.parametrize(
    "columns, message",
    [
        (Columns(["a"], [["a"], ["b"]]), "there are 1 predictions for 2 instances"),
        (Columns([], [["a"], ["b"]]), "there are 0 predictions for 2 instances"),
        (Columns(["a", "b", "c"], [["a"], ["b"]]), "there are 3 predictions for 2 instances"),
        (Columns(["a", "b"], [["a"], ["b"]], [{}]), "there are 1 task_data for 2 instances"),
        (Columns(["a", "b"], [["a"], ["b"]], responses=[()]), "there are 1 responses for 2 instances"),
        (Columns([], []), "there is no instance to score"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, message):
    with pytest.raises(ScoringError, match=message):
        grade(columns, ["metrics.accuracy"])


def test_a_processor_of_one_field_leaves_the_others_alone():
    raw = Columns(["A"], [["B"]])
    for where in ({"field": "prediction"}, {"field_to_field": {"prediction": "prediction"}}):
        (step,) = processor_steps([Lower(**where)])
        found = step.process(raw)
        assert (found.predictions, found.references) == (["a"], [["B"]])
    (everything,) = processor_steps([Lower()])
    found = everything.process(raw)
    assert (found.predictions, found.references) == (["a"], [["b"]])


def test_a_processor_has_the_name_that_somebody_wrote_or_that_of_its_class():
    (named,) = processor_steps(["processors.lower_case"])
    (plain,) = processor_steps([Lower(field="prediction")])
    (inner,) = processor_steps([Lower()])
    assert (named.name, plain.name, inner.name) == ("processors.lower_case", "Lower", "PostProcess")
    for step, word in ((named, "processors.lower_case"), (plain, "Lower"), (inner, "Lower")):
        (failure,) = step.process(Columns([5], [["a"]])).predictions
        assert f"processor {word}" in f"{failure.kind}: {failure.message}"
        assert not failure.retryable  # asking the model again would not help


def test_only_what_makes_one_answer_of_several_takes_repeats():
    steps = processor_steps(["take_first", "processors.lower_case", Lower(field="prediction")])
    assert [step.scope for step in steps] == ["repeats", "row", "row"]


def test_what_is_no_processor_is_known_before_anybody_is_asked():
    unfit = Processors(["metrics.accuracy"])
    ((problem,),) = (step.check() for step in unfit)
    assert problem.what == "'metrics.accuracy' is a AccuracyFast, not a processor"
    (same,) = ProcessorsOfEach(["metrics.accuracy", "processors.lower_case"]).check()
    assert same == problem


def test_processors_are_a_sequence_with_a_reason_where_one_cannot_be_had():
    sequence = SequentialOperator(steps=[Lower(field="prediction"), LowerCase(field="prediction")])
    steps = Processors([sequence, "processors.lower_cas", "processors.lower_case"])
    assert len(steps) == 4  # a sequence is its steps
    assert [step.name for step in steps] == ["Lower", "LowerCase", "processors.lower_cas", "processors.lower_case"]
    assert steps[-1].name == "processors.lower_case"
    assert [step.name for step in steps[:2]] == ["Lower", "LowerCase"]
    missing = steps[2]
    assert missing.scope == "row"
    with pytest.raises(ArtifactError, match=r"processors\.lower_cas'"):
        missing.process(Columns(["a"], [["a"]]))


def test_metrics_are_a_sequence_with_a_reason_where_one_cannot_be_had():
    both = MetricsList(items=["metrics.f1_micro", "metrics.accuracy"])
    metrics = MetricScorers([both, "metrics.accurac"])
    assert (len(metrics), metrics.leading) == (3, 2)
    assert [metric.name for metric in metrics[:2]] == ["metrics.f1_micro", "metrics.accuracy"]
    assert MetricScorers(["metrics.accuracy", both]).leading == 1
    missing = metrics[2]
    assert (missing.name, missing.needs) == ("metrics.accurac", frozenset())
    assert [each.what for each in missing.check()] == ["no catalog has 'metrics.accurac'"]
    with pytest.raises(ArtifactError, match=r"metrics\.accurac'"):
        missing.measure(Columns(["a"], [["a"]]))
    assert MetricScorers(["metrics.accurac"]).leading == 1


def test_questions_with_other_processors_have_other_steps():
    def steps_for(*processors):
        return steps_of(Question(0, {}, Exchange(()), (), processors=processors))

    steps_of = ProcessorsOfEach()
    lower, upper = steps_for("processors.lower_case"), steps_for("processors.upper_case")
    assert [each.name for each in (*lower, *upper)] == ["processors.lower_case", "processors.upper_case"]
    assert steps_for("processors.lower_case") is lower
    assert steps_for(Lower()) is steps_for(Lower()) is not steps_for(Lower(field="prediction"))
    inside = [{"__type__": "post_process", "operator": each} for each in (Lower(), Lower(), Upper())]
    assert steps_for(inside[0]) is steps_for(inside[1]) is not steps_for(inside[2])
    one, other = ({"__type__": "set", "fields": {"prediction": answer}} for answer in "xy")
    assert steps_for(one) is steps_for(dict(one)) is not steps_for(other)


def test_instances_with_other_processors_are_processed_apart_and_stay_in_order():
    raw = Columns(["A", "b", "C", "d"], [["A"], ["b"], ["C"], ["d"]], [{}] * 4)
    lower, upper = ["processors.lower_case"], ["processors.upper_case"]
    found = process_each(raw, [lower, upper, None, list(lower)])
    assert (found.predictions, found.references) == (["a", "B", "C", "d"], [["a"], ["B"], ["C"], ["d"]])
    assert process_each(raw, [lower] * 4).predictions == ["a", "b", "c", "d"]
    assert process_each(raw, [None, [], None, []]).predictions == raw.predictions
    with pytest.raises(ScoringError, match="there are 3 lists of processors for 4 instances"):
        process_each(raw, [lower] * 3)


def test_processors_work_on_what_they_are_told_to():
    raw = Columns(["A"], [["B"]])
    answers = process(raw, [PostProcess(operator=Lower(), process_references=False)])
    assert (answers.predictions, answers.references) == (["a"], [["B"]])
    golds = process(raw, [PostProcess(operator=Lower(), process_prediction=False)])
    assert (golds.predictions, golds.references) == (["A"], [["b"]])


def test_a_processor_may_look_at_the_fields_of_its_instance():
    fields = [{"options": ["red", "green"]}, {"options": ["blue", "black"]}, {}]
    found = process(
        Columns(["gren", "blu", "x"], [["rad"], ["blak"], ["x"]], fields), ["processors.match_closest_option"]
    )
    assert found.predictions[:2] == ["green", "blue"]
    assert found.references[:2] == [["red"], ["black"]]
    assert "no options in 'options'" in found.predictions[2].message


def test_failures_pass_through_processors_as_they_are():
    late, bad = Failure("timeout", "late"), Failure("wrong_type", "odd")
    raw = Columns(["A", late, "C"], [["A"], ["B"], bad])
    found = process(raw, ["processors.lower_case", "processors.to_string_stripped"])
    assert found.predictions == ["a", late, "c"]
    assert found.references == [["a"], ["b"], bad]


@pytest.mark.parametrize("references", ["yes", b"yes", {"yes": 1}, 5, None])
def test_references_that_are_not_a_list_are_a_failure(references):
    (found,) = process(Columns(["a"], [references]), ["processors.to_string_stripped"]).references
    assert found.kind == "wrong_type"
    assert found.message == f"the references are of type {type(references).__name__}, not a list"
    assert not found.retryable


def test_what_is_wrong_with_an_answer_is_not_worth_asking_again():
    found = process(Columns([None, 5, "a"], [["a"]] * 3), ["processors.lower_case"]).predictions
    assert [(each.kind, each.retryable) for each in found[:2]] == [("no_prediction", False), ("wrong_type", False)]


def test_a_grade_has_the_answers_before_and_after_processors():
    raw = Columns([" A ", "b"], [["A"], ["B "]])
    found = grade(raw, ["metrics.accuracy"], ["processors.to_string_stripped", "processors.lower_case"])
    assert found.predictions == [" A ", "b"]
    assert found.processed_predictions == ["a", "b"]
    assert found.processed_references == [["a"], ["b"]]
    assert (found.scores["accuracy"], list(found.instance_scores["accuracy"])) == (1.0, [1.0, 1.0])


def test_intervals_and_instance_scores_may_be_left_out():
    columns = Columns(["a", "b", "a"], [["a"]] * 3)
    for found in (
        grade(columns, ["metrics.f1_macro"], intervals=False),
        apply_metrics(columns, ["metrics.f1_macro"], intervals=False),
    ):
        assert not [name for name in found.scores if "_ci_" in name]
        assert "f1_macro" in found.instance_scores
    for found in (
        grade(columns, ["metrics.f1_macro"], instances=False),
        apply_metrics(columns, ["metrics.f1_macro"], instances=False),
    ):
        assert "f1_macro_ci_low" in found.scores
        assert not found.instance_scores


FITTING = [{"options": ["a"]}] * 2


@pytest.mark.parametrize(
    "processor, columns",
    [
        ("processors.lower_case", Columns(["a"], [["a"], ["b"]], FITTING)),
        ("processors.lower_case", Columns(["a", "b"], [["a"]], FITTING)),
        ("processors.match_closest_option", Columns(["a", "b"], [["a"]], FITTING)),
        ("processors.match_closest_option", Columns(["a", "b", "c"], [["a"]] * 3, FITTING)),
        (PostProcess(operator=Lower(), process_prediction=False), Columns(["a", "b"], [["a"]])),
        (Lower(field="prediction"), Columns(["a"], [["a"], ["b"]])),
        (Lower(field="prediction"), Columns(["a", "b", "c"], [["a"]] * 3, FITTING)),
    ],
)
def test_nothing_is_cut_where_columns_do_not_fit(processor, columns):
    with pytest.raises(ValueError, match="zip"):
        process(columns, [processor])


class Shouting(InstanceMetric):
    """A metric that says whatever its factor says."""

    factor: float = 1.0
    reduction_map = {"mean": ["volume"]}

    def compute(self, references, prediction, task_data):
        return {"volume": self.factor}


@pytest.mark.parametrize(
    "metric",
    [
        "metrics.f1_weighted",
        "metrics.bleu",
        "metrics.wer",
        "metrics.squad",
        "metrics.max_f1_binary",
        "metrics.max_accuracy_binary",
        "metrics.ner",
        "metrics.relaxed_correctness",
        "metrics.websrc_squad_f1",
        "metrics.f1_micro_multi_label",
        "metrics.accuracy",
    ],
)
def test_where_no_answer_came_no_metric_is_at_fault(metric):
    failed = Failure("engine", "no answer", retryable=True)
    grade = apply_metrics(Columns([failed] * 3, [["a"]] * 3, [{}] * 3), [metric])
    assert math.isnan(grade.scores["score"])
    assert (grade.scores["num_of_instances"], len(grade.failures), grade.metric_failures) == (0, 3, {})


@pytest.mark.parametrize(
    "metric",
    [Accuracy(ci_scores=["accurcy"]), TokenOverlap(ci_scores=["f1", "accurcy"], reduction_map={"max": ["f1"]})],
)
def test_an_interval_of_a_score_that_there_is_not_is_refused_by_name(metric):
    grade = apply_metrics(Columns(["a", "b"], [["a"]] * 2, [{}] * 2), [metric])
    (why,) = [failure.message for failure in grade.metric_failures.values()]
    assert "has no score 'accurcy' to give an interval" in why


def test_a_score_that_two_metrics_have_is_told_of_once(heard):
    columns = Columns(["a b", "b"], [["a"], ["b"]], [{}] * 2)
    two = [Shouting(main_score="volume"), Shouting(main_score="volume", factor=2.0)]
    for _ in "ab":
        assert apply_metrics(columns, two).scores["volume"] == 1.0
    assert [record.getMessage() for record in heard.records] == [
        (
            "several metrics (Shouting, Shouting) have a score 'volume', and that of the first is listed: "
            "give the others a score_prefix, or a run of their own"
        )
    ]
    heard.clear()
    apply_metrics(columns, [two[0], Shouting(main_score="volume", score_prefix="x_")])
    apply_metrics(columns, ["metrics.accuracy", "metrics.accuracy[n_resamples=10]"])
    assert not heard.records


def test_a_metric_that_a_program_derives_sees_the_task():
    def compute(self, references, prediction, task_data):
        return TokenOverlap.compute(self, [task_data["instruction"]], prediction, task_data)

    derived = type("Leaking", (TokenOverlap,), {"compute": compute, "__module__": "a_program"})
    grade = apply_metrics(Columns(["be nice"], [["x"]], [{"instruction": "Be nice."}]), [derived()])
    assert grade.scores["f1"] == 1.0
    assert not TokenOverlap.reads_task_data


ANSWERS = {
    "": Columns(["a", "b", "a b", "a", "c", "a b"], [["a"], ["a"], ["a b"], ["a"], ["a b"], ["a b"]], [{}] * 6),
    "F1MacroMultiLabel": Columns([["a"], ["b"], ["a", "b"], []], [[["a"]], [["a"]], [["a", "b"]], [["b"]]], [{}] * 4),
    "F1Binary": Columns([1.0, 0.0, 1.0, 0.2, 1.0], [[1.0], [1.0], [1.0], [0.0], [0.0]], [{}] * 5),
    "NER": Columns([[("a", "X")], [], [("b", "Y")], [("a", "X")]], [[[("a", "X")]], [[("a", "X")]]] * 2, [{}] * 4),
}


@pytest.mark.parametrize(
    "base, method, fields",
    [
        (AccuracyFast, "reduce", {}),
        (F1Fast, "reduce", {"main_score": "f1_micro", "averages": ["micro"]}),
        (NormalizedSacrebleu, "reduce", {}),
        (StringContainment, "reduce", {}),
        (F1Weighted, "compute", {}),
        (F1MacroMultiLabel, "compute", {}),
        (F1Binary, "compute", {}),
        (NER, "compute", {}),
    ],
)
def test_intervals_are_of_what_a_program_computes(base, method, fields):
    """The quick resamplers of the built-in metrics stand for their own formulas."""

    def tenfold(self, *given, **named):
        scores = getattr(base, method)(self, *given, **named)
        return {name: value * 10 if isinstance(value, float) else value for name, value in scores.items()}

    endless = {
        "unit": "raw",
        "__module__": "a_program",
    }  # at the ends of a scale an interval knows more than a resampling
    same, derived = type("Same", (base,), endless), type("Tenfold", (base,), {method: tenfold, **endless})
    columns = ANSWERS[base.__name__ if base.__name__ in ANSWERS else ""]
    plain, scaled = (apply_metrics(columns, [made(**fields)]).scores for made in (same, derived))
    assert scaled["score"] == pytest.approx(plain["score"] * 10)
    if "score_ci_low" in plain:
        bounds = [scaled["score_ci_low"], scaled["score_ci_high"]]
        assert bounds == pytest.approx([plain["score_ci_low"] * 10, plain["score_ci_high"] * 10])


@pytest.mark.parametrize("method", ["reduce", "reduce_one"])
def test_instance_scores_are_of_what_a_program_reduces(method):
    def tenfold(self, given):
        return {name: value * 10 for name, value in getattr(F1Fast, method)(self, given).items()}

    derived = type("Tenfold", (F1Fast,), {method: tenfold, "__module__": "a_program"})
    grade = apply_metrics(ANSWERS[""], [derived(main_score="f1_micro", averages=["micro"])])
    assert list(grade.instance_scores["f1_micro"]) == [10.0, 0.0, 10.0, 10.0, 0.0, 10.0]


def test_an_interval_is_of_a_programs_own_reduction():
    class Halved(MeanReduction):
        def reduce_list(self, lst):
            return super().reduce_list(lst) / 2

    class Endless(AccuracyFast):
        unit = "raw"

    plain = apply_metrics(ANSWERS[""], [Endless()]).scores
    halved = apply_metrics(ANSWERS[""], [Endless(reduction=Halved())]).scores
    assert halved["score_ci_high"] == pytest.approx(plain["score_ci_high"] / 2)
