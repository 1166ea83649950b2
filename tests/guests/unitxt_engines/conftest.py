"""The tiny models that engines are tested with."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "engines"))

from tiny_models import tiny_causal, tiny_forgetful, tiny_llama, tiny_llava, tiny_t5  # noqa: F401 - fixtures
