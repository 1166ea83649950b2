"""What an evaluator sees, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring.intervals import Interval


@dataclass(frozen=True, slots=True)
class Cases:
    """Predictions to judge, one entry per instance in each column.

    Attributes:
        predictions: After all post-processors.
        references: The output column.
        rows: The whole rows.
        prompts: What was asked.
        columns: Further columns of the answers (``ppl``, ``choices`` …), by name.
        project: Whose rules are meant where they differ.
    """

    predictions: Sequence[Any]
    references: Sequence[Any]
    rows: Sequence[Mapping[str, Any]] = ()
    prompts: Sequence[Any] = ()
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    project: str = "opencompass"

    def pairs(self) -> list[tuple[Any, Any]]:
        """Return predictions with their references."""
        return list(zip(self.predictions, self.references, strict=True))

    def select(self, positions: Sequence[int]) -> Cases:
        """Return the cases at positions."""
        return Cases(
            [self.predictions[i] for i in positions],
            [self.references[i] for i in positions],
            [self.rows[i] for i in positions] if self.rows else (),
            [self.prompts[i] for i in positions] if self.prompts else (),
            {name: [column[i] for i in positions] for name, column in self.columns.items()},
            self.project,
        )


@dataclass(slots=True)
class Verdict:
    """What an evaluator says of cases.

    Attributes:
        scores: As upstream names them; nearly all are percentages.
        instances: Scores of each case, in percent where the score is their mean.
        correct: Whether each case is right; empty where upstream does not say it of single cases, so that there are no
            scores over several runs.
        parsed: What each prediction was read as.
        failures: Cases that could not be judged, by position; they are not in the scores.
        described: Whether upstream says something of single cases, if not whether they are right.
        main: Name of the main score, where the evaluator says which it is.
        bounds: Confidence intervals of scores, where the evaluator has its own.
    """

    scores: dict[str, Any]
    instances: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    correct: Sequence[bool] = ()
    parsed: Sequence[Any] = ()
    failures: Mapping[int, Failure] = field(default_factory=dict)
    described: bool = False
    main: str = ""
    bounds: Mapping[str, Interval] = field(default_factory=dict)


Evaluator = Callable[..., Verdict]


def share(marks: Sequence[bool | float], name: str = "accuracy", *, details: bool = True, **extra: Any) -> Verdict:
    """Return the verdict of an evaluator whose score is the share of right cases, in percent.

    Args:
        marks: Whether each case is right.
        name: Of the score.
        details: Whether upstream says it of single cases.
        extra: Further fields of the verdict.

    Raises:
        ScoringError: There are no cases.
    """
    if not marks:
        raise ScoringError("there are no predictions to evaluate")
    value = 100 * sum(marks) / len(marks)
    instances = {name: [100.0 * mark for mark in marks]}
    return Verdict({name: value}, instances, [bool(mark) for mark in marks] if details else (), **extra)
