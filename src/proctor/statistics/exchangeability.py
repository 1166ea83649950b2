"""Does a model find one order of instances likelier than others? An exact test by permutations.

Where instances are exchangeable, the published order is one like any other for whoever has not seen it, and its rank
among orders that are drawn at random is uniform (Oren and others 2023, arXiv 2310.17623). Instances are permuted within
shards; the likelihoods of each shard's orders are put on one scale, by their mean and deviation with the published
one's among them, and added up. That treats all orders alike, so that the rank stays exact, as that of a t statistic
over shards would not.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from random import Random
from typing import NamedTuple

from proctor.lazy import np
from proctor.statistics.arrays import Floats


class OrderTest(NamedTuple):
    """The p of the published order, how many of the others are less likely, and what each shard adds.

    That is by how many standard deviations its published order is likelier than the mean order.
    """

    p: float
    likelier_than: int
    of_shards: tuple[float, ...]


def order_test(likelihoods: Floats) -> OrderTest:
    """Return the test.

    Args:
        likelihoods: A row for each shard, a column for each order; the first is the published one.
    """
    centred = likelihoods - likelihoods.mean(axis=1, keepdims=True)
    deviations = centred.std(axis=1, ddof=1, keepdims=True)
    scaled = np.divide(centred, deviations, out=np.zeros_like(centred), where=deviations > 0)
    sums = np.round(scaled.sum(axis=0), 9)  # equal orders are equal in whatever order their shards were added up
    above = int((sums[1:] >= sums[0]).sum())
    return OrderTest((1 + above) / len(sums), len(sums) - 1 - above, tuple(scaled[:, 0].tolist()))


def grouped_p(values: Sequence[Hashable], stream: Random, orders: int = 999) -> float:
    """Return the p of how many neighbours have equal values, against orders that are drawn: are they sorted by them?"""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    codes = np.array([places[value] for value in values])
    generator = np.random.default_rng(stream.getrandbits(64))
    drawn = (generator.permutation(codes) for _ in range(orders))
    found = int((codes[1:] == codes[:-1]).sum())
    return (1 + sum(int((each[1:] == each[:-1]).sum()) >= found for each in drawn)) / (orders + 1)
