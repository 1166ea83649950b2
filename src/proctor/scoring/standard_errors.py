"""Standard errors of aggregated metrics: in closed form for means, otherwise from lm-eval's own bootstrap resamples.

There are 100,000 resamples (100 for corpus metrics of translation), number for number those of lm-eval; they are drawn
in blocks, which is a few hundred times faster.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from proctor.scoring.aggregations import AGGREGATIONS, Aggregate, Values, columns, mean
from proctor.scoring.confusion import matthews

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BOOTSTRAP_RESAMPLES = 100_000  # lm-eval's bootstrap_iters, number for number
CORPUS_RESAMPLES = 100  # lm-eval's, for each costs a whole BLEU, chrF or TER of a corpus
NO_ERROR = "N/A"


def sample_deviation(values: Values) -> float:
    """Return the standard deviation with Bessel's correction."""
    middle = mean(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


def mean_error(values: Values) -> float:
    """Return the standard error of the mean."""
    return sample_deviation(values) / math.sqrt(len(values))


def standard_error(metric: str, aggregate: Aggregate, values: Values, resamples: int) -> float | str:
    """Return the standard error of an aggregate; ``"N/A"`` where lm-eval knows none."""
    if resamples <= 0 or len(values) == 1:
        return NO_ERROR
    if aggregate is mean:
        return mean_error(values)
    name = next((each for each, function in AGGREGATIONS.items() if function is aggregate), "")
    if name not in _REPLICATES:
        return NO_ERROR
    count = min(resamples, CORPUS_RESAMPLES) if metric in {"bleu", "chrf", "chrf++", "ter"} else resamples
    return sample_deviation(bootstrap(name, values, count))


def bootstrap(name: str, values: Values, count: int) -> list[float]:
    """Return an aggregation's values on resamples: lm-eval's, in blocks of a thousand, each seeded by its number."""
    size = min(1000, count)
    replicate = _REPLICATES[name](values)
    return [
        each
        for block in range(count // size)
        for part in _indices(block, size, len(values))
        for each in replicate(part)
    ]


def _indices(seed: int, rows: int, columns: int) -> Iterator[NDArray[np.intp]]:
    """Yield the positions that ``random.Random(seed).choices`` draws, some resamples at a time."""
    import numpy as np

    _, state, _ = random.Random(seed).getstate()
    generator = np.random.RandomState()
    generator.set_state(("MT19937", np.array(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    step = max(1, 2_000_000 // columns)
    for start in range(0, rows, step):
        number = min(step, rows - start)
        yield (generator.random_sample(number * columns) * columns).astype(np.intp).reshape(number, columns)


Replicate = Callable[[Any], list[float]]


def _mean_replicates(values: Values) -> Replicate:
    import numpy as np

    array = np.asarray(values, dtype=float)
    return lambda indices: array[indices].mean(axis=1).tolist()


def _nanmean_replicates(values: Values) -> Replicate:
    import numpy as np

    array = np.asarray(values, dtype=float)
    known = ~np.isnan(array)
    filled = np.where(known, array, 0.0)
    return lambda indices: (filled[indices].sum(axis=1) / known[indices].sum(axis=1)).tolist()


def _median_replicates(values: Values) -> Replicate:
    import numpy as np

    array = np.asarray(values, dtype=float)
    middle = len(values) // 2
    return lambda indices: np.partition(array[indices], middle, axis=1)[:, middle].tolist()


def _perplexity_replicates(values: Values) -> Replicate:
    import numpy as np

    array = np.asarray(values, dtype=float)
    return lambda indices: np.exp(-array[indices].mean(axis=1)).tolist()


def _pair_counts(values: Values) -> tuple[Any, int]:
    import numpy as np

    golds, predictions = columns(values)
    place = {each: number for number, each in enumerate(dict.fromkeys([*golds, *predictions]))}
    pairs = np.array([place[g] * len(place) + place[p] for g, p in zip(golds, predictions, strict=True)])
    return pairs, len(place)


def _confusions(pairs: Any, classes: int, indices: Any) -> Any:
    import numpy as np

    rows = len(indices)
    shifted = pairs[indices] + (np.arange(rows) * classes * classes)[:, None]
    counts = np.bincount(shifted.ravel(), minlength=rows * classes * classes)
    return counts.reshape(rows, classes, classes).astype(float)


def _f1_replicates(values: Values) -> Replicate:
    import numpy as np

    golds, predictions = columns(values)
    pairs = np.array([2 * (int(g) == 1) + (int(p) == 1) for g, p in zip(golds, predictions, strict=True)])

    def replicate(indices: Any) -> list[float]:
        table = _confusions(pairs, 2, indices)
        hits, wrong = table[:, 1, 1], table[:, 0, 1] + table[:, 1, 0]
        total = 2 * hits + wrong
        found: list[float] = np.divide(2 * hits, total, out=np.zeros_like(total), where=total > 0).tolist()
        return found

    return replicate


def _matthews_replicates(values: Values) -> Replicate:
    """Replicates of the multi-class coefficient (Gorodkin, 2004)."""
    import numpy as np

    pairs, classes = _pair_counts(values)

    def replicate(indices: Any) -> list[float]:
        table = _confusions(pairs, classes, indices)
        found: list[float] = matthews(np.trace(table, axis1=1, axis2=2), table.sum(axis=2), table.sum(axis=1)).tolist()
        return found

    return replicate


def _corpus_replicates(name: str) -> Callable[[Values], Replicate]:
    def make(values: Values) -> Replicate:
        score = AGGREGATIONS[name]
        return lambda indices: [score([values[place] for place in row]) for row in indices.tolist()]

    return make


_REPLICATES: dict[str, Callable[[Values], Replicate]] = {
    "mean": _mean_replicates,
    "median": _median_replicates,
    "nanmean": _nanmean_replicates,
    "perplexity": _perplexity_replicates,
    "f1": _f1_replicates,
    "matthews_corrcoef": _matthews_replicates,
    "bleu": _corpus_replicates("bleu"),
    "chrf": _corpus_replicates("chrf"),
    "chrf++": _corpus_replicates("chrf++"),
    "ter": _corpus_replicates("ter"),
}
