"""What is asked and what is right, from the columns of a table: named by the user, or by names that people use."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from proctor.dialects.tables.reader import Row, Rows, columns_of
from proctor.errors import DataError, Location, TemplateError, UsageError, did_you_mean
from proctor.foreign_text import parse_literal

QUESTIONS: Final = ("question", "input", "prompt", "query", "problem")
ANSWERS: Final = ("answer", "target", "output", "label", "expected", "reference")
CHOICES: Final = ("choices", "options")
"""Names of columns that are looked for, in this order and in any case, where the user names none."""

_LETTERS: Final = string.ascii_uppercase
_SEPARATORS: Final = ("\n", "|", ";")
"""What separates choices in one cell that is not a list; commas do not, for choices have them."""


@dataclass(frozen=True)
class Columns:
    """Which columns of a table say what.

    Attributes:
        question: The question; ``None`` where a prompt says all.
        answer: What is right; ``None`` where answers are only recorded.
        choices: One column with all choices, or one column for each.
        prompt: How to ask, with names of columns in braces.
        numbered_from: What the first choice is called where answers are numbers; ``None`` where they are none.
    """

    question: str | None
    answer: str | None
    choices: tuple[str, ...]
    prompt: str | None
    numbered_from: int | None = None


def find_columns(path: str, rows: Rows, given: Mapping[str, str | None], *, needs_answer: bool) -> Columns:
    """Return the columns of a table that an exam reads.

    Args:
        path: The file, for messages.
        rows: Its rows.
        given: What the user says: ``input_column``, ``answer_column``, ``choices_column``, ``prompt``.
        needs_answer: Whether answers are scored.

    Raises:
        UsageError: A column that is named is not there, or nothing says which column is asked.
    """
    names = columns_of(rows)
    prompt, question = given.get("prompt"), given.get("input_column")
    answer, listed = given.get("answer_column"), given.get("choices_column")
    choices = _named_choices(listed, names)
    if prompt is not None and question is not None:
        raise UsageError("--prompt and --input-column both say what is asked", hint="name the column in the prompt")
    _check(path, names, [("--input-column", question), ("--answer-column", answer)])
    _check(path, names, [("--choices-column", each) for each in choices])
    if prompt is not None:
        _check(path, names, [("--prompt", each) for each in placeholders(prompt)])
    elif question is None:
        question = _usual(names, QUESTIONS) or _nothing(path, names, "asked", "--input-column NAME or --prompt TEXT")
    if answer is None:
        answer = _usual(names, ANSWERS)
        if answer is None and needs_answer:
            _nothing(path, names, "right", "--answer-column NAME, or record answers only with --predict-only")
    found = choices or _usual_choices(names)
    if prompt is not None and not found and not placeholders(prompt):
        raise UsageError(
            "--prompt asks the same of every row",
            location=Location(path),
            why=f"it names no column; there are {', '.join(map(repr, names))}",
            hint=f"write a column in braces: {{{names[0]}}}",
        )
    made = Columns(question, answer, found, prompt)
    return (
        made if not found or answer is None else Columns(question, answer, found, prompt, _numbering(path, rows, made))
    )


def _named_choices(listed: str | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that the user names: one, though its name has a comma in it, or several."""
    if not listed:
        return ()
    return (listed,) if listed in names else tuple(each.strip() for each in listed.split(","))


def _check(path: str, names: Sequence[str], wanted: Sequence[tuple[str, str | None]]) -> None:
    for option, name in wanted:
        if name is not None and name not in names:
            raise UsageError(
                f"{option} names '{name}', and the table has no such column",
                location=Location(path),
                why=f"its columns are {', '.join(map(repr, names))}",
                hint=did_you_mean(name, names),
            )


