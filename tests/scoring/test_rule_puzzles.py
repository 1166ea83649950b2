"""KOR-Bench's comparisons; conformance/aisbench/judgements.py compares them with OpenCompass' own, 5,400 times."""

import pytest

from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.rule_puzzles import korbench

pytestmark = pytest.mark.filterwarnings("error")


def score(given, gold, **row):
    return korbench(Cases([given], [gold], [{"prompt_mode": "0_shot", **row}])).scores["accuracy"]


@pytest.mark.parametrize(
    "category, rule, given, gold, right",
    [
        ("logic", "1", "so [[ A. ]]", "[[A]]", True),
        ("logic", "5", "[[B;A]]", "[[A;B]]", False),  # upstream sorts with the brackets
        ("logic", "5", "[[A;B]]", "[[A;B]]", True),
        ("logic", "5", "[[A;C;B;D]]", "[[A;B;C;D]]", True),
        ("logic", "1", "[[A;C;B;D]]", "[[A;B;C;D]]", False),
        ("operation", "3", "[[x or y]]", "[[y or x]]", True),
        ("operation", "18", "[[3,1,2]]", "[[1,2,3]]", True),
        ("operation", "23", "[[1, 2]]", "[[1,2]]", True),
        ("operation", "3", "4", "[[4]]", False),
        ("puzzle", "1", "[[A B]]", "[[ab]]", True),
        ("puzzle", "2", "[[cat]]", "[[dog,cat]]", True),
        ("puzzle", "3", "[[dog, cat]]", "[[cat dog]]", True),
        ("puzzle", "4", "[[cat]]", "[[a cat]]", True),
        ("puzzle", "5", "[[2, 1]]", "[[1,2]]", True),
        ("puzzle", "9", "[[3+4×2=11]]", "[[3+4*2=11]]", True),
        ("puzzle", "9", "[[3+4*3=11]]", "[[3+4*2=11]]", False),
        ("puzzle", "9", "[[3+4*2=11]]", "[[no equation]]", False),
        ("puzzle", "10", "[[(1+3)*(8-2)]]", "[[(8-2)*(3+1)=24]]", True),
        ("puzzle", "10", "[[__import__('os')]]", "[[__import__('os')]]", False),
        ("puzzle", "18", "[[[1, 2]]]", "[[1 2]]", True),
        ("puzzle", "7", "[[a-b]]", "[[a b]]", True),
        ("cipher", "1", "[[A B]]", "[[AB]]", True),
    ],
)
def test_comparisons(category, rule, given, gold, right):
    assert score(given, gold, category=category, rule_id=rule) == 100 * right


def test_several_questions_are_right_together():
    answers = [{"category": "cipher", "rule_id": "1", "answer": "[[A]]"}] * 2
    row = {"prompt_mode": "mixed", "answers": answers}
    assert score('so {"q1": "[[A]]", "q2": "[[A]]"}', "", **row) == 100
    assert score('{"q1": "[[A]]", "q2": "[[B]]"}', "", **row) == 0
    assert score('{"q1": "[[A]]"}', "", **row) == 0
    assert score("{no json}", "", **row) == 0
    assert score("nothing", "", **row) == 0


def test_unknown_modes_are_wrong():
    assert score("[[A]]", "[[A]]", category="cipher", prompt_mode="other") == 0
