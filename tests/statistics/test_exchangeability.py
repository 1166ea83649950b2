"""The rank of the published order among others."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from proctor.statistics.exchangeability import grouped_p, order_test


def test_p_is_the_rank_of_the_published_order():
    table = np.array([[3.0, 1.0, 2.0, 0.0], [30.0, 10.0, 20.0, 5.0]])
    found = order_test(table)
    assert (found.p, found.likelier_than) == (0.25, 3)
    assert found.of_shards[0] == pytest.approx((3 - 1.5) / np.std([3, 1, 2, 0], ddof=1))
    assert order_test(table[:, ::-1]).p == 1.0
    assert order_test(np.ones((3, 20))).p == 1.0  # what tells nothing speaks for nothing
    wide = np.array([[3.0, 1.0, 2.0], [-900.0, -100.0, -500.0], [7.0, 2.0, 4.0]])
    assert order_test(wide).likelier_than == 2  # one shard of long texts does not outweigh the others


@pytest.mark.parametrize("scale", ["normal", "heavy", "ties"])
def test_unseen_orders_are_called_seen_as_often_as_said(scale):
    """The whole table is in ``benchmarks/contamination.py``."""
    stream, runs = np.random.default_rng(4), 1_000
    draw = {
        "normal": lambda: stream.normal(size=(5, 20)) * 10.0 ** np.arange(5)[:, None],
        "heavy": lambda: stream.standard_cauchy((5, 20)),
        "ties": lambda: stream.integers(0, 2, (5, 20)).astype(float),
    }[scale]
    ps = np.array([order_test(draw()).p for _ in range(runs)])
    for level in (0.05, 0.2, 0.5):
        share = (ps <= level).mean()
        assert share <= level + 3 * np.sqrt(level * (1 - level) / runs)
        assert scale == "ties" or share >= level - 3 * np.sqrt(level * (1 - level) / runs)


def test_sorted_instances_are_noticed():
    stream = Random(1)
    values = [place // 10 for place in range(50)]
    assert grouped_p(values, stream) == 0.001
    assert grouped_p([place % 5 for place in range(50)], stream) == 1.0
    drawn = [grouped_p([stream.randrange(3) for _ in range(40)], stream, 99) for _ in range(100)]
    assert 0.3 < np.mean(drawn) < 0.75
