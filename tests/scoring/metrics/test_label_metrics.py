from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.scoring.columns import Columns
from proctor.scoring.metrics.binary import F1Binary
from proctor.scoring.metrics.correlation import pearson, spearman
from proctor.scoring.metrics.finqa import equivalent, read_program, run_program
from proctor.scoring.metrics.robustness import (
    interpret_effect_size,
    normalized_cohens_h,
    normalized_hedges_g,
    performance_drop_rate,
)
from proctor.scoring.pipeline import apply_metrics

label = st.sampled_from(["a", "b", "c"])
numbers = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
pairs_of_numbers = st.lists(st.tuples(numbers, numbers), min_size=3, max_size=20)


def score(metric, predictions, references, task_data=()):
    return apply_metrics(Columns(predictions, references, task_data), [metric])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(label, label), min_size=1, max_size=20))
def test_labels_equal_scikit_learns(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    given_labels, gold = zip(*pairs, strict=True)
    golds = [[each] for each in gold]
    present = sorted(set(gold))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighted = metrics.f1_score(gold, given_labels, average="weighted", labels=present, zero_division=0)
        matthews = metrics.matthews_corrcoef(gold, given_labels)
    assert score("metrics.f1_weighted", given_labels, golds).scores["f1_weighted"] == pytest.approx(weighted)
    found = score("metrics.matthews_correlation", given_labels, golds).scores["matthews_correlation"]
    assert found == pytest.approx(matthews, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.lists(label, max_size=3), st.lists(label, max_size=3)), min_size=1, max_size=12))
def test_lists_of_labels_equal_scikit_learns(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    given_labels, gold = map(list, zip(*pairs, strict=True))
    present = sorted({each for labels in gold for each in labels})
    for name, function in (
        ("f1", metrics.f1_score),
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
    ):
        for average in ("macro", "micro"):
            found = score(f"metrics.{name}_{average}_multi_label", given_labels, [[each] for each in gold]).scores
            if not present:
                assert math.isnan(found[f"{name}_{average}"])
                continue
            hot = [[[int(each in labels) for each in present] for labels in part] for part in (gold, given_labels)]
            expected = (
                function(
                    np.array(hot[0]), np.array(hot[1]), average=average, zero_division=0, labels=[*range(len(present))]
                )
                if len(present) > 1
                else function([row[0] for row in hot[0]], [row[0] for row in hot[1]], zero_division=0)
            )
            assert found[f"{name}_{average}"] == pytest.approx(expected)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(numbers, st.sampled_from([0, 1])), min_size=2, max_size=25))
def test_two_classes_equal_scikit_learns(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    given_numbers, gold = zip(*pairs, strict=True)
    golds = [[each] for each in gold]
    above = [int(each > 0.5) for each in given_numbers]
    found = score("metrics.f1_binary", given_numbers, golds).scores
    assert found["f1_binary"] == pytest.approx(metrics.f1_score(gold, above, zero_division=0))
    assert found["recall_binary"] == pytest.approx(metrics.recall_score(gold, above, zero_division=0))
    assert found["precision_binary_neg"] == pytest.approx(
        metrics.precision_score(gold, above, pos_label=0, zero_division=0)
    )
    best = max(
        metrics.f1_score(gold, [int(each >= limit) for each in given_numbers], zero_division=0)
        for limit in given_numbers
    )
    assert score("metrics.max_f1_binary", given_numbers, golds).scores["max_f1_binary"] == pytest.approx(best)
    accuracies = [
        metrics.accuracy_score(gold, [int(each >= limit) for each in given_numbers]) for limit in (*given_numbers, 2.0)
    ]
    assert score("metrics.max_accuracy_binary", given_numbers, golds).scores["max_accuracy_binary"] == pytest.approx(
        max(accuracies)
    )
    area = score("metrics.roc_auc", given_numbers, [[float(each)] for each in gold]).scores["roc_auc"]
    if len(set(gold)) == 2:
        assert area == pytest.approx(metrics.roc_auc_score(gold, given_numbers))
    else:
        assert math.isnan(area)


def test_references_of_two_classes_are_checked():
    result = score("metrics.accuracy_binary", [0.7, 0.2], [[1], [3]])
    assert result.scores["accuracy_binary"] == 1.0
    assert "0 or 1" in result.failures[1].message
    found = score("metrics.roc_auc", [math.nan, 0.5, 0.7], [[1.0], [0.0], [1.0]])
    assert found.scores["roc_auc"] == 1.0
    assert found.failures[0].message == "metrics.roc_auc needs finite numbers, got nan"


@settings(deadline=None, max_examples=60)
@given(pairs_of_numbers)
def test_correlations_equal_scipys(pairs):
    stats = pytest.importorskip("scipy.stats")
    one, two = (np.array(part) for part in zip(*pairs, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for ours, theirs in ((spearman, stats.spearmanr), (pearson, stats.pearsonr)):
            expected = theirs(one, two)
            assert ours(one, two) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-7, nan_ok=True)


def test_correlations_are_metrics():
    pytest.importorskip("scipy")
    result = score("metrics.spearman", [1.0, 2.0, 4.0, 3.0], [[1.0], [2.0], [3.0], [4.0]])
    assert result.scores["spearmanr"] == pytest.approx(0.8)
    assert math.isnan(result.instance_scores["spearmanr"][0])
    assert score("metrics.kendalltau_b", [1.0, 2.0, 3.0], [[1.0], [2.0], [3.0]]).scores[
        "kendalltau_b"
    ] == pytest.approx(1.0)
    assert score("metrics.mean_squared_error", [1.0, 3.0], [[0.0], [1.0]]).scores["score"] == 2.5
    assert score("metrics.root_mean_squared_error", [1.0, 3.0], [[0.0], [1.0]]).scores["score"] == math.sqrt(2.5)


def test_win_rates_are_correlated():
    task_data = [{"model_a": a, "model_b": b} for a, b in (("x", "y"), ("y", "z"), ("x", "z"))]
    result = score("metrics.weighted_win_rate_correlation", [1, 1, 3], [[1], [2], [1]], task_data)
    assert result.scores["spearman_corr"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "name, prediction, gold, expected",
    [
        ("mrr", ["x", "a"], ["a"], 0.5),
        ("mrr", ["x"], ["a"], 0),
        ("map", ["a", "x", "b"], ["a", "b"], (1 + 2 / 3) / 2),
        ("map", [], ["a"], 0),
        ("retrieval_at_k", ["x", "a"], ["a"], 0.0),
        ("retrieval_at_k", ["a"], ["a", "b"], 1.0),
        ("retrieval_at_k", [], ["a"], 0.0),
    ],
)
def test_rankings_are_scored(name, prediction, gold, expected):
    assert score(f"metrics.{name}", [prediction], [[gold]]).instance_scores["score"][0] == pytest.approx(expected)


def test_retrieval_has_all_its_scores():
    scores = score("metrics.retrieval_at_k[k_list=[1,2]]", [["x", "a", "b"]], [[["a", "b", "c"]]]).scores
    assert scores["precision_at_2"] == 0.5
    assert scores["recall_at_2"] == pytest.approx(1 / 3)
    assert (scores["match_at_1"], scores["match_at_2"]) == (0.0, 1.0)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(numbers, st.integers(0, 3)), min_size=2, max_size=8))
