"""AISBench's errors by the names of exception and code."""

from __future__ import annotations

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors

NOT_MEASURED = (
    "Proctor puts no server under load: requests come as an exam sends them. Load is made by `ais_bench --mode perf`, "
    "`vllm bench serve` or `guidellm`; how long answers took is in `proctor report`"
)
"""Why names that generate load answer with an error."""


def failure(kind: str, family: str, code: str, message: str) -> Exception:
    """Return an error of AISBench's.

    Args:
        kind: The exception, such as ``AISBenchConfigError``.
        family: The codes of a part, such as ``TMAN_CODES``.
        code: One of them.
        message: What is wrong, where and why, and what to do.
    """
    made: Exception = getattr(errors, kind)(getattr(getattr(error_codes, family), code), message)
    return made
