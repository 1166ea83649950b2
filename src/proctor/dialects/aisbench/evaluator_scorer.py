"""The evaluator of a dataset as a metric of the core: over all answers at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.dialects.aisbench.evaluation import evaluated, project_of_config
from proctor.dialects.aisbench.evaluators import (
    declared_main,
    is_class,
    is_known,
    is_recorded_only,
    reads_rows,
    unit_of,
)
from proctor.dialects.aisbench.judged_names import ASKING
from proctor.dialects.aisbench.readings import TURN
from proctor.dialects.aisbench.values import short_name
from proctor.errors import Diagnostic, ScoringError
from proctor.ir import Failure
from proctor.logs import get_logger
from proctor.scoring.columns import Columns
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.evaluation import Evaluation
from proctor.scoring.grades import Measured
from proctor.scoring.grading.protocols import Need
from proctor.scoring.scores import Score
from proctor.scoring.text.how_read import hearing
from proctor.statistics.intervals import score_interval

NO_REFERENCES = "the evaluator compares answers with right ones, and reader_cfg names no output_column"


class _NoReferences(Sequence[Any]):
    """References of a dataset that has none: an evaluator that looks at one ends with the reason."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        """Refuse.

        Raises:
            ScoringError: Always.
        """
        raise ScoringError(NO_REFERENCES, hint="output_column='answer'")


@dataclass(frozen=True, slots=True)
class EvaluatorScorer:
    """The evaluator of a dataset, over all answers.

    Attributes:
        evaluation: The ``eval_cfg``.
        runs: ``k`` and ``n`` of the dataset.
        in_blocks: Whether the copies of all rows stand behind each other.
        has_turns: Whether several readings belong to one row: the turns of a conversation.
        is_judged: Whether a judge reads the rows first.
        column: Under which name evaluators find what was measured; empty where answers are predictions.
        compares: Whether there is something to compare answers with.
    """

    evaluation: Mapping[str, Any]
    runs: tuple[int | Sequence[int], int]
    in_blocks: Callable[[], bool]
    has_turns: bool = False
    is_judged: bool = False
    column: str = ""
    compares: bool = True

    @property
    def name(self) -> str:
        """The evaluator's type."""
        return str(self._evaluator.get("type", "evaluator"))

    @property
    def _evaluator(self) -> Mapping[str, Any]:
        return self.evaluation.get("evaluator") or {}

    @property
    def needs(self) -> frozenset[Need]:
        """Whole rows where the evaluator, a post-processor of references or several runs look at them."""
        rows = reads_rows(self._evaluator) or self.evaluation.get("dataset_postprocessor") or self.runs[1] > 1
        found: list[Need] = ["fields"] if rows or self.has_turns or self.is_judged else []
        return frozenset([*found, "prompts"] if is_class(self._evaluator) else found)

    @property
    def declared_main(self) -> Score | None:
        """The evaluator's main score without its value, where its unit is known."""
        return declared_main(self._evaluator)

    def check(self) -> Iterator[Diagnostic]:
        """Yield nothing; the ``eval_cfg`` is checked as a whole."""
        yield from ()

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return what the evaluator says.

        Raises:
            ProctorError: It cannot say anything.
        """
        if is_recorded_only(self._evaluator):
            return Measured()
        if all(isinstance(each, Failure) for each in columns.raw or columns.predictions):
            return Measured()
        if intervals and instances:  # the whole, and not a part of it
            self._say_gaps(columns)
        with hearing() as heard:
            found = self._evaluated(columns)
        numbers = {name: value for name, value in found.scores.items() if isinstance(value, int | float)}
        of_rows = self._of_rows(found, columns)
        scores = [self._score(name, value, found, of_rows, intervals=intervals) for name, value in numbers.items()]
        return Measured(
            scores,
            found.main if found.main in numbers else next(iter(numbers), ""),
            {name: list(map(_number, column)) for name, column in found.instance_scores.items()} if instances else {},
            found.failures,
            parsed=found.predictions if len(found.predictions) == len(columns) else None,
            unread=heard.unread,
        )

    def _evaluated(self, columns: Columns) -> Evaluation:
        rows: Sequence[Mapping[str, Any]] = columns.task_data
        if self.has_turns:
            rows = [{key: value for key, value in row.items() if key != TURN} for row in rows]
        project = project_of_config(self.evaluation)
        given = list(columns.predictions)
        references: Sequence[Any] = list(columns.references)
        if not self.compares and is_known(self._evaluator) and short_name(self._evaluator["type"]) not in ASKING:
            references = _NoReferences(len(references))
        more = {self.column: given} if self.column else {}
        cases = Cases(given, references, rows, columns.prompts, more, project)
        return evaluated(self.evaluation, cases, self.runs, in_blocks=self.in_blocks())

    def _say_gaps(self, columns: Columns) -> None:
        """Say how many rows have no right answer: no answer equals it, as upstream."""
        pairs = zip(columns.predictions, columns.references, strict=True)
        gaps = sum(gold is None for given, gold in pairs if not isinstance(given, Failure))
        if self.compares and gaps and not reads_rows(self._evaluator):
            text = "%d of %d rows have no right answer, and count as wrong: no answer equals None"
            get_logger().warning(text, gaps, len(columns))

    def _of_rows(self, found: Evaluation, columns: Columns) -> Mapping[str, Sequence[float | None]]:
        """Return the instance scores of rows; of several turns the mean."""
        if not self.has_turns:
            return found.instance_scores
        starts = [place for place, row in enumerate(columns.task_data) if not row.get(TURN)]
        ends = [*starts[1:], len(columns)]
        spans = [slice(*each) for each in zip(starts, ends, strict=True)]
        return {name: [_mean(column[span]) for span in spans] for name, column in found.instance_scores.items()}

    def _score(
        self,
        name: str,
        value: float,
        found: Evaluation,
        of_rows: Mapping[str, Sequence[float | None]],
        *,
        intervals: bool,
    ) -> Score:
        unit, higher = unit_of(self._evaluator, name)
        low = high = None
        if intervals:
            known = found.bounds.get(name) or score_interval(
                of_rows.get(name, ()), float(value), may_be_percent=unit != "share"
            )
            low, high = known or (None, None)
        return Score(name, value, low, high, unit=unit, higher_is_better=higher, metric=self.name)


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None
