import json

import pytest

from proctor.runs.compare_runs import _resamples, compare_runs, compare_with, evidence_of, flips
from proctor.runs.sample_index import SampleIndex
from proctor.statistics.paired_shares import melded_interval


def compare_exams(*exams, **more):
    return evidence_of(*exams, **more).together_with(1)


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
    assert (qa.task, qa.n, qa.left_out, qa.better, qa.worse, qa.unanswered) == ("qa", 4, 3, 1, 2, 1)
    assert (qa.first, qa.second, qa.difference) == (0.75, 0.5, -0.25)
    # Number 4 has no score in the first run, and 1 in the second: one more that is better, or none.
    assert (qa.low, qa.high) == (melded_interval(1, 2, 5).low, melded_interval(2, 2, 5).high)
    assert qa.p == 1.0
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


def clustered(folder, name, scores, **more):
    path = folder / f"{name}.jsonl"
    rows = [
        {
            "exam": "qa",
            "doc_id": number,
            "scores": {"score": score},
            "input": {"topic": number // 4, "text": ["a"], "part": number // 2 if number < 12 else None},
            **more,
        }
        for number, score in enumerate(scores)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    index = SampleIndex(path, index=folder / f"{name}.db")
    index.build()
    return index


def test_instances_of_one_cluster_count_as_much_as_they_differ(tmp_path):
    old = clustered(tmp_path, "old", [0.0] * 8 + [1.0] * 8)
    new = clustered(tmp_path, "new", [1.0] * 8 + [1.0] * 4 + [0.0] * 4)
    plain = compare_exams(old, "qa", new, "qa")
    (by_topic, by_text) = (compare_exams(old, "qa", new, "qa", clusters=field) for field in ("topic", "text"))
    assert by_topic.difference == plain.difference == 0.25
    assert by_topic.high - by_topic.low > plain.high - plain.low
    assert by_topic.notes[-1] == "errors are of 4 clusters of 'topic'"
    assert by_text.notes[-1] == "errors are of 1 clusters of 'text'"
    by_part = compare_exams(old, "qa", new, "qa", clusters="part")
    said = "errors are of 10 clusters of 'part'; 4 instances have no 'part', and each is a cluster of its own"
    assert by_part.notes[-1] == said
    assert plain.notes == ()
    refused = compare_exams(old, "qa", new, "qa", clusters="nowhere")
    assert (refused.refused, refused.better, refused.worse) == ("the samples of qa have no field 'nowhere'", 0, 0)


def test_the_field_that_a_run_names_is_the_cluster(tmp_path):
    old, new = clustered(tmp_path, "old", [0.0] * 8), clustered(tmp_path, "new", [1.0, 0.0] * 4)
    new.clusters = {"qa": "topic"}
    assert "clusters of 'topic'" in compare_exams(old, "qa", new, "qa").notes[-1]


def test_where_only_one_run_says_what_its_instances_hold_none_are_paired(tmp_path):
    known, unknown = (
        clustered(tmp_path, "known", [1.0] * 4),
        index_of(tmp_path, "unknown", {"qa": dict.fromkeys(range(4), 1.0)}),
    )
    found = compare_exams(known, "qa", unknown, "qa")
    assert (found.n, found.refused) == (
        0,
        "one of the runs does not say what its instances hold, so nothing tells which are the same",
    )


def test_questions_that_were_drawn_for_what_they_tell_are_like_no_others(runs):
    first, second = runs
    second.adaptive = frozenset({"qa"})
    assert "questions of qa were drawn for what they tell" in compare_exams(first, "qa", second, "qa").refused


@pytest.mark.parametrize("pairs, resamples", [(96, 1_000), (300, 1_000), (1_000, 300), (14_042, 200)])
def test_how_often_an_exam_is_resampled_depends_on_its_pairs_alone(pairs, resamples):
    assert len(list(_resamples(pairs))) == resamples
