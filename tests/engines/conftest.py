"""Makes the helpers of this folder importable; the tiny models of :mod:`tiny_models` are fixtures."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tiny_models import tiny_causal, tiny_forgetful, tiny_llama, tiny_llava, tiny_t5  # noqa: F401 - fixtures
