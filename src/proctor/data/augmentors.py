"""Augmentors: small changes of inputs that should not change answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictStr
from typing_extensions import override

from proctor.artifacts.field_types import Text
from proctor.artifacts.types import compile_check, parse_type_string
from proctor.data.fields import Row
from proctor.data.operator import FieldOperator
from proctor.errors import DataError, ValidationError
from proctor.randomness import random_stream


class Augmentor(FieldOperator):
    """Base of all augmentors; override ``process_value(value)``."""


class TaskInputsAugmentor(Augmentor):
    """An augmentor of a task's input fields."""

    def set_fields(self, fields: Sequence[str]) -> None:
        """Say which input fields to change."""
        names = [f"input_fields/{field}" for field in fields]
        self.field_to_field = {name: name for name in names}


class NullAugmentor(TaskInputsAugmentor):
    """Changes nothing."""

    @override
    def process_value(self, value: Any) -> Any:
        return value


class TypeDependentAugmentor(TaskInputsAugmentor):
    """An augmentor of values of one type; others stay as they are."""

    augmented_type: Any

    @override
    def prepare(self) -> None:
        super().prepare()
        if isinstance(self.augmented_type, str):
            self.augmented_type = parse_type_string(self.augmented_type)
        self._check = compile_check(self.augmented_type)

    @override
    def process_instance_value(self, value: Any, instance: Row) -> Any:
        return self.process_value(value) if self._check(value) else value


class TextAugmentor(TypeDependentAugmentor):
    """An augmentor of text."""

    augmented_type: Any = Text


class AugmentWhitespace(TextAugmentor):
    """Replaces each run of blanks by one to three blanks, tabs or line ends; equal texts are changed alike."""

    @override
    def process_value(self, value: str) -> str:
        random = random_stream(value)
        parts = re.split(r"(\s+)", value)
        return "".join(
            random.choice(["\n", "\t", " "]) * random.randint(1, 3) if part.isspace() else part for part in parts
        )


def _default_patterns() -> dict[str, int]:
    return {" ": 20, "\\t": 10, "\\n": 40, "": 30}


Patterns = list[StrictStr] | dict[StrictStr, int] | None


def _patterns(name: str) -> BeforeValidator:
    def checked(value: Any) -> Any:
        listed = value is None or (isinstance(value, list) and all(isinstance(each, str) for each in value))
        weighed = isinstance(value, dict) and all(isinstance(each, str) for each in value)
        if listed or (weighed and all(isinstance(each, int) for each in value.values())):
            return value
        wanted = "either None or a list of strings or a dictionary str->int"
        raise ValidationError(f"Argument {name} should be {wanted}. {value} is none of the above.")

    return BeforeValidator(checked)


class AugmentPrefixSuffix(TextAugmentor):
    """Adds random patterns before and after texts; equal texts are changed alike.

    Attributes:
        prefixes: Patterns, or patterns with how often to draw them relative to the others; ``None`` for none.
        prefix_len: How many to draw.
        suffixes: The same for the end.
        suffix_len: How many to draw.
        remove_existing_whitespaces: Remove blanks at both ends first.
    """

    prefixes: Annotated[Patterns, _patterns("prefixes")] = Field(default_factory=_default_patterns)
    prefix_len: int = Field(default=3, gt=0)
    suffixes: Annotated[Patterns, _patterns("suffixes")] = Field(default_factory=_default_patterns)
    suffix_len: int = Field(default=3, gt=0)
    remove_existing_whitespaces: bool = False

    @override
    def verify(self) -> None:
        super().verify()
        if not self.prefixes and not self.suffixes:
            raise ValidationError("AugmentPrefixSuffix needs 'prefixes' or 'suffixes'")

    @override
    def process_value(self, value: Any) -> str:
        if value is None:
            raise DataError("there is no text to augment", why="the value is None")
        text = str(value).strip() if self.remove_existing_whitespaces else str(value)
        random = random_stream(value)
        prefix = _drawn(self.prefixes, self.prefix_len, random)
        return prefix + text + _drawn(self.suffixes, self.suffix_len, random)


def _drawn(patterns: list[str] | dict[str, int] | None, count: int, random: Random) -> str:
    if not patterns:
        return ""
    weights = list(patterns.values()) if isinstance(patterns, dict) else [1] * len(patterns)
    total = sum(weights)
    shares = [1.0 / total] * len(patterns) if isinstance(patterns, list) else [float(each) / total for each in weights]
    return "".join(random.choices(list(patterns), shares, k=count))
