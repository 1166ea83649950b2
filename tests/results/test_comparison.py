from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import ScoringError, UsageError
from proctor.results import comparison as c
from proctor.statistics.paired_shares import melded_interval
from proctor.statistics.paired_tests import PairedTest

scipy_stats = pytest.importorskip("scipy.stats")
scores = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=40)
binary = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=2, max_size=120)


@settings(deadline=None)
@given(scores)
def test_paired_differences_equal_scipys_t_test(pairs):
    one, two = map(list, zip(*pairs, strict=True))
    if np.ptp(np.subtract(two, one)) < 1e-6:
        return
    found = c.compare(one, two, test="t")
    expected = scipy_stats.ttest_rel(two, one)
    interval = expected.confidence_interval(0.95)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert found.difference == pytest.approx(np.mean(two) - np.mean(one))


@settings(deadline=None)
@given(binary)
def test_mcnemar_equals_the_binomial_test_however_many_pairs_differ(pairs):
    one, two = map(np.array, zip(*pairs, strict=True))
    lost, won = int(((one == 1) & (two == 0)).sum()), int(((one == 0) & (two == 1)).sum())
    found = c.compare(list(one), list(two))
    assert found.test == "mcnemar"
    if lost + won == 0:
        assert found.p_value == 1.0
    else:
        assert found.p_value == pytest.approx(scipy_stats.binomtest(lost, lost + won).pvalue, abs=1e-9)
    assert found.low <= found.difference <= found.high
    assert found.low < found.high
    assert (found.low > 0 or found.high < 0) == (found.p_value < 0.05)
    assert found.detectable > 0
    percent = c.compare(list(100 * one), list(100 * two), whole=100)
    assert percent.test == "mcnemar"
    assert percent.p_value == found.p_value
    assert (percent.low, percent.high) == pytest.approx((100 * found.low, 100 * found.high))


