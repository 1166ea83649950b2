"""Changes of a row that should not change what is right: its choices in another order, its words a little otherwise.

They come between the digest of a row and its question, so that the answers under each change are paired. Demos stay as
they are.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from proctor.errors import DataError
from proctor.randomness import random_stream
from proctor.recipes.option import Entry, Honoured, Refused
from proctor.recipes.selection import Row

Change = Callable[[Row], Row]


@dataclass(frozen=True, slots=True)
class RowParts:
    """What the fields of a row are; ``a/b`` is the field ``b`` of the field ``a``.

    Attributes:
        inputs: Fields whose texts are shown, without choices.
        choices: The field of all choices, or one field for each; empty where there are none.
        answer: The field that says which choice is right: its place from 0, its letter, its label, or its text.
        place: From a row to the place of the right choice; by default :attr:`answer` says it.
        copy: One more field that holds all choices.
    """

    inputs: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    answer: str = ""
    place: Callable[[Row], Any] | None = None
    copy: str = ""


def honours_of_changes(parts: RowParts | None) -> dict[str, Entry]:
    """Return what an exam does with the options that change its rows.

    Args:
        parts: What the fields of a row are; ``None`` where nobody has looked, as neither option is given.
    """
    if parts is None:
        return {"perturb": Honoured("changes the texts that are shown"), "choice_order": Honoured("orders its choices")}
    shown = Honoured(f"changes {', '.join(parts.inputs)}") if parts.inputs else Refused("no field is known to be shown")
    ordered = Honoured(f"orders {', '.join(parts.choices)}")
    return {"perturb": shown, "choice_order": ordered if parts.choices else Refused("it has no field of choices")}


def changes_of(parts: RowParts, order: int | None, perturbation: str | None) -> Change | None:
    """Return what a run does to rows; ``None`` for nothing.

    Args:
        parts: What the fields of a row are.
        order: Which order of the choices; 0 is their own.
        perturbation: One of :data:`PERTURBATIONS`.
    """
    steps: list[Change] = []
    if order:
        steps.append(lambda row: reordered(row, parts, order))
    if perturbation is not None:
        change = PERTURBATIONS[perturbation]
        steps.append(lambda row: _with(row, {name: change(text) for name, text in _texts(row, parts.inputs)}))
    if not steps:
        return None

    def changed(row: Row) -> Row:
        for step in steps:
            row = step(row)
        return row

    return changed


# -- words ------------------------------------------------------------------------------------------------------------


def _whitespace(text: str) -> str:
    from proctor.data.augmentors import AugmentWhitespace

    return AugmentWhitespace().process_value(text)


def _prefix_suffix(text: str) -> str:
    from proctor.data.augmentors import AugmentPrefixSuffix

    return AugmentPrefixSuffix().process_value(text)


def _typos(text: str) -> str:
    """Swap two neighbouring letters inside one word of ten; equal texts are changed alike."""
    random = random_stream(text)
    long = list(re.finditer(r"[^\W\d_]{4,}", text))
    letters = list(text)
    for word in random.sample(long, (len(long) + 9) // 10):
        place = random.randrange(word.start() + 1, word.end() - 2)
        letters[place : place + 2] = letters[place + 1], letters[place]
    return "".join(letters)


PERTURBATIONS: Final[Mapping[str, Callable[[str], str]]] = {
    "whitespace": _whitespace,
    "prefix-suffix": _prefix_suffix,
    "case": str.lower,
    "punctuation": lambda text: text.rstrip(string.punctuation + string.whitespace),
    "typos": _typos,
}
"""Small changes of a text, by name: other blanks; blanks around it; lower case; no punctuation at its end; a letter or
two changed places. The first two are Unitxt's augmentors."""


def _texts(row: Row, names: Sequence[str]) -> list[tuple[str, str]]:
    found = [(name, _value(row, name)) for name in names]
    return [(name, value) for name, value in found if isinstance(value, str)]


# -- choices ----------------------------------------------------------------------------------------------------------


