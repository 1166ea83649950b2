"""Data frames as the ecosystem knows them.

Rows of saved cards went through a pandas data frame, which fills what is missing with NaN and makes decimals of whole
numbers beside it. :func:`tabular` does that to rows without pandas. Since its third version pandas also gives text a
type of its own and makes NaN of ``None`` in it; :func:`frames` gives pandas as it was before.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from proctor.data.fields import MISSING, Row

_NAN = float("nan")


@contextmanager
def frames() -> Iterator[Any]:
    """Give ``pandas`` for a block in which columns of text hold Python objects."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the option has an end; until then values stay comparable
        try:
            context = pd.option_context("future.infer_string", False)
        except KeyError:
            yield pd
            return
        with context:
            yield pd


def tabular(rows: Sequence[Row]) -> list[Row]:
    """Return rows as a data frame would give them back: the same columns in each, and one kind of number in each."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_column([row.get(name, MISSING) for row in rows]) for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _column(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values}
    gaps = kinds & {type(None), type(MISSING)}
    numbers = kinds - gaps
    has_nan = type(MISSING) in kinds or any(isinstance(value, float) and math.isnan(value) for value in values)
    if numbers <= {int, float} and (numbers or has_nan) and (len(kinds) > 1 or has_nan):
        return [_NAN if value is None or value is MISSING else float(value) for value in values]
    return [_NAN if value is MISSING else value for value in values] if type(MISSING) in kinds else values
