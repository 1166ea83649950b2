"""The shares of the layers add up to the difference, whatever two runs differ in; each is put down to its layer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.exchange.observed import Observed, ObservedExam
from proctor.exchange.why import explain

METRIC = "accuracy"


def observed(number: int, drawn: dict[str, object]) -> Observed:
    score = drawn["score"]
    return Observed(
        number,
        f"{drawn['row']:016x}",
        f"prompt {drawn['prompt']}",
        () if drawn["failure"] else (f"answer {drawn['answer']}",),
        f"extracted {drawn['extracted']}",
        ("gold",),
        {"temperature": drawn["temperature"]},
        {} if score is None else {METRIC: float(score)},
        "no answer" if drawn["failure"] else "",
        f"model {drawn['model']}",
    )


few = st.integers(0, 1)
lines = st.fixed_dictionaries(
    {
        "row": st.integers(1, 12),
        **dict.fromkeys(("prompt", "answer", "extracted", "temperature", "model"), few),
        "failure": st.booleans(),
        "score": st.sampled_from([None, 0.0, 0.25, 1.0]),
    }
)
exams = st.builds(
    lambda found, score, engine: ObservedExam(
        "e", "Proctor", [observed(n, each) for n, each in enumerate(found)], METRIC, score, engine
    ),
    st.lists(lines, min_size=1, max_size=14),
    st.none() | st.floats(0, 1),
    st.none() | st.builds(lambda base: {"identity": "", "engine": "openai", "base_url": base}, few),
)


@settings(deadline=None, max_examples=400)
@given(exams, exams)
def test_shares_add_up_to_the_difference(first, second):
    found = explain(first, second)
    if found.difference is None:
        return
    assert sum(part.explained for part in found.parts.values()) == pytest.approx(found.difference, abs=1e-9)
    if first.score is not None and second.score is not None and "weights" in found.parts:
        assert found.difference == pytest.approx(second.score - first.score)
    assert all(part.examples for part in found.parts.values() if part.count)


ENGINE = {"identity": "a", "engine": "openai", "model": "m", "base_url": "http://one"}


def exam(engine=None, **changes: object) -> ObservedExam:
    plain = {"row": 1, "prompt": 0, "answer": 0, "extracted": 0, "temperature": 0, "model": 0, "failure": False}
    rows = [{**plain, "row": row, "score": 1.0} for row in range(1, 9)]
    rows[:3] = [{**row, **changes} for row in rows[:3]]
    return ObservedExam("e", "Proctor", [observed(n, each) for n, each in enumerate(rows)], METRIC, None, engine)


@pytest.mark.parametrize(
    "layer, engine, changes",
    [
        ("engine", {**ENGINE, "identity": "b", "base_url": "http://two"}, {"answer": 1, "score": 0.0}),
        ("engine", ENGINE, {"answer": 1, "model": 1, "score": 0.0}),
        ("decoding", ENGINE, {"answer": 1, "temperature": 1, "score": 0.0}),
        ("decoding", {**ENGINE, "identity": "b", "temperature": 1}, {"answer": 1, "temperature": 1, "score": 0.0}),
        ("answer", ENGINE, {"answer": 1, "score": 0.0}),
        ("answer", {**ENGINE, "timeout": 9}, {"answer": 1, "score": 0.0}),
        ("failure", ENGINE, {"failure": True, "score": None}),
        ("metric", ENGINE, {"score": 0.0}),
        ("metric", ENGINE, {"score": None}),
    ],
)
def test_a_difference_is_put_down_to_its_layer(layer, engine, changes):
    found = explain(exam(ENGINE), exam(engine, **changes))
    assert (found.layer, list(found.parts)) == (layer, [layer])
    assert len(found.parts[layer].examples) == 3


def test_an_engine_that_differs_and_answers_alike_is_said():
    found = explain(exam(ENGINE), exam({**ENGINE, "identity": "b", "base_url": "http://two"}))
    assert found.layer is None
    assert "base_url='http://one' and base_url='http://two'" in found.notes[0]


def test_one_model_at_two_addresses_is_said_and_explains_nothing():
    found = explain(exam(ENGINE), exam({**ENGINE, "base_url": "http://two"}))
    assert found.layer is None
    assert found.notes == ("one model was asked at http://one and at http://two",)


def test_models_that_answered_and_differ_are_said_where_no_answer_does():
    found = explain(exam(ENGINE), exam(ENGINE, model=1))
    assert found.layer is None
    assert found.notes[0].startswith("the models that answered differ (")


def test_definitions_that_differ_are_said_where_no_instance_shows_it():
    first, second = exam(ENGINE), exam(ENGINE)
    one, two = (replace(each, definitions={"metric": name}) for each, name in ((first, "a"), (second, "b")))
    assert explain(one, two).notes == ("the metric is defined otherwise, and no instance shows it",)
    assert explain(one, one).notes == ()


def test_what_a_weighted_score_differs_from_the_mean_is_a_layer():
    first, second = exam(), exam(score=0.0)
    weighted = ObservedExam("e", "Proctor", second.instances, METRIC, 0.5)
    found = explain(ObservedExam("e", "Proctor", first.instances, METRIC, 1.0), weighted)
    assert found.difference == pytest.approx(-0.5)
    assert {name: part.explained for name, part in found.parts.items()} == {
        "metric": pytest.approx(-3 / 8),
        "weights": pytest.approx(3 / 8 - 0.5),
    }
