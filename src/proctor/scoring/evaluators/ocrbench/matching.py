"""Short answers about pictures: found in what was said, or similar enough to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from proctor.scoring.distances import levenshtein

_NEAR = 0.5  # nearness up to which a count is wrong
_SIDE = 1000  # coordinates of a side: pictures are measured in thousandths
_BOX = re.compile(r"[(\[]\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*[)\]]")


def count_said(said: str, answers: object, rule: str) -> float:
    """Return how right a count is, by the best of the answers.

    Args:
        said: What the model said.
        answers: A list of texts or numbers.
        rule: ``exact match`` (an answer was said) or ``regression`` (the nearness of the first number).

    Raises:
        ValueError: The rule is another, the answers are not a list, or one that a number is
            compared with is not a whole number.
    """
    if rule not in ("exact match", "regression"):
        raise ValueError(f"counts are compared by 'exact match' or 'regression', not by {rule!r}")
    if not isinstance(answers, list):
        raise ValueError(f"the answers are not a list: {answers!r}")  # noqa: TRY004 - a row that is wrong
    known = [str(each).lower().strip().replace("\n", " ") for each in answers]
    if rule == "exact match":
        return max((float(each in said) for each in known), default=0.0)
    found = re.search(r"\d+", said)
    number = int(found[0]) if found else 0
    return max((_nearness(number, int(each)) for each in known), default=0.0) if number else 0.0


def _nearness(number: int, answer: int) -> float:
    if number >= 2 * answer:
        return 0.0
    near = 1 - abs(number - answer) / answer
    return near if near > _NEAR else 0.0


def last_box(said: str) -> tuple[int, ...] | None:
    """Return the last box ``(left, top, right, bottom)`` in what was said that lies in the picture."""
    found = [tuple(int(each) for each in match.groups()) for match in _BOX.finditer(said)]
    inside = [box for box in found if max(box) <= _SIDE]
    return inside[-1] if inside else None


def signed_overlap(first: Sequence[Any], second: Sequence[Any]) -> float:
    """Return the intersection over union of two boxes of whole numbers.

    Sides of a reversed box are negative and its area may be, as in the benchmark's program; ``boxes.overlap`` takes
    such a box as empty. What is not a number makes it 0.
    """
    try:
        one, two = [int(each) for each in first], [int(each) for each in second]
    except (TypeError, ValueError, OverflowError):
        return 0.0
    across, down = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
    shared = max(0, across) * max(0, down)
    whole = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, two)) - shared
    return shared / whole if whole else 0.0


def box_said(said: str, answer: Sequence[Any]) -> float:
    """Return how much the last box that was said shares with the right one; 0 without one."""
    box = last_box(said)
    return signed_overlap(box, answer) if box else 0.0


_SIMILAR = 0.5  # similarity below which an answer counts as wrong (ANLS, Biten et al. 2019).
_LONG = 5  # words from which on an answer is compared by similarity; a shorter one has to be said
_CHINESE_LONG = 4  # parts between commas from which on a Chinese answer is compared by similarity
_TEXT_TAG = re.compile(r"\\text\{([^{}]*)\}")
_SEPARATORS = ("", ".", ". ", ",", ", ", "、", ";", "; ", " ", "和")
"""What may stand between the letters of an answer that has several."""


def said_or_similar(said: str, answers: object, *, case: bool = False) -> float:
    """Return 1 where an answer was said, else the similarity of the best long one.

    A single text is read otherwise than a list with one: it counts only where it is short, and then similar ones
    count too. That is how the benchmark's program has it.

    Args:
        said: What the model said.
        answers: A list of texts or numbers, or one text.
        case: Whether capital letters count.
    """

    def plain(text: str) -> str:
        return (text if case else text.lower()).strip().replace("\n", " ")

    if not isinstance(answers, list):
        answer, found = plain(_text(answers)), plain(said)
        if len(answer.split()) >= _LONG:
            return 0.0
        return 1.0 if answer in found else _similarity(found, answer)
    return _best(plain(said), [plain(_text(each)) for each in answers], lambda answer: len(answer.split()) >= _LONG)


def chinese_said_or_similar(said: str, answers: object) -> float:
    """Return ``said_or_similar`` without spaces; an answer is long by its commas.

    Raises:
        ValueError: The answers are not a list (the benchmark's program fails there too).
    """
    found, known = _squeezed(said.lower()), _listed(answers)
    return _best(
        found, [_squeezed(_text(each).lower()) for each in known], lambda answer: answer.count(",") + 1 >= _CHINESE_LONG
    )


def letters_alone(said: str, answers: object) -> float:
    """Return 1 where the letters of what was said are the one answer.

    Raises:
        ValueError: There is not one answer.
    """
    known = _listed(answers)
    if len(known) != 1:
        raise ValueError(f"there has to be one answer: {answers!r}")
    return float("".join(each for each in said if each.isalpha()) == known[0])


def formula_said(said: str, answers: Any) -> float:
    """Return 1 where a formula was said, spaces aside."""
    known = answers if isinstance(answers, list) else [answers]
    return float(any(_squeezed(each) in _squeezed(said) for each in known))


def chinese_formula_said(said: str, answers: object) -> float:
    r"""Return 1 where the one formula was said, spaces and ``\text{}`` aside.

    Raises:
        ValueError: There is not one answer.
    """
    return formula_said(_TEXT_TAG.sub(r"\1", said), [_TEXT_TAG.sub(r"\1", _only(answers))])


def written_choice_said(said: str, answers: object) -> float:
    """Return 1 where the letters of the one answer were said, with the same sign between all of them.

    Raises:
        ValueError: There is not one answer.
    """
    answer = _only(answers)
    return float(any(separator.join(answer) in said for separator in _SEPARATORS))


def _best(said: str, answers: list[str], is_long: Callable[[str], bool]) -> float:
    scores = [_similarity(said, each) if is_long(each) else float(each in said) for each in answers]
    return max(scores, default=0.0)


def _similarity(said: str, answer: str) -> float:
    longest = max(len(said), len(answer))
    similarity = 1 - (levenshtein(said, answer) / longest if longest else 0.0)
    return similarity if similarity >= _SIMILAR else 0.0


def _squeezed(text: str) -> str:
    return text.strip().replace("\n", " ").replace(" ", "")


def _text(answer: Any) -> str:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, int | float):
        return str(answer)
    raise ValueError(f"an answer is neither a text nor a number: {answer!r}")


def _listed(answers: Any) -> list[Any]:
    if isinstance(answers, list):
        return answers
    raise ValueError(f"the answers are not a list: {answers!r}")


def _only(answers: Any) -> str:
    known = _listed(answers)
    if len(known) != 1 or not isinstance(known[0], str):
        raise ValueError(f"there has to be one text as answer: {answers!r}")
    return str(known[0])
