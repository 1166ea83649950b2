from __future__ import annotations

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


def walk(steps: list[Step], before: tuple[int, ...] = ()) -> list[tuple[Step, tuple[int, ...]]]:
    found = []
    for step in steps:
        assert step.start == len(before)
        found.append((step, before))
        if step.then:
            assert step.is_line
            found += walk(step.then, before + tuple(step.tokens))
    return found


@given(sequences(), st.integers(1, 64), st.integers(1, 64), st.integers(1, 30), st.one_of(st.none(), st.integers(1, 8)))
def test_every_target_is_looked_up_once_behind_its_own_tokens(given, tokens, stem, lookups, count):
    seen: dict[int, list[tuple[int, int]]] = {index: [] for index in range(len(given))}
    for step, before in walk(plan(given, Limits(tokens, max(stem, tokens), lookups, count))):
        depths = step.depths()
        for node, sequence, target in step.lookups:
            line, at = [], node
            while at >= 0:
                line.append(step.tokens[at])
                at = step.parents[at]
            assert (*before, *reversed(line)) == given[sequence].inputs[: depths[node] + 1]
            seen[sequence].append((depths[node], target))
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
    (step,) = plan(given, Limits(100, 100, 100))
    assert sorted(step.tokens) == [1, 2, 3, 4, 5]
    assert step.depths()[step.tokens.index(5)] == 0


def test_a_token_sees_its_ancestors_and_itself_only():
    (step,) = plan([Scorable((1, 2), (3,)), Scorable((1, 4), (3,))], Limits(10, 10, 10))
    assert step.sight().tolist() == [[True, False, False], [True, True, False], [True, False, True]]


def test_a_limit_on_sequences_holds_in_leaves():
    given = [Scorable((1, 2, 3, end), (0,)) for end in range(10)]
    steps = plan(given, Limits(100, 100, 100, sequences=4))
    assert max(len({index for _, index, _ in step.lookups}) for step in steps) == 4


def test_nothing_makes_no_steps():
    assert plan([], Limits(1, 1, 1)) == []


@pytest.mark.parametrize("length", [1, 5, 100, 1000])
def test_a_long_sequence_is_cut_into_pieces(length):
    steps = walk(plan([Scorable(tuple(range(length)), tuple(range(length)))], Limits(16, 32, 32)))
    assert sum(len(step.tokens) for step, _ in steps) == length
    assert max(len(step.lookups) for step, _ in steps) <= 32
