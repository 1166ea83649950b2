"""Going through, filling and copying containers, step by step or measured before Python does it.

Dictionaries of base files behave as mmengine's do: what is stored in them becomes such a dictionary too, lists are
copied, and an update merges.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from proctor.safe_python.budget import MAX_STREAMS, SCALARS, Budget, RefusalError
from proctor.safe_python.values import ConfigDict, InheritedDict

_NUMBERS = frozenset({int, float, bool})
_HASHED_AS_THEMSELVES = sys.hash_info.modulus
_PORTION = 1_024  # items that are counted together: 64 kB, little beside any budget
_FEW = 64
"""Items that are not worth counting: the step that lists them counts for them."""


class Stream:
    """An iterator: takes a step for each item, and goes through other ones only so deep.

    Python's own iterators follow one another without looking at the stack, so a long chain of them ends the process.
    """

    __slots__ = ("_budget", "_counted", "_items", "depth")

    def __init__(self, items: Iterator[Any], budget: Budget, *sources: Any, counted: bool = False) -> None:
        self._items = items
        self._counted = counted
        self._budget = budget
        self.depth: int = 1 + max((source.depth for source in sources if isinstance(source, Stream)), default=0)
        if self.depth > MAX_STREAMS:
            raise RefusalError(f"goes through more than {MAX_STREAMS} iterators at once")
        budget.hold(128)

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Any:
        budget = self._budget
        if budget.streams >= MAX_STREAMS:
            raise RefusalError(f"goes through more than {MAX_STREAMS} iterators at once")
        budget.steps -= 1
        if budget.steps < 0:
            budget.refill()
        budget.streams += 1
        try:
            return next(self._items)
        finally:
            budget.streams -= 1

    def unguarded(self) -> Iterator[Any]:
        """Return the items without a step for each; generators, which may call each other, stay guarded."""
        return self if self._counted else self._items

    def rest(self) -> list[Any] | None:
        """Return all items that are left where they count their steps themselves, as generators do."""
        budget = self._budget
        if not self._counted or budget.streams >= MAX_STREAMS:
            return None
        budget.streams += 1
        try:
            return list(self._items)
        finally:
            budget.streams -= 1


def size(value: Any) -> int:
    """Return the length of a sized value; ranges may be longer than ``len`` can say."""
    if isinstance(value, range):
        return max(0, (value.stop - value.start + value.step - (1 if value.step > 0 else -1)) // value.step)
    return len(value)


def iterate(value: Any, budget: Budget) -> Iterator[Any]:
    """Return an iterator; sets of texts come sorted, for their own order changes from process to process.

    Raises:
        TypeError: The value cannot be iterated.
    """
    if isinstance(value, (set, frozenset)):
        return iter(ordered(value, budget))
    return iter(value)


def each_of(value: Any, budget: Budget) -> Iterator[Any]:
    """Return an iterator for a loop that counts its rounds itself.

    Raises:
        TypeError: The value cannot be iterated.
    """
    return value.unguarded() if value.__class__ is Stream else iterate(value, budget)


def ordered(values: set[Any] | frozenset[Any], budget: Budget) -> list[Any]:
    """Return the members of a set in an order that is the same in every process."""
    budget.hold_items(len(values))
    if all(each.__class__ in _NUMBERS for each in values):
        return list(values)
    budget.measure(values)
    return sorted(values, key=lambda each: (type(each).__name__, repr(each)))


def consume(value: Any, budget: Budget) -> list[Any]:
    """Return all items of an iterable as a list that nobody else holds.

    Raises:
        TypeError: The value cannot be iterated.
        ExhaustedError: It has too many items.
    """
    if value.__class__ in (list, tuple) and len(value) < _FEW:
        return list(value)
    if isinstance(value, (list, tuple, dict, str, range, bytes)):
        count = size(value)
        budget.hold_items(count if value.__class__ is not range else 5 * count)
        budget.spend(count >> 2)
        return list(value)
    if isinstance(value, (set, frozenset)):
        return ordered(value, budget)
    if value.__class__ is Stream and (rest := value.rest()) is not None:
        budget.hold_items(len(rest))
        return rest
    items = []
    for item in iter(value):
        budget.steps -= 1
        if budget.steps < 0:
            budget.refill()
        items.append(item)
        if len(items) % _PORTION == 0:
            budget.hold(64 * _PORTION)
    budget.hold(64)
    return items


def pairs_of(value: Any, budget: Budget) -> list[tuple[Any, Any]]:
    """Return the key and value pairs that ``dict(value)`` takes."""
    if isinstance(value, dict):
        budget.hold_items(2 * len(value))
        return list(value.items())
    pairs = []
    for position, item in enumerate(consume(value, budget)):
        pair = consume(item, budget)
        if len(pair) != len(("key", "value")):
            raise ValueError(f"dictionary update sequence element #{position} has length {len(pair)}; 2 is required")
        pairs.append((pair[0], pair[1]))
    return pairs


def update(target: dict[Any, Any], pairs: list[tuple[Any, Any]], budget: Budget) -> None:
    """Do ``target.update(pairs)``; dictionaries of base files merge instead, see :func:`merge`."""
    if isinstance(target, InheritedDict):
        merge(target, dict(pairs), budget)
        return
    for key, value in pairs:
        put(target, key, value, budget)


def check_key(key: Any, count: int, budget: Budget) -> None:
    """Measure a key of a dictionary or set with so many.

    Numbers beyond :data:`_HASHED_AS_THEMSELVES` are easily chosen to collide with one another, so each costs as many
    steps as there are keys to compare it with.
    """
    if key.__class__ is int:
        if not -_HASHED_AS_THEMSELVES < key < _HASHED_AS_THEMSELVES:
            budget.spend(count)
    elif key.__class__ not in SCALARS:
        budget.measure(key)


def put(target: dict[Any, Any], key: Any, value: Any, budget: Budget) -> None:
    """Do ``target[key] = value``."""
    if key.__class__ is not str:
        check_key(key, len(target), budget)
    if target.__class__ is not dict and isinstance(target, InheritedDict):
        value = inherited(value, budget)
    budget.steps -= 1
    if budget.steps < 0:
        budget.refill()
    budget.hold(64)
    target[key] = value


def fill_set(items: list[Any], budget: Budget) -> set[Any]:
    """Return ``set(items)``, made item by item, so that colliding items cannot take long unseen."""
    made: set[Any] = set()
    for item in items:
        check_key(item, len(made), budget)
        budget.spend(1)
        made.add(item)
    budget.hold(64 * len(made))
    return made


def inherited(value: Any, budget: Budget) -> Any:
    """Return a value as a dictionary of a base file stores it: dictionaries become such ones too, lists are copied."""
    if isinstance(value, dict):
        return value if isinstance(value, InheritedDict) else _inherited_dict(value, budget, inherited)
    if isinstance(value, (list, tuple)):
        return _rebuilt(value, budget, inherited)
    return value


def imported(value: Any, budget: Budget) -> Any:
    """Return a copy of what a base file holds: as after mmengine has read that file, nothing in it shared."""
    if isinstance(value, dict):
        return _inherited_dict(value, budget, imported)
    if isinstance(value, (list, tuple)):
        return _rebuilt(value, budget, imported)
    return value


def _inherited_dict(value: dict[str, Any], budget: Budget, convert: Callable[[Any, Budget], Any]) -> InheritedDict:
    budget.spend(len(value) + 1)
    budget.hold(64 * (len(value) + 1))
    made = InheritedDict(location=getattr(value, "location", None))
    for key, each in value.items():
        made[key] = each if each.__class__ in SCALARS else convert(each, budget)
    return made


def _rebuilt(value: Any, budget: Budget, convert: Callable[[Any, Budget], Any]) -> Any:
    budget.spend(len(value) + 1)
    budget.hold_items(len(value))
    return type(value)([each if each.__class__ in SCALARS else convert(each, budget) for each in value])


def merge(target: InheritedDict, other: Mapping[str, Any], budget: Budget) -> None:
    """Update a dictionary of a base file: where both sides have a dictionary, it is updated in turn."""
    for key, value in other.items():
        known = target.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            budget.spend(1)
            if isinstance(known, InheritedDict):
                merge(known, value, budget)
            else:
                update(known, pairs_of(value, budget), budget)
        else:
            put(target, key, value, budget)


def deep_copy(value: Any, budget: Budget, done: dict[int, Any] | None = None) -> Any:
    """Return ``copy.deepcopy(value)``; what the value holds twice, the copy holds twice too."""
    if value.__class__ in SCALARS:
        return value
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)]
    made: Any
    if isinstance(value, dict):
        budget.hold(64 * (len(value) + 1))
        made = done[id(value)] = value.copy() if isinstance(value, ConfigDict) else {}
        made.clear()
        for key, each in value.items():
            budget.spend(1)
            made[deep_copy(key, budget, done)] = deep_copy(each, budget, done)
    elif isinstance(value, list):
        budget.hold_items(len(value))
        made = done[id(value)] = []
        for each in value:
            budget.spend(1)
            made.append(deep_copy(each, budget, done))
    elif isinstance(value, (tuple, set, frozenset)):
        budget.hold_items(len(value))
        budget.spend(len(value))
        made = type(value)([deep_copy(each, budget, done) for each in value])
        done[id(value)] = made
    else:
        made = value
    return made
