"""Processors that read labels, lists and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar

from proctor.data.fields import Row
from proctor.data.operator import FieldOperator, InstanceFieldOperator
from proctor.errors import MissingFieldError, ScoringError
from proctor.foreign_text import parse_literal
from proctor.scoring.choice import first_largest
from proctor.scoring.named_table import OPENCOMPASS
from proctor.scoring.text.how_read import alone, or_else, taken


def likeliest_choice() -> Callable[[Sequence[Any], Sequence[Mapping[str, Any]]], list[str]]:
    """Return a function from probabilities and their rows to each row's likeliest choice; of equals, the first."""
    return lambda answers, rows: [_likeliest(answer, row) for answer, row in zip(answers, rows, strict=True)]


def _likeliest(answer: Any, row: Mapping[str, Any]) -> str:
    choices = row.get("choices")
    if not isinstance(answer, Sequence) or not isinstance(choices, Sequence) or len(answer) != len(choices):
        raise ScoringError("likeliest_choice reads probabilities of the row's 'choices', as CLPInferencer gives them")
    return str(choices[first_largest(list(answer))])


def one_after_another(steps: Sequence[Mapping[str, Any]]) -> Callable[[Any, Mapping[str, Any]], Any]:
    """Return a function that applies text functions in order, each given by its ``type`` and its arguments.

    Raises:
        ScoringError: There is none of a name, or it does not take its arguments.
    """
    from proctor.scoring.text.processors import find_text_function

    made = [
        find_text_function(str(step["type"]), OPENCOMPASS, {key: value for key, value in step.items() if key != "type"})
        for step in steps
    ]

    def apply(answer: Any, row: Mapping[str, Any]) -> Any:
        with alone():
            for each in made:
                is_one = each.scope in ("value", "row")  # what one step makes is one answer to the next, a list too
                answer = each.filtered([[answer]], [row])[0][0] if is_one else each.of_answer(answer, row)
        return answer

    return apply


class ConvertToBoolean(FieldOperator):
    """``TRUE``, ``FALSE`` or ``OTHER``, by the words of a text; words of denial come first."""

    def process_value(self, value: object) -> Any:
        """Return the label."""
        text = str(value).strip().lower()
        if any(word in text for word in ("no", "not", "wrong", "false")):
            return "FALSE"
        if any(word in text for word in ("yes", "right", "correct", "true")):
            return "TRUE"
        return "OTHER"


class YesNoToInt(FieldOperator):
    """``yes`` as ``1`` and ``no`` as ``0``; other values stay."""

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        return {"yes": "1", "no": "0"}.get(value, value)


class YesToOneElseZero(FieldOperator):
    """``yes`` as ``1``, all else as ``0``."""

    def process_value(self, value: object) -> Any:
        """Return the label."""
        return "1" if value == "yes" else "0"


class ToYesOrNone(FieldOperator):
    """``yes``, or ``none`` for all else."""

    def process_value(self, value: object) -> Any:
        """Return the label."""
        return "yes" if value == "yes" else "none"


class StanceToProCon(FieldOperator):
    """``positive`` as ``PRO``, ``negative`` and ``suggestion`` as ``CON``, all else as ``none``."""

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        return {"positive": "PRO", "negative": "CON", "suggestion": "CON"}.get(value, "none")


class StringEquals(FieldOperator):
    """``string`` or ``not string`` in lower case where the text contains it; otherwise the text."""

    string: str

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        wanted, text = self.string.lower(), value.lower()
        if f"not {wanted}" in text:
            return f"not {wanted}"
        return wanted if wanted in text else value


class StringOrNotString(StringEquals):
    """An old name of :class:`StringEquals`."""

    _is_now: ClassVar[str] = "StringEquals"


class MatchClosestOption(InstanceFieldOperator):
    """The option that looks most like the text (``difflib``).

    Attributes:
        options_field: Field of the task data with the options.
    """

    options_field: str = "options"

    def process_instance_value(self, value: object, instance: Row) -> Any:
        """Return the option."""
        task_data = instance.get("task_data")
        options = task_data.get(self.options_field) if isinstance(task_data, Mapping) else None
        if not options:
            raise MissingFieldError(f"the task data has no options in '{self.options_field}'")
        if value in options:
            return taken([value], "an option")
        return or_else(get_close_matches(value, options, n=1, cutoff=0.0)[0], "the closest option", "")


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
