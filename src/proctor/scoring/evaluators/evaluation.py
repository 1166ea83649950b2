"""An evaluator's result for all answers: scores over runs of the same rows, the main score, failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.evaluators.runs import averaged, over_runs, replica_positions
from proctor.scoring.text.how_read import among
from proctor.statistics.intervals import Interval

METRIC_ORDER = (
    "score", "auc_score", "accuracy", "humaneval_pass@1", "rouge1", "avg_toxicity_score", "bleurt_diff",
    "matthews_correlation", "truth", "f1", "exact_match", "extract_rate",
)  # fmt: skip
"""The first of these that an evaluator gives is its main score, as in upstream's tables; otherwise its first number."""


@dataclass(slots=True)
class Evaluation:
    """Scores of a dataset.

    Attributes:
        scores: As upstream names them.
        main: Name of the main score.
        instance_scores: Score columns, one entry per prediction; ``None`` where there was none to judge.
        predictions: After post-processing; a :class:`~proctor.ir.Failure` stands where there is none.
        failures: Position and reason of every prediction that could not be scored; they are not in the scores.
        bounds: Confidence intervals of scores, where the evaluator has its own.
    """

    scores: dict[str, Any]
    main: str
    instance_scores: dict[str, Sequence[float | None]]
    predictions: Sequence[Any]
    failures: dict[int, Failure] = field(default_factory=dict)
    bounds: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    """An evaluator over the cases that have a prediction, once for each run.

    Attributes:
        judge: The evaluator.
        failures: Those without a prediction.
        runs: ``k`` and ``n``.
        in_blocks: Whether the runs stand behind each other, rather than those of one row.
    """

    judge: Callable[[Cases], Verdict]
    cases: Cases
    failures: dict[int, Failure]
    runs: tuple[int | Sequence[int], int]
    in_blocks: bool = True

    def evaluation(self) -> Evaluation:
        """Return the scores over all runs.

        Raises:
            ScoringError: There is nothing to score, or the predictions do not make whole runs.
        """
        k, n = self.runs
        count = len(self.cases.predictions)
        if n < 1 or count % n:
            raise ScoringError(f"{count} predictions do not make {n} runs of the same rows")
        positions = [
            [i for i in run if i not in self.failures] for run in replica_positions(count, n, in_blocks=self.in_blocks)
        ]
        if not all(positions):
            raise ScoringError("there are no predictions to evaluate", why=_first_reason(self.failures))
        verdicts: list[Verdict] = []
        for run in positions:
            with among(run):
                verdicts.append(self.judge(self.cases.select(run)))
        for verdict, run in zip(verdicts, positions, strict=True):
            self.failures |= {run[i]: failure for i, failure in verdict.failures.items()}
        scores = self._scores(verdicts, positions, k, n)
        columns = _scattered(verdicts, positions, count)
        parsed = self._parsed(verdicts, positions)
        main = verdicts[0].main if verdicts[0].main in scores else main_score(scores)
        bounds = verdicts[0].bounds if n == 1 else {}  # of a mean over runs there is none
        return Evaluation(scores, main, columns, parsed, self.failures, bounds)

    def _scores(
        self, verdicts: Sequence[Verdict], positions: Sequence[Sequence[int]], k: int | Sequence[int], n: int
    ) -> dict[str, Any]:
        if n == 1:
            return dict(verdicts[0].scores)
        means = averaged([verdict.scores for verdict in verdicts], self.cases.project)
        if all(verdict.described for verdict in verdicts):
            return means
        if not all(verdict.correct for verdict in verdicts):
            return {**verdicts[-1].scores, **means}  # the last run's, as upstream where an evaluator has no details
        groups: dict[str, list[bool]] = {}
        for verdict, run in zip(verdicts, positions, strict=True):
            for mark, i in ((mark, i) for mark, i in zip(verdict.correct, run, strict=True) if i not in self.failures):
                groups.setdefault(self._row_name(i, n), []).append(mark)
        whole = {name: marks for name, marks in groups.items() if len(marks) == n}
        return {**means, **over_runs(self.cases.project, whole, k, n)}

    def _row_name(self, position: int, n: int) -> str:
        row = self.cases.rows[position] if self.cases.rows else {}
        size = len(self.cases.predictions) // n
        index = position % size if self.in_blocks else position // n
        return f"{row.get('subdivision', 'dataset')}_{row.get('idx', index)}"

    def _parsed(self, verdicts: Sequence[Verdict], positions: Sequence[Sequence[int]]) -> list[Any]:
        parsed = [self.failures.get(i, each) for i, each in enumerate(self.cases.predictions)]
        for verdict, run in zip(verdicts, positions, strict=True):
            for i, each in zip(run, verdict.parsed, strict=False):
                parsed[i] = each
        return parsed


def _scattered(
    verdicts: Sequence[Verdict], positions: Sequence[Sequence[int]], count: int
) -> dict[str, Sequence[float | None]]:
    columns: dict[str, list[float | None]] = {}
    for verdict, run in zip(verdicts, positions, strict=True):
        for name, values in verdict.instances.items():
            column = columns.setdefault(name, [None] * count)
            for i, value in zip(run, values, strict=True):
                column[i] = value
    return dict(columns)


def _first_reason(failures: Mapping[int, Failure]) -> str:
    return next((failure.message for failure in failures.values()), "")


def main_score(scores: Mapping[str, Any]) -> str:
    """Return the name of the score that tables show first."""
    for name in METRIC_ORDER:
        if name in scores:
            return name
    numbers = (name for name, value in scores.items() if isinstance(value, int | float))
    return next(numbers, next(iter(scores), ""))
