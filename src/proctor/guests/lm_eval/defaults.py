"""``lm_eval.defaults``: what holds where nothing is said. lm-eval 0.4.13."""

from __future__ import annotations

from typing import Final

DEFAULT_MAX_LENGTH: Final = 2048
DEFAULT_MAX_GEN_TOKS: Final = 256
DEFAULT_RANDOM_SEED: Final = 0
DEFAULT_OTHER_SEED: Final = 1234
LOGGING_LEVEL: Final = "INFO"
LMEVAL_HASHMM: Final = True
"""Pictures are filed by their digests."""
DISABLE_MULTIPROC: Final = True
"""Bootstraps are drawn in this process."""
