"""``unitxt.text2sql_utils``: results of queries that are kept.

Unitxt's cache asks whether it holds anything before it keeps the first value, so that it never does. This one keeps
values as long as the process lives, where ``UNITXT_CACHE_LOCATION`` is set; nothing is written to that place.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import lru_cache, wraps
from typing import Any

from proctor.guests.unitxt.texts import generate_cache_key

CACHE_LOCATION = os.environ.get("UNITXT_CACHE_LOCATION") or ""
"""Whether results are kept: the place is not written to."""
MAX_CACHE_SIZE = 10 * 1024**3
"""In bytes, Unitxt's default, for programs that read it; :data:`MOST_VALUES` is what limits this cache."""
MOST_VALUES = 10_000
"""Values that are kept at most; the first goes first. Tables of results are small."""


class Cache:
    """Keeps values of keys, where ``UNITXT_CACHE_LOCATION`` is set.

    Attributes:
        cache: The values; ``None`` where none are kept.
    """

    def __init__(self) -> None:
        self.cache: dict[Any, Any] | None = {} if CACHE_LOCATION else None

    def get_or_set(self, key: Any, compute_fn: Callable[[], Any], no_cache: bool = False, refresh: bool = False) -> Any:
        """Return the value of a key: the one that is kept, else a new one. Results that failed are not kept."""
        if self.cache is None or no_cache:
            return compute_fn()
        if key in self.cache and not refresh:
            return self.cache[key]
        return self._kept(key, compute_fn())

    async def async_get_or_set(
        self, key: Any, compute_fn: Callable[[], Awaitable[Any]], no_cache: bool = False, refresh: bool = False
    ) -> Any:
        """Return the value of a key, as :meth:`get_or_set`, of a function that is waited for."""
        if self.cache is None or no_cache:
            return await compute_fn()
        if key in self.cache and not refresh:
            return self.cache[key]
        return self._kept(key, await compute_fn())

    def memoize(
        self, key_func: Callable[..., Any] = generate_cache_key, no_cache: bool = False, refresh: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator of functions whose values are kept by their arguments."""

        def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(function)
            def kept(*args: Any, **kwargs: Any) -> Any:
                key = key_func(function.__name__, *args, **kwargs)
                return self.get_or_set(key, lambda: function(*args, **kwargs), no_cache, refresh)

            return kept

        return decorated

    def async_memoize(
        self, key_func: Callable[..., Any] = generate_cache_key, no_cache: bool = False, refresh: bool = False
    ) -> Callable[[Callable[..., Awaitable[Any]]], Callable[..., Awaitable[Any]]]:
        """Return :meth:`memoize` for functions that are waited for."""

        def decorated(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
            @wraps(function)
            async def kept(*args: Any, **kwargs: Any) -> Any:
                key = key_func(function.__name__, *args, **kwargs)
                return await self.async_get_or_set(key, lambda: function(*args, **kwargs), no_cache, refresh)

            return kept

        return decorated

    def clear(self) -> None:
        """Forget all values."""
        if self.cache is not None:
            self.cache.clear()

    def _kept(self, key: Any, value: Any) -> Any:
        failed = not value or (isinstance(value, tuple) and len(value) == 2 and value[0] is None)  # noqa: PLR2004 - a table, and why there is none
        if self.cache is not None and not failed:
            self.cache[key] = value
            while len(self.cache) > MOST_VALUES:
                del self.cache[next(iter(self.cache))]
        return value


@lru_cache(maxsize=1)
def get_cache() -> Cache:
    """Return the cache of this process."""
    return Cache()
