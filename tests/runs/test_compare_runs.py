import json

import pytest

from proctor.results.comparison import mcnemar
from proctor.runs.compare_runs import compare_runs, compare_with, flips
from proctor.runs.sample_index import SampleIndex


def index_of(folder, name, scores):
    path = folder / f"{name}.jsonl"
    lines = [
        {"exam": exam, "doc_id": document, "scores": {"score": score}}
        for exam, column in scores.items()
        for document, score in column.items()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    index = SampleIndex(path, index=folder / f"{name}.db")
    index.build()
    return index


@pytest.fixture
def runs(tmp_path):
    first = {"qa": {0: 1.0, 1: 1.0, 2: 0.0, 3: 1.0, 4: None, 5: 0.0}, "one": {0: 0.5}, "mine": {0: 1.0}}
    second = {"one": {0: 1.0}, "qa": {0: 0.0, 1: 1.0, 2: 1.0, 3: 0.0, 4: 1.0, 9: 1.0}}
    return index_of(tmp_path, "first", first), index_of(tmp_path, "second", second)


def test_shared_exams_are_compared_on_what_both_scored(runs):
    qa, one = compare_runs(*runs)
    assert (qa.task, qa.n, qa.left_out, qa.better, qa.worse) == ("qa", 4, 3, 1, 2)
    assert (qa.first, qa.second, qa.difference) == (0.75, 0.5, -0.25)
    assert qa.low < -0.25 < qa.high
    assert qa.p == mcnemar([1, 1, 0, 1], [0, 1, 1, 0])
    assert (one.task, one.n, one.difference, one.p, one.p_corrected) == ("one", 1, None, None, None)


def test_p_is_corrected_for_the_exams_that_were_tested(tmp_path):
    first = {name: dict.fromkeys(range(8), 0.0) for name in ("a", "b")}
    second = {name: dict.fromkeys(range(8), 1.0) for name in ("a", "b")}
    found = compare_runs(index_of(tmp_path, "first", first), index_of(tmp_path, "second", second))
    assert [each.p_corrected for each in found] == [2 * found[0].p, 2 * found[1].p]


def test_flips(runs):
    assert flips(*runs, "qa", better=True) == [2]
    assert flips(*runs, "qa", better=False) == [0, 3]
    assert flips(*runs, "nothing", better=True) == []


def test_p_is_corrected_for_all_runs_together(tmp_path):
    def run(name, score):
        return index_of(tmp_path, name, {exam: dict.fromkeys(range(8), score) for exam in ("a", "b")})

    baseline = run("baseline", 0.0)
    others = compare_with(baseline, [run("x", 1.0), run("y", 1.0), run("z", 0.0)])
    assert [[each.task for each in comparisons] for comparisons in others] == [["a", "b"]] * 3
    assert others[0][0].p_corrected == pytest.approx(6 * others[0][0].p)
    assert others[2][0].p_corrected == 1.0
    assert compare_with(baseline, []) == []


def test_percentages_are_compared_with_shares(tmp_path):
    right = {0: 1.0, 1: 0.0, 2: 0.0, 3: 1.0}
    share, percent = (
        index_of(tmp_path, "share", {"qa": right}),
        index_of(tmp_path, "percent", {"qa": {document: 100 * score for document, score in right.items()}}),
    )
    share.units, percent.units = {"qa": "share"}, {"qa": "percent"}
    (found,) = compare_runs(share, percent)
    assert (found.first, found.second, found.difference, found.unit, found.test) == (0.5, 0.5, 0.0, "share", "mcnemar")
    assert (found.better, found.worse) == (0, 0)
    assert flips(share, percent, "qa", better=True) == []


def test_what_has_no_unit_is_compared_with_its_like_only(tmp_path):
    one, other = (index_of(tmp_path, name, {"qa": {0: 7.0, 1: 8.0}}) for name in ("one", "other"))
    one.units, other.units = {"qa": "raw"}, {"qa": "share"}
    (found,) = compare_runs(one, other)
    assert (found.difference, found.p) == (None, None)
    assert "'raw'" in found.refused
    other.units = {}
    assert compare_runs(one, other)[0].difference == 0.0
