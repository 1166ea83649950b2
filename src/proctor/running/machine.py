"""The machine of a run, as results describe it."""

from __future__ import annotations

import platform
import sys
from functools import cache


@cache
def platform_name() -> str:
    """Return system, release, processor and C library in one word, as ``platform.platform`` has them.

    On Linux that function starts a process to learn a name that is not in what it returns.
    """
    if sys.platform != "linux":
        return platform.platform()
    found, library = platform.uname(), "".join(platform.libc_ver())
    parts = (found.system, found.release, found.machine, library and f"with-{library}")
    return "-".join(part for part in parts if part)
