"""Numbers about judges by hand; what the command prints of runs is in the command's tests."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from proctor.runs import judge_report as module
from proctor.runs.judge_report import JudgeReport, Measure, report_tables, risk_difference
from proctor.statistics.bounded import share_bounds

NAN = math.nan


def case(scores=(), labels=(), weights=None, *, name="exam", models=("j",), is_own=False, keys=None, **records):
    """Answers of an exam as a judge and people see them."""
    scores, labels = np.array(scores, dtype=float), np.array(labels, dtype=float)
    keys = keys or [f"k{place}" for place in range(len(scores))]
    path = SimpleNamespace(name=f"run-{name}")
    told = np.isfinite(labels) & (labels != 0.5) & (scores != 0.5) if len(labels) else np.zeros(len(scores), bool)
    return SimpleNamespace(
        scores=scores, labels=labels, weights=np.ones(len(labels)) if weights is None else np.array(weights), keys=keys,
        name=name, exam=name, models=list(models), is_own=is_own, run=SimpleNamespace(path=path), told=told,
        verdicts=scores > 0.5, truths=labels > 0.5 if len(labels) else labels, records=records or {key: {"instance": key} for key in keys},
    )  # fmt: skip


def test_verdicts_that_differ_are_those_on_other_sides_of_half(monkeypatch):
    monkeypatch.setattr(module, "question_of", lambda record: record["instance"])
    report, first = JudgeReport(), [0.0, 0.5, 0.6, 1.0, NAN, 0.2]
    module._changes(report, "a", np.array(first), np.array([0.4, 0.6, 0.5, 1.0, 0.0, NAN]), case(first))
    differ, more = report.measures
    assert differ == Measure("a", "verdicts that differ", 4, 0.5, *share_bounds(2, 4))
    assert (more.of, more.what, more.count, more.value) == ("a", "mean score, more", 4, pytest.approx(0.1))
    assert more.low < 0.1 < more.high
    assert report.flipped == [("a", "k1"), ("a", "k2")]
    module._changes(none := JudgeReport(), "a", np.array([NAN]), np.array([1.0]), case([1.0]))
    assert none == JudgeReport()


def test_a_difference_of_groups_is_mantel_and_haenszels():
    parts = [([1] * 6 + [0] * 2, [1] * 2 + [0] * 2), ([1, 0], [0] * 6), ([1], [])]
    weights = 8 * 4 / 12, 2 * 6 / 8
    value = (weights[0] * 0.25 + weights[1] * 0.5) / sum(weights)
    shares = [(6.5 / 9, 2.5 / 5), (1.5 / 3, 0.5 / 7)]
    sizes = [(8, 4), (2, 6)]
    spread = sum(
        weight**2 * sum(p * (1 - p) / size for p, size in zip(share, size, strict=True))
        for weight, share, size in zip(weights, shares, sizes, strict=True)
    )
    margin = 1.959964 * math.sqrt(spread) / sum(weights)
    assert risk_difference(parts) == pytest.approx((value, value - margin, value + margin))
    low, high = (risk_difference([([right] * 5, [1 - right] * 5)]) for right in (0, 1))
    assert (low[0], low[1], high[0], high[2]) == (-1.0, -1.0, 1.0, 1.0)
    assert risk_difference([([1] * 5, [0] * 4)]) is None
    assert risk_difference([([1] * 20, [])]) is None
    assert risk_difference([]) is None


def test_how_much_a_judge_overrates_is_weighted_by_the_draw():
    mean, variance = module._overrated(case([1.0, 1.0, 0.0, 0.4], [0.0, 1.0, NAN, 0.4], [1, 3, 9, 4]))
    shares, rest = np.array([1, 3, 4]) / 8, np.array([1.0, 0.0, 0.0])
    assert mean == pytest.approx(1 / 8)
    assert variance == pytest.approx((shares**2 @ (rest - 1 / 8) ** 2) + 0.5 / 9)


def test_a_judge_is_compared_on_its_own_and_on_others_answers():
    own = case([1.0] * 10, [0.0] * 5 + [1.0] * 5, name="own", is_own=True)
    other = case([1.0] * 12, [1.0] * 12, name="other")
    report = JudgeReport()
    module._of_itself(report, [own, other])
    [found] = report.measures
    margin = 1.959964 * math.sqrt(0.5**2 / 10 + 0.5 / 100 + 0.5 / 144)
    wanted = ("own, run-own against run-other", "own answers overrated, more", 22)
    assert (found.of, found.what, found.count) == wanted
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5 - margin, 0.5 + margin))
    assert report.missing == []
    module._of_itself(report, [own, case([1.0] * 12, [1.0] * 12, models=("another",))])
    assert (len(report.measures), report.missing) == (1, [])
    few = case([1.0] * 9, [1.0] * 9)
    for cases in ([own, few], [few, other], [own], [other]):
        module._of_itself(lacking := JudgeReport(), cases)
        assert lacking.measures == []
        assert lacking.missing == [
            f"{cases[0].exam}: self-preference: labelled answers of the judge itself, and of another model, would tell"
        ]


def test_two_runs_are_compared_on_the_answers_that_they_share(monkeypatch):
    told = []
    monkeypatch.setattr(
        module, "_changes", lambda report, of, first, second, case: told.append((of, first.tolist(), second.tolist()))
    )
    one = case([0.1 * place for place in range(11)], name="a")
    two = case([0.05 * place for place in range(10)], name="b", keys=[f"k{place}" for place in range(9, -1, -1)])
    report = JudgeReport()
    module._by_version(report, one, two)
    later = [0.05 * (9 - place) for place in range(10)]
    [(of, first, second)] = told
    assert (of, first) == ("a, run-b against run-a (one judge twice)", one.scores.tolist())
    np.testing.assert_allclose(second, [*later, NAN])
    for models, who in ((["x", "y"], "x, y after j"), ([], "an unnamed judge after j")):
        two.models = models
        module._by_version(report, one, two)
        assert told[-1][0] == f"a, run-b against run-a ({who})"
    one.models = two.models = []
    module._by_version(report, one, two)
    assert told[-1][0].endswith("(an unnamed judge after an unnamed judge)")
    two.keys = ["other", *two.keys[1:]]
    module._by_version(report, one, two)
    assert report.missing == ["a: drift: run-b has 9 answers of run-a"]
    assert len(told) == 4


def test_longer_answers_are_compared_with_shorter_ones_that_are_equally_right():
    lengths, scores = [1, 2, 3, 4, 5, 6] * 2, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0] * 2
    records = {f"k{place}": {"output": "x" * length} for place, length in enumerate(lengths)}
    judged = case(scores, [1.0] * 6 + [0.0] * 6, **records)
    module._by_length(report := JudgeReport(), judged)
    [found] = report.measures
    wanted = risk_difference([([1, 1, 1], [0, 0, 0])] * 2)
    assert (found.of, found.count, (found.value, found.low, found.high)) == ("exam", 12, wanted)
    assert found.what == "more often right where longer, of equally right answers"
    module._by_length(few := JudgeReport(), case(scores[:9], [1.0] * 9, **dict([*records.items()][:9])))
    assert few == JudgeReport(missing=["exam: length: 10 labelled answers, shorter and longer ones, tell"])


def test_labels_that_are_too_few_say_so():
    module._by_people(report := JudgeReport(), case([1.0] * 12, [1.0] * 9 + [0.5, NAN, NAN]))
    assert report == JudgeReport(missing=["exam: 10 labels tell how good the judge is, and 9 have a verdict"])
    module._by_people(report := JudgeReport(), case([1.0, 0.0] * 5 + [0.5], [1.0, 0.0] * 4 + [1.0, 1.0, 1.0]))
    assert report.missing == []
    assert [(each.what, each.count) for each in report.measures] == [
        ("accuracy", 10), ("Cohen's kappa", 10), ("Gwet's AC1", 10), ("Krippendorff's alpha, nominal", 10), ("Krippendorff's alpha, interval", 11),
    ]  # fmt: skip
    assert report.measures[0].value == 0.9
    assert all(each.low <= each.value <= each.high for each in report.measures)


def test_a_table_lists_what_is_known_and_the_first_of_what_differs():
    assert list(report_tables(JudgeReport(missing=["x"]))) == []
    flipped = [("of", f"a\n  question {'x' * 200} {place}") for place in range(12)]
    measures, differ = report_tables(JudgeReport([Measure("of", "what", 5, 0.5, 0.25, 0.75)], [], flipped))
    assert (measures.title, measures.header) == ("Judges, with 95% intervals", ("of", "measure", "answers", "value"))
    [(of, what, count, value)] = measures.rows
    assert (of, what, count) == ("of", "what", "5")
    assert [float(each.strip(" ,]")) for each in value.replace("[", "").split()] == [0.5, 0.25, 0.75]
    assert (differ.title, differ.header, differ.left_out) == ("Decided differently", ("of", "question"), 2)
    assert differ.rows == (("of", ("a question " + "x" * 200)[:100]),) * 10
