"""Judgements become verdicts: failures are listed, several about one answer count as their mean."""

from __future__ import annotations

import pytest

from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.evaluators.judged_answers import reported
from proctor.scoring.evaluators.judgement_readers import Tagged, marked_number, of_ten
from proctor.scoring.evaluators.subjective_readers import SUBJECTIVE_REPORTS

SILENT = Failure("engine", "no answer", retryable=False)


def points(said, rows, golds):
    """A report of numbers; what is none cannot be read."""
    values = [float(text) if text.isdigit() else None for text in said]
    bad = {i: Failure("processor", "no number", retryable=False) for i, value in enumerate(values) if value is None}
    known = [value for value in values if value is not None]
    assert len(said) == len(rows) == len(golds)
    return Verdict({"points": sum(known) / len(known)} if known else {}, {"points": values}, failures=bad)


def test_what_was_not_said_or_read_is_left_out_and_listed():
    found = reported(points, Cases(["a", "b", "c"], ["x"] * 3), ["4", SILENT, "?"])
    assert found.scores == {"points": 4}
    assert found.instances == {"points": [4, None, None]}
    assert {place: each.message for place, each in found.failures.items()} == {1: "no answer", 2: "no number"}
    assert found.parsed == ["4", SILENT, "?"]


def test_several_judgements_about_one_answer_count_as_their_mean():
    found = reported(points, Cases(["a", "b"], ["x"] * 2), ["4", "2", SILENT, "6"], [0, 0, 1, 1])
    assert found.instances == {"points": [3, 6]}
    assert not found.failures
    assert found.parsed[0] == "4\n2"


@pytest.mark.parametrize("said, words", [([SILENT], "the judge answered nothing"), (["?"], "no judgement can be read")])
def test_nothing_to_score_is_an_error(said, words):
    with pytest.raises(ScoringError, match=words):
        reported(points, Cases(["a"], ["x"]), said)


def test_the_first_of_two_marks_counts():
    found = Tagged("YES", "NO")(["YES, not NO", "NO", "perhaps", "YES"], [{}] * 4, [""] * 4)
    assert found.scores == {
        "accuracy": 50.0,
        "accuracy_given_attempted": pytest.approx(200 / 3),
        "f1": pytest.approx(4 / 7),
        "attempted_ratio": 75.0,
        "correct_count": 2,
        "incorrect_count": 1,
        "not_attempted_count": 1,
    }
    assert found.instances == {"accuracy": [100.0, 0.0, 0.0, 100.0]}


@pytest.mark.parametrize(
    "report, good, beyond",
    [
        (of_ten, "7", "90"),
        (marked_number, "<NUMBER>0.7</NUMBER>", "<NUMBER>7</NUMBER>"),
        (marked_number, "<NUMBER>0.7</NUMBER>", "<NUMBER>-0.5</NUMBER>"),
        (SUBJECTIVE_REPORTS["mtbench_postprocess"], "Rating: [[7]]", "Rating: [[70]]"),
        (SUBJECTIVE_REPORTS["writingbench_postprocess"], '{"score": 7}', '{"score": 70}'),
        (SUBJECTIVE_REPORTS["mtbench101_postprocess"], "[7]", "[11]"),
        (SUBJECTIVE_REPORTS["compassarena_subjectiveeval_pointwise_postprocess"], "[[4分]]", "[[9分]]"),
    ],
)
def test_a_rating_beyond_the_scale_is_in_no_number(report, good, beyond):
    row = {"capability": "x", "domain1": "x", "task": "x", "multi_id": 1, "category": "x", "difficulty": "x"}
    alone, both = report([good], [row], [None]), report([good, beyond], [row, row], [None, None])
    assert both.scores == alone.scores
    assert list(both.failures) == [1]
    assert next(iter(both.instances.values()))[1] is None