def test_gains_equal_scikit_learns(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    given_numbers, gold = zip(*pairs, strict=True)
    result = score({"__type__": "ndcg"}, given_numbers, [[float(each)] for each in gold], [{"query": "q"}] * len(gold))
    assert result.scores["nDCG"] == pytest.approx(metrics.ndcg_score([gold], [given_numbers]))


def test_queries_are_ranked_apart_and_words_rank_last():
    task_data = [{"query": "q"}, {"query": "q"}, {"query": "r"}, {"query": "r"}, {"query": "alone"}]
    result = score("metrics.ndcg", ["2", "none", "1", "2", "1"], [["1"], ["0"], ["0"], ["1"], ["1"]], task_data)
    assert result.scores["nDCG"] == pytest.approx((0 + 1) / 2)
    rerank = [{"query_id": "q", "passage_id": name} for name in "abc"]
    found = score("metrics.rerank_recall[at_k=[1,2,5]]", ["0.1", "0.9", "x"], [["1"], ["0"], ["0"]], rerank).scores
    assert (found["recall_at_1"], found["recall_at_2"]) == (0.0, 1.0)


def test_entities_are_counted_by_type():
    gold = [("Ann", "PER"), ("Rome", "LOC"), ("Rome", "LOC")]
    scores = score("metrics.ner", [[("Ann", "PER"), ("Rome", "LOC"), ("IBM", "ORG")]], [[gold]]).scores
    assert scores["f1_PER"] == 1.0
    assert scores["f1_LOC"] == pytest.approx(2 / 3)
    assert "f1_ORG" not in scores
    assert scores["in_classes_support"] == pytest.approx(2 / 3)
    assert scores["f1_micro"] == pytest.approx(2 * (2 / 3) * (2 / 3) / (4 / 3))
    assert scores["f1_macro"] == pytest.approx((1 + 2 / 3) / 2)
    empty = score("metrics.ner", [[]], [[[]]]).scores
    assert (empty["f1_micro"], empty["in_classes_support"]) == (0.0, 1.0)


def test_entities_need_only_be_alike():
    gold = [("Angela Merkel", "PER"), ("Berlin", "LOC")]
    close = [("Angela Merkl", "PER"), ("Munich", "LOC")]
    assert score("metrics.ner", [close], [[gold]]).scores["f1_micro"] == 0.0
    assert score("metrics.fuzzyner", [close], [[gold]]).scores["f1_micro"] == 0.5
    by_metric = score("metrics.metric_based_ner[metric=metrics.char_edit_dist_accuracy]", [close], [[gold]])
    assert by_metric.scores["f1_micro"] == 0.5


def test_key_points_are_counted():
    task_data = [{"keypoint": "a"}, {"keypoint": "a"}, {"keypoint": "b"}]
    scores = score("metrics.kpa", ["x", "none", "x"], [["x"], ["x"], ["none"]], task_data).scores
    assert scores["f1_a"] == pytest.approx(2 / 3)
    assert "f1_b" not in scores


def test_paraphrases_change_scores():
    groups = {"original": [1.0, 1.0], "paraphrase": [1.0, 0.0]}
    sides = {"control_subgroup_types": ["original"], "comparison_subgroup_types": ["paraphrase"]}
    assert performance_drop_rate(groups, **sides) == 0.5
    assert normalized_cohens_h(groups, **sides) == pytest.approx(-0.5)
    assert normalized_hedges_g(groups, **sides) < 0
    assert math.isnan(performance_drop_rate({"original": [1.0]}, **sides))
    assert normalized_cohens_h(groups, interpret=True, **sides)[1] == "very large"
    assert [interpret_effect_size(x) for x in (0, 0.1, 0.3, 0.6, 1, 1.5, 3)] == [
        "essentially zero", "very small", "small", "medium", "large", "very large", "huge",
    ]  # fmt: skip


def test_paraphrases_are_metrics():
    task_data = [
        {"group_id": number // 2, "variant_type": ["original", "paraphrase"][number % 2]} for number in range(8)
    ]
    columns = (["a", "b", "a", "a"] * 2, [["a"]] * 8, task_data)
    found = score("metrics.robustness.fixed_group_pdr_paraphrase_accuracy", *columns).scores
    assert found["fixed_group_pdr_paraphrase_accuracy"] == 0.5
    assert found["score_name"] == "fixed_group_pdr_paraphrase_accuracy"


TABLE = [["year", "2019", "2018"], ["sales", "$ 100", "80 ( 1 )"]]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("subtract(5829, 5735), divide(#0, 5735)", 0.01639),
        ("add(1,000, const_100)", 1100.0),
        ("add(1000", None),
        ("add(1000, const_100)", 1100.0),
        ("multiply(5%, const_m1)", -0.05),
        ("greater(3, 2)", "yes"),
        ("table_average(sales, none)", 90.0),
        ("exp(2, 3)", 8.0),
    ],
)
def test_programs_are_run(text, expected):
    steps = read_program(text)
    if expected is None:
        assert steps == []
    else:
        assert run_program(steps, TABLE) == expected


