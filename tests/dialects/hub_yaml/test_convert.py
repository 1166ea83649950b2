"""An exam as an ``eval.yaml``: which scorer stands for a metric, how the model writes, and what has no place."""

from types import SimpleNamespace

import pytest
import yaml

from proctor.dialects.conversion.gradings import Graded, Named, Reading
from proctor.dialects.conversion.written import Written
from proctor.dialects.hub_yaml.config import FieldSpec, HubTask, Step
from proctor.dialects.hub_yaml.convert import WHOLE, graded, to_eval_yaml
from proctor.ir import Decoding

REGEX = Named("lm_eval:regex", {"regex_pattern": "is (.)"})
FIRST = Named("lm_eval:take_first")


WHOLE_ANSWER = Reading("")


def made(*metrics, readings=(WHOLE_ANSWER,), target="a", choices=None, repeats=1, decoding=None, **columns):
    row = {**columns, "prompt": "p", "target": target, **({} if choices is None else {"choices": choices})}
    grades = Graded(list(metrics), list(readings))
    found = Written("x", [row], choices is not None, decoding or Decoding(), repeats, grades)
    text = to_eval_yaml(found)
    assert text.startswith("name: x\nevaluation_framework: inspect-ai\ntasks:\n- id: x\n")
    (task,) = yaml.safe_load(text)["tasks"]
    return task, [each.text.partition(": ")[0] for each in found.losses], row["target"]


def exact(ignores_case=False, pattern=WHOLE):
    return {"name": "pattern", "args": {"pattern": pattern, "ignore_case": ignores_case}}


EXACT = Named("lm_eval:exact_match", {"aggregation": "mean", "ignore_punctuation": False})


@pytest.mark.parametrize(
    "metric, steps, scorer, lost",
    [
        (EXACT, [], exact(), []),
        (Named("metrics.accuracy"), [], exact(), []),
        (Named("lm_eval:exact_match", {"ignore_case": True, "ignore_numbers": True}), [], exact(True), ["lm_eval:exact_match"]),
        (EXACT, [REGEX, FIRST], exact(pattern="is (.)"), []),
        (EXACT, [FIRST, Named("lm_eval:regex")], exact(pattern=r"#### (\-?[0-9\.\,]+)"), []),
        (EXACT, [Named("lm_eval:regex", {"group_select": -1})], exact(), ["lm_eval:regex"]),
        (EXACT, [REGEX, Named("lm_eval:lowercase")], exact(pattern="is (.)"), ["lm_eval:lowercase"]),
        (Named("inspect:f1", {"stop_words": ["a"]}), [FIRST], {"name": "f1", "args": {"stop_words": ["a"]}}, []),
        (Named("inspect:f1"), [REGEX], {"name": "match"}, ["lm_eval:regex", "inspect:f1", "metrics"]),
        (Named("metrics.string_containment"), [], {"name": "includes", "args": {"ignore_case": False}}, []),
        (Named("metrics.squad"), [REGEX], {"name": "f1"}, ["lm_eval:regex", "metrics.squad"]),
        (Named("lm_eval:chrf"), [], {"name": "match"}, ["lm_eval:chrf", "metrics"]),
    ],
)  # fmt: skip
def test_the_scorer_that_stands_for_a_metric(metric, steps, scorer, lost):
    task, named, _ = made(metric, readings=[Reading("", steps)])
    assert (task["scorers"], named) == ([scorer], lost)


def test_metrics_beside_each_other_and_further_readings():
    task, named, _ = made(EXACT, Named("lm_eval:chrf"), readings=[Reading("a"), Reading(""), Reading("c")])
    assert (task["scorers"], named) == ([exact()], ["filters", "lm_eval:chrf"])


@pytest.mark.parametrize(
    "target, kept, lost", [("a", "a", []), (["a", "b"], "a", ["references"]), ([], "", ["references"]), (3, "3", [])]
)
def test_a_target_is_one_text(target, kept, lost):
    _, named, right = made(EXACT, target=target)
    assert (right, named) == (kept, lost)


@pytest.mark.parametrize(
    "target, letter, lost",
    [
        ("y", "B", []),
        (["y"], "B", []),
        (["z", "x"], "A", []),
        (["y", "x"], "B", ["references"]),
        ("z", "C", ["references"]),
    ],
)
def test_right_choices_become_letters(target, letter, lost):
    task, named, right = made(Named("lm_eval:acc"), target=target, choices=["x", "y"])
    assert (right, named) == (letter, ["choices", *lost])
    assert (task["solvers"], task["scorers"]) == ([{"name": "multiple_choice"}], [{"name": "choice"}])
    assert task["field_spec"] == {"input": "prompt", "target": "target", "choices": "choices"}


def test_metrics_that_compare_likelihoods_are_named():
    assert made(Named("lm_eval:acc_norm"), choices=["a"])[1] == ["choices", "lm_eval:acc_norm"]


def test_columns_and_repeats():
    task, named, _ = made(EXACT, repeats=3, topic="t")
    assert (task["epochs"], task["epoch_reducer"], named) == (3, "mean", ["repeats"])
    assert task["field_spec"] == {"input": "prompt", "target": "target", "metadata": ["topic"]}
    assert "epochs" not in made(EXACT)[0]


def test_how_the_model_writes():
    decoding = Decoding(5, 0.5, top_p=0.9, seed=0, stop=("x",), count=2, extra={"logit_bias": {"1": 2}, "min_p": 0.1})
    task, named, _ = made(EXACT, decoding=decoding)
    args = {"max_tokens": 5, "temperature": 0.5, "top_p": 0.9, "seed": 0, "stop_seqs": ["x"], "logit_bias": {"1": 2}}
    assert task["solvers"] == [{"name": "generate", "args": args}]
    assert named == ["min_p", "2 answers to one request"]
    assert made(EXACT)[0]["solvers"] == [{"name": "generate", "args": {"temperature": 0.0}}]


def test_epochs_of_a_task_are_lost_elsewhere_and_exams_of_others_are_not_graded_here():
    task = HubTask("d", "", FieldSpec(), (), (Step("match"), Step("choice")), epochs=2, reducer="max")
    found = graded(SimpleNamespace(own=task), None)
    assert [each.name for each in found.metrics] == ["inspect:match"]
    assert [each.text.partition(":")[0] for each in found.lost] == ["scorer choice", "epochs"]
    assert graded(SimpleNamespace(own=None), None) is None
