"""Choices of a row, and which of them is right: what one table means by ``A``, by ``2`` and by ``blue``.

An answer may be the text of a choice, its letter, its label or its number, and one row alone does not tell: ``A`` is
the first choice, or the blood group. So all rows are looked at first, and one way to read answers serves them all.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from unicodedata import normalize

from proctor.errors import DataError, Location, UsageError
from proctor.foreign_text import parse_json, parse_printed

Row = Mapping[str, Any]
Way = Literal["label", "letter", "text", "number from 0", "number from 1"]
"""How an answer names a choice."""

LETTERS: Final = string.ascii_uppercase
_SEPARATORS: Final = (r"\n", r"\||\uff5c", r"(?<!\x00);|\uff1b", r"(?:^|\s+)[A-Z][.\uff0e、:\uff1a)\uff09]\s*")
"""What separates choices in one cell that is no list, at last their letters; commas do not, for choices have them."""
_ENTITY: Final = re.compile(r"(&(?:#\d+|#[xX][0-9a-fA-F]+|[a-zA-Z]\w*));")
"""A sign as HTML writes it (``&amp;``): its semicolon separates nothing."""
_NUMBER: Final = re.compile(r"(\d+)(?:\.0+)?")
"""A number of a choice; a column of numbers that lacks one is written as ``1.0`` by many programs."""


def shown(value: object) -> str:
    """Return a cell as text: numbers without a needless ``.0``, nothing of an empty cell.

    Raises:
        DataError: It is made of bytes that are not text.
    """
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise DataError("a cell has bytes that are not text", why="they are not UTF-8") from None
    return str(value)


def filled(row: Row, name: str) -> str:
    """Return a cell that an exam needs.

    Raises:
        DataError: It is empty, or holds more than one value.
    """
    text = shown(single(row.get(name), name))
    if not text.strip():
        raise DataError(f"the column '{name}' is empty in this row")
    return text


def single(value: object, name: str) -> Any:
    """Return a value that is one: what a list or an object would look like in words is anybody's guess.

    Raises:
        DataError: It is a list or an object.
    """
    if isinstance(value, Mapping | list | tuple):
        is_object = isinstance(value, Mapping)
        raise DataError(
            f"the column '{name}' has {'an object' if is_object else 'a list'} in this row",
            why="a text or a number is wanted",
            hint=f"name a part: {', '.join(f'{name}.{key}' for key in value)}" if is_object else "make columns of it",
        )
    return value


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of a row, in order.

    Attributes:
        texts: What they say.
        labels: What the table calls them; nothing where it does not.
        are_texts: Whether the table holds texts, and no numbers.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()
    are_texts: bool = True


def choices_of(row: Row, columns: Sequence[str]) -> Choices:
    """Return the choices of a row from one column that holds them all, or from one column for each.

    Raises:
        DataError: There are fewer than two, or one in the middle is empty: letters would name other choices.
    """
    labels: Sequence[str] = ()
    if len(columns) > 1:
        values: Sequence[Any] = [row.get(name) for name in columns]
        labels = columns
    else:
        values, labels = _listed(row.get(columns[0]))
    texts = [shown(single(each, columns[0])).strip() for each in values]
    while texts and not texts[-1]:  # a question with fewer choices than others
        texts.pop()
    if len(texts) < 2 or not all(texts):  # noqa: PLR2004 - a choice is between two at least
        hint = "a list, or texts with | or ; between them; rows whose answers are written stand in another table"
        raise DataError(f"there are no choices in this row: {texts}", hint=hint)
    if len(texts) > len(LETTERS):
        raise DataError(f"a row has {len(texts)} choices, and there are {len(LETTERS)} letters")
    are_texts = all(isinstance(each, str | bytes) for each in values[: len(texts)])
    return Choices(tuple(texts), tuple(labels[: len(texts)]), are_texts)


def _listed(value: Any) -> tuple[Sequence[Any], Sequence[str]]:
    """Return the choices of a cell and their labels."""
    if isinstance(value, Mapping):
        if isinstance(texts := value.get("text"), list | tuple):  # ARC's {"text": […], "label": […]}
            labels = [shown(each).strip() for each in value.get("label") or ()]
            return texts, labels if len(labels) == len(texts) else ()
        return list(value.values()), [str(each) for each in value]
    if isinstance(value, list | tuple):
        return value, ()
    text = shown(value).strip()
    if text[:1] in tuple("[({") and text[-1:] in tuple("])}"):
        for parse in (parse_json, parse_printed):
            try:
                parsed = parse(text)
            except (SyntaxError, ValueError, TypeError):
                continue
            if isinstance(parsed, Mapping | list | tuple):
                return _listed(parsed)
    kept = _ENTITY.sub("\\1\0;", text)
    mark = next((each for each in _SEPARATORS if re.search(each, kept)), None)
    parts = [each.replace("\0", "") for each in re.split(mark, kept)] if mark else []
    return parts[1:] if mark == _SEPARATORS[-1] and not parts[0] else parts, ()


# -- the right one ----------------------------------------------------------------------------------------------------


def _places(choices: Choices, answer: str) -> Iterator[tuple[Way, int]]:
    """Yield each way to read an answer as one of the choices, with the choice's place."""
    if answer in choices.labels:
        yield "label", choices.labels.index(answer)
    if (place := _place_of_text(choices.texts, answer)) is not None:
        yield "text", place
    letter = normalize("NFKC", answer).strip("().、 ").upper()
    if len(letter) == 1 and letter in LETTERS[: len(choices.texts)]:
        yield "letter", LETTERS.index(letter)
    if number := _NUMBER.fullmatch(answer):
        yield from _numbered(int(number[1]), len(choices.texts))


