from proctor.ir import Failure
from proctor.results.summary import ending_notes, failure_notes, first_failures, interval, score_rows, shown, unit_of
from proctor.scoring.grades import Grade

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
    assert (first.task, first.metric, first.value) == ("b", "accuracy", 0.5)
    assert (first.asked, first.scored, first.failed) == (10, 8, 2)
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


def test_asked_is_scored_and_failed_together_whatever_other_metrics_could_not_score():
    entry = {"score": 0.5, "score_name": "accuracy", "n": 82, "num_of_instances": 82, "failures": 81}
    (row,) = score_rows({"a": entry})
    assert (row.asked, row.scored, row.failed, row.failures) == (82, 82, 0, 81)
    assert failure_notes([row]) == ["81 of 82 instances failed"]
    (nothing,) = score_rows({"a": {**entry, "num_of_instances": 1}})
    assert (nothing.scored, nothing.failed) == (1, 81)


def test_scores_say_their_unit_and_errors_and_counts_are_not_scores():
    entry = {
        "unit": "percent",
        "units": {"length": "raw"},
        "score": 34.0,
        "score_name": "accuracy",
        "accuracy": 34.0,
        "length": 7.0,
        "acc,strict": 10.0,
        "acc_stderr,strict": 1.0,
        "acc,strict_n": 5,
        "n": 5,
    }
    rows = list(score_rows({"a": entry}, every_score=True))
    assert [(row.metric, row.unit, unit_of(row)) for row in rows] == [
        ("accuracy", "percent", "%"),
        ("length", "raw", ""),
        ("acc,strict", "percent", "%"),
    ]


def test_how_answers_ended_is_said_with_what_helps():
    counts = {"n": 50, "answers": 50, "truncated": 7, "empty": 3, "thinking": 0}
    few = {"n": 8, "answers": 6, "truncated": 0, "empty": 0, "thinking": 2, "all_answers": {"equal": "yes\x1b"}}
    choice = {"n": 9, "answers": 9, "truncated": 0, "empty": 0, "thinking": 0, "all_answers": {"option": 2}}
    rows = score_rows({"a": counts, "b": few, "c": choice, "d": {"n": 3}, "e": {**counts, "members": ["a"]}})
    assert ending_notes(rows) == [
        "a: 7 of 50 answers were cut off: --decoding max_tokens=N leaves room for more",
        "a: 3 of 50 answers are empty",
        "b: 2 of 8 answers never came, because all tokens went into thinking: --thinking-tokens N allows for thoughts",
        "b: all 6 answers are equal: 'yes\\x1b'",
        "c: all 9 answers are equal: option 3 was the likeliest every time",
    ]


def test_counts_of_answers_are_no_scores():
    entry = {"score": 0.5, "score_name": "f1", "f1": 0.5, "n": 5, "num_of_instances": 5}
    counted = {**entry, "answers": 5, "truncated": 1, "empty": 0, "thinking": 0, "all_answers": {"truncated": True}}
    assert [row.metric for row in score_rows({"a": counted}, every_score=True)] == ["f1"]
    named = {**entry, "empty": 0.25}  # a metric of somebody's own, in an exam that compares choices
    assert [row.metric for row in score_rows({"a": named}, every_score=True)] == ["f1", "empty"]
