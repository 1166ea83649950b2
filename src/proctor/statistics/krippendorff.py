"""Krippendorff's alpha (2019, "Content Analysis", 4th edition, section 12.3): agreement of any number of raters."""

from __future__ import annotations

from proctor.lazy import np
from proctor.statistics.arrays import Floats
from proctor.statistics.resampling import Sums

_PAIR = 2  # ratings of a unit that can agree


def alpha_sums(ratings: Floats, *, nominal: bool) -> Sums:
    """Return alpha as a function of sums over units: 1 for agreement, 0 for chance; NaN where all ratings are equal.

    Args:
        ratings: A row for each rater and a column for each unit; NaN where there is none.
        nominal: Whether ratings are kinds, of which none is nearer to another; else numbers, and distances count
            squared. Of kinds, distances are those of vectors with a 1 for the kind.
    """
    known = np.isfinite(ratings)
    kept = known.sum(axis=0) >= _PAIR
    values, given = ratings[:, kept], known[:, kept]
    if nominal:
        kinds = np.unique(values[given])
        vectors = (values[:, :, np.newaxis] == kinds).astype(np.float64)
    else:
        vectors = np.where(given, values, 0.0)[:, :, np.newaxis]
    count = given.sum(axis=0).astype(np.float64)
    sums, squares = vectors.sum(axis=0), (vectors**2).sum(axis=(0, 2))
    within = (count * squares - (sums**2).sum(axis=1)) / (count - 1.0)

    def alpha(parts: Floats) -> Floats:
        total, apart = parts[:, 0], parts[:, 0] * parts[:, 2] - (parts[:, 3:] ** 2).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(apart > _ROUNDING * total, 1.0 - parts[:, 1] * (total - 1.0) / apart, np.nan)
        return np.asarray(found)[np.newaxis, :]

    return Sums(np.column_stack([count, within, squares, sums]), alpha)


_ROUNDING = 1e-12  # of sums of squares: ratings that are all equal leave it behind
