"""Metrics, aggregations and standard errors, against their definitions."""

import math
import random
import statistics
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests_pace import in_time

from proctor.dialects.lm_eval.metrics import CoreMetric, find_aggregation, find_metric
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import Location, ScoringError, TrustError
from proctor.scoring.aggregations import AGGREGATIONS, mean, standard_error
from proctor.scoring.single_answers import exact_match
from proctor.statistics.standard_errors import REPLICATES, mean_error, sample_deviation
from proctor.statistics.standard_errors import bootstrap as bootstrap_of

PAIRS = [(random.Random(7).randrange(2), number * 7 % 3 % 2) for number in range(40)]
PAIRS = [((number * 5 + 1) % 3 % 2, (number * 7) % 5 % 2) for number in range(40)]
NUMBERS = [math.sin(number) for number in range(25)]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50))
def test_means_and_deviations(values):
    assert mean(values) == pytest.approx(statistics.fmean(values), abs=1e-6)
    assert sample_deviation(values) == pytest.approx(statistics.stdev(values), rel=1e-6, abs=1e-6)
    assert mean_error(values) == pytest.approx(statistics.stdev(values) / math.sqrt(len(values)), rel=1e-6, abs=1e-6)


def test_small_aggregations():
    assert AGGREGATIONS["median"]([3, 1, 2, 4]) == 3
    assert AGGREGATIONS["nanmean"]([1.0, math.nan, 3.0]) == 2.0
    assert math.isnan(AGGREGATIONS["nanmean"]([math.nan]))
    assert AGGREGATIONS["perplexity"]([-1.0, -3.0]) == pytest.approx(math.exp(2))
    assert AGGREGATIONS["weighted_perplexity"]([(-6.0, 2), (-2.0, 2)]) == pytest.approx(math.exp(2))
    assert AGGREGATIONS["bits_per_byte"]([(-8.0, 4)]) == pytest.approx(2 / math.log(2))
    assert AGGREGATIONS["bypass"]([1]) == 999
    assert AGGREGATIONS["brier_score"]([(0, [0.8, 0.2]), (1, [0.5, 0.5])]) == pytest.approx((0.08 + 0.5) / 2)


def test_classification_aggregations():
    metrics = pytest.importorskip("sklearn.metrics")
    golds, predictions = zip(*PAIRS, strict=True)
    assert AGGREGATIONS["f1"](PAIRS) == pytest.approx(metrics.f1_score(golds, predictions))
    assert AGGREGATIONS["matthews_corrcoef"](PAIRS) == pytest.approx(metrics.matthews_corrcoef(golds, predictions))


def test_translation_aggregations():
    sacrebleu = pytest.importorskip("sacrebleu")
    pairs = [("the cat sat on the mat", "the cat sat on a mat"), ("a dog ran away fast", "a dog ran off fast")]
    golds, predictions = [[gold for gold, _ in pairs]], [guess for _, guess in pairs]
    assert AGGREGATIONS["bleu"](pairs) == pytest.approx(sacrebleu.corpus_bleu(predictions, golds).score)
    assert AGGREGATIONS["chrf"](pairs) == pytest.approx(sacrebleu.corpus_chrf(predictions, golds).score)
    assert AGGREGATIONS["chrf++"](pairs) == pytest.approx(sacrebleu.corpus_chrf(predictions, golds, word_order=2).score)
    assert AGGREGATIONS["ter"](pairs) == pytest.approx(sacrebleu.corpus_ter(predictions, golds).score)
    several = [(["a b c d", "a b c e"], "a b c e")]
    assert AGGREGATIONS["bleu"](several) == pytest.approx(100.0)


def bootstrap(name, values, count):
    return bootstrap_of(REPLICATES[name](values), len(values), count)


