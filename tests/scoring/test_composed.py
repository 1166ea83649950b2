"""Metrics made of metrics: what is said where the inner one has no scores."""

import math

import pytest

from proctor.data.field_operators import Rename
from proctor.errors import EngineError
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.composed import MetricPipeline
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.map_reduce import MapReduceMetric
from proctor.scoring.pipeline import apply_metrics


class Broken(MapReduceMetric[str, float]):
    main_score: str = "f1"

    def map_stream(self, evaluation_inputs_stream):
        raise OSError("the model cannot be loaded")

    def reduce(self, intermediates):
        return {}


class Choosy(InstanceMetric):
    main_score: str = "f1"
    reduction_map: dict[str, list[str]] = {"mean": ["f1", "recall"]}

    def compute(self, references, prediction, task_data):
        if prediction != "fine":
            raise ValueError(f"{prediction} is not fine")
        return {"f1": 1.0, "recall": 0.5}


def graded(metric, predictions):
    pipeline = MetricPipeline(
        main_score="recall",
        metric=metric,
        postprocess_steps=[Rename(field="score/global/f1", to_field="score/global/g1")],
    )
    return apply_metrics(Columns(predictions, [["x"]] * len(predictions), [{}] * len(predictions)), [pipeline])


def test_the_reason_of_the_inner_metric_is_told():
    grade = graded(Broken(), ["a", "b"])
    assert grade.scores["metric_failures"] == {"MetricPipeline": "OSError: the model cannot be loaded"}
    assert math.isnan(grade.scores["recall"])
    assert (grade.scores["score_name"], grade.scores["num_of_instances"]) == ("recall", 0)


def test_what_concerns_the_whole_run_is_raised_although_it_is_an_error_of_files_too():
    class NotFoundError(EngineError, OSError):
        pass

    class Asking(Broken):
        def map_stream(self, evaluation_inputs_stream):
            raise NotFoundError("the model 'm' cannot be loaded")

    for metric in (Asking(), MetricPipeline(main_score="f1", metric=Asking())):
        with pytest.raises(EngineError, match="cannot be loaded"):
            apply_metrics(Columns(["a"], [["x"]], [{}]), [metric])


@pytest.mark.parametrize("predictions", [["a", "b"], [Failure("timeout", "no answer")] * 2])
def test_no_scored_instance_is_no_missing_score(predictions):
    grade = graded(Choosy(), predictions)
    assert "metric_failures" not in grade.scores
    assert math.isnan(grade.scores["recall"])
    assert len(grade.failures) == 2


def test_scores_are_renamed_where_there_are_some():
    grade = graded(Choosy(), ["fine", "a"])
    assert (grade.scores["recall"], grade.scores["g1"], grade.scores["num_of_failures"]) == (0.5, 1.0, 1)
