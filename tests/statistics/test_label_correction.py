"""Means corrected by labels, against ppi-python and truescore, and in cases whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from proctor.statistics.label_correction import corrected_mean, corrected_test, rogan_gladen

SCORES = [0.09, 0.08, 0.89, 0.85, 0.89, 0.0, 0.8, 0.0, 0.03, 0.82, 0.82, 0.86, 0.0, 0.86, 0.82, 0.87, 0.8, 0.03, 0.09]
SCORES += [0.85, 0.88, 0.07, 0.06, 0.82, 0.06, 0.8, 0.88, 0.1, 0.09, 0.81, 0.83, 0.03, 0.81, 0.86, 0.08, 0.83, 0.89]
SCORES += [0.88, 0.01, 0.88, 0.09, 0.82, 0.86, 0.06, 0.06, 0.01, 0.87, 0.86, 0.88, 0.88, 0.83, 0.07, 0.89, 0.09, 0.82]
SCORES += [0.8, 0.87, 0.82, 0.86, 0.89]
LABELS = [0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
PPI_POINT, PPI_LOW, PPI_HIGH = 0.5264729633568133, 0.3361626478561627, 0.7167832788574638
"""``ppi_mean_pointestimate`` and ``ppi_mean_ci`` of ppi-python 0.2.3 with ``lam`` 0.7563703816232381 · 40/60."""
Z = 1.959963984540054


def _case(scores, labels, weight=3.0):
    known = np.full(len(scores), math.nan)
    known[: len(labels)] = labels
    return np.array(scores), known, np.full(len(scores), weight), np.arange(len(scores))


def _variance(found):
    sums = np.bincount(found.clusters, weights=found.parts)
    return sums @ sums + found.hidden


def test_equals_ppi_python():
    found = corrected_mean(*_case(SCORES, LABELS))
    assert found.bounds.value == pytest.approx(PPI_POINT, abs=1e-9)
    assert found.trust == pytest.approx(0.7563703816232381, abs=1e-12)
    rest = np.array(LABELS) - found.trust * 40 / 60 * np.array(SCORES[:20])
    theirs = ((PPI_HIGH - PPI_LOW) / 2 / Z) ** 2  # without two degrees of freedom, and half a mistake more
    assert _variance(found) == pytest.approx(theirs + rest.var() * (1 / 18 - 1 / 20) + 0.5 / 400, abs=1e-9)
    assert found.bounds.low < PPI_LOW and found.bounds.high > PPI_HIGH  # noqa: PT018 - of one interval


def test_weights_that_are_all_alike_do_not_count():
    one, two = (corrected_mean(*_case(SCORES, LABELS, weight)) for weight in (1.0, 17.0))
    assert one.bounds == pytest.approx(two.bounds)


def test_a_judge_that_knows_nothing_is_not_believed():
    found = corrected_mean(*_case([0.5] * 40, [0, 1] * 10))
    assert found.trust == 0.0
    assert found.bounds.value == 0.5


def test_a_judge_that_says_the_opposite_is_not_believed():
    found = corrected_mean(*_case([1, 0] * 20, [0, 1] * 10))
    assert found.trust == 0.0
    assert found.bounds.value == 0.5


def test_all_labels_need_no_judge():
    found = corrected_mean(*_case([1, 0, 1, 1] * 10, [1, 0] * 20, 1.0))
    assert found.bounds.value == pytest.approx(0.5)
    assert found.bounds.low < 0.5 < found.bounds.high


def test_labels_drawn_more_often_count_less():
    scores, weights = np.full(100, 0.5), np.array([1.0] * 20 + [8.0] * 80)
    labels = np.full(100, math.nan)
    labels[:20], labels[20:30] = [1.0, 0.0] * 10, 1.0
    found = corrected_mean(scores, labels, weights, np.arange(100))
    assert found.bounds.value == pytest.approx(0.2 * 0.5 + 0.8)
    plain = corrected_mean(scores, labels, np.ones(100), np.arange(100))
    assert plain.bounds.value < found.bounds.value - 0.05


def test_answers_about_one_thing_depend_on_each_other():
    stream = np.random.default_rng(1)
    right = np.repeat(stream.random(50) < 0.5, 4).astype(float)
    labels = np.where(np.arange(200) % 8 < 4, right, math.nan)
    alone, together = (
        corrected_mean(right, labels, np.ones(200), numbers) for numbers in (np.arange(200), np.arange(200) // 4)
    )
    assert together.bounds.value == alone.bounds.value
    assert _variance(together) == pytest.approx(4 * _variance(alone), rel=0.1)


def test_a_judge_without_errors_still_may_have_some():
    found = corrected_mean(*_case([1.0] * 1000, [1.0] * 100))
    assert found.bounds.value == 1.0
    assert 1 - 4.5 / 100 < found.bounds.low < 1 - 3.6 / 100  # at least by the rule of three, for one side of 95%


def test_differences_are_of_what_runs_do_not_share():
    found = corrected_mean(*_case(SCORES, LABELS))
    test = corrected_test(found, found)
    same = test.interval(0.95)
    assert (test.difference, test.p_value) == (0, pytest.approx(1))
    assert -same.low == same.high == pytest.approx(2.0930240544 * math.sqrt(2 * 0.5) / 20)  # half a mistake of each
    other = corrected_mean(*_case([1 - each for each in SCORES], [1 - each for each in LABELS]))
    test = corrected_test(found, other)
    difference = test.interval(0.95)
    assert test.difference == pytest.approx(1 - 2 * found.bounds.value)
    assert difference.high - difference.low == pytest.approx(
        2 * 2.0930240544 * math.sqrt(4 * (_variance(found) - found.hidden) + 2 * found.hidden)
    )


def test_rogan_gladen_equals_truescore():
    verdicts, truths = [True] * 40 + [False] * 8 + [True] * 10 + [False] * 42, [True] * 48 + [False] * 52
    found = rogan_gladen([*map(float, verdicts), *[1.0] * 590, *[0.0] * 310], verdicts, truths)
    assert found is not None
    assert found.value == pytest.approx(0.6984, abs=1e-9)  # of truescore 0.7.4
    assert 0.5 < found.low < found.value < found.high < 0.87


@pytest.mark.parametrize(
    "verdicts,truths",
    [
        ([True, False] * 10, [True, True, False, False] * 5),
        ([True] * 10, [True] * 10),
        ([False] * 10, [False] * 10),
        ([True, *[True] * 99, False], [True, *[False] * 100]),  # one answer says too little of how often it sees them
    ],
)
def test_a_judge_no_better_than_chance_has_no_correction(verdicts, truths):
    assert rogan_gladen([1.0, 0.0], verdicts, truths) is None


@pytest.mark.parametrize("labelled, mistakes", [(100, 0.5), (40, 1.0)])
def test_kinds_of_answers_share_half_a_mistake_where_labels_are_many(labelled, mistakes):
    """No label shows one: the variance of an answer is that of the questions, and what may have been missed."""
    scores, kinds = np.ones(1000), np.arange(1000) % 2
    labels, weights = np.full(1000, math.nan), np.full(1000, 1000 / labelled)
    labels[:labelled] = 1.0
    weights[kinds == 1] *= 1 + 1e-9  # two kinds, of as many answers, drawn alike
    found = corrected_mean(scores, labels, weights, np.arange(1000))
    assert found.hidden == pytest.approx(mistakes / labelled**2, rel=1e-6)