def _usual(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    lowered = {name.strip().lower(): name for name in reversed(names)}
    return next((lowered[each] for each in wanted if each in lowered), None)


def _usual_choices(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns ``A``, ``B`` … where there are at least two, else one that is called choices."""
    count = next((place for place, letter in enumerate(_LETTERS) if letter not in names), len(_LETTERS))
    if count > 1:
        return tuple(_LETTERS[:count])
    one = _usual(names, CHOICES)
    return () if one is None else (one,)


def _nothing(path: str, names: Sequence[str], what: str, how: str) -> str:
    raise UsageError(
        f"nothing says which column of the table is {what}",
        location=Location(path),
        why=f"its columns are {', '.join(map(repr, names))}",
        hint=f"say it with {how}",
    )


# -- rows -------------------------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """Return a cell as text: numbers without a needless ``.0``, nothing of an empty cell."""
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def filled(row: Row, name: str) -> str:
    """Return a cell that an exam needs.

    Raises:
        DataError: It is empty, or holds more than one value.
    """
    text = shown(_single(row.get(name), name))
    if not text.strip():
        raise DataError(f"the column '{name}' is empty in this row")
    return text


def _single(value: Any, name: str) -> Any:
    """Return a value that is one: what a list or an object would look like in words is anybody's guess."""
    if isinstance(value, Mapping | list | tuple):
        kind = "an object" if isinstance(value, Mapping) else "a list"
        raise DataError(
            f"the column '{name}' has {kind} in this row", why="a text or a number is wanted", hint="make columns of it"
        )
    return value


def placeholders(prompt: str) -> list[str]:
    """Return the columns that a prompt names in braces; ``{{`` and ``}}`` are braces of the text.

    Raises:
        UsageError: A brace is open, or nothing is in it.
    """
    try:
        parts = [(name, form, mark) for _, name, form, mark in string.Formatter().parse(prompt) if name is not None]
    except ValueError as error:
        raise UsageError(
            "--prompt has a brace that is not one of a column", why=str(error), hint="{{ is a brace"
        ) from None
    return list(
        dict.fromkeys(name + (f":{form}" if form else "") + (f"!{mark}" if mark else "") for name, form, mark in parts)
    )


def choices_in(row: Row, columns: Columns) -> list[str]:
    """Return the choices of a row, in order.

    Raises:
        DataError: There are fewer than two.
    """
    if len(columns.choices) > 1:
        found = [shown(row.get(name)).strip() for name in columns.choices]
        while found and not found[-1]:  # a question with fewer choices than others
            found.pop()
    else:
        found = _listed(row.get(columns.choices[0]))
    if len(found) < 2 or not all(found):  # noqa: PLR2004 - a choice is between two at least
        raise DataError(f"there are no choices in this row: {found}", hint="a list, or texts with | or ; between them")
    return found


def _listed(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        value = value.get("text") or list(value.values())  # ARC's {"text": […], "label": […]}
    if isinstance(value, list | tuple):
        return [shown(each).strip() for each in value]
    text = shown(value).strip()
    if text[:1] in "[(" and text[-1:] in "])":
        try:
            return [shown(each).strip() for each in parse_literal(text)]
        except (SyntaxError, ValueError, TypeError):
            pass
    mark = next((each for each in _SEPARATORS if each in text), None)
    return [each.strip() for each in text.split(mark) if each.strip()] if mark else []


def gold_place(row: Row, columns: Columns) -> int:
    """Return the place of the right choice.

    Raises:
        DataError: The answer is none of the choices.
    """
    choices, answer = choices_in(row, columns), filled(row, str(columns.answer)).strip()
    if answer in choices:
        return choices.index(answer)
    letter = answer.strip("().").upper()
    if len(letter) == 1 and letter in _LETTERS[: len(choices)]:
        return _LETTERS.index(letter)
    if columns.numbered_from is not None and answer.isdigit():
        place = int(answer) - columns.numbered_from
        if 0 <= place < len(choices):
            return place
    raise DataError(f"the answer '{answer}' is none of the choices {choices}", hint="a letter, or the text of a choice")


def _numbering(path: str, rows: Rows, columns: Columns) -> int | None:
    """Return whether answers that are numbers count from 0 or from 1; ``None`` where they are not numbers.

    Raises:
        UsageError: They could be either.
    """
    numbers, most = [], 0
    for row in rows:
        answer = shown(row.get(str(columns.answer))).strip()
        try:
            choices = choices_in(row, columns)
        except DataError:
            continue
        if answer.isdigit() and answer not in choices:
            numbers.append(int(answer))
            most = max(most, int(answer) == len(choices))
    if not numbers:
        return None
    if 0 in numbers or not most:
        if 0 not in numbers:
            raise UsageError(
                f"the answers in '{columns.answer}' are numbers, and could count the choices from 0 or from 1",
                location=Location(path),
                why="no row has 0, and no row has the number of its last choice",
                hint="write letters, or the texts of the choices",
            )
        return 0
    return 1


def asking(columns: Columns) -> Callable[[Row], str]:
    """Return the question of a row in words."""
    prompt = columns.prompt
    has_choices = prompt is not None and bool(set(columns.choices) & set(placeholders(prompt)))

    def ask(row: Row) -> str:
        text = filled(row, str(columns.question)) if prompt is None else _replaced(prompt, row, columns)
        return text if has_choices or not columns.choices else f"{text}\n{_lettered(row, columns)}\nAnswer:"

    return ask


def _lettered(row: Row, columns: Columns) -> str:
    return "\n".join(f"{letter}. {text}" for letter, text in zip(_LETTERS, choices_in(row, columns), strict=False))


def _replaced(prompt: str, row: Row, columns: Columns) -> str:
    parts = []
    for literal, name, form, mark in string.Formatter().parse(prompt):
        parts.append(literal)
        if name is None:
            continue
        whole = name + (f":{form}" if form else "") + (f"!{mark}" if mark else "")
        is_list = columns.choices == (whole,)
        parts.append(_lettered(row, columns) if is_list else filled(row, whole))
    return "".join(parts)


def answering(columns: Columns) -> Callable[[Row], Any]:
    """Return what is right in a row: the place of a choice, a text, or a list of texts."""

    def answer(row: Row) -> Any:
        if columns.answer is None:
            return ""
        if columns.choices:
            return gold_place(row, columns)
        value = row.get(columns.answer)
        if isinstance(value, list | tuple) and value:
            return [shown(_single(each, columns.answer)) for each in value]
        return filled(row, columns.answer)

    return answer


def labels(columns: Columns) -> Callable[[Row], list[str]]:
    """Return the letters of the choices of a row."""
    return lambda row: list(_LETTERS[: len(_few(row, columns))])


def _few(row: Row, columns: Columns) -> list[str]:
    found = choices_in(row, columns)
    if len(found) > len(_LETTERS):
        raise TemplateError(f"a row has {len(found)} choices, and there are {len(_LETTERS)} letters")
    return found
