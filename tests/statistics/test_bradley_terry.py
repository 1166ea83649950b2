"""Strengths from battles, against choix 0.4.1 and statsmodels 0.15.0 where they do the same, and in simulations."""

from __future__ import annotations

import numpy as np
import pytest

from proctor.statistics.bradley_terry import Battles, _derivatives, apart, corrected, strengths

WON = (
    "20030112132123202020121313021201131032232103101020120123232131021010230320012001"
    "12311220032103130302211313211220131010101223033203312003102013132003033002132021"
    "13012010202020232310102331232020032001132323030303102123312021300131132303201013"
)
"""Winner and loser of 120 battles, digit by digit."""
STRENGTHS = [-0.14457020506688295, 0.35952463779881655, 0.9757924209088877, -1.1907468536408214]
"""``choix.ilsr_pairwise(4, …, tol=1e-13)``; ``statsmodels``' Logit of differences has the same."""
ERRORS = [0.15840133647374838, 0.23677082740432853, 0.24570685495696726, 0.32399848655988256]
"""``statsmodels``' errors clustered by groups of three battles, with its correction 40/39 · 119/117 of the variance; ours is 40/37."""


def _battles(won=WON, judge=0, clusters=3):
    pairs = np.array([int(each) for each in won]).reshape(-1, 2)
    count = len(pairs)
    return Battles(
        pairs[:, 0], pairs[:, 1], np.ones(count), np.full(count, judge), np.arange(count) // clusters, np.zeros(count)
    )


def test_equals_choix_and_statsmodels():
    found = strengths(_battles(), 4, 1)
    assert found.models[:, 0] == pytest.approx(STRENGTHS, abs=1e-9)
    assert found.tie is None
    quantile = 2.022690920036762  # of Student's t with 39 degrees of freedom
    errors = (found.models[:, 2] - found.models[:, 1]) / 2 / quantile
    assert errors == pytest.approx(np.array(ERRORS) * np.sqrt(117 / 119 * 39 / 37), abs=1e-9)
    assert found.judges.tolist() == [[1.0, 1.0, 1.0]]


def test_who_is_shown_first_does_not_matter():
    battles, swapped = _battles(), slice(0, None, 2)
    first, second, won = battles.first.copy(), battles.second.copy(), battles.won.copy()
    first[swapped], second[swapped], won[swapped] = battles.second[swapped], battles.first[swapped], 0.0
    other = strengths(battles._replace(first=first, second=second, won=won), 4, 1)
    assert other.models == pytest.approx(strengths(battles, 4, 1).models, abs=1e-9)


def _simulated(seed, questions=200, models=4, keen=(1.0,), tie=-1.0, strength=None):
    """Return battles of two models about each question, before every judge in both orders, and the true strengths."""
    stream = np.random.default_rng(seed)
    theta = np.linspace(-0.75, 0.75, models) if strength is None else np.array(strength)
    rows = []
    for question in range(questions):
        one, two = stream.choice(models, 2, replace=False)
        hardness = stream.normal(0, 0.5)  # what this question adds for one of them, before all judges
        for judge, sharp in enumerate(keen):
            for first, second, sign in ((one, two, 1), (two, one, -1)):
                d = sharp * (theta[first] - theta[second] + sign * hardness)
                shares = np.exp([d / 2, tie, -d / 2])
                rows.append((first, second, stream.choice([1, 0.5, 0], p=shares / shares.sum()), judge, question))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Battles(*columns, (columns[2] == 0.5) * 1.0), theta - theta.mean()


def _total(derivatives):
    (places, slopes), _ = derivatives
    return np.bincount(places.ravel(), slopes.ravel())


def test_the_likelihood_has_no_slope_at_the_strengths_with_ties_and_judges():
    battles, _ = _simulated(1, keen=(0.5, 1.5))
    found = strengths(battles, 4, 2)
    total = _total(_derivatives(battles, found.models[:, 0], found.judges[:, 0], found.tie))
    assert total[:4] == pytest.approx([0] * 4, abs=1e-7)
    assert total[4:6] - total[4:6].mean() == pytest.approx([0, 0], abs=1e-7)
    assert total[6] == pytest.approx(0, abs=1e-7)
    assert found.judges[:, 0].mean() == pytest.approx(1)


def test_slopes_are_those_of_the_likelihood():
    battles, _ = _simulated(2, questions=30, keen=(0.5, 1.5))
    theta, keen, tie = np.array([0.3, -0.2, 0.1, -0.2]), np.array([0.7, 1.3]), -0.4

    def likelihood(values):
        d = values[4:6][battles.judge] * (values[battles.first] - values[battles.second])
        shares = np.exp(np.stack([d / 2, np.full(len(d), values[6]), -d / 2]))
        kind = np.array([0 if won == 1 else 1 if won == 0.5 else 2 for won in battles.won])
        return np.log((shares / shares.sum(axis=0))[kind, np.arange(len(d))]).sum()

    at = np.array([*theta, *keen, tie])
    numeric = [(likelihood(at + step) - likelihood(at - step)) / 2e-6 for step in np.eye(7) * 1e-6]
    assert _total(_derivatives(battles, theta, keen, tie)) == pytest.approx(numeric, abs=1e-5)


def test_intervals_hold_the_strengths_and_places_the_ranks():
    held = places = 0
    for seed in range(60):
        battles, truth = _simulated(seed, strength=[-0.3, 0.0, 0.05, 0.25])
        found = strengths(battles, 4, 1)
        shrunk = truth * 0.96  # by the hardness of questions, which no model of strengths alone has
        held += ((found.models[:, 1] <= shrunk) & (shrunk <= found.models[:, 2])).sum()
        places += all(low <= rank <= high for rank, (low, high) in zip((4, 3, 2, 1), found.places, strict=True))
    assert 0.9 <= held / 240 <= 0.99
    assert places >= 55


