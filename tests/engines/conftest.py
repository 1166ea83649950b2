"""Makes the helpers of this folder importable; the tiny models of :mod:`tiny_models` are fixtures."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tiny_models import tiny_causal, tiny_forgetful, tiny_llama, tiny_llava, tiny_t5  # noqa: F401 - fixtures

from proctor.logs import get_logger


@pytest.fixture
def said():
    """What is said to the user, line by line."""
    lines, handler = [], logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    get_logger().addHandler(handler)
    yield lines
    get_logger().removeHandler(handler)
