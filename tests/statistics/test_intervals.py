from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import UsageError
from proctor.statistics.intervals import Bootstrap, Interval, exact, settled, student_t, wilson
from proctor.statistics.resampling import Maxima, Means, Opaque, Sums, nan_mean

scipy_stats = pytest.importorskip("scipy.stats")


def scipy_bca(values, statistic=np.mean, method="BCa", resamples=200, level=0.95):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scipy_stats.bootstrap(
            (np.asarray(values),),
            statistic,
            n_resamples=resamples,
            confidence_level=level,
            method=method,
            rng=np.random.default_rng(42),
        ).confidence_interval


@pytest.mark.parametrize("size", [2, 3, 10, 151])
@pytest.mark.parametrize("method", ["BCa", "percentile", "basic"])
@pytest.mark.parametrize("kind", ["binary", "continuous"])
def test_intervals_of_means_equal_scipys(size, method, kind):
    generator = np.random.default_rng(size)
    values = generator.random(size) if kind == "continuous" else (generator.random(size) < 0.6).astype(float)
    expected = scipy_bca(values, method=method)
    low, high = Bootstrap(200, method=method).intervals(Means(values))[0]
    assert low == pytest.approx(expected.low, abs=1e-12, nan_ok=True)
    assert high == pytest.approx(expected.high, abs=1e-12, nan_ok=True)


def test_resamples_are_drawn_in_blocks_without_changing_them(monkeypatch):
    values = np.random.default_rng(0).random(30)
    sums = Sums(np.stack([values, values > 0.5], axis=1), lambda totals: totals.T)
    whole = Bootstrap(100).intervals(Means(values)), Bootstrap(100).intervals(sums)
    for name in ("BLOCK_ELEMENTS", "CACHED_ELEMENTS"):
        monkeypatch.setattr(f"proctor.statistics.intervals.{name}", 70)
    assert (Bootstrap(100).intervals(Means(values)), Bootstrap(100).intervals(sums)) == whole


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 3_000), st.integers(0, 1 << 30), st.booleans())
def test_means_of_resamples_are_the_same_to_the_last_bit_however_many_are_drawn_at_once(size, seed, has_gaps):
    values = np.random.default_rng(seed).normal(size=size) * 1e3
    values[:: 7 if has_gaps else size + 1] = np.nan
    means, bootstrap = Means(values), Bootstrap(20, seed=seed)
    blocks = [
        np.concatenate([means.resampled(rows) for rows in bootstrap.rows(size, most)], axis=1)
        for most in (1, 5 * size, None)
    ]
    assert all(block.tobytes() == blocks[0].tobytes() for block in blocks)


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 100_000), st.integers(0, 1 << 30), st.integers(1, 300_000))
def test_indices_of_32_and_of_64_bits_are_the_same_draws(size, seed, most):
    bootstrap = Bootstrap(4, seed=seed)
    wide, narrow = (np.concatenate(list(bootstrap.rows(size, most, kind))) for kind in ("int64", "int32"))
    assert (wide == narrow).all()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=30), st.integers(0, 5))
def test_fast_resamplers_equal_the_opaque_one(values, missing):
    data = np.array(values)
    data[: min(missing, len(values) - 1)] = np.nan
    rows = np.random.default_rng(1).integers(0, len(data), (7, len(data)))
    for fast, statistic in ((Means(data), np.nanmean), (Maxima(data), np.nanmax)):
        slow = Opaque(len(data), lambda row, statistic=statistic: [statistic(data[row])])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert fast.resampled(rows) == pytest.approx(slow.resampled(rows), nan_ok=True, abs=1e-12)
            assert fast.leave_one_out() == pytest.approx(slow.leave_one_out(), nan_ok=True, abs=1e-12)
            assert fast.observed() == pytest.approx(slow.observed(), nan_ok=True, abs=1e-12)


def test_maxima_of_several_columns_are_each_their_own():
    nan = math.nan
    found = Maxima(np.array([[1.0, 3.0, 3.0, nan], [5.0, 0.0, nan, 2.0], [nan, nan, nan, nan]]))
    assert found.size == 4
    assert found.observed() == pytest.approx([3.0, 5.0, nan], nan_ok=True)
    assert found.leave_one_out() == pytest.approx(np.array([[3.0] * 4, [2.0, 5.0, 5.0, 5.0], [nan] * 4]), nan_ok=True)
    assert found.resampled(np.array([[0, 0, 3, 3]])) == pytest.approx(np.array([[1.0], [5.0], [nan]]), nan_ok=True)
    assert Maxima(np.array([7.0])).leave_one_out().shape == (1, 1)


