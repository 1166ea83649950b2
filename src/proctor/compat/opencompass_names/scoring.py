"""Evaluators and post-processors as OpenCompass has them, where the two projects differ."""

from __future__ import annotations

from typing import Any

from proctor.compat.aisbench_names import scoring


def __getattr__(name: str) -> Any:
    return scoring._found(name, "opencompass")  # noqa: SLF001 - the same names, by another project's rules
