"""What a comparison decides: one value says the sentence, the interval, p, the verdict and the picture."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.runs.compare_runs import compare_runs, compare_with, evidence_of
from proctor.runs.exam_comparison import ExamComparison
from proctor.runs.sample_index import SampleIndex


def compare_exams(*exams, **more):
    return evidence_of(*exams, **more).together_with(1)


def index_of(folder, name, unit="share", **exams):
    name = f"{name}{len(list(folder.iterdir()))}"  # a folder may get several runs of one name
    path = folder / f"{name}.jsonl"
    lines = [
        {"exam": exam, "doc_id": number, "scores": {"score": score}}
        for exam, column in exams.items()
        for number, score in enumerate(column)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    index = SampleIndex(path, index=folder / f"{name}.db")
    index.units = dict.fromkeys(exams, unit)
    index.build()
    return index


def compared(folder, first, second, unit="share") -> ExamComparison:
    return compare_exams(index_of(folder, "a", unit, e=first), "e", index_of(folder, "b", unit, e=second), "e")


def test_a_difference_that_is_decided_says_so_in_every_place(tmp_path):
    found = compared(tmp_path, [0.0] * 8 + [1.0] * 12, [1.0] * 20)
    assert (found.decision, found.verdict, found.sentence("new")) == ("better", "passed", "new is better")
    assert found.low > 0
    assert found.p < 0.05
    back = compared(tmp_path, [1.0] * 20, [0.0] * 8 + [1.0] * 12)
    assert (back.decision, back.verdict, back.sentence()) == ("worse", "failed", "B is worse")
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


@pytest.mark.parametrize(
    "first, second, said",
    [
        ([0.0] * 4 + [1.0] * 56, [1.0] * 60, "4 flips are too few, about 58 more questions would decide it"),
        ([0.0] + [1.0] * 59, [1.0] * 60, "1 flip is too few, about 420 more questions would decide it"),
        ([0.0] * 9 + [1.0] * 51, [1.0] * 9 + [0.0] * 3 + [1.0] * 48, "12 flips are too even, about 110 more questions"),
        ([0.0, 1.0] * 10, [1.0, 0.0] * 10, "10 of 20 flips are for the better"),
        ([0.0, 1.0] * 10, [0.0, 1.0] * 10, "no answer flipped"),
        ([0.25] * 10 + [0.5], [0.3, 0.2] * 5 + [0.6], "the difference is within chance, about"),
    ],
)  # fmt: skip
def test_what_is_not_decided_says_why_and_what_would_decide_it(tmp_path, first, second, said):
    found = compared(tmp_path, first, second)
    assert found.sentence().startswith(f"not decided: {said}")
    assert (found.decision, found.verdict) == ("undecided", "passed")
    assert found.low <= 0 <= found.high


def test_what_is_missing_counts_against_certainty(tmp_path):
    right = [float(number % 3 != 1) for number in range(20)]
    few: list[float | None] = [1.0, None, 1.0] + [None] * 17
    found = compared(tmp_path, right, few)
    assert (found.n, found.unanswered, found.decision, found.verdict) == (2, 18, "undecided", "undecided")
    assert found.sentence() == "not decided: 18 of 20 instances have no score, and it depends on them"
    assert found.low < -0.5
    # One that is missing of many leaves a large difference decided, with wider bounds.
    one = compared(tmp_path, [0.0] * 12 + [1.0] * 28, [1.0] * 39 + [None])
    whole = compared(tmp_path, [0.0] * 12 + [1.0] * 28, [1.0] * 40)
    assert (one.decision, one.verdict, one.unanswered) == ("better", "passed", 1)
    assert (one.low < whole.low, one.p > whole.p) == (True, True)


def test_missing_scores_do_not_hide_a_loss_that_is_certain(tmp_path):
    found = compared(tmp_path, [1.0] * 40, [0.0] * 30 + [None] * 10)
    assert (found.decision, found.verdict) == ("worse", "failed")


scores = st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, None])] * 2), min_size=3, max_size=25)


@settings(deadline=None, max_examples=40)
@given(scores, st.lists(st.sampled_from([0.0, 1.0]), min_size=50, max_size=50))
def test_whatever_the_missing_would_have_scored_a_decision_stands(tmp_path_factory, pairs, fills):
    folder = tmp_path_factory.mktemp("runs")
    first, second = (list(column) for column in zip(*pairs, strict=True))
    found = compared(folder, first, second)
    values = iter(fills)
    filled = [[next(values) if each is None else each for each in column] for column in (first, second)]
    known = compared(folder, *filled)
    if found.decision != "undecided":
        assert known.decision == found.decision
    if found.low is not None and found.n >= 2:
        assert found.low <= known.low <= known.high <= found.high
    assert (found.low is not None and (found.low > 0 or found.high < 0)) == (found.decision != "undecided")


def test_of_scores_without_a_direction_a_difference_is_decided_and_no_verdict(tmp_path):
    found = compared(tmp_path, [10.0, 11.0, 12.0, 9.5], [20.0, 21.5, 22.0, 19.0], unit="raw")
    assert (found.decision, found.verdict) == ("higher", "undecided")
    assert found.sentence() == "B is higher; no run says whether that is better"


def test_where_less_is_better_more_is_worse(tmp_path):
    one, two = (index_of(tmp_path, name, e=values) for name, values in (("a", [0.0] * 9), ("b", [1.0] * 9)))
    (found,) = compare_runs(one, two)
    assert found.decision == "better"
    assert ExamComparison(
        "e", 9, 0, difference=1.0, p_corrected=0.01, signs=(1, 1), higher_is_better=False
    ).verdict == ("failed")


def test_p_and_intervals_of_several_comparisons_agree_and_hold_together(tmp_path):
    columns = {"a": [0.0] * 6, "b": [0.0] * 8, "c": [0.0] * 9}
    base = index_of(tmp_path, "base", **columns)
    better = index_of(tmp_path, "better", **{name: [1.0] * len(column) for name, column in columns.items()})
    (found,) = compare_with(base, [better])
    assert [each.p_corrected == pytest.approx(3 * each.p) for each in found] == [True] * 3
    assert [each.decision for each in found] == ["undecided", "better", "better"]
    assert [each.low > 0 for each in found] == [each.p_corrected < 0.05 for each in found] == [False, True, True]
    assert found[0].sentence().startswith("not decided: 6 flips are too few")
    alone = compare_exams(base, "a", better, "a")
    assert (alone.decision, alone.low > found[0].low) == ("better", True)


def test_the_record_says_what_the_terminal_says(tmp_path):
    found = compared(tmp_path, [0.0] * 3, [1.0] * 3)
    record = found.record()
    assert json.loads(json.dumps(record)) == record | {"notes": list(record["notes"])}
    assert (record["decision"], record["verdict"], record["sentence"]) == ("undecided", "passed", found.sentence())
    assert (record["detectable"], found.shows_nothing) == (None, True)