def test_a_judge_who_tosses_a_coin_is_found_out_and_counts_for_nothing():
    battles, truth = _simulated(4, questions=600, keen=(0.0, 1.0, 1.2))
    found = strengths(battles, 4, 3)
    assert found.judges[0, 1] < 0 < found.judges[0, 2] < found.judges[1, 1]
    assert np.corrcoef(found.models[:, 0], truth)[0, 1] > 0.98


def test_battles_that_fall_apart_are_found():
    assert apart(_battles(), 4) is None
    assert apart(_battles("01102332" * 3), 4) == ([0, 1], False)
    assert apart(_battles("0110232302130213" * 3), 4) == ([0, 1], True)
    assert apart(_battles("010203122331" * 3), 4) == ([0], True)
    assert apart(_battles("0102")._replace(won=np.array([0.5, 0.5])), 3) is None


def test_models_that_only_rounding_tells_apart_share_their_places():
    for flip in (False, True):
        pairs = np.array([[0, 1], [1, 2]] * 9 + [[0, 2]] * 8)
        won = np.array([1.0, 0.0] * 8 + [0.0, 1.0] + [0.5] * 8)
        question = np.array([at // 2 for at in range(18)] + list(range(9, 17)))
        first, second = (2 - pairs.T) if flip else pairs.T
        battles = Battles(first, second, won, np.zeros(26, int), question, (won == 0.5) * 1.0)
        found = strengths(battles, 3, 1)
        assert found.models[0] == pytest.approx(found.models[2])
        assert found.places[0] == found.places[2]


def test_judges_who_agree_entirely_have_no_end():
    battles = _battles("01" * 20 + "12" * 20 + "20" * 20)
    found = strengths(battles._replace(judge=np.array([0, 1] * 30)), 3, 2)
    assert found is None or np.isfinite(found.models).all()


def _biased(seed, models, pairs=400, labels=200, tie=-1.0):
    """Return battles before a judge who likes the worst model and whoever is shown first, people's on some, the truth."""
    stream = np.random.default_rng(seed)
    theta = np.linspace(-0.4, 0.4, models)
    first = stream.integers(0, models, pairs)
    second = (first + stream.integers(1, models, pairs)) % models

    def verdicts(d):
        shares = np.exp(np.stack([d / 2, np.full(pairs, tie), -d / 2]))
        return np.array([1, 0.5, 0])[
            (stream.random(pairs) > np.cumsum(shares / shares.sum(axis=0), axis=0)).sum(axis=0)
        ]

    apart = theta[first] - theta[second]
    people, style = verdicts(apart), 3 * ((first == 0) * 1.0 - (second == 0))
    judge = np.where(stream.random(pairs) < 0.5, people, verdicts(apart + style + 0.3))
    won = np.where(np.isin(np.arange(pairs), stream.permutation(pairs)[:labels]), people, np.nan)
    judged = Battles(first, second, judge, np.zeros(pairs, int), np.arange(pairs), (judge == 0.5) * 1.0)
    return judged, won, people, theta


def _holds(found, theta):
    ranks = np.argsort(np.argsort(-theta)) + 1
    return all(low <= rank <= high for rank, (low, high) in zip(ranks, found.places, strict=True))


@pytest.mark.parametrize("models", [2, 5])
def test_people_correct_what_a_judge_prefers(models):
    plain = held = places = 0
    for seed in range(30):
        judged, won, _, theta = _biased(seed, models)
        plain += _holds(strengths(judged, models, 1), theta)
        found = strengths(corrected(judged, won, (won == 0.5) * 1.0), models, 1)
        places += _holds(found, theta)
        held += ((found.models[:, 1] <= theta) & (theta <= found.models[:, 2])).mean()
    assert plain < 15
    assert places >= 29
    assert 0.85 <= held / 30 <= 1


@pytest.mark.parametrize("tie", [-1.0, -30.0])
def test_where_people_decided_every_pair_their_strengths_are_found(tie):
    judged, won, people, _ = _biased(3, 4, labels=400, tie=tie)
    even = (people == 0.5) * 1.0
    found = strengths(corrected(judged, won, even), 4, 1)
    alone = strengths(judged._replace(won=people, tied=even), 4, 1)
    assert found.models == pytest.approx(alone.models, abs=1e-8)
    assert found.places == alone.places


def test_a_judge_who_tosses_a_coin_adds_nothing_to_people_and_one_who_knows_narrows_intervals():
    judged, won, people, _ = _biased(5, 4)
    known, widths = np.isfinite(won), []
    coin = np.random.default_rng(0).integers(0, 2, len(won)) * 1.0
    for judge in (coin, np.where(np.arange(len(won)) % 10 == 0, coin, people)):
        battles = judged._replace(won=judge, tied=(judge == 0.5) * 1.0)
        bounds = strengths(corrected(battles, won, (won == 0.5) * 1.0), 4, 1).models
        widths.append((bounds[:, 2] - bounds[:, 1]).mean())
    alone = Battles(*(each[known] for each in judged._replace(won=people, tied=(people == 0.5) * 1.0)[:6]))
    bounds = strengths(alone, 4, 1).models
    assert widths[0] == pytest.approx((bounds[:, 2] - bounds[:, 1]).mean(), rel=0.1)
    assert widths[1] < 0.85 * widths[0]
