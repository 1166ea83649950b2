"""Faults of a test server: when and how it misbehaves.

Faults are a pure function of (request key, attempt), so a schedule is the same in every run whatever the order in
which requests arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from random import Random
from typing import Literal

from msgspec import Struct, structs

FaultKind = Literal[
    "status",
    "reset",
    "hangup",
    "truncated",
    "garbage",
    "empty",
    "slow",
    "stall",
    "wrong_id",
    "duplicate",
    "twice",
    "no_usage",
]
"""``status``: an HTTP error; ``reset``: the connection is reset before an answer; ``hangup``: it closes in the middle
of the body; ``truncated``: a complete reply whose JSON is cut; ``garbage``: a reply that is not JSON; ``empty``: a
reply without choices; ``slow``: the body drips over ``seconds``; ``stall``: no answer for ``seconds``; ``wrong_id``:
reply and choices carry wrong ids; ``duplicate``: the reply has each choice twice; ``twice``: the whole reply is sent
twice; ``no_usage``: tokens are not counted."""

FATAL_KINDS: tuple[FaultKind, ...] = ("status", "reset", "hangup", "truncated", "garbage", "empty", "slow", "stall")
"""Faults after which a client has to ask again, or wait."""
HARMLESS_KINDS: tuple[FaultKind, ...] = ("wrong_id", "duplicate", "twice", "no_usage")
"""Faults that a client should not even notice."""
_STATUSES = (408, 409, 429, 500, 502, 503, 504, 529)  # all that are asked again; 529 is Anthropic's "overloaded"


class Fault(Struct, frozen=True):
    """One misbehaviour.

    Attributes:
        kind: See :data:`FaultKind`.
        status: HTTP status of ``status``.
        retry_after: Value of the ``Retry-After`` header of ``status``: seconds, or an HTTP date.
        seconds: How long ``slow`` and ``stall`` take.
        message: Error message in the body of ``status``.
    """

    kind: FaultKind
    status: int = 503
    retry_after: str | None = None
    seconds: float = 0.0
    message: str = "scripted fault"


Schedule = Callable[[str, int], Fault | None]
"""From a request's key and the number of times it was asked before to what goes wrong."""


class Faults:
    """A schedule of faults.

    Args:
        schedule: Called with (request key, times asked before); ``None`` means that all goes well.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule

    def of(self, key: str, attempt: int) -> Fault | None:
        """Return the fault of this attempt (counted from 0) at answering the request of this key."""
        return self._schedule(key, attempt)

    @classmethod
    def none(cls) -> Faults:
        """Nothing goes wrong."""
        return cls(lambda key, attempt: None)

    @classmethod
    def first(cls, *faults: Fault | None) -> Faults:
        """Every request meets these faults in order, one for each attempt; then all goes well."""
        return cls(lambda key, attempt: faults[attempt] if attempt < len(faults) else None)

    @classmethod
    def always(cls, fault: Fault) -> Faults:
        """Every attempt meets this fault."""
        return cls(lambda key, attempt: fault)

    @classmethod
    def by_key(cls, table: Mapping[str, Sequence[Fault | None]]) -> Faults:
        """Requests of these keys meet these faults, one for each attempt; all others go well."""
        return cls(lambda key, attempt: dict(enumerate(table.get(key, ()))).get(attempt))

    @classmethod
    def random(
        cls,
        seed: int,
        rate: float = 0.3,
        kinds: Sequence[FaultKind] = FATAL_KINDS + HARMLESS_KINDS,
        most_per_request: int = 3,
        seconds: float = 0.2,
        retry_after_seconds: float = 1.0,
    ) -> Faults:
        """Attempts fail at random, but never more than ``most_per_request`` times for one request.

        Args:
            seed: Equal seeds give equal schedules.
            rate: Probability that an attempt meets a fault.
            kinds: Kinds to draw from.
            most_per_request: From this attempt on all goes well.
            seconds: Longest ``slow`` and ``stall``.
            retry_after_seconds: Longest ``Retry-After``, in whole seconds.
        """

        def schedule(key: str, attempt: int) -> Fault | None:
            digest = blake2b(f"{seed}/{key}/{attempt}".encode(), digest_size=8).digest()
            draw = Random(int.from_bytes(digest, "big"))
            if attempt >= most_per_request or draw.random() >= rate:
                return None
            return _draw_fault(draw, draw.choice(list(kinds)), seconds, retry_after_seconds)

        return cls(schedule)


def _draw_fault(draw: Random, kind: FaultKind, seconds: float, retry_after_seconds: float) -> Fault:
    fault = Fault(kind, seconds=draw.uniform(0.0, seconds))
    if kind != "status":
        return fault
    status = draw.choice(_STATUSES)
    retry_after = str(draw.randint(0, int(retry_after_seconds))) if status in (429, 503) else None
    return structs.replace(fault, status=status, retry_after=retry_after)
