"""Standard errors of means in closed form, and of other aggregates from lm-eval's own bootstrap resamples.

There are 100,000 resamples (100 for corpus metrics of translation), number for number those of lm-eval; they are drawn
in blocks, which is a few hundred times faster.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.lazy import np
from proctor.statistics.arrays import Floats
from proctor.statistics.confusion import matthews

if TYPE_CHECKING:
    from numpy.typing import NDArray

Values = Sequence[Any]
Replicate = Callable[[Any], list[float]]
"""From rows of indices to the aggregate of each resample."""


def sample_deviation(values: Values) -> float:
    """Return the standard deviation with Bessel's correction."""
    middle = sum(values) / len(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


def mean_error(values: Values) -> float:
    """Return the standard error of the mean."""
    return sample_deviation(values) / math.sqrt(len(values))


def bootstrap(replicate: Replicate, size: int, count: int) -> list[float]:
    """Return an aggregate of resamples: lm-eval's, in blocks of a thousand, each seeded by its number.

    Args:
        replicate: Computes the aggregate of rows of indices.
        size: Number of values.
        count: Number of resamples.
    """
    rows = min(1000, count)
    return [each for block in range(count // rows) for part in _indices(block, rows, size) for each in replicate(part)]


def left_out(replicate: Replicate, size: int) -> Floats:
    """Return an aggregate of all values but one, for each of them: the jackknife."""
    step = max(1, 2_000_000 // size)
    found: list[float] = []
    for start in range(0, size, step):
        missing = np.arange(start, min(start + step, size))[:, None]
        places = np.arange(size - 1)[None, :]
        found += replicate(places + (places >= missing))
    return np.asarray(found)


def ratio_error(values: Sequence[tuple[float, float]]) -> float:
    """Return the standard error of the sum of first parts by the sum of second ones, from pairs, by linearisation.

    Source: W. G. Cochran, *Sampling Techniques*, 3rd edition (1977), section 6.4.
    """
    above, below = np.asarray(values, dtype=float).T
    residuals = above - above.sum() / below.sum() * below
    size = len(residuals)
    return math.sqrt(float(residuals @ residuals) * size / (size - 1)) / float(below.sum())


def _indices(seed: int, rows: int, columns: int) -> Iterator[NDArray[np.intp]]:
    """Yield the positions that ``random.Random(seed).choices`` draws, some resamples at a time."""
    _, state, _ = random.Random(seed).getstate()
    generator = np.random.RandomState()
    generator.set_state(("MT19937", np.array(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    step = max(1, 2_000_000 // columns)
    for start in range(0, rows, step):
        number = min(step, rows - start)
        yield (generator.random_sample(number * columns) * columns).astype(np.intp).reshape(number, columns)


def _numbers(replicate: Callable[[Any], Any]) -> Callable[[Values], Replicate]:
    """Return the replicates of an aggregate of plain numbers: a function of their rows."""

    def make(values: Values) -> Replicate:
        array = np.asarray(values, dtype=float)
        return lambda indices: replicate(array[indices]).tolist()

    return make


def _nanmeans(rows: Any) -> Any:
    known = ~np.isnan(rows)
    return np.where(known, rows, 0.0).sum(axis=1) / known.sum(axis=1)


def _medians(rows: Any) -> Any:
    middle = rows.shape[1] // 2
    return np.partition(rows, middle, axis=1)[:, middle]


def _confusions(pairs: Any, classes: int, indices: Any) -> Any:
    rows = len(indices)
    shifted = pairs[indices] + (np.arange(rows) * classes * classes)[:, None]
    counts = np.bincount(shifted.ravel(), minlength=rows * classes * classes)
    return counts.reshape(rows, classes, classes).astype(float)


def _f1(values: Values) -> Replicate:
    pairs = np.array([2 * (int(gold) == 1) + (int(prediction) == 1) for gold, prediction in values])

    def replicate(indices: Any) -> list[float]:
        table = _confusions(pairs, 2, indices)
        hits, wrong = table[:, 1, 1], table[:, 0, 1] + table[:, 1, 0]
        total = 2 * hits + wrong
        found: list[float] = np.divide(2 * hits, total, out=np.zeros_like(total), where=total > 0).tolist()
        return found

    return replicate


def _matthews(values: Values) -> Replicate:
    """Return replicates of the multi-class coefficient (Gorodkin, 2004)."""
    golds, predictions = zip(*values, strict=True)
    place = {each: number for number, each in enumerate(dict.fromkeys([*golds, *predictions]))}
    pairs = np.array([place[gold] * len(place) + place[prediction] for gold, prediction in values])

    def replicate(indices: Any) -> list[float]:
        table = _confusions(pairs, len(place), indices)
        found: list[float] = matthews(np.trace(table, axis1=1, axis2=2), table.sum(axis=2), table.sum(axis=1)).tolist()
        return found

    return replicate


REPLICATES: Mapping[str, Callable[[Values], Replicate]] = {
    "median": _numbers(_medians),
    "nanmean": _numbers(_nanmeans),
    "perplexity": _numbers(lambda rows: np.exp(-rows.mean(axis=1))),
    "f1": _f1,
    "matthews_corrcoef": _matthews,
}
"""From values to the aggregates of their resamples, by the name of the aggregation."""
