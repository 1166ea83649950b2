"""Ray workers that get requests one by one: one slow answer keeps no other question waiting.

A worker's engine reads one long stream of requests, which this process adds to as slots become free. Engines that do
not read requests apart from where answers come out take those together that have come.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final

from proctor.ir import Answers, Failure, Response

_TRIES: Final = 3  # with many requests under way: the second time nobody knows, the third time it was alone

Item = tuple[int, Any]


class Feed:
    """Requests of a worker, as they come; its end is said. Numbers are kept by position until they are answered."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Item | None] = SimpleQueue()
        self.numbers: dict[int, int] = {}

    def add(self, items: list[Item], *, is_last: bool = False) -> None:
        """Add some, and say whether they are the last ones."""
        for each in items:
            self._queue.put(each)
        if is_last:
            self._queue.put(None)

    def together(self) -> list[Item]:
        """Wait for requests, and return those that have come; none at the end."""
        found = []
        while (item := self._queue.get()) is not None:
            found.append(item)
            if self._queue.empty():
                return found
        if found:
            self._queue.put(None)
        return found

    def __iter__(self) -> Iterator[Any]:
        position = 0
        while (item := self._queue.get()) is not None:
            self.numbers[position], request = item
            position += 1
            yield request


class _Slots:
    """A worker, the stream of its answers, and what it has."""

    def __init__(self, worker: Any, stream: Any, slots: tuple[int, int], *, is_alone: bool) -> None:
        self.worker, self.stream = worker, stream
        self.open: dict[int, Any] = {}
        self.most, self.longest = min(slots), slots[1]
        self.is_alone = is_alone

    @property
    def free(self) -> int:
        """How many more requests it may have: some wait there, so that none waits for the network."""
        return self.most + max(2, self.most // 8) - len(self.open)


class Shift:
    """One stream of numbered requests on its way through workers, which have so many slots at first and at most."""

    def __init__(
        self, crew: Any, kind: str, requests: Iterator[Item], slots: tuple[int, int], bare: Callable[[Any], Any]
    ) -> None:
        self._crew, self._kind, self._requests, self._slots, self._bare = crew, kind, requests, slots, bare
        self._name = secrets.token_hex(8)
        self._all: dict[Any, _Slots] = {}
        self._again, self._suspects = deque[Item](), deque[Item]()
        self._deaths: dict[int, int] = {}
        self._failed: list[tuple[int, Response]] = []

    def answers(self) -> Answers:
        """Yield answers as they arrive."""
        try:
            for worker in self._crew.workers:
                self._begin(worker)
            while self._fill():
                ready, _ = self._crew.ray.wait(list(self._all), num_returns=1, fetch_local=False)
                yield from self._take(self._all[ready[0]])
                failed, self._failed = self._failed, []
                yield from failed
        finally:
            for slots in self._all.values():
                with suppress(self._crew.ray.exceptions.RayError):
                    slots.worker.feed.remote(self._name, [], True)

    def _begin(self, worker: Any, *, is_alone: bool = False) -> None:
        stream = worker.answer.options(num_returns="streaming").remote(self._kind, self._name)
        self._all[stream] = _Slots(worker, stream, self._slots, is_alone=is_alone)

    def _fill(self) -> bool:
        """Give requests to whoever has the fewest, while there are slots; return whether any are under way."""
        given: dict[Any, list[Item]] = {}
        for slots in self._all.values():
            if slots.is_alone and not slots.open:
                if self._suspects:
                    self._give(slots, self._suspects.popleft(), given)
                else:
                    slots.is_alone = False
        while free := [each for each in self._all.values() if each.free > 0 and not each.is_alone]:
            item = self._again.popleft() if self._again else next(self._requests, None)
            if item is None:
                break
            self._give(min(free, key=lambda each: len(each.open)), item, given)
        for slots in self._all.values():
            if slots.stream in given:
                slots.worker.feed.remote(self._name, given[slots.stream], False)
        return any(slots.open for slots in self._all.values())

    def _give(self, slots: _Slots, item: Item, given: dict[Any, list[Item]]) -> None:
        number, request = item
        slots.open[number] = request
        given.setdefault(slots.stream, []).append((number, self._bare(request)))

    def _take(self, slots: _Slots) -> Answers:
        """Yield the next answer of a worker, or note that it has died."""
        exceptions = self._crew.ray.exceptions
        try:
            number, response = self._crew.ray.get(next(slots.stream))
        except (StopIteration, exceptions.RayActorError) as error:
            self._bury(slots, (str(error) or "its stream ended").splitlines()[0])
        else:
            slots.open.pop(number, None)
            slots.most = min(slots.most + 1, slots.longest)  # it answered one
            yield number, response

    def _bury(self, slots: _Slots, reason: str) -> None:
        """Give what a dead worker had to others; what it may have died of again is asked alone."""
        del self._all[slots.stream]
        for number, request in slots.open.items():
            deaths = self._deaths[number] = self._deaths.get(number, 0) + 1
            if deaths >= _TRIES or slots.is_alone:
                failure = Failure("engine", f"workers die of it: {reason}", deaths)
                self._failed.append((number, Response(failure=failure)))
            else:
                (self._again if deaths == 1 else self._suspects).append((number, request))
        self._begin(self._crew.replace(slots.worker), is_alone=bool(self._suspects))
