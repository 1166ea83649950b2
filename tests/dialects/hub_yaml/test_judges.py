"""Grades in the answers of judges, and what several judges say together."""

import pytest

from proctor.dialects.hub_yaml.config import Step
from proctor.dialects.hub_yaml.judges import grader
from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.scoring.answer_checks import Verdict


def made(**args):
    return grader(Step("model_graded_qa", args, None))


@pytest.mark.parametrize(
    "args, said, grade",
    [
        ({}, "Because.\nGRADE: C", "C"),
        ({}, "GRADE: I\nno:\nGRADE: correct", "C"),
        ({}, "grade: incorrect", "I"),
        ({}, "GRADE: P", None),
        ({"partial_credit": True}, "GRADE: P", "P"),
        ({"partial_credit": True}, "GRADE: partial", "P"),
        ({}, "GRADE: X", None),
        ({}, "GRADE:", None),
        ({}, "it is fine", None),
        ({"instructions": "Say GRADE: and a letter."}, "GRADE: P", "P"),
        ({"instructions": "Say GRADE: and a letter."}, "GRADE: Z", None),
        ({"grade_pattern": r"score (\d)"}, "score 4", "4"),
        ({"grade_pattern": r"verdict: (\w+)"}, "verdict: yes", "yes"),
        ({"grade_pattern": "no groups"}, "no groups", None),
    ],
)
def test_a_grade_is_one_that_was_offered(args, said, grade):
    found = made(**args).grade(said)
    if grade is None:
        assert found.message == f"no grade in the judge's answer: {said!r}"
        assert found.retryable
    else:
        assert found == grade


LOST = Failure("judge", "away", retryable=True)


def mean(values, reducer):
    known = [float(each) if isinstance(each, float) else {"C": 1.0, "I": 0.0, "P": 0.5}[each] for each in values]
    return None if len(known) < 2 else sum(known) / len(known)


@pytest.mark.parametrize(
    "reducer, grades, value, told",
    [
        ("majority", ["C"], "C", None),
        ("majority", ["4.5"], 4.5, None),
        ("majority", ["yes"], 1.0, None),
        ("majority", ["False"], 0.0, None),
        ("majority", ["fine"], None, "the grade 'fine' counts nothing"),
        ("majority", ["C", "C", "I"], "C", None),
        ("majority", ["C", "C", LOST], "C", None),
        ("majority", ["C", "I"], None, "the judges do not agree: C, I"),
        ("majority", ["C", LOST], None, "the judges do not agree: C"),
        ("majority", [LOST], None, "away"),
        ("majority", [LOST, LOST], None, "away"),
        ("mean", ["C", "I"], 0.5, None),
        ("mean", ["C", "fine"], None, "the grade 'fine' counts nothing"),
        ("mean", ["C", LOST], None, "too few judges gave a grade"),
    ],
)
def test_several_judges_agree_or_are_put_together(reducer, grades, value, told):
    found = made(reducer=reducer)._verdict(grades, "an answer", mean)
    if told is None:
        assert found == Verdict(value, "an answer")
    else:
        assert found.message == told


@pytest.mark.parametrize(
    "args, told",
    [
        ({"reducer": "best"}, "judges have no reducer 'best'"),
        ({"model_role": "boss"}, "there is no role 'boss'"),
        ({"template": "{question"}, "cannot be read"),
        ({"grade_pattern": "("}, "does not compile"),
        ({"colour": 1}, "colour"),
    ],
)
def test_what_a_scorer_cannot_be_told_is_refused(args, told):
    with pytest.raises(ProctorError, match=told):
        made(**args)
