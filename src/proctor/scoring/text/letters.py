"""Processors that make text of a value and change its letters."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from proctor.data.operator import FieldOperator


class ToString(FieldOperator):
    """The value as text."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return str(value)


class ToStringStripped(FieldOperator):
    """The value as text, without white space around it."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return str(value).strip()


class Lower(FieldOperator):
    """Text in lower case."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return value.lower()


class LowerCase(Lower):
    """An old name of :class:`Lower`."""

    _is_now: ClassVar[str] = "Lower"


class Upper(FieldOperator):
    """Text in upper case."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return str(value).upper()


class Capitalize(FieldOperator):
    """Text with its first letter in upper case and the rest in lower case."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return value.capitalize()


class LowerCaseTillPunc(FieldOperator):
    """Lower-case text up to the first of ``. , ! ? ;``."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return re.split(r"[.,!?;]", value.lower(), maxsplit=1)[0]
