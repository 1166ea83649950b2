"""Run folders that no version of ours has written: pages show what there is, and never break."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests_web_support import client_of

from proctor.web.app import create_app

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=True) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
MAYBE = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
RESULT_KEYS = ("score", "score_name", "n", "failures", "groups", "members", "failure_kinds", "metric_failures", "f1")
SAMPLE_KEYS = (
    *("exam", "doc_id", "input", "prompt", "continuations", "output", "references", "gold", "usage", "timing"),
    *("failure", "scores", "prediction", "processed_prediction", "processed_references", "scoring_failure", "kind"),
)


JUDGE_KEYS = (
    *("score", "x_judge_raw_input", "x_assessment", "x_assessments", "x_prompts", "x_response_name", "x_selections"),
    *("x_compared_to", "x_criteria", "x_positional_bias"),
)


def entries(keys):
    return st.fixed_dictionaries({}, optional=dict.fromkeys(keys, VALUES))


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "runs" / "odd"
    path.mkdir(parents=True)
    (path / "run.yaml").write_text("model: tiny\ntasks: [a]\nexams: {a: {}}\n")
    (path / "results.json").write_text(json.dumps({"results": {"a": {"score": 1.0, "n": 1}}, "run": {}}))
    return path


def pages(folder, *paths):
    app = create_app([folder.parent])
    with client_of(app) as client:
        run_id = app.state.library.id_of(folder)
        return [client.get(path.format(id=run_id)) for path in paths]


@MAYBE
@given(entries(RESULT_KEYS) | VALUES, VALUES | entries(("engine", "cost", "usage", "requests", "versions", "seconds")))
def test_results_of_any_shape(folder, entry, run):
    (folder / "results.json").write_text(json.dumps({"results": {"a": entry}, "run": run}))
    for page in pages(folder, "/runs", "/runs/{id}"):
        assert page.status_code == 200


@MAYBE
@given(VALUES)
def test_specifications_of_any_shape(folder, specification):
    (folder / "run.yaml").write_text(json.dumps({"model": "tiny", "tasks": ["a"], "exams": {"a": specification}}))
    for page in pages(folder, "/runs", "/runs/{id}"):
        assert page.status_code == 200


@MAYBE
@given(st.lists(entries(SAMPLE_KEYS) | VALUES | st.builds(dict, scores=entries(JUDGE_KEYS)), min_size=1, max_size=3))
def test_samples_of_any_shape(folder, samples):
    (folder / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in samples))
    last = len(samples) - 1
    for page in pages(folder, "/runs/{id}/samples", "/runs/{id}/samples?order=score", f"/runs/{{id}}/samples/{last}"):
        assert page.status_code == 200
