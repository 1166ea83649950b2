from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.statistics import distributions as ours

scipy_stats = pytest.importorskip("scipy.stats")
probabilities = st.floats(1e-6, 1 - 1e-6)
shapes = st.floats(0.3, 300.0)


@given(st.floats(-30, 30))
def test_normal_cdf_equals_scipy(x):
    assert ours.normal_cdf(x) == pytest.approx(scipy_stats.norm.cdf(x), rel=1e-9, abs=1e-300)


@given(st.floats(1e-12, 1 - 1e-12))
def test_normal_quantile_equals_scipy(p):
    assert ours.normal_quantile(p) == pytest.approx(scipy_stats.norm.ppf(p), rel=1e-9, abs=1e-12)


def test_normal_quantile_has_edges():
    assert ours.normal_quantile(0.0) == -math.inf
    assert ours.normal_quantile(1.0) == math.inf
    assert math.isnan(ours.normal_quantile(math.nan))


@settings(deadline=None)
@given(st.floats(0, 1), shapes, shapes)
def test_beta_cdf_equals_scipy(x, a, b):
    assert ours.beta_cdf(x, a, b) == pytest.approx(scipy_stats.beta.cdf(x, a, b), rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(probabilities, st.floats(0.5, 200), st.floats(0.5, 200))
def test_beta_quantile_inverts_the_cdf(p, a, b):
    x = ours.beta_quantile(p, a, b)
    assert x == pytest.approx(scipy_stats.beta.ppf(p, a, b), rel=1e-7, abs=1e-12)


@settings(deadline=None)
@given(st.floats(-40, 40), st.floats(1, 500))
def test_t_cdf_equals_scipy(x, degrees):
    assert ours.t_cdf(x, degrees) == pytest.approx(scipy_stats.t.cdf(x, degrees), rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(st.floats(1e-3, 1 - 1e-3), st.floats(1, 500))
def test_t_quantile_equals_scipy(p, degrees):
    assert ours.t_quantile(p, degrees) == pytest.approx(scipy_stats.t.ppf(p, degrees), rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.01, 0.99))
def test_binomial_cdf_equals_scipy(successes, trials, chance):
    expected = scipy_stats.binom.cdf(successes, trials, chance)
    assert ours.binomial_cdf(successes, trials, chance) == pytest.approx(expected, rel=1e-9, abs=1e-12)
