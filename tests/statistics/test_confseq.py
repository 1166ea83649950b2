"""Bets on draws without replacement are those of ``confseq``, the package of the authors of arXiv 2010.09686."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from proctor.statistics.betting import Bets, Strategy
from proctor.statistics.sequences import ConfidenceSequence

GOLDEN = json.loads(Path(__file__).with_name("confseq.json").read_text())
CASES = [pytest.param(case, id=f"{case['name']}, {case['null']}") for case in GOLDEN["cases"]]


def log_capital(scores, null, stakes, total):
    """Return the logarithms of the capital after each score, for stakes that somebody else decided."""
    x = np.asarray(scores, dtype=np.float64)
    before = np.concatenate([[0.0], np.cumsum(x)[:-1]])
    price = (total * null - before) / (total - np.arange(len(x)))
    return np.asarray(np.cumsum(np.log1p(np.asarray(stakes) * (x - price))))


def test_the_record_says_how_it_was_made():
    assert GOLDEN["confseq"] == "0.0.11"
    assert "conformance/confseq_golden.py" in GOLDEN["made_by"]
    assert len(CASES) >= 10


@pytest.mark.parametrize("case", CASES)
def test_capital_is_theirs(case):
    scores, total, null = np.array(case["scores"]), case["total"], case["null"]
    above = log_capital(scores, null, case["stakes_above"], total)
    assert np.exp(above) == pytest.approx(case["capital_above"], rel=1e-9)
    below = log_capital(1 - scores, 1 - null, case["stakes_below"], total)
    assert np.exp(below) == pytest.approx(case["capital_below"], rel=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_prices_are_theirs(case):
    """The price of a bet follows from its capital: a stake of s on a score x makes 1 + s (x - price) of it."""
    bets = Bets(case["total"], case["null"], [Strategy(0.05)], spread=0.1)
    before = 0.0
    for score, price in zip(case["scores"], case["prices"], strict=True):
        gap = 0.05 * case["total"] / (case["total"] - bets.count)
        variance = float(bets._variance())
        stake = min(gap / (variance + gap * gap), 0.9 / price)
        bets.add(score)
        after = float(bets._parts[0])
        assert after - before == pytest.approx(np.log1p(stake * (score - price)), abs=1e-9)
        before = after


@pytest.mark.parametrize("case", CASES)
def test_what_is_known_for_sure_is_theirs(case):
    sequence = ConfidenceSequence(case["total"])
    for score, low, high in zip(case["scores"], case["known_low"], case["known_high"], strict=True):
        sequence.add(score)
        assert sequence._least / case["total"] == pytest.approx(low, abs=1e-9)
        assert sequence._most / case["total"] == pytest.approx(high, abs=1e-9)
        found = sequence.bounds()
        assert low - 1e-9 <= found[0] <= found[1] <= high + 1e-9
