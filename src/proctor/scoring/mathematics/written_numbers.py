"""Numbers as people write them in any script: ``½``, ``3²``, ``−5``, ``１２``, ``1.234,5``, ``二十五``, ``三点五``.

The rules are those of inspect's ``match(numeric=true)``, so that both find the same numbers.
"""

# ruff: noqa: RUF001, RUF002 - signs of other scripts are what this module is about

from __future__ import annotations

import math
import unicodedata
from typing import Final

_MINUS: Final = frozenset("-−﹣－负負")
_PLUS: Final = frozenset("+＋﹢正")
_POINTS: Final = frozenset("٫．")
_CHINESE_POINTS: Final = "点點"
_GROUPING: Final = frozenset(",，﹐、٬ '’ʼ＇\u00a0\u202f\u2009\u2007\u2008")
_SUPERSCRIPT: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT_DIGITS: Final = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")

_DIGITS: Final = {
    **dict.fromkeys("零〇○", 0),
    **dict.fromkeys("一壹幺", 1),
    **dict.fromkeys("二贰貳两兩", 2),
    **dict.fromkeys("三叁參", 3),
    **dict.fromkeys("四肆", 4),
    **dict.fromkeys("五伍", 5),
    **dict.fromkeys("六陆陸", 6),
    **dict.fromkeys("七柒", 7),
    **dict.fromkeys("八捌", 8),
    **dict.fromkeys("九玖", 9),
}
_TENS: Final = {"廿": 20, "卅": 30, "卌": 40}
_SMALL: Final = {**dict.fromkeys("十拾", 10), **dict.fromkeys("百佰", 100), **dict.fromkeys("千仟", 1000)}
_LARGE: Final = {**dict.fromkeys("万萬", 10**4), **dict.fromkeys("亿億", 10**8), "兆": 10**12}
_CHINESE: Final = frozenset([*_DIGITS, *_TENS, *_SMALL, *_LARGE, *_CHINESE_POINTS, *"负負正"])

_LONGEST: Final = 3_000  # characters of a number: Python turns longer runs of digits into no integer


def number_of(text: str) -> float | None:
    """Return the finite number that a text is; ``None`` where it is none."""
    if len(text) > _LONGEST:
        return None
    for read in (float, _written):
        try:
            found = read(text)
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
        if found is not None and math.isfinite(found):
            return found
    return None


def _written(text: str) -> float | None:
    negative, rest = _without_signs(text.strip())
    value: float | None
    if len(rest) == 1 and (single := unicodedata.numeric(rest, None)) is not None:
        return -single if negative else single
    base, exponent = _without_exponent(rest)
    if (value := _with_fraction(base)) is None:
        return None
    value = -value if negative else value
    if exponent is None:
        return value
    raised = value**exponent
    return None if isinstance(raised, complex) else float(raised)


def _without_signs(text: str) -> tuple[bool, str]:
    negative = False
    while text and (text[0] in _MINUS or text[0] in _PLUS):
        negative ^= text[0] in _MINUS
        text = text[1:].lstrip()
    return negative, text


def _without_exponent(text: str) -> tuple[str, int | None]:
    """Return a text and the superscript exponent behind it."""
    end = len(text)
    while end and (text[end - 1].isspace() or text[end - 1] in _GROUPING):
        end -= 1
    start = end
    while start and text[start - 1] in _SUPERSCRIPT_DIGITS:
        start -= 1
    if start == end:
        return text.strip(), None
    if start and text[start - 1] in "⁻⁺":
        start -= 1
    base = text[:start].rstrip()
    return (base, int(text[start:end].translate(_SUPERSCRIPT))) if base else (text.strip(), None)


def _with_fraction(text: str) -> float | None:
    """Return the value of a number that may end in a character like ``½``."""
    places = [place for place, each in enumerate(text) if 0.0 < unicodedata.numeric(each, 0.0) < 1.0]
    if not places:
        return _plain(text)
    head, tail = text[: places[0]].strip(), text[places[0] + 1 :]
    if len(places) > 1 or any(not each.isspace() and each not in _GROUPING for each in tail):
        return None
    whole = _plain(head) if head else 0.0
    return None if whole is None else whole + unicodedata.numeric(text[places[0]])


def _plain(text: str) -> float | None:
    text = text.strip()
    if any(each in _CHINESE for each in text) and (found := _chinese(text)) is not None:
        return found
    if (found := _of_digits(text)) is not None:
        return found
    return unicodedata.numeric(text, None) if len(text) == 1 else None


def _decimal_mark(text: str) -> str:
    """Return which of comma and point marks the fraction: the last; a comma alone before one to three digits."""
    point, comma = text.rfind("."), text.rfind(",")
    if point >= 0:
        return "." if point > comma else ","
    if comma >= 0 and sum(_digit(each) is not None for each in text[comma + 1 :]) in (1, 2, 3):
        return ","
    return ""


def _of_digits(text: str) -> float | None:
    mark, made, place = _decimal_mark(text), "", 0
    while place < len(text):
        each = text[place]
        place += 1
        if each in "eE" and "e" not in made:
            if not made:
                return None
            made += "e"
            if place < len(text) and text[place] in "-−﹣－+＋﹢":
                made += "-" if text[place] in _MINUS else "+"
                place += 1
        elif each in _POINTS or (mark and each == mark):
            if "." in made:
                return None
            made += "."
        elif each in _GROUPING or each.isspace() or (mark and each in ",."):
            continue
        elif (digit := _digit(each)) is not None:
            made += digit
        else:
            return None
    return float(made) if made.strip(".e+-") else None


def _digit(each: str) -> str | None:
    found = unicodedata.digit(each, None)
    if found is None:
        found = _DIGITS.get(each)
    return None if found is None else str(found)


def _chinese(text: str) -> float | None:
    mark = next((each for each in (*_CHINESE_POINTS, "．", ".") if each in text), None)
    head, _, tail = text.partition(mark) if mark else (text, "", "")
    has_units = any(each in _SMALL or each in _LARGE or each in _TENS for each in head)
    whole = _with_units(head) if has_units else _in_a_row(head)
    if whole is None:
        return None
    fraction, weight = 0.0, 0.1
    for each in tail:
        if each.isspace():
            continue
        if (digit := _digit(each)) is None:
            return None
        fraction += int(digit) * weight
        weight /= 10.0
    return float(whole) + fraction


def _in_a_row(text: str) -> int | None:
    digits = [_digit(each) for each in text if not each.isspace()]
    if any(each is None for each in digits):
        return None
    return int("".join(each for each in digits if each is not None)) if digits else 0


def _with_units(text: str) -> int | None:
    total = section = number = 0
    for each in text:
        if each.isspace() or each in "零〇○":
            continue
        if each in _TENS:
            section += _TENS[each]
        elif (digit := _digit(each)) is not None:
            number = int(digit)
        elif each in _SMALL:
            section, number = section + (number or 1) * _SMALL[each], 0
        elif each in _LARGE:
            total, section, number = total + (section + number) * _LARGE[each], 0, 0
        else:
            return None
    return total + section + number
