"""Checks of single answers against their targets, as inspect's scorers make them.

Each takes a completion and its acceptable targets, and returns a verdict: what was read out of the completion, and
whether it is right (``C``), wrong (``I``), missing (``N``) or partly right (``P``); or a number.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from proctor.regexes import BoundedPattern, bounded
from proctor.scoring.mathematics.written_numbers import number_of
from proctor.scoring.text.how_read import taken

Location = Literal["begin", "end", "any", "exact"]
RIGHT: Final = "C"
WRONG: Final = "I"
PARTLY: Final = "P"
MISSING: Final = "N"

SHARES: Final = {RIGHT: 1.0, PARTLY: 0.5, WRONG: 0.0, MISSING: 0.0}
"""What a verdict counts."""


class Verdict(NamedTuple):
    """What a check found.

    Attributes:
        value: A letter of :data:`SHARES`, or a number.
        answer: What was read out of the completion; ``None`` where nothing was found.
    """

    value: str | float
    answer: str | None

    @property
    def share(self) -> float:
        """The value as a number."""
        return SHARES[self.value] if isinstance(self.value, str) else float(self.value)


Check = Callable[[str, Sequence[str]], Verdict]
"""From a completion and its targets to a verdict."""


def _of_any(matches: Callable[[str, str], tuple[str, bool]]) -> Check:
    """Return a check that is content with any of the targets."""

    def check(completion: str, targets: Sequence[str]) -> Verdict:
        answer: str | None = None
        for target in targets:
            answer, is_right = matches(completion, target)
            if is_right:
                return Verdict(RIGHT, answer)
        return Verdict(WRONG, answer)

    return check


# -- text in text ---------------------------------------------------------------------------------------------------


def includes(*, ignore_case: bool = True) -> Check:
    """Return a check whether the completion holds the target."""

    def matches(completion: str, target: str) -> tuple[str, bool]:
        if ignore_case:
            completion, target = completion.casefold(), target.casefold()
        return completion, target in completion

    return _of_any(matches)


def match(location: Location = "end", *, ignore_case: bool = True, numeric: bool = False) -> Check:
    """Return a check whether the completion begins with, ends with, holds or is the target.

    Args:
        location: Where the target is looked for.
        ignore_case: Compare without case.
        numeric: Where the target is a number, compare numbers: currency signs, thousands separators and marks of
            emphasis do not count, and five digits do.
    """

    def matches(completion: str, target: str) -> tuple[str, bool]:
        given, wanted = completion.strip(), target.strip()
        answer = given
        if ignore_case:
            given, wanted = given.casefold(), wanted.casefold()
        if numeric:
            wanted = without_number_marks(wanted)
            if _number(wanted) is not None:
                return _same_number(answer, without_number_marks(given), wanted, location)
        return answer, _stands(_trimmed(given), _trimmed(wanted), location)

    return _of_any(matches)


def _stands(given: str, wanted: str, location: Location) -> bool:
    if location == "begin":
        return given.startswith(wanted)
    if location == "end":
        return given.endswith(wanted)
    return given == wanted if location == "exact" else wanted in given


_AROUND_NUMBERS: Final = "!?:;()[]{}'\"`"
"""Punctuation around a number that does not change it; ``<42`` and ``~42`` are not 42."""


def _number(word: str) -> float | None:
    return number_of(word.strip(_AROUND_NUMBERS))


def _rounded(number: float) -> str:
    return format(number, ".5g")


def _same_number(answer: str, given: str, wanted: str, location: Location) -> tuple[str, bool]:
    number = _rounded(_number(wanted) or 0.0)
    if location == "exact":
        alone = number_of(given)
        found = given if alone is None else _rounded(alone)
        return found, found == number
    numbers = [_rounded(each) for word in re.split(r"\s+", given) if (each := _number(word)) is not None]
    if location == "any":
        return (number, True) if number in numbers else (answer, False)
    found = (numbers[0] if location == "begin" else numbers[-1]) if numbers else ""
    return found, found == number


def without_number_marks(text: str) -> str:
    """Return a text without currency signs, separators and emphasis, and without points that end words."""
    text = re.sub(r"\\([$,£€*_])", r"\1", text)
    return re.sub(r"\.(?=\s|$|\D)", "", re.sub(r"[$,£€*_]", "", text))


def _trimmed(text: str) -> str:
    return text.strip(string.whitespace + string.punctuation)


# -- text found by a pattern -----------------------------------------------------------------------------------------

ANSWER_PATTERNS: Final = {
    "letter": r"(?is)ANSWER\s*:\s*([A-Za-z])(?:[^\w]|\n|$)(?!.*ANSWER\s*:)",
    "word": r"(?is)ANSWER\s*:\s*(\S+?)(?=[.,;:!?]?\s*(?:\n|$))(?!.*ANSWER\s*:)",
    "line": r"(?i)ANSWER\s*:\s*([^\n]+)\s*\Z",
}
"""Where the last ``ANSWER: …`` stands; inspect's own patterns."""


