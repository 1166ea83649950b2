"""Percentages are those of the systems whose evaluators these are, to the last bit."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.dialects.aisbench.evaluation import evaluate
from proctor.errors import ScoringError
from proctor.scoring.evaluators import answers, judgement_readers, runs, texts
from proctor.scoring.evaluators.cases import Cases, average, percent, percent_of_sum, running_sum, share

OC, AIS = "opencompass", "ais_bench.benchmark"
ROW = {
    "options": ["x", "y"],
    "choices": {"label": ["A", "B"]},
    "A": "x",
    "B": "y",
    "difficulty": "easy",
    "length": "short",
}
DIVIDED_FIRST = [
    (OC, "openicl.icl_evaluator.AccEvaluator", "accuracy", "A"),
    (AIS, "openicl.icl_evaluator.AccEvaluator", "accuracy", "A"),
    (OC, "openicl.icl_evaluator.AccwithDetailsEvaluator", "accuracy", "A"),
    (OC, "openicl.icl_evaluator.EMEvaluator", "score", ["A"]),
    (AIS, "openicl.icl_evaluator.LEvalEMEvaluator", "accuracy", "cat"),
    (OC, "openicl.icl_evaluator.EDAccEvaluator", "accuracy", {"candidates": ["A", "B"], "label": 0}),
    (OC, "datasets.BBHEvaluator", "score", "A"),
    (AIS, "datasets.BBHEvaluator", "score", "A"),
    (OC, "datasets.BBHEvaluator_mcq", "score", "A"),
    (OC, "datasets.AGIEvalEvaluator", "score", "3"),
    (OC, "datasets.TriviaQAEvaluator", "score", ["cat"]),
    (OC, "datasets.NQEvaluator", "score", ["cat"]),
    (OC, "datasets.mgsm.MGSM_Evaluator", "accuracy", "A"),
    (OC, "datasets.OptionSimAccEvaluator", "accuracy", "A"),
    (OC, "datasets.LongBenchv2Evaluator", "accuracy_easy", "A"),
    (OC, "datasets.NeedleBenchATCEvaluator", "score", "A"),
    (AIS, "datasets.LongBenchF1Evaluator", "score", ["cat"]),
]
MULTIPLIED_FIRST = [
    (OC, "datasets.GPQAEvaluator", "accuracy", "A"),
    (AIS, "datasets.GPQAEvaluator", "accuracy", "A"),
    (OC, "datasets.Gsm8kEvaluator", "accuracy", "A"),
    (AIS, "datasets.Gsm8kEvaluator", "accuracy", "A"),
    (OC, "datasets.MATHEvaluator", "accuracy", "A"),
    (AIS, "datasets.MATHEvaluator", "accuracy", "A"),
    (OC, "datasets.MMLUProBaseEvaluator", "accuracy", "A. x"),
    (OC, "datasets.DropOpenAIEvaluator", "accuracy", "A1"),
    (OC, "datasets.LambadaEvaluator", "accuracy", "A"),
    (OC, "datasets.MedmcqaEvaluator", "accuracy", "A"),
    (OC, "datasets.MastermathDatasetv1Evaluator", "accuracy", "A"),
    (AIS, "datasets.DAPOMathEvaluatorV2", "accuracy", "A"),
]
SAID = {"Drop": "A1", "LongBenchF1": "cat", "LEvalEM": "cat", "TriviaQA": "cat", "NQ": "cat", "AGIEvalEvaluator": "3"}


@st.composite
def _right_of_all(draw):
    count = draw(st.integers(1, 700))
    return draw(st.integers(0, count)), count


def _score(project, name, score, gold, right, count):
    said = next((text for start, text in SAID.items() if start in name), "A")
    predictions = [said] * right + ["B"] * (count - right)
    config = {"evaluator": {"type": f"{project}.{name}"}}
    if name.endswith("OptionSimAccEvaluator"):
        config["evaluator"]["options"] = ["A", "B"]
    return evaluate(config, predictions, [gold] * count, [ROW] * count).scores[score]


def _named(case):
    return f"{case[0]}-{case[1].rpartition('.')[2]}"


@pytest.mark.parametrize("case", DIVIDED_FIRST, ids=_named)
@settings(max_examples=25, deadline=None)
@given(of=_right_of_all())
def test_most_evaluators_divide_before_they_multiply(case, of):
    right, count = of
    assert _score(*case, right, count) == right / count * 100


@pytest.mark.parametrize("case", MULTIPLIED_FIRST, ids=_named)
@settings(max_examples=25, deadline=None)
@given(of=_right_of_all())
def test_others_multiply_before_they_divide(case, of):
    right, count = of
    assert _score(*case, right, count) == 100 * right / count


def test_the_two_orders_differ_in_the_last_bit():
    assert _score(*DIVIDED_FIRST[0], 1, 3) == 33.33333333333333
    assert _score(*MULTIPLIED_FIRST[0], 1, 3) == 33.333333333333336


@given(st.lists(st.floats(0, 1), min_size=1, max_size=200))
def test_sums_are_added_one_after_another_whatever_the_python(values):
    total = 0.0
    for value in values:
        total += value
    assert running_sum(values) == total
    assert average(values) == total / len(values)
    assert percent(values) == total / len(values) * 100
    assert percent_of_sum(values) == 100 * total / len(values)


def test_a_share_of_nothing_is_an_error_and_digits_round():
    with pytest.raises(ScoringError, match="no predictions"):
        share([])
    assert share([True, False, False], digits=2).scores == {"accuracy": 33.33}
    assert share([True, False, False], rule=percent_of_sum).scores == {"accuracy": 100 / 3}


def test_points_of_several_references_are_added_in_their_order():
    draw = random.Random(3)
    said = [" ".join(str(draw.randint(0, 3)) for _ in range(draw.randint(1, 7))) for _ in range(29)]
    golds = [["0", "1", "2"][: draw.randint(1, 3)] for _ in said]
    total = 0.0
    for given_text, wanted in zip(said, golds, strict=True):
        for each in wanted:
            numbers = given_text.split()
            total += numbers.count(each) / len(numbers)
    assert answers.longbench_count(Cases(said, golds)).scores == {"score": total / len(said) * 100}


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=60))
def test_the_area_under_a_curve_is_the_share_of_pairs_in_order(pairs):
    values, labels = [value / 10 for value, _ in pairs], [int(label) for _, label in pairs]
    if len({*labels}) == 1:
        return
    positive = [value for value, label in zip(values, labels, strict=True) if label]
    negative = [value for value, label in zip(values, labels, strict=True) if not label]
    wins = sum((one > other) + (one == other) / 2 for one in positive for other in negative)
    assert math.isclose(texts.area_under_roc(values, labels), wins / (len(positive) * len(negative)), abs_tol=1e-12)


def test_the_area_is_summed_over_the_corners_of_the_curve():
    # roc_auc_score([1, 0, 1, 1, 0, 0, 1], [.9, .8, .8, .7, .6, .3, .2]) of scikit-learn 1.7
    found = texts.area_under_roc([0.9, 0.8, 0.8, 0.7, 0.6, 0.3, 0.2], [1, 0, 1, 1, 0, 0, 1])
    assert found == 0.625


def test_means_over_runs_are_those_of_numpy():
    draw = random.Random(5)
    groups = {f"set_{i}": [draw.random() < 0.6 for _ in range(7)] for i in range(37)}
    found = runs.over_runs("aisbench", groups, [2, 3], 7)
    assert found["avg@7"] == 100 * np.mean([sum(marks) / 7 for marks in groups.values()])
    shares = runs.averaged([{"accuracy": 0.1}] * 10, "aisbench")
    assert shares == {"accuracy (10 runs average)": np.mean([0.1] * 10)}


def test_attempted_answers_are_counted_before_they_are_divided():
    said = ["A"] * 1 + ["B"] * 8 + ["C"] * 2
    scores = judgement_readers.chinese_attempts(said, [{}] * 11, [""] * 11).scores
    assert scores["given_attempted_accuracy"] == 1 / 9
    percentages = judgement_readers.attempts(said, [{}] * 11, [""] * 11).scores
    assert percentages["accuracy_given_attempted"] == (1 / 11) / (9 / 11) * 100
