"""Processors from text to numbers: what judges rate, and log-probabilities."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

from proctor.data.operator import FieldOperator
from proctor.errors import ScoringError, ValidationError


class StrToFloatFormat(FieldOperator):
    """A number as Python writes a float (``5`` as ``5.0``); other text stays."""

    def process_value(self, value: object) -> Any:
        """Return the text."""
        number = _number(value)
        return str(value) if number is None else str(number)


class ScaleNumberToZeroOneReturnZeroIfFails(FieldOperator):
    """A number between ``min_val`` and ``max_val``, scaled.

    Attributes:
        failure_default: What to return where the text is not a number.
    """

    max_val: float = 10
    min_val: float = 0
    failure_default: Any = 0

    def process_value(self, value: object) -> Any:
        """Return the number."""
        number = _number(value)
        return self.failure_default if number is None else (number - self.min_val) / self.max_val


class ExtractVerbalJudgment(FieldOperator):
    """The place of the class that the text starts with, from 0 (the first) to 1.

    Attributes:
        failure_default: What to return where it starts with none.
    """

    classes: list[str] = ["not", "somewhat", "mostly", "completely"]
    failure_default: Any = 0

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        text = value.strip().lower()
        for position, name in enumerate(self.classes):
            if text.startswith(name):
                return position / (len(self.classes) - 1)
        return self.failure_default


class ExtractVerbalJudgementBadGood(ExtractVerbalJudgment):
    """The same from ``very bad`` to ``very good``."""

    classes: list[str] = ["very bad", "bad", "mediocre", "good", "very good"]


class ExtractMtBenchRatingJudgment(FieldOperator):
    """The rating in ``[[7]]`` or ``[[7/10]]`` as a number from 0 to 1.

    Attributes:
        failure_default: What to return where there is no rating.
    """

    failure_default: Any = 0.0

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        match = re.search(r"\[\[([\s*\d]++\.?\d*+\s*+)(/\s*10)?\s*\]\]", value)
        number = _number(match.group(1)) if match else None
        return self.failure_default if number is None else _on_scale(number, 10) / 10


class ExtractHarmRatingJudgement(FieldOperator):
    """The rating from 1 to 5 in ``[[3]]`` as a number from 0 to 1.

    Attributes:
        failure_default: What to return where there is none: NaN.
    """

    failure_default: Any = math.nan

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        match = re.search(r"\[\[(\d+\.?\d*)\]\]", value)
        return _on_scale(float(match.group(1)), 5, least=1) * 0.25 - 0.25 if match else self.failure_default


def _on_scale(rating: float, most: float, least: float = 0) -> float:
    """Return a rating.

    Raises:
        ScoringError: It lies beyond the scale, so that nobody knows what the judge meant.
    """
    if not least <= rating <= most:
        raise ScoringError(f"the rating {rating:g} is beyond the scale, which goes to {most:g}")
    return rating


def _in_brackets(text: str) -> str:
    """Return what stands in the first double brackets, or ``""``; a text of brackets alone is read once."""
    parts = text.split("]")
    for part, behind in pairwise(parts[:-1]):
        if not behind and (place := part.find("[[")) >= 0 and (found := part[place + 2 :]):
            return found
    return ""


class ExtractMtBenchLabelJudgment(FieldOperator):
    """The label in ``[[A]]``.

    Attributes:
        failure_default: What to return where there is none: ``None`` as text.
    """

    failure_default: Any = "None"

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        return _in_brackets(value) or self.failure_default


class ExtractArenaHardNumericalJudgment(FieldOperator):
    """Which of two answers won, in ``[[A>>B]]`` and its kin: 3, 1, 0, -1, -3.

    Attributes:
        failure_default: What to return where there is no verdict.
    """

    failure_default: Any = 0

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        points = {"A>B": 1, "A>>B": 3, "B>A": -1, "B>>A": -3, "A=B": 0, "B=A": 0}
        return points.get(_in_brackets(value), self.failure_default)


class ExtractSafeUnsafeJudgment(FieldOperator):
    """1 where the first line is ``safe``, 0 where it is ``unsafe``.

    Attributes:
        failure_default: What to return where it is neither.
    """

    failure_default: Any = 0.0

    def process_value(self, value: object) -> Any:
        """Return the number."""
        return {"safe": 1.0, "unsafe": 0.0}.get(str(value).strip().split("\n")[0].lower(), self.failure_default)


class InferDictsToBinaryLogprobs(FieldOperator):
    """The share of the positive class in the probability of two classes, from an answer's first token that has one.

    Attributes:
        neg_class_name: Text of the negative class, in any case, with non-letters around it.
        pos_class_name: Text of the positive class.
        take_logprobs_from_end: Look from the last token backwards.
        num_logprobs_to_take: Tokens to look at.
        min_probability_mass: Least probability of both together that counts.
        failure_default: What to return where neither class is among the tokens.
    """

    neg_class_name: str
    pos_class_name: str
    take_logprobs_from_end: bool = False
    num_logprobs_to_take: int = 3
    min_probability_mass: float = 0.0001
    failure_default: Any = 0

    def verify(self) -> None:
        """Check that no class name is part of the other."""
        super().verify()
        negative, positive = self.neg_class_name.lower(), self.pos_class_name.lower()
        if negative in positive or positive in negative:
            raise ValidationError(f"the class names '{positive}' and '{negative}' overlap")

    def process_value(self, value: Any) -> Any:
        """Return the share."""
        count = min(self.num_logprobs_to_take, len(value))
        places = range(-1, -count - 1, -1) if self.take_logprobs_from_end else range(count)
        for place in places:
            tokens = value[place].get("top_tokens", ())
            positive, negative = (self._mass(tokens, name) for name in (self.pos_class_name, self.neg_class_name))
            if positive + negative > self.min_probability_mass:
                return positive / (positive + negative)
        return self.failure_default

    @staticmethod
    def _mass(tokens: Any, name: str) -> float:
        pattern = re.compile(rf"(\W|Ġ|_)*{re.escape(name)}(\W|Ġ|_)*", flags=re.IGNORECASE)
        return sum(math.exp(token["logprob"]) for token in tokens if pattern.fullmatch(token["text"]))


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
