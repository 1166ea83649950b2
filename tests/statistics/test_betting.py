"""Bets on draws without replacement: fair prices, errors at any time, certainty at the end."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from proctor.statistics.betting import Bets, Strategy
from proctor.statistics.gates import GateTest
from proctor.statistics.intervals import wilson
from proctor.statistics.sequences import ConfidenceSequence, mean_interval

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from gates import simulated_stops  # a simulation of many gates at once


def log_capital(scores, null, stakes, total):
    """Return the logarithms of the capital after each score, for stakes that somebody else decided."""
    x = np.asarray(scores, dtype=np.float64)
    before = np.concatenate([[0.0], np.cumsum(x)[:-1]])
    price = (total * null - before) / (total - np.arange(len(x)))
    return np.asarray(np.cumsum(np.log1p(np.asarray(stakes) * (x - price))))


def test_the_price_is_what_the_null_expects_of_the_next_draw():
    scores, stakes = [1.0, 0.0, 0.5, 1.0], [0.5, 0.3, 0.2, 0.1]
    total, null, capital, left = 6, 0.4, 1.0, 6 * 0.4
    for place, (score, stake) in enumerate(zip(scores, stakes, strict=True)):
        capital *= 1 + stake * (score - left / (total - place))
        left -= score
    assert log_capital(scores, null, stakes, total)[-1] == pytest.approx(math.log(capital), abs=1e-12)


def test_bets_are_the_capital_of_their_stakes():
    scores = np.random.default_rng(1).random(50)
    bets = Bets(200, 0.45, [Strategy(0.05)], spread=0.1)
    logs = [float(bets.add(score)) for score in scores]
    stakes, total, squares = [], 0.0, 0.0
    for place, score in enumerate(scores):
        mean = (total + 25) / (place + 50)
        variance = (5 + squares - 2 * mean * total + place * mean**2) / (place + 50)
        gap = 0.05 * 200 / (200 - place)
        price = (200 * 0.45 - total) / (200 - place)
        stakes.append(min(gap / (variance + gap**2), 0.9 / price))
        total, squares = total + score, squares + score**2
    assert logs == pytest.approx(log_capital(scores, 0.45, stakes, 200).tolist(), abs=1e-9)


def test_several_nulls_at_once_are_the_single_ones():
    scores = np.random.default_rng(2).random(40)
    nulls = np.array([0.2, 0.5, 0.8])
    many = Bets(100, nulls, [Strategy(0.1, memory=5), Strategy(0.02)])
    found = [many.add(score) for score in scores][-1]
    for null, value in zip(nulls, found, strict=True):
        one = Bets(100, null, [Strategy(0.1, memory=5), Strategy(0.02)])
        assert [one.add(score) for score in scores][-1] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("total", [2, 7, 100])
def test_everything_asked_is_everything_known(total):
    for right in range(total + 1):
        test = GateTest(total, 0.5)
        for place in range(total):
            test.add(float(place < right))
        assert test.verdict(1e-12) == ("passed" if 2 * right >= total else "failed")


def test_rounding_at_the_end_is_no_proof():
    stream = np.random.default_rng(3)
    for _ in range(200):
        scores = stream.random(30)
        test = GateTest(30, float(scores.mean()))  # the mean itself: not below, and not proven before the end
        for score in scores:
            test.add(float(score))
        assert test.verdict(1e-9) == "passed"
        assert test.below.highest < 50


def test_answers_that_are_missing_count_against_either_verdict():
    test = GateTest(10, 0.5)
    for score in [1.0, 0.0] * 4 + [None] * 2:
        test.add(score)
    assert test.verdict(0.05) == "undecided"


def draws(total, won, lost, gates, seed):
    values = np.zeros(total)
    values[:won], values[won : won + lost] = 1.0, -1.0
    table = np.random.default_rng(seed).permuted(np.tile(values, (gates, 1)), axis=1)
    return iter(table.T)


@pytest.mark.parametrize("won, lost, right", [(12, 12, 1), (4, 21, -1), (0, 11, -1), (2, 11, 1)])
def test_gates_are_wrong_at_most_once_in_twenty(won, lost, right):
    _, verdicts = simulated_stops(draws(300, won, lost, 400, won + lost), 300, 0.03)
    assert np.mean(verdicts != right) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)


def test_a_simulated_gate_is_a_gate():
    column = list(draws(200, 10, 25, 1, 5))
    (stop,), (verdict,) = simulated_stops(iter(column), 200, 0.03)
    test = GateTest(200, 0.485, margin=0.015)
    for difference in column[:stop]:
        assert test.verdict(0.05) == "undecided"
        test.add(float(difference[0] + 1) / 2)
    assert test.verdict(0.05) == {1: "passed", -1: "failed"}[verdict]


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.95])
def test_a_confidence_sequence_holds_the_mean_all_along(share):
    stream, lost = np.random.default_rng(int(100 * share)), 0
    for _ in range(20):
        scores = stream.permutation((np.arange(200) < 200 * share).astype(float))
        sequence = ConfidenceSequence(200)
        for score in scores[:120]:
            sequence.add(score)
            low, high = sequence.bounds()
            if not low <= share <= high:
                lost += 1
                break
    assert lost <= 20 * 0.05 + 3


def test_an_interval_narrows_and_ends_at_the_mean():
    scores = (np.random.default_rng(9).random(150) < 0.6).astype(float).tolist()
    widths = [np.diff(mean_interval(scores[:count], 150))[0] for count in (10, 50, 100, 149)]
    assert widths == sorted(widths, reverse=True)
    assert mean_interval(scores, 150) == pytest.approx((np.mean(scores),) * 2, abs=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("count", [50, 200, 1000])
def test_a_confidence_sequence_costs_at_most_three_quarters_of_a_width(share, count):
    ratios = []
    for seed in range(8 if count < 1000 else 3):  # long sequences differ less
        hits = np.random.default_rng([seed, count]).random(count) < share
        low, high = mean_interval(hits.astype(float).tolist(), 100_000)
        once = wilson(int(hits.sum()), count)
        ratios.append((high - low) / (once.high - once.low))
    # An interval that holds at every look is wider than Wilson's, which holds at one.
    assert 1.3 < np.mean(ratios) < 1.75


def test_a_sequence_bets_as_it_always_did():
    """Bounds were recorded: another stake or grid would be as true, and another number."""
    scores = [1, 0, 1, 1, None, 0.5, 1, 1, 0, 1] * 3
    assert mean_interval(scores, 60) == pytest.approx((0.44575, 0.875))
    assert mean_interval(scores[:12], 60, 0.9) == pytest.approx((0.2496, 56.5 / 60))
    assert mean_interval([1.0] * 30, 60) == pytest.approx((0.8775, 1.0))
    assert mean_interval([0.0] * 30, 60) == pytest.approx((0.0, 0.1225))
    sequence = ConfidenceSequence(60)
    for score in scores:
        sequence.add(score)
    assert (sequence.bounds(), sequence.count) == (pytest.approx((0.445, 0.875)), 30)


def test_where_no_mean_of_the_grid_is_left_the_bounds_are_its_neighbours():
    sequence = ConfidenceSequence(20_000, low=0.1, high=0.9)
    sequence._up.highest = np.where(sequence.means < 0.5, 99.0, 0.0)
    sequence._down.highest = np.where(sequence.means >= 0.499, 99.0, 0.0)
    low, high = sequence.bounds()
    assert (low, high) == (pytest.approx(0.496), pytest.approx(0.5))
    sequence._up.highest = np.zeros(201)
    sequence._down.highest = np.full(201, 99.0)
    assert sequence.bounds() == (pytest.approx(0.1), pytest.approx(0.104))
    sequence._up.highest = np.full(201, 99.0)
    assert sequence.bounds() == (pytest.approx(0.9), pytest.approx(0.9))
