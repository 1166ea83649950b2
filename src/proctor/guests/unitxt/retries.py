"""``unitxt.utils.retry_connection_with_exponential_backoff``: functions that are tried again."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any
from urllib.error import HTTPError

from proctor.logs import get_logger
from proctor.settings import settings

CONNECTIONS: tuple[type[BaseException], ...] = (ConnectionError, TimeoutError, HTTPError, FileNotFoundError)
"""What passes by itself, mostly; errors of ``requests`` of these names, which are none of Python's own, too."""

_OF_REQUESTS = ("ConnectionError", "HTTPError", "Timeout")


def retry_connection_with_exponential_backoff(
    max_retries: int | None = None,
    retry_exceptions: tuple[type[BaseException], ...] = CONNECTIONS,
    backoff_factor: float = 1,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that calls a function again while it fails for want of a connection.

    Args:
        max_retries: Calls in all; as the settings say where it is ``None``.
        retry_exceptions: Errors after which, or for whose sake, it is called again.
        backoff_factor: Seconds to wait after the first failure; twice as many after each other, and up to one more.
    """

    def decorator(func: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(func)
        def trying(*args: Any, **kwargs: Any) -> Any:
            calls = settings.max_connection_retries if max_retries is None else max_retries
            for attempt in range(calls):
                try:
                    return func(*args, **kwargs)
                except Exception as error:
                    passes = any(isinstance(each, _all_of(retry_exceptions)) for each in _behind(error))
                    if not passes or attempt >= calls - 1:
                        raise
                    wait = backoff_factor * 2**attempt + random.uniform(0, 1)
                    get_logger().warning(
                        "%s failed (%d of %d); trying again in %.2f s: %s",
                        func.__name__,
                        attempt + 1,
                        calls,
                        wait,
                        error,
                    )
                    time.sleep(wait)
            raise ValueError(f"{func.__name__} may not be called at all", max_retries)

        return trying

    return decorator


def _all_of(named: tuple[type[BaseException], ...]) -> tuple[type[BaseException], ...]:
    """Return the errors after which a function is called again; a package that is not loaded raises none."""
    requests = sys.modules.get("requests.exceptions") if named == CONNECTIONS else None
    return named if requests is None else (*named, *(getattr(requests, name) for name in _OF_REQUESTS))


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
