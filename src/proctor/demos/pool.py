"""The pool that demos are drawn from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Instance = dict[str, Any]


class DemoPool(Sequence[Instance]):
    """Distinct instances, indexed so that an instance finds itself without being compared with all of them.

    ``memo`` is room for what others compute once for each member.
    """

    def __init__(self, instances: Iterable[Instance]) -> None:
        self._instances = list(instances)
        self._place_by_identity = {id(each): place for place, each in enumerate(self._instances)}
        self.memo: dict[Any, Any] = {}
        self._places: dict[Any, list[int]] = {}
        for place, instance in enumerate(self._instances):
            self._places.setdefault(_hint(instance["input_fields"]), []).append(place)

    def without(self, instance: Instance) -> Sequence[Instance]:
        """Return the pool without instances whose input fields equal the instance's, in order."""
        fields = instance["input_fields"]
        places = self._places.get(_hint(fields), ())
        equal = {place for place in places if self._instances[place]["input_fields"] == fields}
        if not equal:
            return self._instances
        return [each for place, each in enumerate(self._instances) if place not in equal]

    def place_of(self, instance: Instance) -> int | None:
        """Return the place of a member (the very object), ``None`` for any other instance."""
        return self._place_by_identity.get(id(instance))

    def __len__(self) -> int:
        return len(self._instances)

    def __getitem__(self, place: Any) -> Any:
        return self._instances[place]


def _hint(fields: dict[str, Any]) -> Any:
    """Return something hashable that equal fields share, whatever their order: the values that are plain texts."""
    return tuple(sorted([value for value in fields.values() if type(value) is str]))


def draw_pool(instances: Iterator[Instance], size: int | None) -> tuple[list[Instance], list[Instance]]:
    """Take the first ``size`` distinct instances (by input fields) from a stream; all of them if ``size`` is None.

    Returns:
        The pool, and the duplicates that were passed over on the way.
    """
    pool: list[Instance] = []
    duplicates: list[Instance] = []
    seen: set[str] = set()
    if size is not None and size <= 0:
        return pool, duplicates
    for instance in instances:
        signature = _signature(instance["input_fields"])
        if signature in seen:
            duplicates.append(instance)
            continue
        seen.add(signature)
        pool.append(instance)
        if len(pool) == size:
            break
    return pool, duplicates


def _signature(fields: dict[str, Any]) -> str:
    try:
        return json.dumps(fields, sort_keys=True)
    except TypeError:
        return str(fields)
