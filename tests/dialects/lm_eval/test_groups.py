import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.lm_eval.groups import group_scores, pooled_error, unweighted_error, weighted
from proctor.dialects.lm_eval.tree import Group, GroupMetric, Leaf

SCORES = {
    "a": {"acc": 0.5, "acc_stderr": 0.1, "num_of_instances": 10, "f,x": 1.0, "f_stderr,x": 0.2},
    "b": {"acc": 1.0, "acc_stderr": 0.2, "num_of_instances": 30},
    "c": {"other": 1.0, "num_of_instances": 5},
}


def group(*metrics):
    inner = Group("inner", [Leaf("b", {}), Leaf("c", {})])
    return Group("g", [Leaf("a", {}), inner], tuple(metrics))


def test_weighted_by_size():
    found = group_scores(group(GroupMetric("acc")), SCORES)
    assert found["acc"] == pytest.approx((0.5 * 10 + 1.0 * 30) / 40)
    variance = (9 * 0.01 * 10 + 29 * 0.04 * 30) / 38
    assert found["acc_stderr"] == pytest.approx(math.sqrt(variance / 40))
    assert found["num_of_instances"] == 45
    assert found["score_name"] == "acc"
    assert found["acc_ci_low"] < found["acc"] < found["acc_ci_high"]


def test_every_task_alike():
    found = group_scores(group(GroupMetric("acc", weight_by_size=False)), SCORES)
    assert found["acc"] == 0.75
    assert found["acc_stderr"] == pytest.approx(math.sqrt(0.01 + 0.04) / 2)


def test_filters_are_found_or_named():
    assert group_scores(group(GroupMetric("f")), SCORES)["f,x"] == 1.0
    assert group_scores(group(GroupMetric("f", ("x",))), SCORES)["f_stderr,x"] == pytest.approx(0.2)
    assert "f" not in group_scores(group(GroupMetric("f", ("none",))), SCORES)


def test_an_error_that_one_task_lacks():
    scores = {**SCORES, "b": {"acc": 1.0, "acc_stderr": "N/A", "num_of_instances": 3}}
    found = group_scores(group(GroupMetric("acc")), scores)
    assert found["acc_stderr"] == "N/A"
    assert "acc_ci_low" not in found


def test_a_function_of_ones_own():
    found = group_scores(group(GroupMetric("acc", aggregation=lambda values, sizes: max(values))), SCORES)
    assert found["acc"] == 1.0


@given(st.lists(st.tuples(st.floats(0.01, 1), st.integers(2, 100)), min_size=1, max_size=6))
def test_pooling_equal_sizes_is_the_plain_formula(entries):
    errors = [error for error, _ in entries]
    size = entries[0][1]
    assert pooled_error(errors, [size] * len(errors)) == pytest.approx(unweighted_error(errors))
    assert weighted(errors, [size] * len(errors)) == pytest.approx(sum(errors) / len(errors))


def test_recipes_count_under_the_name_that_they_give_the_same_score():
    recipe = {"accuracy": 0.25, "accuracy_ci_low": 0.0, "accuracy_ci_high": 0.5, "num_of_instances": 20}
    for metric in ("acc", "accuracy"):
        found = group_scores(
            Group("g", [Leaf("a", {}), Leaf("r", {})], (GroupMetric(metric),)), {**SCORES, "r": recipe}
        )
        assert found[metric] == pytest.approx((0.5 * 10 + 0.25 * 20) / 30)
        error = 0.25 / 1.959963984540054
        pooled = (9 * 0.01 * 10 + 19 * error**2 * 20) / 28
        assert found[f"{metric}_stderr"] == pytest.approx(math.sqrt(pooled / 30)) if metric == "acc" else True
        assert f"{metric}_without" not in found


def test_tasks_without_the_score_are_named():
    assert group_scores(group(GroupMetric("acc")), SCORES)["acc_without"] == ["c"]


@pytest.mark.parametrize("by_size", [True, False])
def test_intervals_of_shares_stay_within_bounds(by_size):
    none_right = {"acc": 0.0, "acc_stderr": 0.0, "acc_ci_low": 0.0, "acc_ci_high": 0.56, "num_of_instances": 3}
    group = Group("g", [Leaf("a", {}, None), Leaf("b", {}, None)], (GroupMetric("acc", weight_by_size=by_size),))
    found = group_scores(group, {"a": none_right, "b": none_right})
    assert found["acc_ci_low"] == 0.0
    assert 0.3 < found["acc_ci_high"] < 0.56
    assert found["acc_stderr"] == 0.0
