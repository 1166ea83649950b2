"""inspect's scorers as metrics: checks of an answer against acceptable ones (:mod:`proctor.scoring.answer_checks`).

They are in the table of metrics as ``inspect:match``, ``inspect:pattern`` …: for a YAML task, a recipe or a config as
well as for the ``eval.yaml`` that they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring import answer_checks
from proctor.scoring.answer_checks import Check, Location
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.mathematical_answers import check_packages, same_formula


def includes_check(*, ignore_case: bool = True) -> Check:
    """Return the check of the scorer ``includes``."""
    return answer_checks.includes(ignore_case=ignore_case)


def match_check(*, location: Location = "end", ignore_case: bool = True, numeric: bool = False) -> Check:
    """Return the check of the scorer ``match``.

    Raises:
        ScoringError: There is no such location.
    """
    if location not in ("begin", "end", "any", "exact"):
        raise ScoringError(f"match looks at '{location}'", hint="location: begin, end, any or exact")
    return answer_checks.match(location, ignore_case=ignore_case, numeric=numeric)


def pattern_check(*, pattern: str, ignore_case: bool = True, match_all: bool = False) -> Check:
    """Return the check of the scorer ``pattern``.

    Raises:
        ScoringError: The pattern does not compile.
    """
    return answer_checks.pattern(pattern, ignore_case=ignore_case, match_all=match_all)


def answer_check(*, pattern: Literal["letter", "word", "line"]) -> Check:
    """Return the check of the scorer ``answer``.

    Raises:
        ScoringError: There is no such pattern.
    """
    if pattern not in answer_checks.ANSWER_PATTERNS:
        raise ScoringError(f"answer has no pattern '{pattern}'", hint="pattern: letter, word or line")
    return answer_checks.answer(pattern)


def exact_check() -> Check:
    """Return the check of the scorer ``exact``."""
    return answer_checks.exact


def f1_check(*, stop_words: Sequence[str] | None = None) -> Check:
    """Return the check of the scorer ``f1``."""
    return answer_checks.f1(stop_words or ())


def math_check(*, timeout: float = 2.0) -> Check:
    """Return the check of the scorer ``math``; formulas are bounded by their size, whatever ``timeout`` says.

    Raises:
        ScoringError: The time is not above 0.
        MissingExtraError: A package is missing.
    """
    if not timeout > 0:
        raise ScoringError(f"math has {timeout} seconds for a formula", hint="timeout: a number above 0")
    check_packages()
    return same_formula


CHECKS: Final[Mapping[str, Callable[..., Check]]] = {
    "includes": includes_check,
    "match": match_check,
    "pattern": pattern_check,
    "answer": answer_check,
    "exact": exact_check,
    "f1": f1_check,
    "math": math_check,
}
"""Scorers that look at one answer and its acceptable ones, by their names in inspect."""

MEANS: Final = ("exact", "f1")
"""Scorers whose score inspect calls ``mean``; that of the others is ``accuracy``."""


def score_name(scorer: str) -> str:
    """Return what inspect calls the score of a scorer."""
    return "mean" if scorer in MEANS else "accuracy"


def includes(cases: Cases, *, ignore_case: bool = True) -> Verdict:
    """Share of answers that hold an acceptable one (inspect's ``includes``)."""
    return _checked("includes", includes_check(ignore_case=ignore_case), cases)


def match(cases: Cases, *, location: Location = "end", ignore_case: bool = True, numeric: bool = False) -> Verdict:
    """Share of answers that begin with, end with, hold or are an acceptable one (inspect's ``match``)."""
    return _checked("match", match_check(location=location, ignore_case=ignore_case, numeric=numeric), cases)


def pattern(cases: Cases, *, pattern: str, ignore_case: bool = True, match_all: bool = False) -> Verdict:
    """Share of answers in which a pattern finds an acceptable one (inspect's ``pattern``)."""
    return _checked("pattern", pattern_check(pattern=pattern, ignore_case=ignore_case, match_all=match_all), cases)


def answer(cases: Cases, *, pattern: Literal["letter", "word", "line"]) -> Verdict:
    """Share of answers with an acceptable one behind the last ``ANSWER:`` (inspect's ``answer``)."""
    return _checked("answer", answer_check(pattern=pattern), cases)


def exact(cases: Cases) -> Verdict:
    """Share of answers that are an acceptable one in some spelling (inspect's ``exact``)."""
    return _checked("exact", exact_check(), cases)


def f1(cases: Cases, *, stop_words: Sequence[str] | None = None) -> Verdict:
    """Mean overlap of words with the best acceptable answer (inspect's ``f1``)."""
    return _checked("f1", f1_check(stop_words=stop_words), cases)


def math(cases: Cases, *, timeout: float = 2.0) -> Verdict:
    """Share of answers whose formula equals an acceptable one (inspect's ``math``)."""
    return _checked("math", math_check(timeout=timeout), cases)


def checked(check: Callable[[], answer_checks.Verdict]) -> answer_checks.Verdict | Failure:
    """Return the verdict of a check; a failure where it cannot tell."""
    try:
        return check()
    except ScoringError as error:
        return Failure("scoring", str(error), retryable=False)


def _checked(scorer: str, check: Check, cases: Cases) -> Verdict:
    found = [checked(lambda given=given, gold=gold: check(str(given), _texts(gold))) for given, gold in cases.pairs()]  # type: ignore[misc]
    failures = {place: each for place, each in enumerate(found) if isinstance(each, Failure)}
    shares = [None if isinstance(each, Failure) else each.share for each in found]
    counted = [each for each in shares if each is not None]
    if not counted:
        raise ScoringError(next(iter(failures.values())).message)
    name = score_name(scorer)
    parsed = [None if isinstance(each, Failure) else each.answer for each in found]
    return Verdict(
        {name: sum(counted) / len(counted)}, {name: shares}, parsed=parsed, failures=failures, described=True, main=name
    )


def _texts(gold: Any) -> list[str]:
    return [str(each) for each in gold] if isinstance(gold, list | tuple) else [str(gold)]