@pytest.mark.parametrize(
    "first, second, same",
    [
        ("add(1, 2)", "add(2, 1)", True),
        ("subtract(1, 2)", "subtract(2, 1)", False),
        ("add(3, 4), multiply(#0, 5)", "multiply(3, 5), multiply(4, 5), add(#0, #1)", True),
        ("divide(1, 2)", "divide(1, 3)", False),
        ("greater(1, 2)", "subtract(1, 2)", False),
        ("table_sum(a, none)", "table_sum(a, none)", True),
    ],
)
def test_programs_are_compared_for_all_values(first, second, same):
    assert equivalent(read_program(first), read_program(second)) is same


def test_an_answer_that_is_not_a_number_is_met_by_the_right_program_s_text():
    right = "subtract(153.7, 139.9), divide(#0, 139.9)"
    task_data = [{"program_re": right, "answer": "9.9%", "table": TABLE}] * 3
    predictions = [f"{right}, ,", "divide(1, 2)", "Subtract(153.7, 139.9), divide(#0, 139.9)"]
    result = score("metrics.fin_qa_metric", predictions, [[right]] * 3, task_data)
    assert list(result.instance_scores["execution_accuracy"]) == [1.0, 0.0, 0.0]


def test_finance_questions_are_scored():
    task_data = [{"program_re": "subtract(100, 80), divide(#0, 80)", "answer": 0.25, "table": TABLE}] * 4
    predictions = [
        "subtract(100, 80), divide(#0, 80)",
        "divide(20, 80)",
        "__import__('os').system('x')",
        "divide(1, 0)",
    ]
    result = score("metrics.fin_qa_metric", predictions, [["x"]] * 4, task_data)
    assert list(result.instance_scores["program_accuracy"]) == [1.0, 0.0, 0.0, 0.0]
    assert list(result.instance_scores["execution_accuracy"]) == [1.0, 1.0, 0.0, 0.0]


def test_scores_with_intervals_are_chosen():
    """The bounds are those of Unitxt 1.26.9."""
    metric = F1Binary(average="binary", ci_scores=["precision_binary"])
    references = [[1], [0], [0], [1], [1], [0], [1], [0]]
    found = score(metric, [0.9, 0.2, 0.8, 0.1, 0.7, 0.4, 1.0, 0.0], references, [{}] * 8).scores
    assert (found["precision_binary_ci_low"], found["precision_binary_ci_high"]) == pytest.approx((0.0938, 1), abs=1e-4)
    assert "recall_binary_ci_low" not in found
