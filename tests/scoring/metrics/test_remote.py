"""Metrics that a service computes: what is sent, what comes back, what goes wrong."""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from proctor.artifacts import fetch_artifact
from proctor.compat import install, uninstall
from proctor.effects import Author, written_by
from proctor.errors import PolicyError, ValidationError
from proctor.scoring.columns import Columns
from proctor.scoring.composed import MetricPipeline
from proctor.scoring.metrics.remote import RemoteMetric


class Service:
    """A service that gives each instance its place, and keeps what it is sent."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None, Any]] = []
        self.reply: Any = None

    def scores(self, inputs: list[Any]) -> Any:
        rows = [{"f1": float(place), "score": float(place), "score_name": "f1"} for place, _ in enumerate(inputs)]
        overall = {"num_of_instances": len(rows), "f1": 0.5, "f1_ci_low": 0.25, "f1_ci_high": 0.75, "score": 0.5}
        bounds = {"score_name": "f1", "score_ci_low": 0.25, "score_ci_high": 0.75}
        return {"instances_scores": rows, "global_score": {**overall, **bounds}}


@pytest.fixture
def service() -> Iterator[Service]:
    told = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.asked.append((self.path, self.headers["Authorization"], sent["instance_inputs"]))
            reply = told.scores(sent["instance_inputs"]) if told.reply is None else told.reply
            body = json.dumps(reply).encode()
            self.send_response(503 if reply == "down" else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    told.address = f"http://127.0.0.1:{server.server_port}/compute"  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield told
    server.shutdown()
    server.server_close()
    thread.join()


TWO = Columns(["a", "b"], [["x"], ["y", "z"]])


def test_predictions_and_references_go_out_and_the_service_s_scores_come_back(service: Any) -> None:
    metric = RemoteMetric(endpoint=service.address, metric_name="metrics.f", api_key="a-key-of-mine")
    found = metric.measure(TWO)
    sent = [
        {"prediction": "a", "references": ["x"], "additional_inputs": {}},
        {"prediction": "b", "references": ["y", "z"], "additional_inputs": {}},
    ]
    assert service.asked == [("/compute/metrics.f", "Bearer a-key-of-mine", sent)]
    assert found.overall == service.scores(sent)["global_score"]
    assert list(found.instances["f1"]) == [0.0, 1.0]
    (score,) = found.scores
    assert (score.name, score.value, score.low, score.high, score.n) == ("f1", 0.5, 0.25, 0.75, 2)


def test_a_prefix_stands_before_the_service_s_names(service: Any) -> None:
    found = RemoteMetric(endpoint=service.address, metric_name="m", score_prefix="my_").measure(TWO)
    assert found.overall["my_f1_ci_low"] == found.overall["score_ci_low"] == 0.25
    assert found.overall["score_name"] == found.main == "my_f1"
    assert list(found.instances["my_f1"]) == [0.0, 1.0]


@pytest.mark.parametrize(
    "reply, said",
    [
        ("down", "503"),
        ({"instances_scores": [{}], "global_score": {"score": 1.0}}, "answers no scores"),
        ({"instances_scores": [{}, {}], "global_score": {}}, "answers no scores"),
        ([], "answers no scores"),
    ],
)
def test_an_answer_that_is_none_is_a_failure_of_the_metric(service: Any, reply: Any, said: str) -> None:
    service.reply = reply
    found = RemoteMetric(endpoint=service.address, metric_name="metrics.f").measure(TWO)
    assert found.failure is not None
    assert said in found.failure.message
    assert found.main == "f"


def test_a_service_that_a_file_names_is_asked_where_the_user_allows_it(service: Any) -> None:
    with written_by(Author("card.json")):
        metric = RemoteMetric(endpoint=service.address, metric_name="metrics.f")
    found = metric.measure(TWO)
    assert found.failure is not None
    assert "nobody allowed that" in found.failure.message
    assert not service.asked


def test_data_of_another_class_is_not_sent(service: Any) -> None:
    data = Columns(["a"], [["x"]], classes=[["pii"]])
    with pytest.raises(PolicyError):
        RemoteMetric(endpoint=service.address, metric_name="metrics.f").measure(data)
    assert not service.asked


def test_an_address_is_one() -> None:
    with pytest.raises(ValidationError, match="not an address"):
        RemoteMetric(endpoint="localhost:8000", metric_name="m")


def test_a_pipeline_s_metric_needs_a_name() -> None:
    pipeline = MetricPipeline(metric={"__type__": "accuracy"}, main_score="accuracy")
    with pytest.raises(ValidationError, match="no name that a service could know"):
        RemoteMetric.wrap_inner_metric_pipeline_metric(pipeline, "http://127.0.0.1:1")


def test_metrics_that_the_environment_names_are_computed_by_the_service(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "metrics.rag.answer_correctness.token_recall"
    monkeypatch.setenv("UNITXT_REMOTE_METRICS", json.dumps([name]))
    monkeypatch.setenv("UNITXT_REMOTE_METRICS_ENDPOINT", service.address)
    install()
    try:
        utils = importlib.import_module("unitxt.eval_utils")
        rows = [{"answer": "x", "ground_truths": ["y"], "prediction": "p", "references": ["p"]}] * 2
        service.reply = {
            "instances_scores": [{"recall": 0.5, "score": 0.25, "score_name": "f1"}] * 2,
            "global_score": {"recall": 0.5, "f1": 0.25, "score": 0.25, "score_name": "f1"},
        }
        found, scores = utils.evaluate(rows, [name, "metrics.accuracy"])
        with pytest.raises(ValueError, match="no service computes"):
            utils.as_remote_metric(fetch_artifact("metrics.accuracy"))
    finally:
        uninstall()
    assert [row[name] for row in found] == [0.5, 0.5]
    assert [row["metrics.accuracy"] for row in found] == [1.0, 1.0]
    assert scores[name]["score_name"] == "recall"
    assert [path for path, _, _ in service.asked] == ["/compute/metrics.token_overlap"]


def test_one_that_a_program_s_task_holds_is_asked_through_the_rows(service: Any) -> None:
    install()
    try:
        api, task, templates = (importlib.import_module(f"unitxt.{name}") for name in ("api", "task", "templates"))
        metric = RemoteMetric(endpoint=service.address, metric_name="metrics.f", api_key="a-key-of-mine")
        asked = task.Task(input_fields={"q": str}, reference_fields={"a": str}, prediction_type=str, metrics=[metric])
        template = templates.InputOutputTemplate(input_format="{q}", output_format="{a}")
        rows = api.create_dataset(
            task=asked, test_set=[{"q": "1", "a": "x"}, {"q": "2", "a": "y"}], template=template, split="test"
        )
        found = api.evaluate(predictions=["x", "z"], data=rows)
    finally:
        uninstall()
    assert [row.get("failure") for row in found] == [None, None]
    assert found.global_scores["score_name"] == "f1"
