"""``--fail-under TASK=0.7``: the least score with which a run counts as passed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.cli.error_reporting import FAILURES, warn
from proctor.errors import Diagnostic, UsageError, did_you_mean
from proctor.results.summary import shown
from proctor.scoring.flat import main_of

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
        """Return what ``TASK=0.7`` or ``TASK=70%`` says.

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
        """Return how a result misses the threshold; empty where it does not.

        Raises:
            UsageError: The score has another unit, or less of it is better.
        """
        main = main_of(entry)
        if main.higher_is_better is False:
            raise UsageError(f"--fail-under {self.text}: of {main.name} less is better", hint="there is no least score")
        if main.number is None:
            return f"{self.task} has no score"
        if main.unit == "raw" and self.is_percent:
            raise UsageError(f"--fail-under {self.text}: {main.name} is not a share", hint="leave out %")
        found, least = main.number, self.least
        if main.unit != "raw":
            found = main.number / (_PERCENT if main.unit == "percent" else 1.0)
            least = self.least / (_PERCENT if self.is_percent else 1.0)
            if not 0 <= least <= 1:
                hint = f"{self.task}={self.least:g}%"
                raise UsageError(f"--fail-under {self.text}: {main.name} is a share, between 0 and 1", hint=hint)
        return "" if found >= least else f"{self.task}: {main.name} is {shown(found)}, under {shown(least)}"


def parsed(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """Return the thresholds that the command line gives."""
    return tuple(map(Threshold.parse, texts))


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


def verdict(thresholds: Sequence[Threshold], results: Mapping[str, Mapping[str, Any]]) -> int:
    """Say which scores are too low; return the exit code."""
    missed = [words for each in thresholds if (words := each.missed(results.get(each.task, {})))]
    for words in missed:
        warn(f"failed: {words}")
    return FAILURES if missed else 0
