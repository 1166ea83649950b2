"""A baseline that is not of the same exam is refused with what differs and what to do."""

from types import SimpleNamespace

import pytest

from proctor.errors import UsageError
from proctor.recipes.fingerprint import Fingerprint, RowsDigest, instance_digest
from proctor.running.baselines import Baseline, ExamBaseline
from proctor.running.gate_baselines import check_common, check_reduced, check_same, known_exam, without_new_columns

FILE = Baseline({"a": ExamBaseline({"k": 1.0})}, "base.json")


def said(call):
    with pytest.raises(UsageError) as caught:
        call()
    return str(caught.value)


def test_a_baseline_without_the_exam_says_which_it_has():
    assert known_exam("a", FILE) is FILE.exams["a"]
    assert "base.json does not have 'b'" in said(lambda: known_exam("b", FILE))
    assert "it has a" in said(lambda: known_exam("b", FILE))
    assert "it has no exam" in said(lambda: known_exam("b", Baseline({}, "x")))


def test_layers_that_differ_are_named_unless_they_are_what_is_gated():
    known = ExamBaseline({}, Fingerprint(rows="1", prompts="2", metrics="3", engine="4"))
    now = Fingerprint(rows="1", prompts="5", metrics="6", engine="7")
    words = said(lambda: check_same("a", known, now, FILE, ()))
    assert "the baseline is of another 'a': the prompts differ, and so do the metrics" in words
    assert "layer 'prompts' of its fingerprint is 2, now 5" in words
    assert "--changed prompts --changed metrics says" in words
    assert "base.json" in words
    alone = said(lambda: check_same("a", known, now, FILE, ["prompts"]))
    assert "the metrics differ" in alone
    assert "and so do" not in alone
    check_same("a", known, now, FILE, ["prompts", "metrics"])
    check_same("a", ExamBaseline({}), now, FILE, ())


def test_another_reducer_than_the_baselines_is_refused():
    def exam(reduce, count):
        options = SimpleNamespace(reduce=reduce, repeats=None)
        return SimpleNamespace(name="a", options=options, grader=SimpleNamespace(count=count))

    best = ExamBaseline({}, metric="exact_match:best")
    words = said(lambda: check_reduced(exam((), 4), best, FILE, ()))
    assert "the baseline's scores of 'a' are of another reducer: best, and mean is asked for" in words
    assert "its score is 'exact_match:best'" in words
    assert "--reduce best;" in words
    check_reduced(exam(("best",), 4), best, FILE, ())
    check_reduced(exam((), 4), best, FILE, ["metrics"])
    check_reduced(exam(("best",), 4), ExamBaseline({}), FILE, ())
    check_reduced(exam((), 4), ExamBaseline({}, metric="exact_match"), FILE, ())
    plain = SimpleNamespace(name="a", options=SimpleNamespace(reduce=(), repeats=None), grader=object())
    check_reduced(plain, ExamBaseline({}, metric="exact_match"), FILE, ())


def test_a_baseline_with_failures_or_other_questions_is_refused():
    check_common("a", ExamBaseline({"k": 1.0}), [0.0, None, 1.0], ["k", "l", "m"], FILE)
    words = said(lambda: check_common("a", ExamBaseline({"k": 1.0}), [None, 1.0], ["k", "l"], FILE))
    assert "the baseline and 'a' have 1 questions in common" in words
    assert "it has 1, the exam 2" in words
    assert "3 instances of the baseline of 'a' have no score" in said(
        lambda: check_common("a", ExamBaseline({}, failed=3), [1.0, 1.0], ["k", "l"], FILE)
    )


def question(**instance):
    return SimpleNamespace(instance=instance, digest=instance_digest(instance))


def test_columns_that_came_after_a_baseline_was_made_are_left_out():
    questions = [question(q=str(place), x=place, y=0) for place in range(2)]
    bare = [instance_digest({"q": str(place)}) for place in range(2)]
    now = Fingerprint(data="d", rows="r", prompts="p")
    digests, found = without_new_columns(ExamBaseline(dict.fromkeys(bare, 1.0)), questions, now)
    rows = RowsDigest()
    rows.add_all(bare)
    assert digests == bare
    assert found == Fingerprint(data=rows.in_order, rows=rows.as_set, prompts="p")
    own = [each.digest for each in questions]
    for known in ({own[0]: 1.0}, {"another": 1.0}):
        assert without_new_columns(ExamBaseline(known), questions, now) == (own, now)
    failed = [SimpleNamespace(instance={}, digest=""), questions[0]]
    assert without_new_columns(ExamBaseline(dict.fromkeys(bare, 1.0)), failed, now)[0] == ["", bare[0]]
    changed = [SimpleNamespace(instance={"q": "0", "x": 0}, digest="of something else")]
    assert without_new_columns(ExamBaseline(dict.fromkeys(bare, 1.0)), changed, now) == (["of something else"], now)
    many = [question(q="0", a=1, b=2, c=3, d=4)]
    assert without_new_columns(ExamBaseline(dict.fromkeys(bare, 1.0)), many, now) == ([many[0].digest], now)
