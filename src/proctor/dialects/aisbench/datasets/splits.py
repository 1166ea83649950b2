"""What a dataset type gives: splits by name, each a function that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from proctor.data.fields import Row

Splits = Mapping[str, Callable[[], Sequence[Row]]]
"""Splits of a dataset, each a function that reads it."""

WHOLE = ""
"""Name of the only split of a dataset that has none."""
