import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.lm_eval.groups import group_scores, pooled_error, unweighted_error, weighted
from proctor.dialects.lm_eval.tree import Group, GroupMetric, Leaf
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Failure
from proctor.recipes.options import ExamOptions
from proctor.results.summary import group_notes
from proctor.running.run import run_exams
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score


def graded(count, *scores):
    return Grade({}, predictions=[None] * count, table=list(scores))


def score(name, value, error=None, bounds=(None, None), grading=""):
    listed = f"{name},{grading}" if grading else name
    return Score(listed, value, *bounds, n=10, stderr=error, unit="share", metric=name, grading=grading)


GRADES = {
    "a": graded(10, score("acc", 0.5, 0.1, (0.3, 0.7)), score("f", 1.0, 0.2, grading="x")),
    "b": graded(30, score("acc", 1.0, 0.2, (0.6, 1.0))),
    "c": graded(5, score("other", 1.0)),
}


def flat(group, grades=GRADES):
    return group_scores(group, grades).flat()


def group(*metrics):
    inner = Group("inner", [Leaf("b", {}), Leaf("c", {})])
    return Group("g", [Leaf("a", {}), inner], tuple(metrics))


def test_weighted_by_size():
    found = flat(group(GroupMetric("acc")))
    assert found["acc"] == pytest.approx((0.5 * 10 + 1.0 * 30) / 40)
    variance = (9 * 0.01 * 10 + 29 * 0.04 * 30) / 38
    assert found["acc_stderr"] == pytest.approx(math.sqrt(variance / 40))
    assert found["num_of_instances"] == 40  # c has no acc
    assert found["score_name"] == "acc"
    assert found["acc_ci_low"] < found["acc"] < found["acc_ci_high"]


def test_every_task_alike():
    found = flat(group(GroupMetric("acc", weight_by_size=False)))
    assert found["acc"] == 0.75
    assert found["acc_stderr"] == pytest.approx(math.sqrt(0.01 + 0.04) / 2)


def test_filters_are_found_or_named():
    assert flat(group(GroupMetric("f")))["f,x"] == 1.0
    assert flat(group(GroupMetric("f", ("x",))))["f_stderr,x"] == pytest.approx(0.2)
    assert "f" not in flat(group(GroupMetric("f", ("none",))))


def test_an_error_that_one_task_lacks():
    found = flat(group(GroupMetric("acc")), {**GRADES, "b": graded(3, score("acc", 1.0))})
    assert found["acc_stderr"] == "N/A"
    assert "acc_ci_low" not in found


def test_a_function_of_ones_own():
    found = flat(group(GroupMetric("acc", aggregation=lambda values, sizes: max(values))))
    assert found["acc"] == 1.0


@given(st.lists(st.tuples(st.floats(0.01, 1), st.integers(2, 100)), min_size=1, max_size=6))
def test_pooling_equal_sizes_is_the_plain_formula(entries):
    errors = [error for error, _ in entries]
    size = entries[0][1]
    assert pooled_error(errors, [size] * len(errors)) == pytest.approx(unweighted_error(errors))
    assert weighted(errors, [size] * len(errors)) == pytest.approx(sum(errors) / len(errors))


def test_recipes_count_under_the_name_that_they_give_the_same_score():
    recipe = graded(20, score("accuracy", 0.25, bounds=(0.0, 0.5)))
    for metric in ("acc", "accuracy"):
        found = flat(Group("g", [Leaf("a", {}), Leaf("r", {})], (GroupMetric(metric),)), {**GRADES, "r": recipe})
        assert found[metric] == pytest.approx((0.5 * 10 + 0.25 * 20) / 30)
        error = 0.25 / 1.959963984540054
        pooled = (9 * 0.01 * 10 + 19 * error**2 * 20) / 28
        assert found[f"{metric}_stderr"] == pytest.approx(math.sqrt(pooled / 30)) if metric == "acc" else True
        assert f"{metric}_without" not in found


