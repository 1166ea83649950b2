"""Templates over dialogs and over pairs of answers."""

from __future__ import annotations

from typing import Any

from proctor.artifacts import Artifact
from proctor.errors import TemplateError
from proctor.randomness import random_stream
from proctor.templates.template import Fields
from proctor.templates.text import InputOutputTemplate


class DialogFieldsData(Artifact):
    """The names of a dialog field's roles in the prompt."""

    user_role_label: str
    assistant_role_label: str
    system_role_label: str
    dialog_field: str

    def label_of(self, role: str) -> str | None:
        """Return the name of a role, ``None`` for roles that are left out."""
        labels = {
            "user": self.user_role_label,
            "assistant": self.assistant_role_label,
            "system": self.system_role_label,
        }
        return labels.get(role)


class DialogTemplate(InputOutputTemplate):
    """Dialog fields (lists of role and text) become text with role labels."""

    dialog_fields: list[DialogFieldsData]
    turns_separator: str = "\n\n"
    label_separator: str = " "

    def preprocess_input_fields(self, input_fields: Fields) -> Fields:
        """Write out each dialog."""
        for data in self.dialog_fields:
            input_fields[data.dialog_field] = self._written(input_fields[data.dialog_field], data)
        return input_fields

    def _written(self, dialog: Any, data: DialogFieldsData) -> str:
        if not isinstance(dialog, list) or not all(_is_turn(turn) for turn in dialog):
            raise TemplateError(
                f"'{data.dialog_field}' has to be a list of (role, text) pairs", why=f"it is {dialog!r}"[:200]
            )
        words = ""
        for index, (role, text) in enumerate(dialog):
            if (label := data.label_of(role)) is not None:
                words += f"{self.turns_separator if index else ''}{label}{self.label_separator}{text}"
        return words


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, (tuple, list)) and len(turn) == 2 and all(isinstance(part, str) for part in turn)  # noqa: PLR2004


class _SidesTemplate(InputOutputTemplate):
    """Two answers side by side, swapped for half of the instances to even out position bias.

    Whether an instance is swapped follows from its content and the seed.
    """

    choice_a_field: str
    choice_b_field: str
    answer_field: str
    shuffle: bool

    def _swaps(self, input_fields: Fields) -> bool:
        return self.shuffle and random_stream(dict(input_fields)).random() <= 0.5  # noqa: PLR2004 - a fair coin


def _swap(fields: Fields, first: str, second: str) -> None:
    fields[first], fields[second] = fields[second], fields[first]


class PairwiseChoiceTemplate(_SidesTemplate):
    """A choice between two answers: ``choice_a``, ``choice_b`` or ``tie``."""

    choice_a_label: str
    choice_b_label: str
    choice_tie_label: str

    def preprocess_input_and_reference_fields(
        self, input_fields: Fields, reference_fields: Fields
    ) -> tuple[Fields, Fields]:
        """Put the answer in words and swap the sides where it is this instance's turn."""
        labels = {"choice_a": self.choice_a_label, "choice_b": self.choice_b_label, "tie": self.choice_tie_label}
        answer = reference_fields[self.answer_field]
        if answer not in labels:
            raise TemplateError(f"'{self.answer_field}' has to be choice_a, choice_b or tie", why=f"it is {answer!r}")
        if self._swaps(input_fields):
            _swap(input_fields, self.choice_a_field, self.choice_b_field)
            answer = {"choice_a": "choice_b", "choice_b": "choice_a"}.get(answer, answer)
        reference_fields[self.answer_field] = labels[answer]
        return input_fields, reference_fields


class DialogPairwiseChoiceTemplate(DialogTemplate, PairwiseChoiceTemplate):
    """A choice between two dialogs."""


class PairwiseComparativeRatingTemplate(_SidesTemplate):
    """By how much one of two answers is better: positive for the first, negative for the second."""

    choice_a_id_field: str
    choice_b_id_field: str

    def preprocess_input_and_reference_fields(
        self, input_fields: Fields, reference_fields: Fields
    ) -> tuple[Fields, Fields]:
        """Swap the sides and the sign where it is this instance's turn."""
        if self._swaps(input_fields):
            _swap(input_fields, self.choice_a_field, self.choice_b_field)
            _swap(input_fields, self.choice_a_id_field, self.choice_b_id_field)
            answer = reference_fields[self.answer_field]
            if not isinstance(answer, int):
                raise TemplateError(f"'{self.answer_field}' has to be a whole number", why=f"it is {answer!r}")
            reference_fields[self.answer_field] = -answer
        return input_fields, reference_fields
