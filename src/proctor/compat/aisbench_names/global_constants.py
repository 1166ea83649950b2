"""What users of AISBench edit in ``global_consts.py``."""

from __future__ import annotations

import logging

WORKERS_NUM = 0
MAX_CHUNK_SIZE = 2**16
"""Bytes of a reply that are read at once."""
REQUEST_TIME_OUT: float | None = None
"""Seconds that a request may take; ``None`` for no limit."""
LOG_LEVEL = logging.INFO
"""From which level on AISBench's loggers speak."""
