"""The package's logger: quiet by default, on standard error, level from ``settings.default_verbosity``."""

from __future__ import annotations

import logging

from proctor.settings import settings


def get_logger() -> logging.Logger:
    """Return the package's logger, with a handler of its own on first use."""
    logger = logging.getLogger("proctor")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
    logger.setLevel(str(settings.default_verbosity).upper())
    return logger
