"""Statistics that can be recomputed on resamples of their instances: means, maxima, sums, any others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from proctor.lazy import np
from proctor.statistics.arrays import Floats, Indices

JACKKNIFE_GROUPS = 1_000
"""Statistics without a fast jackknife leave out one of at most this many groups of instances at a time."""


class Resampler(Protocol):
    """A vector of statistics of ``size`` instances that can be recomputed on resamples."""

    @property
    def size(self) -> int:
        """Number of instances."""

    def observed(self) -> Floats:
        """Return the statistics of the data, shape (statistics,)."""

    def resampled(self, rows: Indices) -> Floats:
        """Return the statistics of each row of indices, shape (statistics, rows)."""

    def leave_one_out(self) -> Floats:
        """Return the statistics without each instance in turn, shape (statistics, instances)."""


class Means:
    """Means of columns of instance scores, NaN left out.

    Args:
        columns: One row per score, one column per instance; NaN where there is no score.
        transform: Applied to each mean (a root, for example).
    """

    def __init__(self, columns: Floats, transform: Callable[[Floats], Floats] | None = None) -> None:
        self._columns = np.ascontiguousarray(np.atleast_2d(columns), dtype=np.float64)
        self._present = ~np.isnan(self._columns)
        self._complete = bool(self._present.all())
        self._filled = np.where(self._present, self._columns, 0.0)
        self._hits = list(map(_hits, self._filled))
        self._transform = transform or (lambda means: means)
        self.size = int(self._columns.shape[1])

    @property
    def columns(self) -> Floats:
        """The scores; NaN where there is none."""
        return self._columns

    def observed(self) -> Floats:
        """Return the means."""
        return self._transform(_divide(self._filled.sum(axis=1), self._present.sum(axis=1)))

    def resampled(self, rows: Indices) -> Floats:
        """Return the means of each resample."""
        sums = np.stack([_sums(*each, rows) for each in zip(self._filled, self._hits, strict=True)])
        if self._complete:
            return self._transform(sums / self.size)
        counts = np.stack([present[rows].sum(axis=1) for present in self._present])
        return self._transform(_divide(sums, counts))

    def leave_one_out(self) -> Floats:
        """Return the means without each instance."""
        sums = self._filled.sum(axis=1, keepdims=True) - self._filled
        counts = self._present.sum(axis=1, keepdims=True) - self._present
        return self._transform(_divide(sums, counts))


def _hits(column: Floats) -> Any:
    """Return where a column of scores of 0 and 1 has a 1; ``None`` for any other column."""
    return column != 0.0 if np.isin(column, (0.0, 1.0)).all() and not np.signbit(column).any() else None


def _sums(column: Floats, hits: Any, rows: Indices) -> Floats:
    """Return the sums of a column over resamples; hits are counted, which gives the same numbers faster."""
    if hits is None:
        return np.asarray(column.take(rows).sum(axis=1))
    return np.array([np.count_nonzero(hits.take(row)) for row in rows], dtype=np.float64)


class Maxima:
    """Maxima of columns of instance scores, NaN left out."""

    def __init__(self, columns: Floats) -> None:
        self._columns = np.where(np.isnan(columns), -np.inf, np.atleast_2d(columns))
        self.size = int(self._columns.shape[1])

    def observed(self) -> Floats:
        """Return the maxima."""
        return _no_infinity(self._columns.max(axis=1))

    def resampled(self, rows: Indices) -> Floats:
        """Return the maxima of each resample."""
        return _no_infinity(np.stack([column[rows].max(axis=1) for column in self._columns]))

    def leave_one_out(self) -> Floats:
        """Return the maxima without each instance."""
        highest = self._columns.max(axis=1, keepdims=True)
        left = np.broadcast_to(highest, self._columns.shape).copy()
        for row, column in zip(left, self._columns, strict=True):
            if column.size > 1 and np.count_nonzero(column == column.max()) == 1:
                row[column.argmax()] = np.partition(column, -2)[-2]
        return _no_infinity(left)


class Sums:
    """Statistics that depend on sums of what each instance adds: counts, hits, lengths, errors.

    Args:
        parts: What each instance adds, shape (instances, parts).
        finish: Takes sums of shape (samples, parts), returns statistics of shape (statistics, samples).
    """

    def __init__(self, parts: Floats, finish: Callable[[Floats], Floats]) -> None:
        self._parts = np.asarray(parts, dtype=np.float64)
        self._finish = finish
        self.size = int(self._parts.shape[0])

    def observed(self) -> Floats:
        """Return the statistics of the data."""
        return self._finish(self._parts.sum(axis=0, keepdims=True))[:, 0]

    def resampled(self, rows: Indices) -> Floats:
        """Return the statistics of each resample."""
        offsets = np.arange(len(rows))[:, np.newaxis] * self.size
        times = np.bincount((rows + offsets).ravel(), minlength=rows.size).reshape(rows.shape)
        return self._finish(times.astype(np.float64) @ self._parts)

    def leave_one_out(self) -> Floats:
        """Return the statistics without each instance."""
        return self._finish(self._parts.sum(axis=0, keepdims=True) - self._parts)


class Opaque:
    """Statistics known only as a function of the indices of a sample: one call per resample.

    The jackknife leaves out one instance at a time up to :data:`JACKKNIFE_GROUPS` instances, beyond that one of as
    many groups, so that the work stays linear in the number of instances for each statistic.
    """

    def __init__(self, size: int, statistic: Callable[[Indices], Sequence[float] | Floats]) -> None:
        self.size = size
        self._statistic = statistic

    def observed(self) -> Floats:
        """Return the statistics of the data."""
        return np.asarray(self._statistic(np.arange(self.size)), dtype=np.float64)

    def resampled(self, rows: Indices) -> Floats:
        """Return the statistics of each resample."""
        return np.array([self._statistic(row) for row in rows], dtype=np.float64).T

    def leave_one_out(self) -> Floats:
        """Return the statistics without each instance, or without each group of neighbours."""
        everything = np.arange(self.size)
        groups = np.array_split(everything, min(self.size, JACKKNIFE_GROUPS))
        return np.array([self._statistic(np.delete(everything, group)) for group in groups], dtype=np.float64).T


def _divide(sums: Floats, counts: Any) -> Floats:
    counted = np.asarray(counts, dtype=np.float64)
    quotients: Floats = np.divide(sums, counted, out=np.full(np.shape(sums), np.nan), where=counted > 0)
    return quotients


def _no_infinity(values: Floats) -> Floats:
    return np.where(np.isneginf(values), np.nan, values)


def nan_mean(values: Sequence[float] | Floats) -> float:
    """Return the mean of what is not NaN; NaN where nothing is left."""
    present = ~np.isnan(column := np.asarray(values, dtype=np.float64))
    return float(np.where(present, column, 0.0).sum() / present.sum()) if present.any() else math.nan
