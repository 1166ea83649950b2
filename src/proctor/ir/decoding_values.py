"""Which values the parameters of decoding can have, under every name that they go by."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple


class WrongValue(NamedTuple):
    """A parameter whose value no model can follow.

    Attributes:
        name: The parameter.
        value: What it was set to.
        expected: What it is, in words.
    """

    name: str
    value: Any
    expected: str


def _number(value: Any) -> float:
    """Return a number, also one in quotes; NaN of everything else."""
    if isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _is_whole(value: Any, least: float) -> bool:
    number = _number(value)
    return math.isfinite(number) and number.is_integer() and number >= least


def _is_length(value: Any) -> bool:
    return _is_whole(value, 1)


_LENGTH: Final = ("a number of tokens above 0", _is_length)
_VALUES: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    **dict.fromkeys(("max_tokens", "max_gen_toks", "max_new_tokens"), _LENGTH),
    "temperature": ("a number from 0 on", lambda value: 0 <= _number(value) < math.inf),
    "top_p": ("a number between 0 and 1", lambda value: 0 <= _number(value) <= 1),
    "top_k": ("a whole number (0 or -1: no limit)", lambda value: _is_whole(value, -1)),
    "seed": ("a whole number", lambda value: _is_whole(value, -math.inf)),
    "do_sample": ("true or false", lambda value: isinstance(value, bool)),
}


def wrong_value(parameters: Mapping[str, Any]) -> WrongValue | None:
    """Return the first parameter with a value that cannot be; ``None`` where all can, or leave the choice to a model.

    Args:
        parameters: Of decoding; others than those of every model are not looked at.
    """
    for name, value in parameters.items():
        expected, fits = _VALUES.get(name, ("", None))
        if value is not None and fits is not None and not fits(value):
            return WrongValue(name, value, expected)
    return None