def test_a_large_opaque_statistic_leaves_out_groups():
    left_out = Opaque(2500, lambda row: [float(len(row))]).leave_one_out()
    assert left_out.shape == (1, 1000)
    assert set(left_out[0]) == {2497.0, 2498.0}


def test_repair_replaces_undefined_statistics_and_nothing_else():
    values = np.array([1.0, 2.0, np.nan, np.nan])
    assert math.isnan(Bootstrap(50).intervals(Means(values))[0].low)
    assert not math.isnan(Bootstrap(50, repair=True).intervals(Means(values))[0].low)
    complete = np.array([1.0, 2.0, 3.0])
    assert Bootstrap(50).intervals(Means(complete)) == Bootstrap(50, repair=True).intervals(Means(complete))


def test_the_seed_is_the_setting():
    from proctor.settings import settings as configuration

    values = np.random.default_rng(0).random(20)
    default = Bootstrap(50).intervals(Means(values))
    with configuration.context(seed=7):
        assert Bootstrap(50).intervals(Means(values)) != default
        assert Bootstrap(50, seed=42).intervals(Means(values)) == default


def test_an_unknown_method_is_refused():
    with pytest.raises(UsageError, match="no bootstrap method"):
        Bootstrap(10, method="BCA2").intervals(Means(np.array([1.0, 2.0])))


@settings(deadline=None)
@given(
    st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.9, 0.95, 0.99])
)
def test_closed_forms_for_proportions_equal_scipy(counts, level):
    successes, trials = counts
    result = scipy_stats.binomtest(successes, trials)
    for ours, method in ((wilson, "wilson"), (exact, "exact")):
        expected = result.proportion_ci(level, method=method)
        assert ours(successes, trials, level) == pytest.approx((expected.low, expected.high), abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=40))
def test_students_interval_equals_scipy(values):
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    expected = scipy_stats.t.interval(0.95, len(values) - 1, np.mean(values), error) if error else (values[0],) * 2
    assert student_t(values) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_intervals_need_data():
    with pytest.raises(UsageError):
        wilson(0, 0)
    with pytest.raises(UsageError):
        exact(3, 2)
    assert math.isnan(student_t([1.0]).low)
    assert math.isnan(nan_mean([]))


def test_metrics_may_ask_for_a_closed_form():
    from proctor.scoring.columns import Columns
    from proctor.scoring.metrics.f1 import F1Fast
    from proctor.scoring.pipeline import apply_metrics

    columns = Columns(["a", "a", "b", "a"], [["a"]] * 4)
    for method, expected in (("wilson", wilson(3, 4)), ("exact", exact(3, 4)), ("t", student_t([1, 1, 0, 1]))):
        scores = apply_metrics(columns, [f"metrics.accuracy[ci_method={method}]"]).scores
        assert (scores["accuracy_ci_low"], scores["accuracy_ci_high"]) == pytest.approx(tuple(expected))
    with pytest.raises(UsageError, match="0 and 1"):
        apply_metrics(Columns(["ab", "b"], [["abc"], ["b"]]), ["metrics.char_edit_dist_accuracy[ci_method=wilson]"])
    with pytest.raises(UsageError, match="for means"):
        apply_metrics(columns, [F1Fast(ci_method="t")])


@pytest.mark.parametrize(
    "values, whole, expected",
    [
        ([0.0] * 4, 1.0, wilson(0, 4)),
        ([1.0] * 7, 1.0, wilson(7, 7)),
        ([100.0] * 7, 100.0, tuple(100 * bound for bound in wilson(7, 7))),
        ([0.37] * 1000, 1.0, None),
        ([0.0] * 4, None, None),
        ([math.nan] * 3, 1.0, None),
        ([2.0] * 3, 1.0, None),
    ],
)
def test_equal_values_have_wilsons_interval_or_none(values, whole, expected):
    value = 0.0 if math.isnan(values[0]) else values[0]
    for drawn in (None, Interval(value, value), Interval(math.nan, math.nan)):
        found = settled(drawn, value, lambda: values, whole=whole)
        assert found == expected or found == pytest.approx(expected)


def test_an_interval_with_a_width_is_left_alone():
    drawn = Interval(0.1, 0.4)
    assert settled(drawn, 0.25, lambda: pytest.fail("nobody needs the instances")) is drawn


def test_a_score_that_is_not_the_mean_of_its_instances_has_no_interval_made_of_them():
    assert settled(None, 0.9, lambda: [0.0, 0.0]) is None
