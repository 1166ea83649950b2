"""What ``results.json`` has of an exam and of a group."""

from types import SimpleNamespace

import pytest

from proctor.ir import Failure
from proctor.running.entries import entry_of, group_entries, in_its_order, in_order, order_of
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score

LATE, WRONG = Failure("timeout", "late"), Failure("metric", "wrong")


def test_an_entry_has_what_is_known_and_nothing_of_what_is_not():
    assert entry_of(Grade({"b": 1.0, "a": 2}), 3) == {"a": 2, "b": 1.0, "failures": 0, "n": 3}
    assert list(entry_of(Grade({"z": 1, "b": 1}), 3)) == ["b", "failures", "n", "z"]
    main = Score("acc", 50.0, unit="percent", higher_is_better=False)
    full = Grade(
        {"acc": 50.0},
        failures={0: LATE, 1: WRONG, 2: LATE},
        metric_failures={"f1": WRONG},
        table=[main, Score("f1", 1.0)],
        main=main,
        copies=4,
        last_resorts=frozenset({1, 2}),
    )
    assert entry_of(full, 5, {"endings": {"stop": 5}}) == {
        "acc": 50.0,
        "n": 5,
        "failures": 3,
        "failure_kinds": {"metric": 1, "timeout": 2},
        "metric_failures": {"f1": "wrong"},
        "endings": {"stop": 5},
        "last_resort": 2,
        "copies": 4,
        "higher_is_better": False,
        "unit": "percent",
        "units": {"f1": "raw"},
    }


def test_copies_of_a_question_are_counted_as_one():
    questions = SimpleNamespace(places=[[0, 1], [2, 3]], failures={1: LATE})
    found = entry_of(Grade({}, failures={2: LATE, 3: LATE}, questions=questions, copies=2), 4)
    assert found == {"n": 2, "failures": 1, "failure_kinds": {"timeout": 1}, "copies": 2}


@pytest.mark.parametrize("names, order", [(["b", "a"], ["b", "a"]), (["a", "b"], []), ([], [])])
def test_scores_stand_in_the_order_of_their_evaluator(names, order):
    grade = Grade({}, table=[Score(name, 1.0) for name in names])
    assert order_of(grade) == order
    assert list(in_its_order({"a": 1, "b": 2, "n": 3}, grade)) == [*(names or ["a", "b"]), "n"]
    assert list(in_its_order({"a": 1}, None)) == ["a"]
    assert in_order({"a": 1, "n": 3}, ["n", "lost"]) == {"n": 3, "a": 1}


def group(name, **scores):
    """A group whose scores are these."""
    return SimpleNamespace(name=name, score=lambda grades: dict(scores))


def test_a_group_counts_what_was_asked_in_the_exams_that_its_score_is_made_of():
    whole, empty = group("all", score=0.5, without=["c"]), group("none")
    exams = [SimpleNamespace(name=name, groups=[whole, empty]) for name in "abcd"]
    grades = dict.fromkeys("abc", Grade({}))
    results = {name: {"n": 10 + place, "failures": place} for place, name in enumerate("abcd")}
    assert group_entries(exams, grades, results) == {
        "all": {"score": 0.5, "n": 21, "failures": 1, "members": ["a", "b", "c", "d"], "without": ["c", "d"]}
    }
    exams = [SimpleNamespace(name="a", groups=[group("a", score=1), group("g", score=1)])]
    found = group_entries(exams, {"a": Grade({})}, {"a": {}})
    assert found == {"g": {"score": 1, "n": 0, "failures": 0, "members": ["a"]}}
