"""``--fail-under TASK=0.7``: the least score with which a run counts as passed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.cli.error_reporting import FAILURES, UNDECIDED, warn
from proctor.errors import Diagnostic, UsageError, did_you_mean
from proctor.results.summary import shown
from proctor.scoring.flat_scores import main_of

if TYPE_CHECKING:
    from proctor.recipes.exam import Exam
    from proctor.scoring.scores import Score

_PERCENT = 100.0


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least main score of an exam, a benchmark or a group.

    Attributes:
        task: Its name.
        least: The score, in the unit in which it is given.
        is_percent: Whether that is percent.
        text: As the user wrote it.
    """

    task: str
    least: float
    is_percent: bool
    text: str

    @classmethod
    def parse(cls, text: str) -> Threshold:
        """Parse ``TASK=0.7`` or ``TASK=70%``.

        Raises:
            UsageError: It is neither.
        """
        task, _, number = text.rpartition("=")
        try:
            least = float(number.removesuffix("%"))
        except ValueError:
            least = math.nan
        if not task or not math.isfinite(least):
            hint = "as in --fail-under samples.science=0.7, or =70%"
            raise UsageError(f"--fail-under {text} is not TASK=SCORE", hint=hint)
        return cls(task, least, number.endswith("%"), text)

    def missed(self, entry: Mapping[str, Any]) -> str:
        """Return the message where a result misses the threshold; empty where it does not.

        Raises:
            UsageError: The score has another unit, or less of it is better.
        """
        main = main_of(entry)
        if main.number is None and main.higher_is_better is not False:
            return f"{self.task} has no score"
        if (refused := self.refusal(main)) is not None:
            raise UsageError([refused])
        found, least = main.number or 0.0, self.least
        if main.unit != "raw":
            found, least = found / (_PERCENT if main.unit == "percent" else 1.0), self._share
        return "" if found >= least else f"{self.task}: {main.name} is {shown(found)}, under {shown(least)}"

    def open_question(self, results: Mapping[str, Mapping[str, Any]]) -> str:
        """Return why a score that is high enough is not certain: what has no score could lower it; else empty."""
        entry = results.get(self.task, {})
        main, missing = main_of(entry), _missing(entry)
        if not missing or main.number is None:
            return ""
        known = f"{self.task}: {missing} of {_count(entry)} instances have no score"
        if main.unit == "raw":
            return f"{known}, and nothing bounds {main.name}"
        least = _least_share(results, self.task)
        if least >= self._share:
            return ""
        return f"{known}, and with them as 0 {main.name} would be {shown(least)}"

    @property
    def _share(self) -> float:
        return self.least / (_PERCENT if self.is_percent else 1.0)

    def refusal(self, main: Score) -> Diagnostic | None:
        """Return the reason why a score cannot be held to the threshold, whatever its value."""
        given = f"--fail-under {self.text}"
        if main.higher_is_better is False:
            return Diagnostic(f"{given}: of {main.name} less is better", hint="there is no least score")
        if main.unit == "raw":
            return Diagnostic(f"{given}: {main.name} is not a share", hint="leave out %") if self.is_percent else None
        if 0 <= self._share <= 1:
            return None
        can_be_percent = not self.is_percent and 0 <= self.least <= _PERCENT
        hint = f"{self.task}={self.least:g}%" if can_be_percent else f"as in {self.task}=0.7, or {self.task}=70%"
        return Diagnostic(f"{given}: {main.name} is a share, between 0 and 1", hint=hint)


def parsed(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """Return the thresholds that the command line gives."""
    return tuple(map(Threshold.parse, texts))


def check_scored(exams: Iterable[Exam]) -> None:
    """Refuse thresholds where answers are recorded and not scored, before anybody is asked.

    Raises:
        UsageError: They are.
    """
    if any(exam.options.predict_only for exam in exams):
        hint = "leave one of them out; proctor run RUN_FOLDER scores later what was recorded"
        raise UsageError("--fail-under wants a score, and --predict-only makes none", hint=hint)


def check_names(thresholds: Sequence[Threshold], names: Iterable[str]) -> None:
    """Refuse thresholds of what is not run, before anybody is asked.

    Raises:
        UsageError: With every name that is not there.
    """
    known = list(dict.fromkeys(names))
    unknown = [each for each in thresholds if each.task not in known]
    if unknown:
        hints = [did_you_mean(each.task, known) or f"the exams are {', '.join(known)}" for each in unknown]
        raise UsageError(
            [
                Diagnostic(f"--fail-under names '{each.task}', which is not one of the exams", hint=hint)
                for each, hint in zip(unknown, hints, strict=True)
            ]
        )


def check_units(thresholds: Sequence[Threshold], exams: Iterable[Exam]) -> None:
    """Refuse thresholds that exams cannot be held to, before anybody is asked, where they declare their unit.

    Raises:
        UsageError: With all of them.
    """
    by_name = {exam.name: exam for exam in exams}
    problems = [
        refused
        for each in thresholds
        if (exam := by_name.get(each.task)) is not None
        and (declared := exam.declared_main) is not None
        and (refused := each.refusal(declared)) is not None
    ]
    if problems:
        raise UsageError(problems)


def _count(entry: Mapping[str, Any]) -> int:
    return int(entry.get("n") or 0)


def _missing(entry: Mapping[str, Any]) -> int:
    return min(_count(entry), int(entry.get("failures") or 0))


def _least_share(results: Mapping[str, Mapping[str, Any]], name: str) -> float:
    """Return the score as a share where what has none counts 0; a suite loses at most as much as its worst member."""
    entry = results.get(name, {})
    main, members = main_of(entry), [results[each] for each in entry.get("members") or () if each in results]
    kept = min(1.0 - _missing(each) / max(_count(each), 1) for each in members or [entry])
    return (main.number or 0.0) * kept / (_PERCENT if main.unit == "percent" else 1.0)


def verdict(thresholds: Sequence[Threshold], results: Mapping[str, Mapping[str, Any]]) -> int:
    """Say which scores are too low, and which may be; return the exit code."""
    missed = [words for each in thresholds if (words := each.missed(results.get(each.task, {})))]
    for words in missed:
        warn(f"FAILED: {words}")
    unknown = [] if missed else [words for each in thresholds if (words := each.open_question(results))]
    for words in unknown:
        warn(f"UNDECIDED: {words}")
    return FAILURES if missed else UNDECIDED if unknown else 0
