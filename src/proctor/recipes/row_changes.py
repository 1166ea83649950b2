"""Changes of a row that should not change what is right: its choices in another order, its words a little otherwise.

They come between the digest of a row and its question, so that the answers under each change are paired. Demos stay as
they are.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from proctor.errors import DataError
from proctor.randomness import random_stream
from proctor.recipes.option import Entry, Honoured, Refused
from proctor.recipes.selection import Row


@dataclass(frozen=True, slots=True)
class RowParts:
    """What the fields of a row are: texts that are shown, choices (in one field, or one for each), what is right.

    ``a/b`` is the field ``b`` of the field ``a``. ``answer`` says which choice is right by its place from 0, letter,
    label or text, or ``place`` finds that in a row. ``copy`` is one more field with all choices.
    """

    inputs: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    answer: str = ""
    place: Callable[[Row], Any] | None = None
    copy: str = ""


def honours_of_changes(parts: RowParts | None) -> dict[str, Entry]:
    """Return what an exam does with the options that change rows; of no parts nobody looked, as neither is given."""
    known = parts or RowParts(("the texts that are shown",), ("its choices",))
    shown, choices = ", ".join(known.inputs), ", ".join(known.choices)
    return {
        "perturb": Honoured(f"changes {shown}") if shown else Refused("no field is known to be shown"),
        "choice_order": Honoured(f"orders {choices}") if choices else Refused("it has no field of choices"),
    }


def changes_of(parts: RowParts, order: int | None, perturbation: str | None) -> Callable[[Row], Row] | None:
    """Return what an order of choices (0 is their own) and one of :data:`PERTURBATIONS` do to rows, if anything."""
    if not order and perturbation is None:
        return None

    def changed(row: Row) -> Row:
        row = reordered(row, parts, order) if order else row
        change = str if perturbation is None else PERTURBATIONS[perturbation]
        return _with(row, {name: change(text) for name, text in _texts(row, parts.inputs).items()})

    return changed


def _augmented(name: str, text: str) -> str:
    from proctor.data import augmentors

    return str(getattr(augmentors, name)().process_value(text))


def _typos(text: str) -> str:
    """Swap two neighbouring letters inside one word of ten; equal texts are changed alike."""
    random, letters = random_stream(text), list(text)
    long = list(re.finditer(r"[^\W\d_]{4,}", text))
    for word in random.sample(long, (len(long) + 9) // 10):
        place = random.randrange(word.start() + 1, word.end() - 2)
        letters[place : place + 2] = letters[place + 1], letters[place]
    return "".join(letters)


PERTURBATIONS: Final[Mapping[str, Callable[[str], str]]] = {
    "whitespace": partial(_augmented, "AugmentWhitespace"),
    "prefix-suffix": partial(_augmented, "AugmentPrefixSuffix"),
    "case": str.lower,
    "punctuation": lambda text: text.rstrip(string.punctuation + string.whitespace),
    "typos": _typos,
}
"""Small changes of a text: other blanks; blanks around it; lower case; no punctuation at its end; a letter or two that
changed places. The first two are Unitxt's augmentors."""


def reordered(row: Row, parts: RowParts, order: int) -> Row:
    """Return a row with its choices in another order, and what is right said of that one.

    Each row has an order of its own, which is drawn from its content and the number of the order.

    Raises:
        DataError: The row has no choices, or does not say which is right.
    """
    texts, labels = _choices(row, parts.choices)
    answer = _value(row, parts.answer)
    given = answer if parts.place is None else parts.place(row)
    right, _ = _named(given, texts, labels)
    if right is None or not 0 <= right < len(texts):
        raise DataError(f"the answer {given!r} names none of the {len(texts)} choices of the row")
    drawn, places = random_stream(f"{texts}|{_texts(row, parts.inputs)}", order), list(range(len(texts)))
    while places == sorted(places):
        drawn.shuffle(places)
    moved = [texts[each] for each in places]
    found: dict[str, Any] = dict(zip(parts.choices, moved, strict=False))
    if len(parts.choices) == 1:
        listed = _value(row, parts.choices[0])
        found = {parts.choices[0]: {**listed, "text": moved} if isinstance(listed, Mapping) else moved}
        found |= {parts.copy: moved} if parts.copy else {}
    before, renamed = _named(answer, texts, labels)
    if before is None:
        raise DataError(f"the answer {answer!r} names no choice by place, letter, label or text")
    return _with(row, {**found, parts.answer: renamed(before + places.index(right) - right)})


def _choices(row: Row, names: Sequence[str]) -> tuple[list[Any], list[Any]]:
    """Return the texts of choices, and what they are called where that is not a letter."""
    values: Any = [_value(row, name) for name in names]
    labels = list(names)
    if len(names) == 1:
        values, labels = values[0], []
        if isinstance(values, Mapping):  # ARC has {"text": […], "label": […]}
            values, labels = values.get("text"), list(values.get("label") or ())
    found = list(values) if isinstance(values, list | tuple) else []
    while len(names) > 1 and found and found[-1] in (None, ""):  # a question with fewer choices than others
        found.pop()
    if len(found) < 2 or found.count(found[0]) == len(found):  # noqa: PLR2004 - a choice is between two
        raise DataError(f"the row has no list of choices to order: {values!r}"[:200])
    return found, labels


def _named(value: Any, texts: Sequence[Any], labels: Sequence[Any]) -> tuple[int | None, Callable[[int], Any]]:
    """Return which number a value says of a choice, and what writes another number in the same way."""
    if isinstance(value, list | tuple) and len(value) == 1:
        place, write = _named(value[0], texts, labels)
        return place, lambda new: [write(new)]
    if value in texts:
        return texts.index(value), lambda _: value
    if value in labels:
        return labels.index(value), lambda new: labels[new]
    text = str(value)
    core = text.strip().strip("().")
    if core.isdigit():
        return int(core), lambda new: text.replace(core, str(new)) if isinstance(value, str) else new
    if len(core) == 1 and core.isalpha():
        first = "A" if core.isupper() else "a"
        return ord(core) - ord(first), lambda new: text.replace(core, chr(ord(first) + new))
    return None, lambda _: value


def _value(row: Row, name: str) -> Any:
    value: Any = row
    for part in name.split("/"):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _texts(row: Row, names: Sequence[str]) -> dict[str, str]:
    return {name: value for name in names if isinstance(value := _value(row, name), str)}


def _with(row: Row, values: Mapping[str, Any]) -> Row:
    """Return a row with other values in some fields; what it shares with the row is not written to."""
    changed: dict[str, Any] = dict(row)
    for name, value in values.items():
        outer, _, inner = name.partition("/")
        changed[outer] = _with(changed[outer], {inner: value}) if inner else value
    return changed
