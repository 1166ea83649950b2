"""Processors from text to structures: literals, pairs."""

from __future__ import annotations

from typing import Any

from proctor.data.operator import FieldOperator
from proctor.errors import ScoringError
from proctor.foreign_text import parse_literal


class LiteralEval(FieldOperator):
    """A Python literal (list, dict, number …) read from text; nothing is executed."""

    def process_value(self, value: object) -> Any:
        """Return the value; ``None`` and ``""`` stay."""
        if value is None or value == "":
            return value
        if not isinstance(value, str):
            raise ScoringError(f"a literal is read from text, not from {type(value).__name__}")
        try:
            return parse_literal(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise ScoringError("the text is not a Python literal", why=f"{type(error).__name__}: {error}") from None


class ListToEmptyEntitiesTuples(FieldOperator):
    """Each member of a list as a pair with an empty label."""

    def process_value(self, value: Any) -> Any:
        """Return the pairs."""
        return [(str(item), "") for item in value]


class DictOfListsToPairs(FieldOperator):
    """Each text in the lists of a dict (or name in its dicts) as a pair with its key; no pairs of another shape."""

    position_key_before_value: bool = True

    def process_value(self, value: object) -> Any:
        """Return the pairs."""
        if not isinstance(value, dict):
            return []
        pairs = []
        for key, values in value.items():
            if not isinstance(values, (list, tuple, str, dict)) or not all(isinstance(each, str) for each in values):
                return []
            pairs += [(key, each) if self.position_key_before_value else (each, key) for each in values]
        return pairs
