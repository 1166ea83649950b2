"""Splits of a dataset type by name, each a function that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Splits = Mapping[str, Callable[[], Sequence[Any]]]
"""Splits of a dataset, each a function that reads its rows; a failure stands for one that cannot be used."""

WHOLE = ""
"""Name of the only split of a dataset that has none."""
