"""Metrics that a random forest puts together."""

from __future__ import annotations

import json
import math

import pytest

from proctor.errors import ProctorError
from proctor.scoring.forest import RandomForestMetricsEnsemble, predicted_class
from proctor.testing.unitxt_checks import apply_metric


def tree(threshold, left, right, feature=0, missing=0):
    """A tree of one question; its leaves as counts or shares of two classes."""
    nodes = [
        [1, 2, feature, threshold, 0.5, 4, 4.0, missing],
        [-1, -1, -2, -2.0, 0, 2, 2.0, 0],
        [-1, -1, -2, -2.0, 0, 2, 2.0, 0],
    ]
    return {"tree_": {"nodes": nodes, "values": [[[0.5, 0.5]], [left], [right]]}}


def forest(*trees, features=1):
    return {"estimators_": list(trees), "classes_": [0, 1], "n_features_in_": features, "n_outputs_": 1}


def test_a_tree_goes_left_up_to_its_threshold_in_32_bits():
    made = forest(tree(0.5, [1.0, 0.0], [0.0, 1.0]))
    assert [predicted_class(made, [value]) for value in (0.0, 0.5, 0.5000001)] == [0.0, 0.0, 1.0]
    assert predicted_class(made, [0.5 + 1e-12]) == 0.0  # 32 bits do not tell it from 0.5


def test_trees_vote_with_shares_whatever_their_size():
    large, small = tree(0.5, [900.0, 100.0], [0.0, 1000.0]), tree(0.5, [0.0, 1.0], [0.0, 1.0])
    assert predicted_class(forest(large, small, small), [0.1]) == 1.0
    assert predicted_class(forest(large), [0.1]) == 0.0


def test_a_missing_score_takes_the_side_of_the_node():
    assert predicted_class(forest(tree(0.5, [1.0, 0.0], [0.0, 1.0], missing=1)), [math.nan]) == 0.0
    assert predicted_class(forest(tree(0.5, [1.0, 0.0], [0.0, 1.0], missing=0)), [math.nan]) == 1.0


def test_a_circle_is_refused():
    broken = forest(tree(0.5, [1.0, 0.0], [0.0, 1.0]))
    broken["estimators_"][0]["tree_"]["nodes"][1][0:3] = [0, 0, 0]
    with pytest.raises(ProctorError, match="circle"):
        predicted_class(broken, [0.1])


def test_an_ensemble_scores_what_its_forest_says(tmp_path):
    file = tmp_path / "forest.json"
    file.write_text(json.dumps(forest(tree(0.5, [1.0, 0.0], [0.0, 1.0], feature=1), features=2)))
    metric = RandomForestMetricsEnsemble(
        metrics=["metrics.accuracy", "metrics.string_containment"],
        weights=RandomForestMetricsEnsemble.load_weights(file),
    )
    rows = apply_metric(metric, ["a b", "c"], [["a"], ["a"]])
    assert [row["score"]["instance"]["score"] for row in rows] == [1.0, 0.0]
    assert rows[0]["score"]["global"]["ensemble_score"] == 0.5


def test_forests_that_do_not_fit_are_refused():
    with pytest.raises(ProctorError, match="1 features for 2 metrics"):
        RandomForestMetricsEnsemble(metrics=["metrics.accuracy"] * 2, weights=forest(tree(0, [1, 0], [0, 1])))
    with pytest.raises(ProctorError, match="needs trees"):
        RandomForestMetricsEnsemble(metrics=["metrics.accuracy"], weights=forest())