def literally(name, values, count):
    """The bootstrap as its definition says it, one resample at a time."""
    size, found = min(1000, count), []
    for block in range(count // size):
        generator = random.Random(block)
        found += [AGGREGATIONS[name](generator.choices(values, k=len(values))) for _ in range(size)]
    return found


@pytest.mark.parametrize("name", ["median", "nanmean", "perplexity"])
def test_bootstrap_resamples_are_upstreams_number_for_number(name):
    assert np.allclose(bootstrap(name, NUMBERS, 2000), literally(name, NUMBERS, 2000), rtol=1e-12)


@pytest.mark.parametrize("name", ["f1", "matthews_corrcoef"])
def test_bootstrap_of_classes(name):
    pytest.importorskip("sklearn")
    assert np.allclose(bootstrap(name, PAIRS, 60), literally(name, PAIRS, 60), rtol=1e-12)


@given(values=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=12), seed=st.just(0))
@settings(max_examples=15, deadline=None)
def test_the_coefficient_of_matthews_for_any_classes(values, seed):
    metrics = pytest.importorskip("sklearn.metrics")
    import warnings

    generator = random.Random(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [
            metrics.matthews_corrcoef(*zip(*generator.choices(values, k=len(values)), strict=True)) for _ in range(5)
        ]
    assert np.allclose(bootstrap("matthews_corrcoef", values, 5), expected)


def test_a_hundred_thousand_resamples_take_no_minutes():
    import time

    start = time.process_time()
    bootstrap("perplexity", NUMBERS * 8, 100_000)
    assert in_time(time.process_time() - start, 5)


def test_standard_errors():
    assert standard_error("acc", mean, [1.0, 0.0, 1.0], 100_000) == pytest.approx(
        statistics.stdev([1, 0, 1]) / math.sqrt(3)
    )
    assert standard_error("acc", mean, [1.0], 100_000) == "N/A"
    assert standard_error("acc", mean, [1.0, 0.0], 0) == "N/A"
    assert standard_error("brier_score", AGGREGATIONS["brier_score"], [(0, [1.0, 0.0])] * 2, 1000) == "N/A"
    assert standard_error("mine", lambda values: 1, [1, 2], 1000) == "N/A"
    expected = statistics.stdev(literally("perplexity", NUMBERS, 1000))
    assert standard_error("perplexity", AGGREGATIONS["perplexity"], NUMBERS, 1000) == pytest.approx(expected)


@pytest.mark.parametrize(
    "gold, guess, options, score",
    [
        ("a", "a", {}, 1),
        ("a", "A", {}, 0),
        ("a", "A", {"ignore_case": True}, 1),
        ("a.", "a!", {"ignore_punctuation": True}, 1),
        ("a1", "a2", {"ignore_numbers": True}, 1),
        ("18", "#### 18", {"regexes_to_ignore": ["(?s).*#### "]}, 1),
        (3, 3, {}, 1),
    ],
)
def test_exact_match(gold, guess, options, score):
    assert exact_match([gold], [guess], **options) == {"exact_match": score}


def test_finding_metrics_and_aggregations():
    name, function, arguments = find_metric({"metric": "exact_match", "ignore_case": True, "aggregation": "mean"})
    assert (name, function, arguments) == ("exact_match", exact_match, {"ignore_case": True})
    assert find_aggregation(None, "f1") is AGGREGATIONS["f1"]
    assert find_aggregation(None, "of_my_own") is mean
    with pytest.raises(ScoringError, match="no metric 'exact_mach'") as caught:
        find_metric({"metric": "exact_mach"})
    assert "did you mean 'exact_match'" in str(caught.value)
    with pytest.raises(ScoringError, match="no aggregation 'meen'"):
        find_aggregation("meen", "acc")


def test_functions_need_trust(tmp_path):
    reference = FunctionReference("utils.f", Location(str(Path(tmp_path) / "t.yaml"), 1, 1))
    with pytest.raises(TrustError):
        find_metric({"metric": reference})
    with pytest.raises(TrustError):
        find_aggregation(reference, "acc")


def test_metrics_of_the_evaluate_hub_that_need_no_download():
    pytest.importorskip("sklearn")
    _, function, arguments = find_metric({"metric": "f1", "hf_evaluate": True, "average": "weighted"})
    assert function(references=["a"], predictions=["a"], **arguments) == {"f1": 1.0}


@pytest.mark.parametrize(
    "said, known, more_is_better",
    [
        (True, False, True),
        (False, True, False),
        (None, False, False),
        (None, True, True),
        (None, None, True),
        (False, None, False),
    ],
)
def test_whether_more_is_better_the_task_says_first(said, known, more_is_better):
    assert CoreMetric(SimpleNamespace(higher_is_better=known), said).higher_is_better is more_is_better
    assert CoreMetric(object(), said).higher_is_better is (said is not False)
