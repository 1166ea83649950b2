from proctor.ir import Failure
from proctor.running.sample_records import ScoredParts
from proctor.scoring.grade import Grade

NAMES = ("prediction", "processed_prediction", "processed_references", "scores")


def test_lines_behind_the_last_score_have_none():
    grade = Grade(
        {},
        instance_scores={"f1": [0.5, 1.0]},
        predictions=["a", "b", "c"],
        processed_predictions=["A"],
        processed_references=[["x"], ["y"], ["z"]],
    )
    parts = ScoredParts(grade)
    assert parts.next(2) == [(NAMES, ("a", "A", ["x"], {"f1": 0.5})), (NAMES, ("b", None, ["y"], {"f1": 1.0}))]
    (third, fourth) = parts.next(2)
    assert third == (NAMES, ("c", None, ["z"], {"f1": None}))
    assert fourth[1][:3] == (None, None, None)


def test_failures_are_told_beside_the_lines_that_they_are_of():
    odd = Failure("processor", "odd")
    grade = Grade({}, instance_scores={}, predictions=["a", odd, "c"], failures={1: odd})
    parts = ScoredParts(grade)
    (first,) = parts.next(1)
    (second, third) = parts.next(2)
    assert first[0] == third[0] == NAMES
    assert second == ((*NAMES, "scoring_failure"), (None, None, None, {}, odd))
