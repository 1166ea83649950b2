import math

import pytest

from proctor.ir import Failure
from proctor.results.summary import (
    cluster_notes,
    ending_notes,
    failure_notes,
    first_failures,
    group_notes,
    interval,
    noise_notes,
    rows_of_groups,
    sample_notes,
    score_rows,
    shown,
    unit_of,
)
from proctor.results.summary_table import SummaryTable
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
    marked = {**choice, "all_answers": {"begin_with": {"tag": "<x'y>", "end": "</x'y>", "count": 9}}}
    option = """--model-args 'think_start=<x'"'"'y>,think_end=</x'"'"'y>'"""
    rows = score_rows(
        {"a": counts, "b": few, "c": choice, "d": {"n": 3}, "e": {**counts, "members": ["a"]}, "f": marked}
    )
    assert ending_notes(rows) == [
        "a: 7 of 50 answers were cut off: --decoding max_tokens=N leaves room for more",
        "a: 3 of 50 answers are empty",
        "b: 2 of 8 answers never came, because all tokens went into thinking: --thinking-tokens N allows for thoughts",
        "b: all 6 answers are equal: 'yes\\x1b'",
        "c: all 9 answers are equal: option 3 was the likeliest every time",
        f"f: 9 of 9 answers begin with <x'y> … </x'y> and were scored with it; if these are thoughts: {option}",
    ]


def test_counts_of_answers_are_no_scores():
    entry = {"score": 0.5, "score_name": "f1", "f1": 0.5, "n": 5, "num_of_instances": 5}
    counted = {**entry, "answers": 5, "truncated": 1, "empty": 0, "thinking": 0, "all_answers": {"truncated": True}}
    assert [row.metric for row in score_rows({"a": counted}, every_score=True)] == ["f1"]
    named = {**entry, "empty": 0.25}  # a metric of somebody's own, in an exam that compares choices
    assert [row.metric for row in score_rows({"a": named}, every_score=True)] == ["f1", "empty"]


@pytest.mark.parametrize(
    "value, text",
    [(9.99994, "9.9999"), (10.0, "10.00"), (-12.345, "-12.35"), (999.9, "999.90"), (1000.0, "1000"), (math.inf, "-")],
)
def test_scores_have_as_many_decimals_as_their_size_allows(value, text):
    assert shown(value) == text


def test_groups_of_an_exam_are_rows_in_its_unit():
    groups = [
        {"by": {"topic": "sums"}, "score": 40.0, "score_name": "accuracy", "accuracy": 40.0, "n": 5},
        {"by": {"topic": "words"}, "score": 80.0, "score_name": "accuracy", "accuracy": 80.0, "n": 5},
    ]
    whole = {"score": 60.0, "score_name": "accuracy", "accuracy": 60.0, "n": 10, "unit": "percent", "groups": groups}
    found = rows_of_groups({"a": whole, "b": {"score": 1.0, "n": 2}})
    assert {task: [(label, row.value, row.unit) for label, row in rows] for task, rows in found.items()} == {
        "a": [("topic=sums", 40.0, "percent"), ("topic=words", 80.0, "percent")]
    }


def test_an_exam_that_scores_nothing_has_no_score_that_is_missing():
    graded = {"score_name": "spearman", "spearman": None, "score": None, "n": 4}
    recorded = {"n": 4, "num_of_instances": 4}
    whole = {**graded, "members": ["graded"]}
    rows = list(score_rows({"graded": graded, "recorded": recorded, "whole": whole}))
    assert all(row.is_main for row in rows)
    assert [(row.is_graded, row.is_suite) for row in rows] == [(True, False), (False, False), (True, True)]
    assert failure_notes(rows) == ["graded: spearman is not a number"]


