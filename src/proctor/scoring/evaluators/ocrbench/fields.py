"""Fields of documents: names with values, by F1; and answers with the place where they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from proctor.foreign_text import parse_literal
from proctor.scoring.evaluators.ocrbench.matching import said_or_similar, signed_overlap

_FENCED = re.compile(r"```(?:python|json)?\n(.*?)\n```", re.DOTALL | re.IGNORECASE)
_PAIR = re.compile(r'["\']?([\w\s]+)["\']?\s*[:=]\s*["\']?([^\n,"\'{}]+)["\']?')


def said_fields(said: str) -> dict[str, str]:
    """Return the fields in the first block of code, or in the whole text: of JSON, of Python, or of lines ``a: b``."""
    block = _FENCED.search(said)
    text = block[1] if block else said.strip()
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        found = _literal_or_pairs(text)
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        return {}
    return {key.strip(): str(value).strip() for key, value in found.items()}


def _literal_or_pairs(text: str) -> Any:
    try:
        found = parse_literal(text)
    except (ValueError, SyntaxError):
        found = {}
    if isinstance(found, dict) and found:
        return found
    pairs = _PAIR.findall(text)
    # what is a literal and not a dictionary has no fields, whatever pairs stand in it
    return {key.strip(): value.strip() for key, value in pairs} if isinstance(found, dict) else {}


def answered_fields(answer: object) -> Mapping[Any, list[Any]] | None:
    """Return the values that each field may have; ``None`` where an answer in words cannot be read.

    Args:
        answer: A dictionary with lists, or JSON or Python of one with values or lists. A text as a value of a
            dictionary stands for its letters, as in the benchmark's program.

    Raises:
        ValueError: The answer is a literal and not a dictionary, or a value is not a list.
    """
    if isinstance(answer, Mapping):
        return {key: _values(value) for key, value in answer.items()}
    if not isinstance(answer, str):
        raise ValueError(f"an answer is neither a dictionary nor a text: {answer!r}")  # noqa: TRY004 - a row
    text = answer.strip('"')
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        try:
            found = _twice(parse_literal(text))
        except (ValueError, SyntaxError):
            return None
    if not isinstance(found, Mapping):
        raise ValueError(f"the fields of an answer are not a dictionary: {answer!r}")  # noqa: TRY004 - a row
    return {key: value if isinstance(value, list) else [value] for key, value in found.items()}


def _twice(found: Any) -> Any:
    if isinstance(found, Mapping):
        return found
    if not isinstance(found, str):
        raise ValueError("a literal in a literal is a text")  # noqa: TRY004 - as what it is made of
    return parse_literal(found)


def _values(value: Any) -> list[Any]:
    if not isinstance(value, Iterable):
        raise ValueError(f"the values of a field are not a list: {value!r}")  # noqa: TRY004 - a row that is wrong
    return list(value)


def field_score(said: str, answer: object) -> float:
    """Return the share of fields that are right, of all that were said or asked for.

    Case and spaces do not count. Where fields may have several values, the best of all combinations counts; it is the
    one in which each field has its best value, since fields do not depend on each other.

    Raises:
        ValueError: The answer cannot be compared.
    """
    wanted, found = answered_fields(answer), said_fields(said)
    if wanted is None or not all(wanted.values()):
        return 0.0
    marks = [_mark(found.get(key), wanted.get(key, [None])) for key in found.keys() | wanted.keys()]
    counted = [mark for mark in marks if mark is not None]
    return sum(counted) / len(counted) if counted else 0.0


def _mark(said: str | None, values: Iterable[Any]) -> bool | None:
    """Return whether a field has one of its values; ``None`` where it was not said and may have none."""
    marks = []
    for value in values:
        if value and not isinstance(value, str):
            raise ValueError(f"the value of a field is not a text: {value!r}")
        marks.append(None if said is value is None else said is not None and _plain(said) == _plain(value))
    return True if True in marks else None if None in marks else False


def _plain(value: Any) -> Any:
    return value.lower().strip().replace("\n", " ").replace(" ", "") if value else value


def placed_answer_score(said: str, answers: object, box: object) -> float:
    """Return the mean of how right the field ``answer`` is and how much of the right box the field ``bbox`` has."""
    found = said_fields(said)
    words = said_or_similar(found["answer"], answers) if "answer" in found else 0.0
    return 0.5 * words + 0.5 * (_overlap(found["bbox"], box) if "bbox" in found else 0.0)


def _overlap(said: str, box: Any) -> float:
    try:
        return signed_overlap(parse_literal(said), box)
    except (ValueError, SyntaxError, IndexError):
        return 0.0
