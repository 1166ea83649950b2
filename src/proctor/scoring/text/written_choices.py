"""Text functions that conversions write where a config has no room for what other dialects say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.errors import ScoringError
from proctor.scoring.choice import first_largest
from proctor.scoring.named_table import OPENCOMPASS
from proctor.scoring.text.how_read import alone


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
