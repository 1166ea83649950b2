"""Exams whose answers are words, numbers or tables; compared with OpenCompass in ``conformance/aisbench``."""

from __future__ import annotations

import json

import pytest

from proctor.errors import ScoringError
from proctor.scoring.evaluators import word_exams
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.text.postprocessors import code, mathematics, texts


def test_options_are_counted_over_all_questions_together():
    assert word_exams.selected_f1(Cases(["a,b", "c"], ["A,B", "D"])).scores["F1Score"] == pytest.approx(200 / 3)


def test_the_first_wrong_step():
    verdict = word_exams.first_wrong_step(Cases(["\\boxed{3}", "\\boxed{-1}", "\\boxed{1}", "?"], [3, -1, -1, "2"]))
    assert verdict.scores == {"error_acc": 50.0, "correct_acc": 50.0, "f1": 50.0}


def test_last_values_are_weighted_by_updates():
    gold = json.dumps({"cat": "blue", "dog": "red"})
    rows = [{"experiment": "exp_keys", "n_updates": 2}, {"experiment": "exp_keys", "n_updates": 400}]
    given = ["The current value of cat is blue.\ndog: red", "cat: **blue**\ndog: green"]
    scores = word_exams.last_values(Cases(given, [gold] * 2, rows)).scores
    assert scores["avg_accuracy"] == 0.75
    assert (scores["auc_log1.5_easy"], scores["auc_log1.5_hard"]) == (1.0, 0.5)
    assert 0.5 < scores["auc_log1.5"] < 0.75


def test_cells_of_zebra_puzzles():
    gold = {"rows": [["1", "Ann"], ["2", "Bob"]]}
    table = "| House | Name |\n|---|---|\n| 1 | ann |\n| 2 | Eve |"
    verdict = word_exams.zebra_grid(Cases([table, "1: Ann, 2: Bob"], [gold, str(gold)]))
    assert verdict.scores == {"score": 87.5, "cell_accuracy": 87.5, "perfect_accuracy": 50.0}
    with pytest.raises(ScoringError, match="no rows of a table"):
        word_exams.zebra_grid(Cases(["x"], ["{}"]))


def test_boxes_in_one_spelling():
    assert word_exams.boxed_answer(Cases(["\\boxed{ 1/2 }", "3"], ["1/2", "4"])).correct == [True, False]


@pytest.mark.parametrize(
    "text, answer",
    [
        ("The final answer is $3$. I hope", "3"),
        ("so \\boxed{a{b}c} it is", "a{b}c"),
        ("#### 5.", "5"),
        ("The answer is: 7", "7"),
        ("no mark", None),
    ],
)
def test_answers_of_internlm(text, answer):
    assert mathematics.intern_answer(text) == answer


def test_formulas_of_internlm():
    assert mathematics.is_equivalent_intern("x_{2}", "x_2")
    assert mathematics.is_equivalent_intern("10,800", "10800")
    assert not mathematics.is_equivalent_intern(None, None)


def test_bodies_of_functions():
    text = "```python\ndef f(x):\n    return 1\n\nprint(2)\n```"
    assert code.function_body(text) == "    return 1"
    assert code.function_body_to_its_end("def f(x):\n    y = 1\n    return y\nprint(3)") == "    y = 1\n    return y"


def test_values_of_properties():
    assert texts.material_property('```json\n{"gap": 2}\n```', "gap") == 2.0
    assert texts.material_property("it is {'is_stable': 'yes'}", "is_stable") == "True"
    assert texts.material_property("<think>never closed", "gap") == ""
    assert texts.positive_or_negative("<think>no</think>The prediction result is Positive.") == "positive"
    assert texts.listed_answers('x</think>"answers": ["\\alpha"]}')["answers"] == '{\n"answers": ["\\\\alpha"]}'
