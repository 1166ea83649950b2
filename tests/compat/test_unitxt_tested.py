"""What Unitxt's own test modules import, call and expect."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from proctor.compat import install, uninstall
from proctor.errors import ScoringError


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    install()
    yield
    uninstall()


def module(name: str) -> Any:
    return importlib.import_module(f"unitxt.{name}")


CARD = {
    "__type__": "task_card",
    "loader": {
        "__type__": "load_from_dictionary",
        "data": {"test": [{"text": f"t{i}", "label": "ab"[i % 2]} for i in range(4)]},
    },
    "task": {
        "__type__": "task",
        "input_fields": {"text": "str"},
        "reference_fields": {"label": "str"},
        "prediction_type": "str",
        "metrics": ["metrics.accuracy"],
    },
    "templates": [{"__type__": "input_output_template", "input_format": "{text}", "output_format": "{label}"}],
}


@pytest.fixture
def card() -> Any:
    return module("artifact").Artifact.from_dict(CARD)


@pytest.mark.parametrize(
    "name, imported",
    [
        ("metric_utils", "UNITXT_REMOTE_METRICS get_remote_metrics_names"),
        ("loaders", "LoadWithPandas"),
        ("test_utils.card", "test_card"),
        ("metrics", "hf_evaluate_load"),
        ("metrics", "LlamaIndexCorrectness RemoteMetric ReflectionToolCallingMetric FaithfulnessHHEM"),
    ],
)
def test_modules_that_import_these_at_their_top_run(name: str, imported: str) -> None:
    for each in imported.split():
        assert getattr(module(name), each) is not None


def test_remote_metrics_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = module("metric_utils")
    monkeypatch.delenv(told.UNITXT_REMOTE_METRICS, raising=False)
    monkeypatch.delenv(told.UNITXT_REMOTE_METRICS_ENDPOINT, raising=False)
    assert told.get_remote_metrics_names() == []
    with pytest.raises(RuntimeError, match="not set"):
        told.get_remote_metrics_endpoint()
    monkeypatch.setenv(told.UNITXT_REMOTE_METRICS, '["metrics.a"]')
    monkeypatch.setenv(told.UNITXT_REMOTE_METRICS_ENDPOINT, "http://127.0.0.1:1/compute")
    assert told.get_remote_metrics_names() == ["metrics.a"]
    assert told.get_remote_metrics_endpoint() == "http://127.0.0.1:1/compute"
    for wrong in ('{"a": "b"}', '[["a"]]', "[a"):
        monkeypatch.setenv(told.UNITXT_REMOTE_METRICS, wrong)
        with pytest.raises(RuntimeError, match="UNITXT_REMOTE_METRICS"):
            told.get_remote_metrics_names()


def test_metrics_of_the_hub_are_at_hand() -> None:
    metrics = module("metrics")
    found = metrics.hf_evaluate_load("exact_match").compute(predictions=["a", "b"], references=["a", "c"])
    assert found == {"exact_match": 0.5}
    with pytest.raises(ScoringError, match="no_such_metric"):
        metrics.hf_evaluate_load("no_such_metric")


def test_scores_of_one_query_name_the_main_one() -> None:
    pytest.importorskip("sqlglot")
    pytest.importorskip("sqlparse")
    metrics = module("metrics")
    data = {"employees": {"columns": ["id", "name"], "rows": [(1, "Ann"), (2, "Bo")]}}
    row = {"db": {"db_id": "made", "db_type": "in_memory", "dbms": None, "data": data}}
    for metric, main in (
        (metrics.SQLExecutionAccuracy(), "non_empty_execution_accuracy"),
        (metrics.SQLNonExecutionAccuracy(), "sqlglot_equivalence"),
    ):
        found = metric.compute(["SELECT name FROM employees;"], "SELECT name FROM employees", row)
        assert (found["score"], found["score_name"]) == (found[main], main)


def test_dialogs_are_paired_by_the_operator() -> None:
    operator = module("dialog_operators").SerializeOpenAiFormatDialog(field="d", to_field="s")
    turns = [{"role": role, "content": text} for role, text in (("user", "a"), ("user", "b"), ("assistant", "c"))]
    assert operator.transform_dialog_to_standard_format(turns) == [{"user": "a b", "system": "c"}]
    with pytest.raises(ValueError, match="does not begin"):
        operator.transform_dialog_to_standard_format(turns[2:])


def test_a_card_without_a_sampler_has_no_demos(card: Any) -> None:
    recipe = module("standard").DatasetRecipe
    chosen = {"num_demos": 1, "demos_pool_size": 2, "demos_taken_from": "test", "template_card_index": 0}
    recipe(card=card, **chosen)
    card.sampler = None
    with pytest.raises(ValueError, match="nobody draws"):
        recipe(card=card, **chosen)
    recipe(card=card, sampler=module("splitters").RandomSampler(), **chosen)


def test_failures_of_metrics_are_assertions_too() -> None:
    with pytest.raises(ScoringError):
        module("test_utils.metrics").apply_metric(module("metrics").F1Micro(), ["a"], [["a", "b"]])
