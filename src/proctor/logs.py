"""The package's logger: quiet by default, on standard error, level from ``settings.default_verbosity``."""

from __future__ import annotations

import logging

from proctor.settings import settings
from proctor.terminal_text import printable


class _Printable(logging.Formatter):
    """Shows what rows and answers bring along, and a terminal would obey."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return printable(super().format(record))


def get_logger() -> logging.Logger:
    """Return the package's logger, with a handler of its own on first use."""
    logger = logging.getLogger("proctor")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(_Printable("%(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
    logger.setLevel(str(settings.default_verbosity).upper())
    return logger
