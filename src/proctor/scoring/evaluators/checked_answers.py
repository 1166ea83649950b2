"""inspect's scorers as metrics: checks of an answer against acceptable ones (:mod:`proctor.scoring.answer_checks`).

They are in the table of metrics as ``inspect:match``, ``inspect:pattern`` …: for a YAML task, a recipe or a config as
well as for the ``eval.yaml`` that they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any, Final, Literal

from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring import answer_checks
from proctor.scoring.answer_checks import Check
from proctor.scoring.evaluators.cases import Cases, Verdict


def _match(
    *, location: Literal["begin", "end", "any", "exact"] = "end", ignore_case: bool = True, numeric: bool = False
) -> Check:
    if location not in ("begin", "end", "any", "exact"):
        raise ScoringError(f"match looks at '{location}'", hint="location: begin, end, any or exact")
    return answer_checks.match(location, ignore_case=ignore_case, numeric=numeric)


def _pattern(*, pattern: str, ignore_case: bool = True, match_all: bool = False) -> Check:
    return answer_checks.pattern(pattern, ignore_case=ignore_case, match_all=match_all)


def _answer(*, pattern: Literal["letter", "word", "line"]) -> Check:
    if pattern not in answer_checks.ANSWER_PATTERNS:
        raise ScoringError(f"answer has no pattern '{pattern}'", hint="pattern: letter, word or line")
    return answer_checks.answer(pattern)


def _exact() -> Check:
    return answer_checks.exact


def _f1(*, stop_words: Sequence[str] | None = None) -> Check:
    return answer_checks.f1(stop_words or ())


def _math(*, timeout: float = 2.0) -> Check:
    if not timeout > 0:
        raise ScoringError(f"math has {timeout} seconds for a formula", hint="timeout: a number above 0")
    from proctor.scoring.mathematics.mathematical_answers import check_packages, same_formula  # most exams read none

    check_packages()
    return same_formula  # formulas are bounded by their size, whatever the time-out says


CHECKS: Final[Mapping[str, Callable[..., Check]]] = {
    "includes": answer_checks.includes,
    "match": _match,
    "pattern": _pattern,
    "answer": _answer,
    "exact": _exact,
    "f1": _f1,
    "math": _math,
}
"""Scorers that look at one answer and its acceptable ones, by their names in inspect: from arguments to a check."""

_MEANS: Final = ("exact", "f1")  # scorers whose score inspect calls ``mean``; that of the others is ``accuracy``


def score_name(scorer: str) -> str:
    """Return what inspect calls the score of a scorer."""
    return "mean" if scorer in _MEANS else "accuracy"


def checked(check: Callable[[], answer_checks.Verdict]) -> answer_checks.Verdict | Failure:
    """Return the verdict of a check; a failure where it cannot tell."""
    try:
        return check()
    except ScoringError as error:
        return Failure("scoring", str(error), retryable=False)


@dataclass(frozen=True)
class CheckEvaluator:
    """A scorer as an evaluator: the mean share of answers, each checked by itself. It takes what its check takes.

    Attributes:
        scorer: Its name in inspect.
    """

    scorer: str

    @property
    def __signature__(self) -> Signature:
        """What it takes: cases, then the arguments of its check."""
        taken = signature(CHECKS[self.scorer]).parameters.values()
        return Signature([Parameter("cases", Parameter.POSITIONAL_ONLY), *taken])

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check the values of arguments.

        Raises:
            ScoringError: One cannot be used: a pattern does not compile, there is no such place.
            MissingExtraError: A package is missing.
        """
        CHECKS[self.scorer](**arguments)

    def __call__(self, cases: Cases, **arguments: Any) -> Verdict:
        """Return the mean of what the check finds; answers that it cannot tell are failures."""
        check = CHECKS[self.scorer](**arguments)
        found = [checked(partial(check, str(given), _texts(gold))) for given, gold in cases.pairs()]
        failures = {place: each for place, each in enumerate(found) if isinstance(each, Failure)}
        shares = [None if isinstance(each, Failure) else each.share for each in found]
        counted = [each for each in shares if each is not None]
        if not counted:
            raise ScoringError(next(iter(failures.values())).message)
        name = score_name(self.scorer)
        return Verdict(
            {name: sum(counted) / len(counted)},
            {name: shares},
            parsed=[None if isinstance(each, Failure) else each.answer for each in found],
            failures=failures,
            described=True,
            main=name,
        )


def _texts(gold: Any) -> list[str]:
    return [str(each) for each in gold] if isinstance(gold, list | tuple) else [str(gold)]


includes, match, pattern, answer, exact, f1, math = map(CheckEvaluator, CHECKS)