def test_all_answers_cut_off_or_empty_are_said_as_all():
    entry = {"n": 5, "answers": 5, "truncated": 5, "empty": 5, "thinking": 0}
    rows = score_rows({"a": {**entry, "all_answers": {"truncated": True, "empty": True}}})
    assert ending_notes(rows) == [
        "a: all 5 answers were cut off: --decoding max_tokens=N leaves room for more",
        "a: all 5 answers are empty: see the prompt with proctor show; chat models want --apply-chat-template",
    ]


def test_scores_without_intervals_of_clusters_are_named_three_at_most():
    entry = {"clusters": {"by": "document", "without": ["f1", "rouge", "bleu", "ter", "chrf"]}}
    assert cluster_notes({"a": entry, "b": {"clusters": {"by": "document", "without": []}}, "c": {}}) == [
        "a: no means of instances, so their intervals are not of clusters of 'document': f1, rouge, bleu and 2 more"
    ]


def test_noise_is_told_by_what_halves_the_interval():
    levels = {
        "stderr": 0.05,
        "question_noise": 0.04,
        "answer_noise": 0.03,
        "halved_by": {"repeats": 4, "instances": 40},
    }
    alone = {**levels, "answer_noise": None}
    never = {**levels, "halved_by": {"repeats": None, "instances": 40}}
    parts = "a standard error of 0.0500 (0.0400 from questions, 0.0300 from answers)"
    assert noise_notes({"a": {"repeats": levels}, "b": {"repeats": alone}, "c": {"repeats": never}, "d": {}}) == [
        f"a: {parts}; --repeats 4 would halve the interval, or 40 questions would halve the interval",
        (
            "b: a standard error of 0.0500; how much of it is the noise of answers cannot be known from one answer to each "
            "(--repeats 2 tells); 40 questions would halve the interval"
        ),
        f"c: {parts}; no number of repeats would halve the interval, 40 questions would halve the interval",
    ]
    assert noise_notes({"e": {"repeats": {"stderr": 0.05}}}) == []


def test_groups_say_what_they_are_made_of():
    assert group_notes(
        {
            "g": {"members": ["a", "b", "c"], "without": ["b"], "score_name": "acc"},
            "h": {"members": ["a", "b"], "without": ["a", "b"]},
            "i": {"members": ["a"], "in_no_exam": ["f1", "em", "bleu"]},
            "j": {"members": ["a"]},
        }
    ) == [
        "g: acc is made of 2 of 3 exams; b gave none",
        "h: the score is made of 0 of 2 exams; a, b gave none",
        "i: none of its exams has f1, em, bleu, which the group was to have",
    ]


def test_samples_say_how_near_they_are():
    sample = {"asked": 1200, "of": 5000, "chosen": "by chance", "precision": 0.02, "reached": True, "seed": 3}
    whole = {"of": 5000, "precision": 0.02, "interval": "of a whole run"}
    early = {**sample, "reached": False, "interval": "confidence sequence", "models": ["m", "n", "o", "p"]}
    first = "1,200 of 5,000 questions were asked, chosen by chance"
    assert sample_notes({"a": {"sample": sample}, "b": {"sample": whole}, "c": {"sample": early}, "d": {}}) == [
        f"a: {first} (seed 3); the interval is within 0.02 of the score on all",
        (
            "b: all 5,000 questions were asked, as a precision of 0.02 takes; "
            "the interval is that of a whole run, which speaks about more questions of this kind"
        ),
        (
            f"c: {first} (m, n, o and 1 more) (seed 3); the interval is not yet within 0.02 of the score on all "
            "(of a confidence sequence, as what ended it was not the precision)"
        ),
    ]


def test_a_table_of_datasets_can_call_them_otherwise():
    table = SummaryTable([["dataset", "m"], ["a", "1"], ["b", "2"]], {"m": {"a": 1.0, "b": {"error": "x"}}}, ["told"])
    found = table.renamed({"a": "first"})
    assert found.rows == [["dataset", "m"], ["first", "1"], ["b", "2"]]
    assert (found.raw, found.notes) == ({"m": {"first": 1.0, "b": {"error": "x"}}}, ["told"])
