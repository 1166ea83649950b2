import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.lm_eval.names import TaskNames, error_key, listed, score_key, unit_of
from proctor.scoring.grading.protocols import Counts
from proctor.scoring.scores import Score


def test_names_show_the_filter_pipeline_where_it_has_a_name():
    assert (score_key("acc", ""), score_key("acc", "none"), score_key("acc", "strict")) == ("acc", "acc", "acc,strict")
    assert (error_key("acc", ""), error_key("acc", "strict")) == ("acc_stderr", "acc_stderr,strict")


@given(st.text(min_size=1), st.text())
def test_a_listed_score_has_its_error_beside_it(metric, grading):
    name = score_key(metric, grading)
    found = listed(Score(name, 0.5, stderr=0.25, grading=grading))
    assert found[name] == 0.5
    assert found[error_key(metric, grading)] == 0.25


@pytest.mark.parametrize(
    "metric, unit",
    [
        ("acc", "share"),
        ("exact_match", "share"),
        ("mcc", "share"),
        ("bleu", "percent"),
        ("ter", "percent"),
        ("word_perplexity", "raw"),
        ("brier_score", "raw"),
        ("likelihood", "raw"),
        ("acc_of_my_own", "share"),
        ("pass@4", "share"),
        ("length", "raw"),
    ],
)
def test_units(metric, unit):
    assert unit_of(metric) == unit


def test_the_flat_view_keeps_lm_evals_order():
    scores = [Score("acc", 1.0, 0.2, 1.0, n=3), Score("f1,x", 0.5, stderr=0.1, n=2, grading="x")]
    flat = TaskNames().flat([], scores, scores[0], Counts(4, 1))
    assert list(flat) == [
        *("acc", "acc_stderr", "acc_ci_low", "acc_ci_high", "acc_n", "f1,x", "f1_stderr,x", "f1,x_n"),
        *("score_name", "score", "score_ci_low", "score_ci_high", "num_of_instances", "num_of_failures"),
    ]
    assert (flat["acc_stderr"], flat["f1_stderr,x"], flat["num_of_instances"]) == ("N/A", 0.1, 3)
