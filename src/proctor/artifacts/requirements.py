"""Packages that a class of artifacts needs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from proctor.errors import MissingExtraError


def check_requirements(cls: type[Any]) -> None:
    """Refuse a class whose packages are not installed.

    Raises:
        MissingExtraError: One is missing; it says how to install it.
    """
    wanted = cls._requirements_list
    messages = wanted if isinstance(wanted, dict) else dict.fromkeys(wanted, "")
    missing = [name for name in messages if find_spec(name.partition(".")[0]) is None]
    if missing:
        first = missing[0]
        raise MissingExtraError(
            f"{cls.__name__} needs the package '{first}', which is not installed",
            hint=messages[first] or f"pip install {' '.join(missing)}",
        )
