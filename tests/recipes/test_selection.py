"""Which instances are asked about: the one rule for every dialect."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import DataError
from proctor.ir.question import Ask
from proctor.recipes.selection import Opened, Selection, chosen


def opened(count: int, copies: int = 1, *, in_blocks: bool = False, is_selected: bool = False) -> Opened:
    numbers = (
        [n for _ in range(copies) for n in range(count)]
        if in_blocks
        else [n for n in range(count) for _ in range(copies)]
    )
    rows = [{"n": n} for n in numbers]
    return Opened(rows, lambda: len(rows), copies=copies, in_blocks=in_blocks, is_selected=is_selected)


def asks(rows: Opened, **selection) -> list[Ask]:
    return [each for each, _ in chosen(rows, Selection(**selection), "exam")]


def numbers(rows: Opened, **selection) -> list[int]:
    found = list(chosen(rows, Selection(**selection), "exam"))
    assert all(row["n"] == each.number for each, row in found)
    return [each.number for each, _ in found]


@pytest.mark.parametrize(
    "selection, wanted",
    [
        ({}, [0, 1, 2, 3, 4, 5, 6]),
        ({"limit": 3}, [0, 1, 2]),
        ({"limit": 100}, [0, 1, 2, 3, 4, 5, 6]),
        ({"limit": 1}, [0]),
        ({"limit": 1.0}, [0]),
        ({"places": frozenset({0, 6})}, [0, 6]),
        ({"limit": 0.5}, [0, 1, 2, 3]),
        ({"limit": 0.001}, [0]),
        ({"places": frozenset({5, 1})}, [1, 5]),
        ({"places": frozenset({5, 1}), "limit": 1}, [1, 5]),
        ({"ceiling": 2}, [0, 1]),
        ({"ceiling": 4, "limit": 6}, [0, 1, 2, 3]),
        ({"ceiling": 4, "limit": 0.5}, [0, 1]),
    ],
)
def test_limit_share_places_and_ceiling(selection, wanted):
    assert numbers(opened(7), **selection) == wanted


def test_copies_of_a_row_are_asked_about_together_with_it():
    adjacent = asks(opened(3, 2), limit=2)
    assert adjacent == [Ask(0, 0, 0, 0), Ask(1, 0, 1, 1), Ask(2, 1, 0, 2), Ask(3, 1, 1, 3)]
    blocks = asks(opened(3, 2, in_blocks=True), limit=2)
    assert blocks == [Ask(0, 0, 0, 0), Ask(1, 1, 0, 1), Ask(3, 0, 1, 2), Ask(4, 1, 1, 3)]
    assert asks(opened(3, 2, in_blocks=True), places=frozenset({2})) == [Ask(2, 2, 0, 0), Ask(5, 2, 1, 1)]


def test_without_copies_an_instance_is_listed_under_its_own_number():
    assert [each.listed for each in asks(opened(9), places=frozenset({8, 4}))] == [4, 8]


def test_rows_that_are_selected_already_are_all_asked_about():
    assert len(asks(opened(5, is_selected=True), limit=2, places=frozenset({99}))) == 5


@pytest.mark.parametrize("place", [-1, 7])
def test_a_position_that_is_none_is_refused(place):
    with pytest.raises(DataError, match=f"'exam' has no instance {place}") as caught:
        asks(opened(7), places=frozenset({place, 2}))
    assert caught.value.diagnostics[0].why == "it has 7, counted from 0"


def test_nothing_is_counted_or_read_that_is_not_needed():
    def rows():
        yield {"n": 0}
        yield {"n": 1}
        raise AssertionError("read too far")

    def total():
        raise AssertionError("counted for nothing")

    class Once:
        def __iter__(self):
            return rows()

    found = chosen(Opened(Once(), total), Selection(limit=1), "exam")
    assert [each.number for each, _ in found] == [0]


@given(
    count=st.integers(1, 12),
    copies=st.integers(1, 4),
    in_blocks=st.booleans(),
    limit=st.one_of(st.none(), st.integers(1, 20), st.floats(0.01, 0.99)),
)
def test_every_copy_of_the_first_instances_and_nothing_else(count, copies, in_blocks, limit):
    found = asks(opened(count, copies, in_blocks=in_blocks), limit=limit)
    end = count if limit is None else min(count, math.ceil(count * limit) if limit < 1 else limit)
    assert sorted((each.number, each.repeat) for each in found) == [(n, r) for n in range(end) for r in range(copies)]
    assert [each.place for each in found] == sorted(each.place for each in found)
    if copies > 1:
        assert [each.listed for each in found] == list(range(len(found)))


@given(
    total=st.integers(0, 40),
    limit=st.one_of(st.none(), st.integers(1, 50), st.floats(0.01, 0.99), st.just(1.0)),
    ceiling=st.one_of(st.none(), st.integers(1, 50)),
)
def test_how_many_there_will_be_is_known_before(total, limit, ceiling):
    selection = Selection(limit, None, ceiling)
    assert selection.count(total) == len(asks(opened(total), limit=limit, ceiling=ceiling))
    assert selection.count(total) <= min(each for each in (total, ceiling) if each is not None)