def _place_of_text(texts: Sequence[str], answer: str) -> int | None:
    """Return the place of the only choice that an answer is: to the letter, else but for case."""
    if answer not in texts:
        texts, answer = [each.casefold() for each in texts], answer.casefold()
    return texts.index(answer) if texts.count(answer) == 1 else None


def _numbered(number: int, count: int) -> Iterator[tuple[Way, int]]:
    if number < count:
        yield "number from 0", number
    if 0 < number <= count:
        yield "number from 1", number - 1


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The way in which a table's answers name choices.

    Attributes:
        column: The column of the answers.
        choices: The columns of the choices.
        ways: The ways that answers are read in: one that serves all rows, or several that are mixed.
    """

    column: str
    choices: tuple[str, ...]
    ways: frozenset[Way]

    def place(self, row: Row) -> int:
        """Return the place of the right choice.

        Raises:
            DataError: The answer is none of the choices, or could be two of them.
        """
        choices, answer = choices_of(row, self.choices), filled(row, self.column).strip()
        if choices.texts.count(answer) > 1 and "text" in self.ways:
            raise DataError(f"two choices of this row are '{answer}'", hint="answer with letters")
        found = {way: place for way, place in _places(choices, answer) if way in self.ways}
        if len(set(found.values())) > 1:
            ways = " and ".join(f"choice {place + 1} as a {way.partition(' ')[0]}" for way, place in found.items())
            raise DataError(
                f"the answer '{answer}' names two choices of this row",
                why=ways,
                hint="answer with letters, or in texts",
            )
        if not found:
            several = _SEVERAL_LETTERS.fullmatch(normalize("NFKC", answer))
            raise DataError(
                f"the answer '{answer}' is none of the choices {list(choices.texts)}",
                hint=_AS_TEXT if several else "a letter, or the text of a choice",
            )
        return next(iter(found.values()))


_SEVERAL_LETTERS: Final = re.compile(r"[A-Z](?:[\s,;|、]*[A-Z])+")
_AS_TEXT: Final = "several right ones are written: --choices-column '' and --prompt TEXT with a {column} for each"


def answer_key(path: str, rows: Sequence[Row], column: str, choices: tuple[str, ...]) -> AnswerKey:
    """Return how the answers of a table name choices.

    Where one way to read them serves all rows, it is taken. Otherwise they are mixed, and a row that two ways read
    differently fails.

    Raises:
        UsageError: Two ways serve all rows, and name different choices.
    """
    seen = list(_readings(rows, column, choices))
    for_all = [way for way in _WAYS if seen and all(way in found for found in seen)]
    if for_all:
        _refuse_two(path, column, for_all, seen)
        return AnswerKey(column, choices, frozenset(for_all[:1]))
    numbers = [set(found) for found in seen if found and all(way.startswith("number") for way in found)]
    counted = [way for way in _NUMBERS if all(way in found for found in numbers)]
    if len(counted) == len(_NUMBERS) and numbers:
        raise _either(path, column, "count the choices from 0 or from 1", "no row has 0, and none its last choice")
    named: frozenset[Way] = frozenset({"label", "letter", "text"})
    return AnswerKey(column, choices, named | frozenset(counted if numbers else ()))


_NUMBERS: Final[tuple[Way, ...]] = ("number from 0", "number from 1")
_WAYS: Final[tuple[Way, ...]] = ("label", "letter", "text", *_NUMBERS)


def _readings(rows: Sequence[Row], column: str, choices: tuple[str, ...]) -> Iterator[dict[Way, int]]:
    """Yield what each way makes of an answer, of the rows where one makes something."""
    for row in rows:
        try:
            texts, answer = choices_of(row, choices), shown(single(row.get(column), column)).strip()
        except DataError:
            continue  # said of the row when it is asked
        found = dict(_places(texts, answer))
        is_number = isinstance(row.get(column), int | float) and texts.are_texts
        if is_number and any(way in found for way in _NUMBERS):
            found.pop("text", None)  # a number among texts is the place of one
        if found:
            yield found


def _refuse_two(path: str, column: str, ways: Sequence[Way], seen: Sequence[Mapping[Way, int]]) -> None:
    first = ways[0]
    for way in ways[1:]:
        if all(found[first] == found[way] for found in seen):
            continue
        if {first, way} == set(_NUMBERS):
            raise _either(path, column, "count the choices from 0 or from 1", "no row has 0, and none its last choice")
        if {first, way} & {"label"}:
            continue  # what the table itself calls its choices
        raise _either(path, column, f"be the {first} of a choice or its {way}", "both fit every row")


def _either(path: str, column: str, what: str, why: str) -> UsageError:
    return UsageError(
        f"the answers in '{column}' could {what}",
        location=Location(path),
        why=why,
        hint="write letters, as (A), or the texts of the choices",
    )
