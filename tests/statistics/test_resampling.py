"""Statistics of resamples, and without each instance, are those of the instances themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from proctor.statistics import resampling
from proctor.statistics.resampling import Maxima, Means, Sums, nan_mean

NAN = math.nan
COLUMNS = np.array([[1.0, 4.0, 2.0, 4.0], [0.5, NAN, 1.5, NAN], [NAN, 3.0, NAN, NAN], [-1.0, -2.0, -3.0, NAN]])
ROWS = np.array([[0, 0, 1, 3], [1, 1, 1, 1], [3, 2, 1, 0]])


def plainly(statistic, columns):
    """Return a statistic of each column, NaN left out."""
    kept = [column[~np.isnan(column)] for column in np.atleast_2d(columns)]
    return [statistic(each) if len(each) else NAN for each in kept]


@pytest.mark.parametrize("kind, statistic", [(Means, np.mean), (Maxima, np.max)])
@pytest.mark.parametrize(
    "columns", [COLUMNS, COLUMNS[:1], COLUMNS[0], COLUMNS[:, :1], np.array([[0.0, 1.0, 1.0, 0.0]])]
)
def test_means_and_maxima_are_those_of_the_instances(kind, statistic, columns):
    made, table = kind(columns), np.atleast_2d(columns)
    assert made.size == table.shape[1]
    np.testing.assert_allclose(made.observed(), plainly(statistic, table))
    if made.size > 1:
        np.testing.assert_allclose(made.resampled(ROWS).T, [plainly(statistic, table[:, row]) for row in ROWS])
        left = [plainly(statistic, np.delete(table, place, axis=1)) for place in range(made.size)]
        np.testing.assert_allclose(made.leave_one_out().T, left)


def test_a_transform_meets_every_mean():
    made = Means(COLUMNS[:1], np.sqrt)
    np.testing.assert_allclose(made.observed(), np.sqrt([2.75]))
    np.testing.assert_allclose(made.resampled(ROWS), np.sqrt([[2.5, 4.0, 2.75]]))
    np.testing.assert_allclose(made.leave_one_out(), np.sqrt([[10 / 3, 7 / 3, 3.0, 7 / 3]]))
    missing = Means(COLUMNS[1:2], np.negative)
    np.testing.assert_allclose(missing.resampled(ROWS), [[-0.5, NAN, -1.0]])
    np.testing.assert_allclose(made.columns, COLUMNS[:1])


PARTS = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0], [5.0, 5.0]])


def test_sums_are_finished_after_they_are_added():
    made = Sums(PARTS, lambda sums: (sums[:, 0] / sums[:, 1])[None])
    assert made.size == 4
    np.testing.assert_allclose(made.observed(), [9 / 12])
    np.testing.assert_allclose(made.resampled(ROWS), [[10 / 13, 12 / 16, 9 / 12]])
    np.testing.assert_allclose(made.leave_one_out(), [[8 / 10, 6 / 8, 9 / 11, 4 / 7]])


def test_any_function_of_positions_is_a_statistic(monkeypatch):
    column = COLUMNS[0]
    made = resampling.Opaque(4, lambda places: [column[places].mean(), float(len(places))])
    np.testing.assert_allclose(made.observed(), [2.75, 4])
    np.testing.assert_allclose(made.resampled(ROWS), [[2.5, 4.0, 2.75], [4, 4, 4]])
    np.testing.assert_allclose(made.leave_one_out(), [[10 / 3, 7 / 3, 3.0, 7 / 3], [3] * 4])
    monkeypatch.setattr(resampling, "JACKKNIFE_GROUPS", 2)
    np.testing.assert_allclose(made.leave_one_out(), [[3.0, 2.5], [2, 2]])


def test_means_leave_out_what_is_missing():
    assert nan_mean([1.0, NAN, 4.0]) == 2.5
    assert math.isnan(nan_mean([NAN]))
    assert math.isnan(nan_mean([]))
