"""How fast this machine is now, so that a limit in seconds means the same work on a slow or busy one."""

from __future__ import annotations

import time

REFERENCE = 0.012
"""Processor seconds of the loop below on the machine for which the limits in these tests were written."""

NOISE = 3.0
"""How many times longer the same work takes for a moment where others use the machine: the moment is over when the
loop measures. What the limits are there to find (work that grows with a square) takes hundreds of times longer."""


def slowness() -> float:
    """How many times longer than there the same loop takes here; 1.0 where it takes no longer."""
    return max(1.0, min(_loop() for _ in range(3)) / REFERENCE)


def _loop() -> float:
    began = time.thread_time()
    for _ in range(250_000):
        pass
    return time.thread_time() - began


def in_time(took: float, allowed: float) -> bool:
    """Whether work took less than so many seconds, as many more as this machine is slower; it is measured in need."""
    return took < allowed or took < allowed * NOISE * slowness()
