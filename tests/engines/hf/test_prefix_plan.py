from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.engines.encoder import Scorable
from proctor.engines.hf.prefix_plan import Limits, Step, plan


@st.composite
def sequences(draw: st.DrawFn) -> list[Scorable]:
    """Distinct sequences over three tokens (so that they share much), with one to five targets each."""
    token = st.integers(0, 2)
    stem = draw(st.lists(token, max_size=40))
    found = []
    for _ in range(draw(st.integers(1, 12))):
        inputs = stem[: draw(st.integers(0, len(stem)))] + draw(st.lists(token, min_size=1, max_size=20))
        targets = draw(st.lists(token, min_size=1, max_size=min(5, len(inputs))))
        found.append(Scorable(tuple(inputs), tuple(targets)))
    return list(dict.fromkeys(found))


def walk(groups: Iterable[list[Step]], before: tuple[int, ...] = ()) -> list[tuple[Step, tuple[int, ...]]]:
    found = []
    for group in groups:
        assert len(group) == 1 or not before
        for step in group:
            assert step.start == len(before)
            found.append((step, before))
            then = [[each] for each in step.then]
            assert step.is_line or not then
            found += walk(then, before + tuple(step.tokens.tolist()))
    return found


def line_to(step: Step, node: int) -> list[int]:
    """The indices of the tokens that a token looks at: those whose subtree it is in."""
    return [each for each in range(node + 1) if node < step.ends[each]]


@given(
    sequences(),
    st.integers(1, 64),
    st.integers(1, 64),
    st.integers(1, 30),
    st.one_of(st.none(), st.integers(1, 8)),
    st.sampled_from([0, 1, 30, 200]),
)
def test_every_target_is_looked_up_once_behind_its_own_tokens(given, tokens, stem, lookups, count, batch):
    seen: dict[int, list[tuple[int, int]]] = {index: [] for index in range(len(given))}
    for step, before in walk(plan(given, Limits(tokens, max(stem, tokens), lookups, count, batch))):
        for node, sequence, target in step.lookups.tolist():
            line = line_to(step, node)
            assert step.depths[line].tolist() == list(range(step.start, step.start + len(line)))
            assert (*before, *step.tokens[line].tolist()) == given[sequence].inputs[: step.depths[node] + 1]
            seen[sequence].append((int(step.depths[node]), target))
    for index, each in enumerate(given):
        first = len(each.inputs) - len(each.targets)
        assert sorted(seen[index]) == [(first + offset, target) for offset, target in enumerate(each.targets)]


@given(sequences(), st.integers(1, 64))
def test_steps_stay_within_their_limits(given, tokens):
    limits = Limits(tokens, tokens, 1000)
    for step, _ in walk(plan(given, limits)):
        assert len(step.tokens) <= limits.stem


def test_a_prefix_shared_by_many_is_read_once():
    demos = tuple(range(100, 400))
    given = [Scorable((*demos, 50 + doc, *range(20), choice), (1,)) for doc in range(40) for choice in range(4)]
    read = sum(len(step.tokens) for step, _ in walk(plan(given, Limits(256, 512, 1000))))
    assert read == 300 + 40 * (21 + 4)


def test_without_a_limit_on_steps_every_distinct_token_is_read_once():
    given = [Scorable((1, 2, 3), (4,)), Scorable((1, 2, 4), (4,)), Scorable((5,), (1,)), Scorable((1, 2), (9, 9))]
    [[step]] = plan(given, Limits(100, 100, 100))
    assert sorted(step.tokens) == [1, 2, 3, 4, 5]
    assert step.depths[step.tokens == 5] == 0


def test_a_token_sees_its_ancestors_and_itself_only():
    [[step]] = plan([Scorable((1, 2), (3,)), Scorable((1, 4), (3,))], Limits(10, 10, 10))
    assert [line_to(step, node) for node in range(3)] == [[0], [0, 1], [0, 2]]


def test_a_limit_on_sequences_holds_in_leaves():
    given = [Scorable((1, 2, 3, end), (0,)) for end in range(10)]
    steps = walk(plan(given, Limits(100, 100, 100, sequences=4)))
    assert max(len(set(step.lookups[:, 1].tolist())) for step, _ in steps) == 4


def test_nothing_makes_no_steps():
    assert list(plan([], Limits(1, 1, 1))) == []


@pytest.mark.parametrize("length", [1, 5, 100, 1000])
def test_a_long_sequence_is_cut_into_pieces(length):
    steps = walk(plan([Scorable(tuple(range(length)), tuple(range(length)))], Limits(16, 32, 32)))
    assert sum(len(step.tokens) for step, _ in steps) == length
    assert max(len(step.lookups) for step, _ in steps) <= 32


def questions(count: int, shared: int = 0) -> list[Scorable]:
    """Questions of different lengths with four choices each, and a beginning that all have."""
    stem = tuple(range(500, 500 + shared))
    return [
        Scorable((*stem, 1000 + doc, *range(10 + doc % 7), choice), (1,)) for doc in range(count) for choice in range(4)
    ]


def test_questions_that_share_little_run_as_rows():
    groups = list(plan(questions(40, shared=1), Limits(256, 512, 1000, batch=400)))
    assert sum(map(len, groups)) == 40
    assert max(len(rows) * max(len(step.tokens) for step in rows) for rows in groups) <= 400
    assert sum(len(rows) * max(len(step.tokens) for step in rows) for rows in groups) <= 1.1 * sum(
        len(step.tokens) for rows in groups for step in rows
    )


def test_a_long_beginning_is_not_read_again_for_each_row():
    groups = plan(questions(40, shared=300), Limits(256, 512, 1000, batch=400))
    read = sum(len(step.tokens) for step, _ in walk(groups))
    assert read == 300 + len({inputs[: end + 1] for inputs, end in _prefixes(questions(40))})


def _prefixes(given: list[Scorable]) -> list[tuple[tuple[int, ...], int]]:
    return [(each.inputs, end) for each in given for end in range(len(each.inputs))]


def _plan_seconds(count: int) -> float:
    given, best = questions(count), float("inf")
    for _ in range(5):
        started = time.process_time()
        walk(plan(given, Limits(256, 512, 1000)))
        best = min(best, time.process_time() - started)
    return best


def test_planning_is_linear():
    assert _plan_seconds(800) < 3.2 * _plan_seconds(400)
