"""Templates for questions with given answers."""

from __future__ import annotations

from typing import Any

from proctor.data.format_strings import compile_format, pieces_of
from proctor.errors import TemplateError
from proctor.ir import Span
from proctor.randomness import random_stream
from proctor.templates.template import Fields
from proctor.templates.text import InputFormatTemplate, References

_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_ENUMERATORS: dict[str, tuple[str, ...]] = {
    "capitals": tuple("ABCDEFGHIJKLMNOP"),
    "lowercase": tuple("abcdefghijklmnop"),
    "numbers": tuple(str(number) for number in range(1, 21)),
    "roman": (*_ROMAN, *("X" + numeral for numeral in _ROMAN)),
}


class MultipleChoiceTemplate(InputFormatTemplate):
    """A question, its choices with numerals, and the numeral (or text) of the right one.

    Attributes:
        choices_field: Input and reference field with the list of choices.
        target_field: Reference field with the right choice: its index or its text.
        choices_separator: Joins the choices where ``{choices}`` stands in ``input_format``.
        source_choice_format: How a choice looks in the question; ``{choice_numeral}`` and ``{choice_text}``.
        target_choice_format: How a choice looks as an answer.
        enumerator: ``capitals``, ``lowercase``, ``numbers``, ``roman``, or the numerals themselves.
        shuffle_choices: Shuffle by ``shuffle_choices_seed``, or else by the instance's content.
        sort_choices_by_length, sort_choices_alphabetically, reverse_choices: Other orders.
        place_correct_choice_position: Where the right choice goes; negative counts from the end.
    """

    choices_field: str = "choices"
    target_field: str = "label"
    choices_separator: str = ", "
    source_choice_format: str = "{choice_numeral}. {choice_text}"
    target_choice_format: str = "{choice_numeral}"
    enumerator: str | list[str] = "capitals"
    shuffle_choices: bool = False
    shuffle_choices_seed: int | None = None
    sort_choices_by_length: bool = False
    sort_choices_alphabetically: bool = False
    reverse_choices: bool = False
    place_correct_choice_position: int | None = None

    def verify(self) -> None:
        """Refuse orders that contradict each other."""
        super().verify()
        sorts = self.sort_choices_by_length or self.sort_choices_alphabetically or self.reverse_choices
        placed = self.place_correct_choice_position is not None
        if self.shuffle_choices and (sorts or placed):
            raise TemplateError("shuffle_choices cannot be combined with sorting, reversing or placing choices")
        if self.sort_choices_by_length and self.sort_choices_alphabetically:
            raise TemplateError("choices are sorted by length or alphabetically, not both")
        if placed and sorts:
            raise TemplateError("place_correct_choice_position cannot be combined with sorting or reversing choices")

    @property
    def numerals(self) -> tuple[str, ...]:
        """The numerals, in order."""
        if isinstance(self.enumerator, str):
            return _ENUMERATORS.get(self.enumerator) or tuple(self.enumerator)
        return tuple(self.enumerator)

    def enumerate_choices(self, fields: Fields, choice_format: str) -> list[str]:
        """Return every choice in the given format."""
        choices, numerals = fields[self.choices_field], self.numerals
        if len(choices) > len(numerals):
            raise TemplateError(
                f"there are {len(choices)} choices and only {len(numerals)} numerals", path="$.enumerator"
            )
        render = self._compiled.get(choice_format)
        if render is None:
            render = self._compiled[choice_format] = compile_format(
                choice_format, type(self).__name__, "choice format", "part of a choice"
            )
        return [
            render({"choice_text": choice, "choice_numeral": numeral})
            for choice, numeral in zip(choices, numerals, strict=False)
        ]

    def preprocess_input_fields(self, input_fields: Fields) -> Fields:
        """Replace the list of choices by their words; ``{numerals}`` becomes available."""
        return {
            "numerals": self.enumerate_choices(input_fields, "{choice_numeral}"),
            **input_fields,
            self.choices_field: self.choices_separator.join(
                self.enumerate_choices(input_fields, self.source_choice_format)
            ),
        }

    def target_index(self, reference_fields: Fields) -> int:
        """Return the index of the right choice."""
        if missing := [each for each in (self.target_field, self.choices_field) if each not in reference_fields]:
            what = "the choices" if missing[0] == self.choices_field else "the right answer"
            raise TemplateError(
                f"there is no field '{missing[0]}' with {what}",
                path=f"$.{missing[0]}",
                why=f"the reference fields are {', '.join(reference_fields)}",
                hint="name it in target_field or choices_field, or add it to the task's reference_fields",
            )
        target, choices = reference_fields[self.target_field], reference_fields[self.choices_field]
        if isinstance(target, int):
            return target
        if target not in choices:
            raise TemplateError(
                f"the right answer {target!r} is not one of the choices",
                path=f"$.{self.target_field}",
                why=f"{choices!r}",
            )
        return int(choices.index(target))

    def preprocess_reference_fields(self, reference_fields: Fields) -> Fields:
        """Replace the right choice by how it looks as an answer."""
        index = self.target_index(reference_fields)
        choices = self.enumerate_choices(reference_fields, self.target_choice_format)
        if not -len(choices) <= index < len(choices):
            raise TemplateError(
                f"the right answer has index {index}, but there are {len(choices)} choices",
                path=f"$.{self.target_field}",
            )
        return {self.target_field: choices[index]}

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> References:
        """Return the right choice."""
        target = reference_fields[self.target_field]
        return target, [target]

    def preprocess_input_and_reference_fields(
        self, input_fields: Fields, reference_fields: Fields
    ) -> tuple[Fields, Fields]:
        """Put the choices in order."""
        if not self._reorders:
            return input_fields, reference_fields
        right = reference_fields[self.choices_field][self.target_index(reference_fields)]
        choices = self._ordered(list(input_fields[self.choices_field]), right, input_fields)
        input_fields[self.choices_field] = choices
        reference_fields[self.choices_field] = choices
        reference_fields[self.target_field] = choices.index(right)
        return input_fields, reference_fields

    @property
    def _reorders(self) -> bool:
        sorts = self.sort_choices_by_length or self.sort_choices_alphabetically or self.reverse_choices
        return sorts or self.shuffle_choices or self.place_correct_choice_position is not None

    def _ordered(self, choices: list[Any], right: Any, input_fields: Fields) -> list[Any]:
        if self.sort_choices_by_length:
            choices.sort(key=len)
        if self.sort_choices_alphabetically:
            choices.sort()
        if self.reverse_choices:
            choices.reverse()
        if self.shuffle_choices:
            seed = self.shuffle_choices_seed
            random_stream(input_fields if seed is None else seed).shuffle(choices)
        if (position := self.place_correct_choice_position) is not None:
            place = position + len(choices) if position < 0 else position
            if not 0 <= place < len(choices):
                raise TemplateError(
                    f"place_correct_choice_position is {position}, but there are {len(choices)} choices",
                    path="$.place_correct_choice_position",
                )
            choices.remove(right)
            choices.insert(place, right)
        return choices

    def post_process_instance(self, instance: Fields) -> Fields:
        """Keep the answers as ``options`` among the input fields."""
        inputs = instance["input_fields"]
        inputs["options"] = self.enumerate_choices(inputs, self.target_choice_format)
        return instance

    def choices_of(self, input_fields: Fields, reference_fields: Fields) -> tuple[tuple[str, ...], int | None]:
        """Return the answers to score, and the index of the right one."""
        options = tuple(self.enumerate_choices(input_fields, self.target_choice_format))
        gold = self.target_index(reference_fields) if self.target_field in reference_fields else None
        return options, gold

    def explain_source(self, input_fields: Fields) -> tuple[Span, ...]:
        """Label each choice where the choices stand in the question."""
        words = str(input_fields[self.choices_field])
        spans: list[Span] = []
        for literal, field in pieces_of(self.input_format):
            spans.append(Span(literal, "question"))
            if field == self.choices_field:
                spans.extend(self._choice_spans(words))
            elif field is not None:
                spans.append(Span(self.fill(f"{{{field}}}", "input_format", input_fields), "question"))
        if "".join(span.text for span in spans) != self.input_fields_to_source(input_fields):
            return super().explain_source(input_fields)
        return tuple(span for span in spans if span.text)

    def _choice_spans(self, words: str) -> list[Span]:
        parts = words.split(self.choices_separator) if self.choices_separator else [words]
        spans: list[Span] = []
        for index, part in enumerate(parts):
            if index:
                spans.append(Span(self.choices_separator, "question"))
            spans.append(Span(part, f"choice[{index}]"))
        return spans