def reordered(row: Row, parts: RowParts, order: int) -> Row:
    """Return a row with its choices in another order, and what is right said of that one.

    Each row has an order of its own, which is drawn from its content and the number of the order.

    Raises:
        DataError: The row has no choices, or does not say which is right.
    """
    texts = _choices(row, parts.choices)
    right = _place(row, parts, texts)
    drawn = random_stream(f"{texts}|{_texts(row, parts.inputs)}", order)
    places = list(range(len(texts)))
    while len(texts) > 1 and places == sorted(places):
        drawn.shuffle(places)
    found: dict[str, Any] = _placed(row, parts.choices, [texts[each] for each in places])
    if parts.copy:
        found[parts.copy] = found[parts.choices[0]]
    if parts.answer:
        new = {old: place for place, old in enumerate(places)}
        found[parts.answer] = _moved(_value(row, parts.answer), right, new, texts, _labels(row, parts.choices))
    return _with(row, found)


def _choices(row: Row, names: Sequence[str]) -> list[Any]:
    values: Any = [_value(row, name) for name in names]
    if len(names) == 1:
        value = values[0]
        values = value.get("text") if isinstance(value, Mapping) else value  # ARC has {"text": […], "label": […]}
    if not isinstance(values, list | tuple):
        raise DataError(f"the choices of the row are not a list: {values!r}")
    found = list(values)
    while len(names) > 1 and found and found[-1] in (None, ""):  # a question with fewer choices than others
        found.pop()
    if len(found) < 2:  # noqa: PLR2004 - a choice is between two
        raise DataError("the row has fewer than two choices")
    return found


def _labels(row: Row, names: Sequence[str]) -> list[Any]:
    value = _value(row, names[0])
    return list(value.get("label") or ()) if len(names) == 1 and isinstance(value, Mapping) else list(names)


def _placed(row: Row, names: Sequence[str], texts: list[Any]) -> dict[str, Any]:
    if len(names) > 1:
        return dict(zip(names, texts, strict=False))
    value = _value(row, names[0])
    return {names[0]: {**value, "text": texts} if isinstance(value, Mapping) else texts}


def _place(row: Row, parts: RowParts, texts: Sequence[Any]) -> int:
    value = _value(row, parts.answer) if parts.place is None else parts.place(row)
    labels = _labels(row, parts.choices)
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if value in texts:
        return texts.index(value)
    if value in labels:
        return labels.index(value)
    text = str(value).strip().strip("().")
    place = int(text) if text.isdigit() else string.ascii_uppercase.find(text.upper()) if len(text) == 1 else -1
    if not 0 <= place < len(texts):
        raise DataError(f"the answer {value!r} names none of the {len(texts)} choices of the row")
    return place


def _moved(value: Any, right: int, new: Mapping[int, int], texts: Sequence[Any], labels: Sequence[Any]) -> Any:
    """Return what names the right choice at its new place, in the way in which it was named."""
    if isinstance(value, list | tuple) and len(value) == 1:
        return [_moved(value[0], right, new, texts, labels)]
    if value in texts:
        return value
    if value in labels:
        return labels[new[labels.index(value)]]
    shift = new[right] - right
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value + shift
    text = str(value)
    core = text.strip().strip("().")
    if core.isdigit():
        return text.replace(core, str(int(core) + shift))
    if len(core) != 1:
        raise DataError(f"the answer {value!r} names no choice by place, letter, label or text")
    return text.replace(core, chr(ord(core) + shift))


# -- fields -----------------------------------------------------------------------------------------------------------


def _value(row: Row, name: str) -> Any:
    value: Any = row
    for part in name.split("/"):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _with(row: Row, values: Mapping[str, Any]) -> Row:
    """Return a row with other values in some fields; what it shares with the row is not written to."""
    changed: dict[str, Any] = dict(row)
    for name, value in values.items():
        outer, _, inner = name.partition("/")
        changed[outer] = _with(changed[outer], {inner: value}) if inner else value
    return changed
