from __future__ import annotations

import json

import pytest

from proctor.artifacts import Artifact
from proctor.errors import EngineError, MissingFieldError
from proctor.ir import Failure
from proctor.recipes.metric_engine import MetricInferenceEngine
from proctor.scoring.grades import Measured

ROWS = [
    {"source": "?", "references": ["blue"], "task_data": json.dumps({"answer": "blue"})},
    {"source": "?", "references": ["red"], "task_data": {"answer": "green"}},
]


def engine(**options) -> MetricInferenceEngine:
    return MetricInferenceEngine(metric="metrics.accuracy", prediction_field="answer", **options)


def test_it_predicts_what_the_metric_says_of_each_instance():
    found = engine().infer(ROWS)
    assert [row["accuracy"] for row in found] == [1.0, 0.0]
    assert found.metadata["model_name"] == "metrics.accuracy"
    assert list(engine()(ROWS)) == list(found)


def test_a_field_that_is_missing_is_named_with_those_there_are():
    with pytest.raises(MissingFieldError, match="answer") as caught:
        engine().infer([{"references": [], "task_data": {"reply": "x"}}])
    assert "reply" in caught.value.why


def test_instances_that_cannot_be_judged_fail_or_are_kept():
    rows = [ROWS[0], {**ROWS[1], "references": []}]
    with pytest.raises(EngineError, match="1 of 2 instances"):
        engine().infer(rows)
    kept = engine().infer(rows, on_failure="keep")
    assert kept[0]["accuracy"] == 1.0
    assert kept[1] is None


def test_it_round_trips():
    made = Artifact.from_dict(engine().to_dict())
    assert isinstance(made, MetricInferenceEngine)
    assert list(made.infer(ROWS[:1])) == list(engine().infer(ROWS[:1]))


def test_a_metric_that_fails_altogether_judges_nobody(monkeypatch):
    made = engine()
    failed = Measured(failure=Failure("metric", "broken"))
    monkeypatch.setattr(type(made.metric), "measure", lambda self, columns, *, intervals=True: failed)
    assert list(made.infer(ROWS, on_failure="keep")) == [None, None]
    with pytest.raises(EngineError, match="2 of 2 instances") as caught:
        made.infer(ROWS)
    assert caught.value.why == "instance 0: broken"


def test_without_a_field_a_metric_looks_at_the_task_alone():
    made = MetricInferenceEngine(metric="metrics.accuracy")
    assert [row["accuracy"] for row in made.infer([{"references": [""]}, {"references": ["x"]}])] == [1.0, 0.0]