class YesNoTemplate(InputFormatTemplate):
    """Asks whether a text is of a class; the answer is yes or no.

    Attributes:
        class_field: Reference field with the class that is asked about.
        label_field: Reference field with the list of classes that the text has.
    """

    input_format: str | None = None  # type: ignore[assignment]
    class_field: str | None = None
    label_field: str | None = None
    yes_answer: str = "Yes"
    no_answer: str = "No"

    def serialize(self, data: Fields, instance: Fields) -> Fields:
        """Keep the list of gold classes as a list."""
        kept = {self.label_field} & data.keys()
        return {
            key: value if key in kept and isinstance(value, list) else self.serializer.serialize(value, instance)
            for key, value in data.items()
        }

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> References:
        """Return yes if the class is among the labels."""
        labels = self._field_of(reference_fields, "label", self.label_field)
        if not isinstance(labels, list):
            raise TemplateError(f"Unexpected value for gold_class_names: '{labels}'. Expecting a list.")
        asked = self._field_of(reference_fields, "class", self.class_field)
        if not isinstance(asked, str) or not asked:
            raise TemplateError(f"Unexpected value for queried_class_names: '{asked}'. Expected a string.")
        answer = self.yes_answer if asked in labels else self.no_answer
        return answer, [answer]

    @staticmethod
    def _field_of(fields: Fields, part: str, name: str | None) -> Any:
        if name not in fields:
            there = f"Available reference_fields are {list(fields)}"
            raise TemplateError(f"{there}, missing required {part} field: '{name}'.")
        return fields[str(name)]

    def choices_of(self, input_fields: Fields, reference_fields: Fields) -> tuple[tuple[str, ...], int | None]:
        """Return yes and no."""
        del input_fields
        labels = reference_fields.get(str(self.label_field))
        gold = None if labels is None else int(reference_fields.get(str(self.class_field)) not in labels)
        return (self.yes_answer, self.no_answer), gold
