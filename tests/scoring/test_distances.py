"""Distances of trees are least costs; what stands around an answer is taken away in linear time."""

from __future__ import annotations

import re
import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_pace import in_time

from proctor.scoring.distances import AROUND, Tree, tree_distance, without_around
from proctor.scoring.single_answers import exact_match

_TREES = st.recursive(
    st.builds(Tree, st.sampled_from("abc")),
    lambda below: st.builds(Tree, st.sampled_from("abc"), st.lists(below, max_size=3)),
    max_leaves=4,
)


def _unlike(one: str, two: str) -> float:
    return 0.0 if one == two else 0.75


def _plain(one: Tree[str], two: Tree[str]) -> float:
    """The recurrence on forests as it is defined."""
    Forest = tuple

    def frozen(tree: Tree[str]) -> tuple[str, tuple[object, ...]]:
        return tree.label, tuple(map(frozen, tree.children))

    @cache
    def distance(first: Forest, second: Forest) -> float:  # type: ignore[type-arg]
        if not first and not second:
            return 0.0
        found = []
        if first:
            found.append(distance(first[:-1] + first[-1][1], second) + 1)
        if second:
            found.append(distance(first, second[:-1] + second[-1][1]) + 1)
        if first and second:
            (label, below), (other, beneath) = first[-1], second[-1]
            found.append(distance(first[:-1], second[:-1]) + distance(below, beneath) + _unlike(label, other))
        return min(found)

    return distance((frozen(one),), (frozen(two),))


@given(_TREES, _TREES)
def test_the_cost_is_that_of_the_definition(one: Tree[str], two: Tree[str]) -> None:
    assert tree_distance(one, two, _unlike) == _plain(one, two)


def test_children_of_what_is_taken_out_go_to_its_parent() -> None:
    deep = Tree("a", [Tree("b", [Tree("c"), Tree("c")])])
    assert tree_distance(deep, Tree("a", [Tree("c"), Tree("c")]), _unlike) == 1
    assert deep.size() == 4


@given(st.text("a1*.,(\"' \n)«“。[x", max_size=12))
def test_what_stands_around_an_answer_is_what_the_patterns_say(text):
    expected = text
    for pattern in AROUND:
        expected = re.sub(pattern, "", expected)
    assert without_around(text) == expected


@pytest.mark.parametrize(
    "part, end", [("*", "x"), (".", "y"), ("**.", "x"), ("(", ""), ("(**", "."), ("1,", ""), (" ", "")]
)
def test_hostile_answers_take_linear_time(part, end):
    """The second pattern takes minutes for the first of them."""
    answer = f"x{part * 400_000}{end}"
    start = time.process_time()
    exact_match([answer], ["x"], regexes_to_ignore=list(AROUND))
    assert in_time(time.process_time() - start, 3)
