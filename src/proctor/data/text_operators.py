"""Operators on text: split, join, replace."""

from __future__ import annotations

from typing import Any

from typing_extensions import override

from proctor.data.operator import FieldOperator
from proctor.errors import ScoringError, ValidationError
from proctor.regexes import BoundedPattern, bounded


class Split(FieldOperator):
    """Splits text at a separator."""

    by: str

    @override
    def process_value(self, value: str) -> list[str]:
        return value.split(self.by)


class RegexSplit(FieldOperator):
    """Splits text at matches of a regular expression."""

    by: str

    @override
    def prepare(self) -> None:
        super().prepare()
        self._pattern = compiled(self.by)

    @override
    def process_value(self, value: str) -> list[str | Any]:
        return self._pattern.split(value)


def compiled(pattern: str) -> BoundedPattern:
    """Return a compiled regular expression whose searches end.

    Raises:
        ValidationError: It is not valid.
    """
    try:
        return bounded(pattern)
    except ScoringError as error:
        raise ValidationError(f"'{pattern}' is not a regular expression", why=error.diagnostics[0].why) from None


class Join(FieldOperator):
    """Joins a list of texts."""

    by: str

    @override
    def process_value(self, value: list[str]) -> str:
        return self.by.join(value)


class Strip(FieldOperator):
    """Removes blanks at both ends of text."""

    @override
    def process_value(self, value: str) -> str:
        return value.strip()


class Replace(FieldOperator):
    """Replaces one text by another."""

    old: str
    new: str

    @override
    def process_value(self, value: str) -> str:
        return value.replace(self.old, self.new)


class MapReplace(FieldOperator):
    """Replaces several texts, in order."""

    mapping: dict[str, str]

    @override
    def process_value(self, value: str) -> str:
        for old, new in self.mapping.items():
            value = value.replace(old, new)
        return value
