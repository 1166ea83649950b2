from proctor.ir import Failure
from proctor.results.summary import failure_notes, first_failures, interval, score_rows, shown
from proctor.scoring.grade import Grade

RESULTS = {
    "b": {
        "score": 0.5,
        "score_name": "accuracy",
        "accuracy": 0.5,
        "score_ci_low": 0.4,
        "score_ci_high": 0.6,
        "n": 10,
        "failures": 2,
        "failure_kinds": {"timeout": 1, "refused": 1},
        "f1": 0.25,
        "f1_ci_low": 0.1,
    },
    "a": {
        "score": None,
        "n": 3,
        "failures": 3,
        "failure_kinds": {"timeout": 3},
        "metric_failures": {"rouge": "no package"},
    },
}


def test_main_scores_in_the_order_of_the_exams():
    first, second = score_rows(RESULTS)
    assert (first.task, first.metric, first.value, first.n, first.failed) == ("b", "accuracy", 0.5, 10, 2)
    assert interval(first) == "0.4000 to 0.6000"
    assert (second.task, second.metric, shown(second.value), interval(second)) == ("a", "score", "-", "-")


def test_every_score_adds_the_others_without_bounds_and_counts():
    rows = [(row.task, row.metric, row.is_main) for row in score_rows(RESULTS, every_score=True)]
    assert rows == [("b", "accuracy", True), ("b", "f1", False), ("a", "score", True)]


def test_failures_are_counted_once_however_many_scores_are_shown():
    assert failure_notes(score_rows(RESULTS, every_score=True)) == [
        "a: rouge failed: no package",
        "5 of 13 instances failed (refused: 1, timeout: 4)",
    ]
    assert failure_notes([]) == []


def test_the_first_failure_of_each_kind_speaks_for_the_others():
    one = Grade({}, failures={7: Failure("timeout", "no answer"), 2: Failure("timeout", "no answer within 3 s")})
    other = Grade({}, failures={0: Failure("timeout", "third"), 1: Failure("refused", "check the key")})
    assert first_failures([one, other]) == {"refused": "check the key", "timeout": "no answer within 3 s"}
    assert first_failures([Grade({})]) == {}
