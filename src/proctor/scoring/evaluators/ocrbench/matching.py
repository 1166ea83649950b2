"""Short answers about pictures: found in what was said, or similar enough to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from proctor.scoring.distances import levenshtein

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