def test_clustered_errors_equal_statsmodels():
    api = pytest.importorskip("statsmodels.api")
    generator = np.random.default_rng(1)
    clusters = generator.integers(0, 8, 60)
    values = generator.random(60) + clusters / 4
    fit = api.OLS(values, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    expected = float(fit.bse[0]) / math.sqrt((60 - 1) / (60 - 1))
    assert c.cluster_standard_error(values, list(clusters)) == pytest.approx(expected, rel=1e-9)


def test_clusters_of_one_are_no_clusters():
    values = np.random.default_rng(2).random(20)
    assert c.cluster_standard_error(values, list(range(20))) == pytest.approx(c.standard_error(values))
    doubled = np.repeat(values, 2)
    clusters = [number // 2 for number in range(40)]
    assert c.cluster_standard_error(doubled, clusters) == pytest.approx(c.standard_error(values))
    assert c.cluster_standard_error(doubled, clusters) > c.standard_error(doubled)


def test_clusters_widen_a_comparison():
    one, two = [0.0] * 20, [0.0, 1.0] * 10
    alone = c.compare(one, two, test="t")
    together = c.compare(one, two, clusters=[number % 2 for number in range(20)])
    assert together.test == "t"
    assert together.standard_error > alone.standard_error
    with pytest.raises(UsageError, match="clusters"):
        c.compare(one, two, test="bootstrap", clusters=[0] * 20)


def test_instances_that_one_run_did_not_score_are_left_out():
    found = c.compare([1.0, None, 0.0, math.nan, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0])
    assert (found.count, found.left_out) == (3, 2)
    with pytest.raises(ScoringError, match="only 1"):
        c.compare([1.0, None], [1.0, 1.0])
    with pytest.raises(UsageError, match="2 and 1"):
        c.compare([1.0, 0.0], [1.0])
    with pytest.raises(UsageError, match="0 and 1"):
        c.compare([0.5, 0.2], [0.1, 0.2], test="mcnemar")


def test_runs_that_are_equal_do_not_differ():
    found = c.compare([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])
    assert (found.difference, found.p_value) == (0.0, 1.0)
    assert c.compare([0.5, 0.5], [0.75, 0.75]).p_value == 0.5


def test_a_true_null_is_seldom_rejected():
    generator = np.random.default_rng(4)
    p_values = []
    for _ in range(400):
        one, two = generator.random((2, 60))
        p_values.append(c.compare(list(one), list(two), test="t").p_value)
    assert 0.02 < np.mean(np.array(p_values) < 0.05) < 0.085


def test_one_cluster_says_nothing_about_an_error():
    found = c.compare([0.0, 1.0, 0.0], [1.0, 1.0, 0.5], clusters=["text"] * 3)
    assert found.difference == 0.5
    assert all(math.isnan(each) for each in (found.standard_error, found.low, found.high, found.p_value))
    assert math.isnan(c.standard_error([1.0]))
    assert c.standard_error([0.0, 1.0]) == 0.5


def test_differences_that_are_all_equal_have_no_interval_and_an_exact_p():
    found = c.compare([0.25] * 10, [0.5] * 10)
    assert (found.test, found.p_value) == ("sign", pytest.approx(2 * 0.5**10))
    assert all(math.isnan(each) for each in (found.low, found.high, found.detectable))
    same = c.compare([0.25, 0.5, 0.75], [0.25, 0.5, 0.75])
    assert (same.difference, same.p_value) == (0.0, 1.0)
    assert math.isnan(same.low)


def test_a_small_p_is_not_written_as_0():
    assert (c.p_text(0.0), c.p_text(1e-9), c.p_text(0.0123), c.p_text(None)) == ("<0.0001", "<0.0001", "0.0123", "-")


def test_what_rounding_leaves_behind_is_no_difference():
    # Sums of the same terms in another order: 0.6000000000000001 and 0.6.
    one, two = [0.1 + 0.2 + 0.3, 0.7, 0.1, 0.3], [0.3 + 0.2 + 0.1, 0.7, 0.1, 0.3]
    assert one != two
    for test in ("t", "bootstrap"):
        found = c.compare(one, two, test=test)
        assert (found.test, found.p_value) == ("sign", 1.0)
        assert math.isnan(found.low)
    # Where everything moved by a tenth, each difference is rounded by itself.
    one = [0.1, 0.2, 0.3, 0.4, 0.7]
    for scale in (1.0, 100.0, -1.0):
        found = c.compare([scale * each for each in one], [scale * (each + 0.1) for each in one])
        assert (found.test, found.p_value, math.isnan(found.low)) == ("sign", 0.0625, True)
    # A real difference is seen however small it is.
    assert c.compare([0.5, 0.5, 0.5], [0.5 + 1e-9, 0.5 + 2e-9, 0.5 + 4e-9]).test == "t"
    assert c.compare([0.5, 0.5, 0.5], [0.5 + 1e-9, 0.5 + 2e-9, 0.5 + 4e-9]).low < 2e-9


def test_differences_that_are_all_equal_on_a_scale_with_ends_are_bounded_by_what_was_not_seen():
    same = paired(300, 0.0, 3)
    assert (same.name, same.difference, same.p_value) == ("equal", 0.0, 1.0)
    assert same.interval(0.95) == (pytest.approx(-(1 - 0.025 ** (1 / 300))), pytest.approx(1 - 0.025 ** (1 / 300)))
    few, many = paired(10, 0.25), paired(20, 0.25)
    assert few.interval(0.95).low < 0 < few.interval(0.95).high
    assert (few.p_value, many.p_value) == (pytest.approx(2 * 0.8**10), pytest.approx(2 * 0.8**20))
    assert 0 < many.interval(0.95).low < 0.25 < many.interval(0.95).high < 0.45


def paired(count: int, difference: float, kinds: int = 1) -> PairedTest:
    one = np.array([0.25 + 0.1 * (place % kinds) for place in range(count)])
    return c.bounded_test(one, one + difference, whole=1.0)


@pytest.mark.parametrize("test", ["auto", "t"])
def test_clusters_that_all_moved_alike_have_no_interval_and_a_sign_test(test):
    # Within each text one question got better by 1 and one stayed: the texts do not differ at all.
    one, two = [0.0] * 8, [0.0, 1.0] * 4
    found = c.compare(one, two, clusters=[number // 2 for number in range(8)], test=test)
    assert (found.test, found.difference, found.p_value) == ("sign", 0.5, 2 * 0.5**4)
    assert all(math.isnan(each) for each in (found.low, found.high, found.standard_error, found.detectable))
    # So do they where sums are rounded, and where clusters differ in size.
    one, two = [0.0] * 6, [0.1, 0.3, 0.2, 0.5, 0.0, 0.2]
    found = c.compare(one, two, clusters=["a", "a", "b", "c", "c", "b"])
    assert (found.test, found.count) == ("t", 6)
    assert found.low < found.difference < found.high
    found = c.compare([0.0] * 6, [0.1, -0.1, 0.3, -0.3, 0.7, -0.7], clusters=list("aabbcc"))
    assert (found.test, found.p_value) == ("sign", 1.0)
    found = c.compare([0.3] * 6, [0.4, 0.2, 0.6, 0.0, 1.0, -0.4], clusters=list("aabbcc"))
    assert (found.test, found.p_value) == ("sign", 1.0)  # up to rounding
    found = c.compare([0.0] * 5, [0.1, 0.3, 0.2, 0.15, 0.25], clusters=["a", "a", "b", "c", "c"])
    assert (found.test, found.p_value) == ("sign", 2 * 0.5**3)


@given(st.integers(2, 9), st.sampled_from([-0.5, 0.25, 3.0]))
def test_equal_differences_all_on_one_side_are_as_likely_as_coins(count, difference):
    found = c.compare([0.25] * count, [0.25 + difference] * count)
    assert found.p_value == 2 * 0.5**count
    assert found.difference == difference
    pairs = [number // 2 for number in range(2 * count)]
    together = c.compare([0.25] * (2 * count), [0.25 + difference] * (2 * count), clusters=pairs)
    assert together.p_value == 2 * 0.5**count


def test_two_clusters_and_one_are_clusters():
    two = c.compare([0.0] * 4, [0.0, 1.0, 0.0, 1.0], clusters=list("aabb"))
    assert (two.test, two.p_value, math.isnan(two.low)) == ("sign", 0.5, True)
    one = c.compare([0.25] * 4, [0.5] * 4, clusters=list("aaaa"))
    assert (one.test, one.p_value) == ("sign", 1.0)
    apart = c.compare([0.0] * 4, [0.0, 1.0, 0.0, 0.5], clusters=list("aabb"))
    assert apart.test == "t"
    assert apart.p_value == pytest.approx(scipy_stats.ttest_1samp([0.5, 0.25], 0).pvalue)


@pytest.mark.parametrize("whole", [1.0, 100.0])
def test_runs_with_the_same_right_answers_have_the_error_of_one_more_that_differs(whole):
    found = c.compare([0.0, whole] * 5, [0.0, whole] * 5)
    assert (found.test, found.difference, found.p_value) == ("mcnemar", 0.0, 1.0)
    assert found.standard_error == pytest.approx(whole * math.sqrt(np.var([0.0] * 10 + [1.0], ddof=1) / 10))
    assert (found.low, found.high) == pytest.approx([whole * end for end in melded_interval(0, 0, 10)])


def test_percentages_are_known_by_a_right_answer_and_shares_by_the_lack_of_one():
    percent = c.compare([0.0, 100.0, 0.0], [100.0, 100.0, 0.0])
    assert (percent.test, percent.difference) == ("mcnemar", pytest.approx(100 / 3))
    assert (percent.low, percent.high) == pytest.approx([100 * end for end in melded_interval(1, 0, 3)])
    assert c.compare([0.0, 99.0, 0.0], [99.0, 99.0, 0.0]).test == "t"
    assert c.compare([0.0, 2.0, 0.0], [2.0, 2.0, 0.0]).test == "t"
    assert c.compare([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]).test == "mcnemar"
    assert c.compare([0.0, 2.0, 0.0], [2.0, 2.0, 0.0], whole=2).test == "mcnemar"


def test_the_end_of_what_four_decimals_show():
    assert [c.p_text(value) for value in (0.0001, 0.00009999, 0.00005, math.nan)] == [
        "0.0001",
        "<0.0001",
        "<0.0001",
        "-",
    ]


def test_a_level_reaches_every_number():
    one, two = [0.1, 0.5, 0.3, 0.9], [0.4, 0.5, 0.7, 0.8]
    quantile = scipy_stats.t(3).ppf
    found = c.compare(one, two, level=0.8, test="t")
    interval = scipy_stats.ttest_rel(two, one).confidence_interval(0.8)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.detectable == pytest.approx((quantile(0.9) + quantile(0.8)) * found.standard_error)
    assert (found.first, found.second, found.name) == (pytest.approx(0.45), pytest.approx(0.6), "score")


def test_a_bootstrap_needs_no_distribution():
    generator = np.random.default_rng(3)
    one = generator.random(80)
    two = one + generator.exponential(0.1, 80)
    found = c.compare(list(one), list(two), test="bootstrap", seed=1)
    assert (found.test, found.p_value) == ("bootstrap", pytest.approx(2 / 1001))
    assert found.low > 0


@settings(deadline=None)
@given(scores, st.sampled_from(["t", "bootstrap"]), st.sampled_from([0.8, 0.95, 0.99]))
def test_an_interval_leaves_out_0_exactly_where_p_is_below_the_level(pairs, test, level):
    one, two = map(list, zip(*pairs, strict=True))
    found = c.compare(one, two, test=test, level=level, resamples=400, whole=1.0)
    if not math.isnan(found.low):
        assert (found.low > 0 or found.high < 0) == (found.p_value < 1 - level)
        assert found.test == "bootstrap" or -1 <= found.low <= found.high <= 1
