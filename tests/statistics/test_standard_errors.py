"""Standard errors by formula and from resamples: what is fast is what is plain."""

from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pytest

from proctor.statistics import standard_errors
from proctor.statistics.standard_errors import (
    REPLICATES,
    bootstrap,
    left_out,
    mean_error,
    ratio_error,
    sample_deviation,
)

VALUES = [0.5, 0.25, 1.5, -2.0, 4.0, 0.0, 1.0]
PAIRS = [(1, 1), (0, 1), (1, 0), (0, 0), (1, 1), (2, 0), (1, 2)]


def matthews(pairs):
    """Gorodkin's coefficient, from counts."""
    kinds = {each for pair in pairs for each in pair}
    gold, said = ({kind: sum(pair[place] == kind for pair in pairs) for kind in kinds} for place in (0, 1))
    right, size = sum(a == b for a, b in pairs), len(pairs)
    above = right * size - sum(gold[kind] * said[kind] for kind in kinds)
    below = (size**2 - sum(each**2 for each in gold.values())) * (size**2 - sum(each**2 for each in said.values()))
    return above / math.sqrt(below) if below else 0.0


def f1(pairs):
    hits = sum(a == b == 1 for a, b in pairs)
    wrong = sum((a == 1) != (b == 1) for a, b in pairs)
    return 2 * hits / (2 * hits + wrong) if hits or wrong else 0.0


def upper_median(values):
    return sorted(values)[len(values) // 2]


def known_mean(values):
    return statistics.fmean(each for each in values if not math.isnan(each))


PLAIN = {
    "median": (upper_median, VALUES), "nanmean": (known_mean, [*VALUES, math.nan]), "f1": (f1, PAIRS), "matthews_corrcoef": (matthews, PAIRS),
    "perplexity": (lambda values: math.exp(-statistics.fmean(values)), VALUES),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_aggregates_of_resamples_are_those_of_the_values(name):
    plain, values = PLAIN[name]
    rows = np.random.default_rng(1).integers(0, len(values), (25, len(values)))
    found = REPLICATES[name](values)(rows)
    assert found == pytest.approx([plain([values[place] for place in row]) for row in rows])
    without = [plain(values[:place] + values[place + 1 :]) for place in range(len(values))]
    assert left_out(REPLICATES[name](values), len(values)).tolist() == pytest.approx(without)
    assert [*REPLICATES] == ["median", "nanmean", "perplexity", "f1", "matthews_corrcoef"]


def test_pairs_without_a_positive_have_an_f1_of_0():
    assert REPLICATES["f1"]([(0, 0), (0, 0)])(np.array([[0, 1]])) == [0.0]


def test_resamples_are_those_of_pythons_choices_seeded_by_their_block(monkeypatch):
    def drawn(count, size, blocks):
        for block, rows in blocks:
            stream = random.Random(block)
            yield from ([*stream.choices(range(size), k=size)] for _ in range(rows))

    def rows_of(count):
        return bootstrap(lambda rows: [*map(tuple, rows.tolist())], 5, count)

    assert rows_of(7) == [*map(tuple, drawn(7, 5, [(0, 7)]))]
    assert rows_of(2500) == [*map(tuple, drawn(2000, 5, [(0, 1000), (1, 1000)]))]
    whole = rows_of(50)
    shapes = []
    big = 500_000  # four of such rows at once
    bootstrap(lambda rows: shapes.append(rows.shape) or [0.0] * len(rows), big, 6)
    assert shapes == [(4, big), (2, big)]
    assert rows_of(50) == whole


def test_what_is_left_out_is_left_out_in_parts_too():
    size = 1500
    shapes = []

    def replicate(rows):
        shapes.append(len(rows))
        return (size * (size - 1) / 2 - rows.sum(axis=1)).tolist()

    assert left_out(replicate, size).tolist() == [*range(size)]
    assert shapes == [1333, 167]


def test_errors_by_formula():
    assert sample_deviation(VALUES) == pytest.approx(statistics.stdev(VALUES))
    assert mean_error(VALUES) == pytest.approx(statistics.stdev(VALUES) / math.sqrt(7))
    pairs = [(1.0, 2.0), (3.0, 4.0), (0.0, 1.0), (5.0, 5.0)]
    ratio = 9 / 12
    residuals = [above - ratio * below for above, below in pairs]
    expected = math.sqrt(sum(each**2 for each in residuals) * 4 / 3) / 12
    assert ratio_error(pairs) == pytest.approx(expected)
    assert ratio_error([(each, 1.0) for each in VALUES]) == pytest.approx(mean_error(VALUES))
    assert standard_errors.mean_error([1.0, 3.0]) == 1.0