def test_tasks_without_the_score_are_named():
    found = flat(group(GroupMetric("acc")))
    assert found["acc_without"] == found["without"] == ["c"]
    assert found["num_of_instances"] == 10 + 30


@pytest.mark.parametrize(
    "metric, named",
    [
        (GroupMetric("nothing"), ["nothing"]),
        (GroupMetric("acc", filters=("never",)), ["acc,never"]),
        (GroupMetric("acc", filters=("none", "never")), ["acc,never"]),
        (GroupMetric("acc"), None),
    ],
)
def test_scores_that_no_task_has_are_named(metric, named):
    found = flat(group(metric))
    assert found.get("in_no_exam") == named
    notes = group_notes({"g": {**found, "members": ["a", "b", "c"]}})
    said = [f"g: none of its exams has {each}, which the group was to have" for each in named or ()]
    assert [each for each in notes if "none of its" in each] == said


def test_instances_of_tasks_without_the_main_score_are_not_counted_as_its(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text('{"q": "1"}\n{"q": "2"}\n')
    shared = (
        "dataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{q}}'\n"
    )
    (tmp_path / "one.yaml").write_text(f"task: one\n{shared}metric_list: [{{metric: exact_match}}]\n")
    (tmp_path / "two.yaml").write_text(f"task: two\n{shared}metric_list: [{{metric: bleu}}]\n")
    (tmp_path / "g.yaml").write_text("group: g\ntask: [one, two]\naggregate_metric_list: [{metric: exact_match}]\n")
    exams = resolve_tasks(["g"], ExamOptions(include_paths=(str(tmp_path),)))
    results = run_exams(exams, ScriptedEngine(answer="1"), log=tmp_path / "log.db").results
    found = results["g"]
    assert (found["score"], found["n"], found["num_of_instances"], found["failures"]) == (0.5, 2, 2, 0)
    assert (found["members"], found["without"]) == (["one", "two"], ["two"])
    assert group_notes(results) == ["g: exact_match is made of 1 of 2 exams; two gave none"]


@pytest.mark.parametrize("by_size", [True, False])
def test_intervals_of_shares_stay_within_bounds(by_size):
    none_right = graded(3, score("acc", 0.0, 0.0, (0.0, 0.56)))
    group = Group("g", [Leaf("a", {}, None), Leaf("b", {}, None)], (GroupMetric("acc", weight_by_size=by_size),))
    found = flat(group, {"a": none_right, "b": none_right})
    assert found["acc_ci_low"] == 0.0
    assert 0.3 < found["acc_ci_high"] < 0.56
    assert found["acc_stderr"] == 0.0


def test_failed_instances_weigh_nothing():
    whole, part = graded(10, score("acc", 1.0, 0.1)), graded(10, score("acc", 0.0, 0.1))
    part.failures = {place: Failure("timeout", "slow") for place in range(8)}
    found = flat(Group("g", [Leaf("a", {}), Leaf("b", {})], (GroupMetric("acc"),)), {"a": whole, "b": part})
    assert found["acc"] == pytest.approx(10 / 12)
    assert found["num_of_instances"] == 12


def test_the_error_of_one_instance_is_not_known():
    alone = graded(1, score("acc", 1.0, bounds=(0.2, 1.0)))
    alone.table[0] = replace(alone.table[0], n=1)
    found = flat(Group("g", [Leaf("a", {}), Leaf("b", {})], (GroupMetric("acc"),)), {"a": GRADES["a"], "b": alone})
    assert found["acc_stderr"] == "N/A"


def test_a_score_of_two_units_is_raw():
    percent = graded(10, replace(score("acc", 50.0, 1.0), unit="percent"))
    both = {"a": GRADES["a"], "b": percent}
    assert group_scores(group(GroupMetric("acc")), both).table[0].unit == "raw"
    assert group_scores(group(GroupMetric("acc")), GRADES).table[0].unit == "share"
