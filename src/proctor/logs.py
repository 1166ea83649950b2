"""The package's logger: quiet by default, on standard error, level from ``settings.default_verbosity``."""

from __future__ import annotations

import logging
from functools import lru_cache

from proctor.secrets import redacted
from proctor.settings import settings
from proctor.terminal_text import printable


class _Shown(logging.Formatter):
    """Writes a message without the secrets that this process uses, and without what a terminal would obey."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, its traceback included."""
        from proctor.translation import translated  # most programs log nothing

        return printable(redacted(translated(super().format(record))))


def get_logger() -> logging.Logger:
    """Return the package's logger, with a handler of its own on first use."""
    logger = logging.getLogger("proctor")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(_Shown("%(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
    logger.setLevel(str(settings.default_verbosity).upper())
    return logger


@lru_cache(maxsize=256)
def say_once(note: str) -> None:
    """Log a note, where this process has not logged it."""
    get_logger().warning("%s", note)
