"""Pairs of instances: the same whatever the order, whatever is missing."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from proctor.runs.pairs import paired
from proctor.runs.sample_index import ScoredLines

DIGESTS = st.integers(-(1 << 63), (1 << 63) - 1).filter(bool)


def lines(digests: list[int]) -> ScoredLines:
    count = len(digests)
    return ScoredLines(np.arange(count), np.array(digests, dtype=np.int64), np.zeros(count))


def pairs_of(first: list[int], second: list[int]) -> set[tuple[int, int]]:
    found = paired(lines(first), lines(second))
    return {(first[a], second[b]) for a, b in zip(found.first, found.second, strict=True)}


@given(st.lists(DIGESTS, unique=True, min_size=1), st.randoms(use_true_random=False), st.data())
def test_any_order_and_any_part_gives_the_same_pairs(digests, random, data):
    shuffled = random.sample(digests, len(digests))
    kept = data.draw(st.lists(st.sampled_from(shuffled), unique=True, min_size=1))
    assert pairs_of(digests, shuffled) == {(each, each) for each in digests}
    assert pairs_of(digests, kept) == {(each, each) for each in kept}
    found = paired(lines(digests), lines(kept))
    assert (found.alone_first, found.alone_second) == (len(digests) - len(kept), 0)
    assert list(found.first) == sorted(found.first)


@given(st.lists(st.sampled_from([5, 7, -9]), min_size=1), st.lists(st.sampled_from([5, 7, 11]), min_size=1))
def test_of_equal_instances_each_is_paired_once_and_in_order(first, second):
    found = paired(lines(first), lines(second))
    assert len(found) == sum(min(first.count(each), second.count(each)) for each in {*first, *second})
    for digest in {*first, *second}:
        mine = [a for a in found.first if first[a] == digest]
        theirs = [b for a, b in zip(found.first, found.second, strict=True) if first[a] == digest]
        assert mine == [place for place, each in enumerate(first) if each == digest][: len(mine)]
        assert theirs == [place for place, each in enumerate(second) if each == digest][: len(mine)]


def test_instances_that_nothing_is_known_of_are_alone():
    found = paired(lines([0, 5, 0]), lines([5, 0]))
    assert (list(found.first), list(found.second)) == ([1], [0])
    assert (found.alone_first, found.alone_second) == (2, 1)


def test_numbers_pair_where_neither_run_says_what_its_instances_hold():
    found = paired(lines([0, 0, 0]), lines([0, 0]))
    assert (found.by, list(found.first), found.alone_first) == ("number", [0, 1], 1)
    assert len(paired(lines([0, 0]), lines([5, 7]))) == 0
