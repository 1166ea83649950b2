"""Distances of trees are least costs."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from proctor.scoring.distances import Tree, tree_distance

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
