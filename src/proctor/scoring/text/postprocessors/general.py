"""Post-processors that belong to no dataset."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from proctor.errors import needed
from proctor.foreign_text import parse_literal
from proctor.safe_python.patterns import safe_pattern
from proctor.scoring.text.how_read import or_else, taken

_ARTICLES = re.compile(r"\b(a|an|the)\b", re.IGNORECASE)
_LONGEST_LITERAL = 100_000  # characters: parsing takes a third of a second and some 50 MB for so many


def general(text: str) -> str:
    """Return a text up to its first line end, full stop or comma, without punctuation, articles and extra space."""
    start = re.split(r"[\n.,]", text, maxsplit=1)[0]
    plain = _ARTICLES.sub("", re.sub(r"[^\w\s]", "", start))
    return re.sub(r"\s+", " ", plain).strip()


def general_chinese(text: str) -> str:
    """Return the words of a Chinese text, separated by spaces; the whole text, as upstream.

    Raises:
        MissingExtraError: The package ``jieba`` is not installed.
    """
    return " ".join(chinese_words(text))


def chinese_words(text: str) -> list[str]:
    """Return the words of a Chinese text.

    Raises:
        MissingExtraError: The package ``jieba`` is not installed.
    """
    with needed("jieba", "chinese", "cutting Chinese text into words"):
        import jieba
    jieba.setLogLevel(60)
    return list(jieba.cut(text))


def search_group(text: str, re_pattern: str) -> str:
    """Return the first group of a pattern's first match, stripped; the text where nothing matches.

    Raises:
        DataError: The pattern is not valid, or may take exponential time.
    """
    found = taken((each.strip() for each in _first_groups(re_pattern, text)), f"the pattern {re_pattern}")
    return or_else(text, "the whole answer", "") if found is None else found


def answer_pattern(text: str, answer_pattern: str) -> str:
    """Return the first group of a pattern's first match, or ``""``.

    Raises:
        DataError: The pattern is not valid, or may take exponential time.
    """
    return taken(_first_groups(answer_pattern, text), f"the pattern {answer_pattern}") or ""


def _first_groups(pattern: str, text: str) -> Iterator[str]:
    """Yield the first group of each match, the first match before others are looked for."""
    safe = safe_pattern(pattern)
    if (match := safe.find(text)) is not None:
        yield match.group(1)
        yield from (each[0] if isinstance(each, tuple) else each for each in safe.findall(text)[1:])


def first_number(text: str) -> float | None:
    """Return the first number of a text, or ``None``."""
    number = taken(re.findall(r"-?(?:\d+\.\d+|\.\d+|\d+)", text), "a number")
    return None if number is None else float(number)


def xml_tag(text: str, tag: str) -> str:
    """Return what the last pair of tags holds, or ``NO ANSWER FOUND``.

    Args:
        text: What a model said.
        tag: The opening tag with its angle brackets.

    Raises:
        DataError: The tag makes no pattern.
    """
    if re.escape(tag) == tag and f"</{tag[1:-1]}>" not in text:
        return "NO ANSWER FOUND"  # the pattern would look for it to the end of the text, from every opening tag
    found = safe_pattern(f"{tag}(.*?)</{tag[1:-1]}>", re.DOTALL).findall(text)
    return (taken(found, f"the tag {tag}", -1) or "").strip() if found else "NO ANSWER FOUND"


def without_reasoning(
    text: object,
    think_start_token: str = "<think>",  # noqa: S107 - no password
    think_end_token: str = "</think>",  # noqa: S107
) -> Any:
    """Return a text without what stands between the tokens; with an end token alone, what follows the last one.

    Lists are answered element by element; what is not text stays.
    """
    if isinstance(text, list):
        return [without_reasoning(each, think_start_token, think_end_token) for each in text]
    if not isinstance(text, str):
        return text
    if think_start_token not in text and think_end_token in text:
        return text.split(think_end_token)[-1].strip()
    if re.escape(think_end_token) == think_end_token and think_end_token not in text:
        return text.strip()
    return safe_pattern(f"{think_start_token}(.*?){think_end_token}", re.DOTALL).sub("", text).strip()


def literal(text: str, postprocess: Callable[..., Any] | None = None, **arguments: Any) -> Any:
    """Read a text that is a Python literal (never more than that), then apply a post-processor."""
    value = read_literal(text)
    return postprocess(value, **arguments) if postprocess else value


def read_literal(text: str) -> Any:
    """Return the value of a Python literal, or the text where it is not one."""
    if len(text) > _LONGEST_LITERAL:
        return text
    try:
        return parse_literal(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
