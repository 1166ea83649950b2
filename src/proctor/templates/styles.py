"""Question styles: how a question with choices is put in words, whatever dialect it comes from.

A style says three things about one question: what is shown, which continuations are scored, and what the right answer
reads like. Multiple choice shows the choices and scores their labels; cloze scores the choices themselves; a
generative style asks for the label in the model's own words.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter
from typing import Literal

from proctor.errors import TemplateError, did_you_mean

Kind = Literal["mcq", "cloze", "generate"]


def _letters(number: int) -> str:
    """Return A…Z, then AA, AB … as spreadsheets count."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _roman(number: int) -> str:
    number += 1
    name = ""
    for value, sign in ((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        count, number = divmod(number, value)
        name += sign * count
    return name


ALPHABETS: dict[str, Callable[[int], str]] = {
    "letters": _letters,
    "lowercase": lambda number: _letters(number).lower(),
    "numbers": lambda number: str(number + 1),
    "roman": _roman,
}
"""Labels that never run out, by name."""


@dataclass(frozen=True, slots=True)
class ChoiceLabels:
    """The labels of choices.

    Attributes:
        given: Labels somebody wrote down; ``None`` to count in an alphabet.
        alphabet: A name in :data:`ALPHABETS`.
        form: How a label of an alphabet is written: ``({})``.
    """

    given: tuple[str, ...] | None = None
    alphabet: str = "letters"
    form: str = "{}"

    def __post_init__(self) -> None:
        if self.alphabet not in ALPHABETS:
            raise TemplateError(
                f"there is no alphabet '{self.alphabet}'",
                why=f"there are {', '.join(ALPHABETS)}",
                hint=did_you_mean(self.alphabet, ALPHABETS),
            )

    def take(self, count: int) -> list[str]:
        """Return labels for so many choices.

        Labels that were given are not invented: where they are too few, only so many choices have one, and a warning
        says so.
        """
        if self.given is None:
            return list(_counted(self.alphabet, self.form, count))
        if count > len(self.given):
            _warn_too_few(self.given, count)
        return list(self.given[:count])


@lru_cache(maxsize=256)
def _counted(alphabet: str, form: str, count: int) -> tuple[str, ...]:
    name = ALPHABETS[alphabet]
    return tuple(form.replace("{}", name(number)) for number in range(count))


@lru_cache(maxsize=64)
def _warn_too_few(given: tuple[str, ...], count: int) -> None:
    warnings.warn(
        f"{count} choices, but only {len(given)} labels ({', '.join(given)}): the last choices are left out",
        stacklevel=4,
    )


@lru_cache(maxsize=256)
def choice_formatter(form: str) -> Callable[[str, str], str]:
    """Return a function from (label, choice) to the text of a choice.

    Raises:
        TemplateError: The format names anything but ``{label}`` and ``{choice}``.
    """
    pieces: list[str | int] = []
    try:
        parsed = list(Formatter().parse(form))
    except ValueError as error:
        raise _unusable(form, str(error)) from None
    for text, name, spec, conversion in parsed:
        pieces.append(text)
        if name is None:
            continue
        if name not in {"label", "choice"} or spec or conversion:
            raise _unusable(form, f"it uses '{{{name}}}'")
        pieces.append(0 if name == "label" else 1)
    return lambda label, choice: "".join([each if isinstance(each, str) else (label, choice)[each] for each in pieces])


def _unusable(form: str, why: str) -> TemplateError:
    return TemplateError(
        f"the choice format {form!r} cannot be used", why=why, hint="a choice format is text with {label} and {choice}"
    )


@dataclass(frozen=True, slots=True)
class QuestionStyle:
    """The words around a question with choices.

    Attributes:
        kind: ``mcq`` scores labels, ``cloze`` scores the choices, ``generate`` asks for the label in words.
        prefix: Before the question.
        suffix: After everything.
        question_choice_delimiter: Between question and choices; where ``joins_parts``, between all parts.
        choice_delimiter: Between choices.
        choice_format: How a choice is shown; empty shows the bare choice.
        labels: What choices are called.
        shows_choices: Whether the choices are part of the prompt.
        choices_prefix: Before the first choice; where it begins with white space, nothing else stands before it.
        blank: Written behind the question, for the answer to fill.
        joins_parts: Whether prefix, question, choices and suffix are parts joined by the delimiter (empty parts leave
            nothing behind) or simply follow each other.
        formats_continuations: Whether ``choice_format`` also applies to what is scored.
    """

    kind: Kind = "mcq"
    prefix: str = ""
    suffix: str = "Answer:"
    question_choice_delimiter: str = "\n"
    choice_delimiter: str = "\n"
    choice_format: str = "{label}. {choice}"
    labels: ChoiceLabels = ChoiceLabels()
    shows_choices: bool = True
    choices_prefix: str = ""
    blank: str = ""
    joins_parts: bool = False
    formats_continuations: bool = False

    def prompt(self, question: str, choices: Sequence[str] | None) -> str:
        """Return the question in words."""
        asked = f"{question} {self.blank}" if self.blank else question
        shown = self.choices_text(choices) if choices and self.shows_choices else ""
        if shown and self.choices_prefix:
            shown = f"{self.choices_prefix}{shown}"
            if self.choices_prefix[0].isspace():  # it brings what stands between question and choices
                asked, shown = f"{asked}{shown}", ""
        if self.joins_parts:
            return self.question_choice_delimiter.join([x for x in (self.prefix, asked, shown, self.suffix) if x])
        between = self.question_choice_delimiter if shown else ""
        return f"{self.prefix}{asked}{between}{shown}{self.suffix}"

    def choices_text(self, choices: Sequence[str]) -> str:
        """Return the choices as the prompt shows them."""
        return self.choice_delimiter.join(self.formatted(choices))

    def formatted(self, choices: Sequence[str]) -> list[str]:
        """Return each choice with its label."""
        if not self.choice_format:
            return list(choices)
        form = choice_formatter(self.choice_format)
        return [form(label, each) for label, each in zip(self.labels.take(len(choices)), choices, strict=False)]

    def continuations(self, choices: Sequence[str]) -> list[str]:
        """Return the scored continuations: labels, or the choices themselves."""
        if self.kind != "cloze":
            return self.labels.take(len(choices))
        return self.formatted(choices) if self.formats_continuations else list(choices)

    def gold(self, choices: Sequence[str], answer: object) -> int:
        """Return the position of the right answer, given by position, label or text.

        Raises:
            TemplateError: The answer is not one of the choices.
        """
        continuations = self.continuations(choices)
        index = self._position(choices, answer)
        if index is None or not 0 <= index < len(continuations):
            raise TemplateError(
                f"the answer {answer!r} is not one of the choices",
                why=f"the choices are {list(choices)!r}, answered by {continuations!r}",
                hint="the target is the position, the label or the text of a choice",
            )
        return index

    def _position(self, choices: Sequence[str], answer: object) -> int | None:
        if isinstance(answer, bool):
            return int(answer)
        if isinstance(answer, int):
            return answer
        text = str(answer)
        for among in (list(choices), self.labels.take(len(choices)), self.continuations(choices)):
            if text in among:
                return among.index(text)
        return int(text) if text.strip().isdigit() else None

    def answer(self, choices: Sequence[str], gold: int) -> str:
        """Return the right answer in the words that a model is to say."""
        return self.continuations(choices)[gold]
