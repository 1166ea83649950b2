"""Columns of numbers, as metrics compute with them: NumPy is loaded when the first is made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from proctor.lazy import Deferred

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
else:
    np = Deferred("numpy")
    Bools = Floats = Indices = Any


def as_floats(column: Sequence[Any] | Floats) -> Floats:
    """Return a column as numbers; NaN where an instance has no value."""
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([_as_float(value) for value in column], dtype=np.float64)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
