"""``unitxt.inference.run_coroutine_synchronously``, which Unitxt has after 1.26.10."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Coroutine
from typing import Any, TypeVar

from proctor.errors import UsageError

T = TypeVar("T")
_of_thread = threading.local()


def run_coroutine_synchronously(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns; all calls of a thread share a loop, so that locks and clients outlive a call.

    Raises:
        UsageError: A loop runs here already, and ``nest_asyncio`` does not let it run another coroutine meanwhile.
    """
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        return _loop().run_until_complete(coroutine)
    if getattr(running, "_nest_patched", False):
        return running.run_until_complete(coroutine)
    coroutine.close()
    raise UsageError(
        "a coroutine cannot be waited for here",
        why="an event loop runs in this thread already, as in notebooks",
        hint="call this in a thread (await asyncio.to_thread(…)), or call nest_asyncio.apply() before",
    )


class _Kept:
    """Holds the loop of a thread, which is closed when the thread or the program ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        weakref.finalize(self, self.loop.close)


def _loop() -> asyncio.AbstractEventLoop:
    kept: _Kept | None = getattr(_of_thread, "kept", None)
    if kept is None or kept.loop.is_closed():
        kept = _of_thread.kept = _Kept()
    return kept.loop
