"""The interval of paired shares agrees with McNemar's exact test, covers, and says what would be seen."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.statistics.paired_shares import detectable_share, mcnemar_p, melded_interval, needed_pairs, power_of

scipy_stats = pytest.importorskip("scipy.stats")
integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")


@pytest.mark.parametrize("lost, won", [(0, 0), (0, 1), (18, 7), (18, 8), (48, 48), (0, 400), (5_000, 5_200)])
def test_p_is_that_of_scipys_binomial_test_however_many_pairs_differ(lost, won):
    expected = scipy_stats.binomtest(lost, lost + won).pvalue if lost + won else 1.0
    assert mcnemar_p(won, lost) == pytest.approx(expected, rel=1e-9)


def lower_by_quadrature(won, lost, pairs, alpha=0.025):
    """The melded lower bound as Fay and Lumbard define it, with SciPy's quadrature and root finder."""
    differing = won + lost
    if not won:
        return -scipy_stats.beta(differing + 1, pairs - differing).ppf(1 - alpha) if differing < pairs else -1.0

    def tail(chance):
        return scipy_stats.binom.sf(won - 1, differing, min(max(chance, 0.0), 1.0))

    def distribution(bound):
        if bound > 0:
            share = scipy_stats.beta(differing, pairs - differing + 1)
            start, sure = bound, share.cdf(bound)
        elif differing == pairs:
            return tail((1 + bound) / 2)
        else:
            share, start, sure = scipy_stats.beta(differing + 1, pairs - differing), -bound, 0.0
        middle = min(0.999, max(start + 1e-6, differing / pairs))
        found = integrate.quad(
            lambda x: share.pdf(x) * tail((1 + bound / x) / 2), start, 1, points=[middle], limit=400, epsabs=1e-13
        )
        return sure + found[0]

    is_outside = tail(0.5) < alpha
    ends = (1e-9, 1.0) if is_outside else (-1 + 1e-12, 0.0)
    return optimize.brentq(lambda bound: distribution(bound) - alpha, *ends, xtol=1e-14)


@pytest.mark.parametrize(
    "won, lost, pairs",
    [(4, 0, 60), (6, 0, 60), (9, 2, 60), (15, 5, 200), (17, 7, 200), (24, 11, 300), (0, 0, 50), (10, 0, 10), (7, 3, 10),
     (1, 0, 1), (1, 1, 2), (200, 150, 1000)],
)  # fmt: skip
def test_the_interval_is_that_of_scipys_quadrature(won, lost, pairs):
    expected = lower_by_quadrature(won, lost, pairs), -lower_by_quadrature(lost, won, pairs)
    assert melded_interval(won, lost, pairs) == pytest.approx(expected, abs=1e-9)


def test_without_a_pair_that_differs_the_bounds_are_those_of_clopper_and_pearson():
    for pairs in (1, 8, 50, 2_000):
        bound = 1 - 0.025 ** (1 / pairs)
        assert melded_interval(0, 0, pairs) == pytest.approx((-bound, bound), abs=1e-12)


def test_the_interval_leaves_out_0_exactly_where_p_is_below_the_level():
    """All tables of some numbers of pairs; `benchmarks/paired_differences.py` has all up to 200."""
    for pairs in (1, 5, 6, 7, 25, 60, 200):
        for won, lost in itertools.product(range(min(pairs, 20) + 1), repeat=2):
            if won + lost > pairs:
                continue
            low, high = melded_interval(won, lost, pairs)
            assert (low > 0 or high < 0) == (mcnemar_p(won, lost) < 0.05), (won, lost, pairs)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 200), st.floats(0.5, 0.999))
def test_the_interval_stays_within_bounds_turns_with_the_runs_and_widens_with_the_level(won, lost, equal, level):
    pairs = won + lost + equal
    if not pairs:
        return
    low, high = melded_interval(won, lost, pairs, level)
    assert -1 <= low <= (won - lost) / pairs <= high <= 1
    assert low < high
    assert (low > 0 or high < 0) == (mcnemar_p(won, lost) < 1.0 - level)
    assert (-high, -low) == pytest.approx(tuple(melded_interval(lost, won, pairs, level)), abs=1e-9)
    wide = melded_interval(won, lost, pairs, 0.9999)
    assert wide.low <= low + 1e-12
    assert high <= wide.high + 1e-12


@pytest.mark.parametrize("first, second, pairs", [(0.04, 0.08, 200), (0.1, 0.1, 60), (0.0, 0.05, 40), (0.3, 0.5, 25)])
def test_the_interval_covers(first, second, pairs):
    drawn = np.random.default_rng(7).multinomial(pairs, [second, first, 1 - first - second], size=1_500)
    hits = [low <= second - first <= high for won, lost, _ in drawn.tolist()
            for low, high in [melded_interval(won, lost, pairs)]]  # fmt: skip
    assert np.mean(hits) >= 0.945


def powers_by_enumeration(difference, discordant, pairs):
    won, lost = (discordant + difference) / 2, (discordant - difference) / 2
    chances = scipy_stats.multinomial(pairs, [won, lost, 1 - won - lost])
    return sum(
        chances.pmf([a, b, pairs - a - b])
        for a in range(pairs + 1)
        for b in range(pairs + 1 - a)
        if mcnemar_p(a, b) < 0.05
    )


@pytest.mark.parametrize("difference, discordant, pairs", [(0.1, 0.3, 40), (0.3, 0.3, 30), (0.0, 0.5, 20), (1, 1, 6)])
def test_the_power_is_that_of_all_tables(difference, discordant, pairs):
    expected = powers_by_enumeration(difference, discordant, pairs)
    assert power_of(difference, discordant, pairs) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("discordant", [0.05, 0.3, 0.8])
def test_where_the_normal_limit_begins_it_has_the_power_of_the_exact_test(discordant):
    pairs = round(299 / discordant)
    difference = detectable_share(discordant, pairs)
    limit = power_of(difference, discordant, round(302 / discordant))
    assert power_of(difference, discordant, pairs) == pytest.approx(0.8, abs=1e-6)
    assert limit == pytest.approx(0.8, abs=0.006)


@pytest.mark.parametrize("pairs, differing", [(10, 0), (50, 4), (200, 40), (1_000, 200)])
def test_what_would_be_seen_is_found_four_times_out_of_five(pairs, differing):
    found = detectable_share(differing / pairs, pairs)
    share = max(found, differing / pairs)
    chances = [(share + found) / 2, (share - found) / 2, 1 - share]
    drawn = np.random.default_rng(3).multinomial(pairs, np.maximum(chances, 0), size=4_000)
    power = np.mean([mcnemar_p(won, lost) < 0.05 for won, lost, _ in drawn.tolist()])
    assert 0.78 < power < 0.82


def test_where_nothing_differs_about_eight_pairs_would_have_to():
    assert all(7.5 < pairs * detectable_share(0.0, pairs) < 8 for pairs in (50, 100, 1_000))
    assert math.isinf(detectable_share(0.0, 5))  # five flips one way have p 0.0625


@pytest.mark.parametrize("difference, discordant", [(0.02, 0.1), (0.05, 0.1), (0.1, 0.05), (-0.1, 0.4)])
def test_the_pairs_that_are_needed_show_the_difference_four_times_out_of_five_and_one_fewer_do_not(
    difference, discordant
):
    needed = needed_pairs(difference, discordant)
    assert power_of(difference, discordant, needed) >= 0.8 > power_of(difference, discordant, needed - 1)
