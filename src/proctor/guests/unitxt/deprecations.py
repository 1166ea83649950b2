"""``unitxt.deprecation_utils``: versions, and warnings of what is going away."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from itertools import zip_longest
from typing import Any, TypeVar

from proctor.errors import ProctorError
from proctor.guests.unitxt.functions import constants, warn
from proctor.settings import settings

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class DeprecationError(ProctorError):
    """Something that is gone."""


def compare_versions(version1: str, version2: str) -> int:
    """Return -1, 0 or 1 where the first version is before, equal to or after the second; missing parts are 0.

    Raises:
        ValueError: A part is not a number.
    """
    parts = ([int(part) for part in each.split(".")] for each in (version1, version2))
    for left, right in zip_longest(*parts, fillvalue=0):
        if left != right:
            return -1 if left < right else 1
    return 0


def depraction_wrapper(obj: Any, version: str, alt_text: str) -> Callable[..., Any]:
    """Return a function that warns before a version is reached, and is refused from then on (its name is Unitxt's)."""

    @wraps(obj)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if constants.version >= version:  # as texts, which is how versions are compared there
            raise DeprecationError(f"{obj.__name__} is no longer supported.{alt_text}")
        if settings.default_verbosity in ("debug", "info", "warning"):
            warnings.warn(f"{obj.__name__} is deprecated.{alt_text}", DeprecationWarning, stacklevel=2)
        return obj(*args, **kwargs)

    return wrapper


def deprecation(version: str, alternative: str | None = None, msg: str | None = None) -> Callable[[Any], Any]:
    """Return a decorator of what goes away in a version.

    Args:
        version: From this one on it is refused.
        alternative: What to use instead.
        msg: What else to say.
    """
    text = f" Use {alternative} instead." if alternative is not None else ""

    def decorator(obj: Any) -> Any:
        if not callable(obj):
            raise ValueError(f"{obj!r} cannot be called, so it cannot be deprecated")  # noqa: TRY004 - what programs catch
        return depraction_wrapper(obj, version, text + (msg or ""))

    return decorator


def init_warning(msg: str = "") -> Callable[[Decorated], Decorated]:
    """Return a decorator that logs a warning for a class when it is defined."""

    def decorator(initiated_class: Decorated) -> Decorated:
        warn(msg)
        return initiated_class

    return decorator


def warn_on_call(warning_type: type[Warning] = UserWarning, msg: str = "") -> Callable[[Any], Any]:
    """Return a decorator that warns whenever a function is called, or an object of a class made.

    Raises:
        TypeError: It decorates something else.
    """

    def decorator(obj: Any) -> Any:
        if not callable(obj):
            raise TypeError("only classes and functions can warn when they are called")
        called: Any = getattr(obj, "__init__") if isinstance(obj, type) else obj  # noqa: B009 - that of this class

        @wraps(called)
        def warning(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(msg, warning_type, stacklevel=2)
            return called(*args, **kwargs)

        if isinstance(obj, type):
            setattr(obj, "__init__", warning)  # noqa: B010 - the class that is decorated warns
            return obj
        return warning

    return decorator
