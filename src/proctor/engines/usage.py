"""What several answers cost together."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.ir import Usage


def total_usage(each: Iterable[Usage]) -> Usage:
    """Return the sums of what several requests cost."""
    found = list(each)
    return Usage(*(sum(getattr(usage, name) for usage in found) for name in Usage.__struct_fields__))
