"""Made-up answers that depend on the request alone, so that both systems get the same. Needs neither of them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

SAID = (
    *("yes", "no", "maybe", " Yes.", "NO!", "", "The answer is A.", "The answer is (B)", "the answer is C", "D"),
    *("A", "7", "12", "3", "amber", "basalt cedar", "the heron", "delta, ember", "one\ntwo", "#### 7", "so 5 #### 11"),
)
"""What a model may say: labels, letters, numbers and words of the rows, at times dressed up."""


def number_of(*parts: Any) -> int:
    """Return a number that depends on the parts alone."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def text_for(context: Any, time: int) -> str:
    """Return what is said to a context when it is asked for the ``time``-th time, from 0."""
    return SAID[number_of("text", context, time) % len(SAID)]


def likelihood_for(context: Any, continuation: str) -> tuple[float, bool]:
    """Return a log-likelihood with three decimals, and whether the continuation is the greedy one."""
    number = number_of("likelihood", context, continuation)
    return -(number % 100_000) / 1000.0, bool(number >> 20 & 1)