def pattern(expression: str, *, ignore_case: bool = True, match_all: bool = False) -> Check:
    """Return a check of what a regular expression finds: of its groups, else of the whole match.

    Args:
        expression: What is searched for.
        ignore_case: Search and compare without case.
        match_all: Whether all groups must be a target, and not only one of them.

    Raises:
        ScoringError: The expression does not compile.
    """
    compiled = bounded(expression, re.IGNORECASE if ignore_case else 0)

    def check(completion: str, targets: Sequence[str]) -> Verdict:
        groups = taken(_groups(compiled, completion), f"the pattern {expression}")
        if groups is None:
            return Verdict(WRONG, None)
        wanted = {each.lower() for each in targets} if ignore_case else set(targets)
        found = [each for each in groups if each is not None]
        right = [each for each in found if (each.lower() if ignore_case else each) in wanted]
        if match_all:
            is_right = bool(found) and len(right) == len(found)
            answer = "".join(targets) if is_right else None
        else:
            answer = right[0] if right else groups[0] if len(groups) == 1 else None
            is_right = bool(right)
        is_right = is_right and bool("".join(targets) if match_all else right[0])
        return Verdict(RIGHT if is_right else WRONG, answer)

    return check


def _groups(compiled: BoundedPattern, completion: str) -> Iterator[tuple[str | None, ...]]:
    """Yield the groups of each match, the whole match where there are none; others are looked for after the first."""
    if (found := compiled.groups(completion)) is not None:
        yield found[1:] or found[:1]
        yield from (each if isinstance(each, tuple) else (each,) for each in compiled.findall(completion)[1:])


def answer(kind: Literal["letter", "word", "line"]) -> Check:
    """Return a check of what stands behind the last ``ANSWER:``."""
    return pattern(ANSWER_PATTERNS[kind])


# -- words -----------------------------------------------------------------------------------------------------------


def exact(completion: str, targets: Sequence[str]) -> Verdict:
    """Return whether the completion is a target in other spelling: case, punctuation, articles, forms of numbers."""
    given = normalized(completion)
    is_right = any(wanted and wanted == given for wanted in map(normalized, targets))
    return Verdict(RIGHT if is_right else WRONG, completion)


def f1(stop_words: Sequence[str] = ()) -> Check:
    """Return a check of the overlap of words with the best target (SQuAD's F1), to two decimals."""

    def check(completion: str, targets: Sequence[str]) -> Verdict:
        given = Counter(normalized(completion, stop_words).split())
        wanted = [Counter(normalized(each, stop_words).split()) for each in targets]
        best = max((_overlap(given, each) for each in wanted if each), default=0.0)
        return Verdict(round(best, 2), completion)

    return check


def _overlap(given: Counter[str], wanted: Counter[str]) -> float:
    shared = sum((given & wanted).values())
    precision = shared / sum(given.values()) if given else 1.0
    recall = shared / sum(wanted.values())
    return 2 * precision * recall / (precision + recall) if precision or recall else 0.0


_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")


def normalized(text: str, stop_words: Sequence[str] = ()) -> str:
    """Return a text in one spelling, word by word, without stop words."""
    left_out = {_normal_word(each) for each in stop_words}
    words = [_normal_word(each) for each in re.split(" |-", text)]
    return " ".join(each for each in words if each not in left_out and each.strip()).strip()


def _normal_word(word: str) -> str:
    word = _without_punctuation(word.casefold())
    word = str(float(word)) if _is_finite(word) else word
    return " ".join(_ARTICLES.sub(" ", word).split())


def _without_punctuation(word: str) -> str:
    for each in (word, _trimmed(word)):
        if _is_finite(each):
            return each
    return "".join(each for each in word if each not in string.punctuation)


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
