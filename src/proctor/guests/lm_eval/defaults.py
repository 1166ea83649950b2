"""``lm_eval.defaults``: what holds where nothing is said. lm-eval 0.4.13."""

from __future__ import annotations

from typing import Any, Final

DEFAULT_MAX_LENGTH: Final = 2048
DEFAULT_MAX_GEN_TOKS: Final = 256
DEFAULT_RANDOM_SEED: Final = 0
DEFAULT_OTHER_SEED: Final = 1234
LOGGING_LEVEL: Final = "INFO"
LMEVAL_HASHMM: Final = True
"""Pictures are filed by their digests."""
DISABLE_MULTIPROC: Final = True
"""Bootstraps are drawn in this process."""


def default_gen_kwargs(until: str | list[str] | None, max_gen_toks: int = DEFAULT_MAX_GEN_TOKS) -> dict[str, Any]:
    """Return how to generate where a task does not say: the likeliest tokens, up to a stop string or a limit."""
    stops = [until] if isinstance(until, str) else list(until or ())
    return {"temperature": 0.0, "do_sample": False, "max_gen_toks": max_gen_toks, "until": stops}
