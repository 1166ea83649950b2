"""Telling of deprecated artifacts and fields, and of classes under old names."""

from __future__ import annotations

import warnings

_warns_of_deprecations = False


def warn_of_deprecations(on: bool) -> None:
    """Let Python warn, too, of deprecated artifacts and of classes under old names: what Unitxt's programs look for."""
    global _warns_of_deprecations  # noqa: PLW0603 - one switch of the process
    _warns_of_deprecations = on


def warn_deprecated(message: str) -> None:
    """Tell whoever uses a deprecated field or an old name, where Python is to warn of them."""
    if _warns_of_deprecations:
        warnings.warn(message, DeprecationWarning, stacklevel=3)


def log_deprecation(message: str) -> None:
    """Tell whoever uses a deprecated artifact, at level WARN."""
    from proctor.logs import get_logger

    get_logger().warning("%s", message)
    if _warns_of_deprecations:
        warnings.warn(message, DeprecationWarning, stacklevel=3)
