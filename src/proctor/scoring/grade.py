"""What scoring takes and gives: columns in, scores out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.data.policy import POLICY_FIELD
from proctor.ir import Failure, Response
from proctor.scoring.score import Score


@dataclass(frozen=True, slots=True)
class Columns:
    """What metrics see, one entry for each thing that is graded. Columns may be lazy; most metrics touch only two.

    Attributes:
        predictions: What is scored. Before processors the raw answer, after them the task's ``prediction_type``. A
            :class:`~proctor.ir.Failure` stands where there is no prediction.
        references: Acceptable answers of each instance.
        task_data: Fields of the task, with ``metadata``; of other dialects the row.
        responses: The responses behind each prediction, where a model was asked here.
        classes: Data classification of each instance (``public``, ``proprietary`` …), where it is known.
        rows: Further fields beside these, where instances are rows that no task made.
        prompts: What was asked, where a scorer needs it.
        raw: What was answered, before text functions.
    """

    predictions: Sequence[Any]
    references: Sequence[Sequence[Any]]
    task_data: Sequence[Mapping[str, Any]] = ()
    responses: Sequence[Sequence[Response]] = ()
    classes: Sequence[Sequence[str]] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    prompts: Sequence[Any] = ()
    raw: Sequence[Any] = ()

    def __len__(self) -> int:
        return len(self.predictions)

    def select(self, positions: Sequence[int]) -> Columns:
        """Return the entries at ``positions``; the same columns where that is all of them."""
        if len(positions) == len(self) and _is_everything(positions):
            return self
        return Columns(
            picked(self.predictions, positions),
            picked(self.references, positions),
            picked(self.task_data, positions),
            picked(self.responses, positions),
            picked(self.classes, positions),
            picked(self.rows, positions),
            picked(self.prompts, positions),
            picked(self.raw, positions),
        )

    def all_fields(self) -> Sequence[Mapping[str, Any]]:
        """Return the task data of every instance."""
        return self.task_data or [{}] * len(self)


def picked(column: Sequence[Any], positions: Sequence[int]) -> Sequence[Any]:
    """Return the entries of a column at positions, nothing of a column that is not there."""
    if not column:
        return column
    at: Callable[[Sequence[int]], Sequence[Any]] | None = getattr(column, "at", None)
    return [column[position] for position in positions] if at is None else at(positions)


def _is_everything(positions: Sequence[int]) -> bool:
    if isinstance(positions, range):
        return positions == range(len(positions))
    return all(place == position for place, position in enumerate(positions))


@dataclass(slots=True)
class Measured:
    """What a scorer makes of columns. Its columns have one entry for each thing that was graded.

    Attributes:
        scores: Global scores with their intervals, in the order in which the dialect lists them.
        main: Name of the main score among them; empty where there is none.
        instances: Instance scores by name.
        failures: Position and reason of what could not be scored; it is in no number.
        failure: Set when the scorer could not do its work at all.
        broken: Scores that could not be computed while others could, by name.
        parsed: What each prediction was read as, where the scorer reads it once more.
    """

    scores: list[Score] = field(default_factory=list)
    main: str = ""
    instances: dict[str, Sequence[Any]] = field(default_factory=dict)
    failures: dict[int, Failure] = field(default_factory=dict)
    failure: Failure | None = None
    broken: dict[str, Failure] = field(default_factory=dict)
    parsed: Sequence[Any] | None = None

    def score(self, name: str) -> Score | None:
        """Return a score by name, ``None`` where there is none."""
        return next((score for score in self.scores if score.name == name), None)


@dataclass(frozen=True, slots=True)
class Questions:
    """What was asked, where several entries of the columns are answers to one question.

    Attributes:
        places: Where the answers to each question stand.
        failures: Number and reason of each question that has not been answered, or not each time.
    """

    places: Sequence[Sequence[int]]
    failures: dict[int, Failure]


@dataclass(slots=True)
class Grade:
    """Scores of a set of instances. Columns have one entry per instance, in order.

    Attributes:
        scores: The scores as files list them, a view of :attr:`table`: ``score``, ``score_name``, ``score_ci_low``,
            ``score_ci_high``, every score under its name with ``…_ci_low``/``…_ci_high``, and ``num_of_instances``
            (those that were scored; with ``num_of_failures`` beside it where some were not).
        instance_scores: Scores by name, each a column; an entry is ``None`` where the instance failed, and
            :data:`~proctor.scoring.columns.ABSENT` where the instance does not have that score.
        predictions: What the model answered, raw.
        processed_predictions: After processors.
        processed_references: References after processors.
        failures: Position and reason of every instance that could not be scored.
        metric_failures: Metric and reason, of every metric that could not be computed.
        table: Every score with its interval, its unit and its n.
        main: The main score; ``None`` where there is none.
        stands_for: Instances of the exam of which these are a sample; ``None`` where they are all.
        members: Places of the questions of each group that :attr:`scores` lists, in its order.
        questions: What was asked, where instances are copies that were counted as one; ``None`` where they were not.
        copies: How many instances are copies of one question.
    """

    scores: dict[str, Any]
    instance_scores: dict[str, Sequence[Any]] = field(default_factory=dict)
    predictions: Sequence[Any] = ()
    processed_predictions: Sequence[Any] = ()
    processed_references: Sequence[Sequence[Any]] = ()
    failures: dict[int, Failure] = field(default_factory=dict)
    metric_failures: dict[str, Failure] = field(default_factory=dict)
    table: list[Score] = field(default_factory=list)
    main: Score | None = None
    stands_for: int | None = None
    members: list[Sequence[int]] = field(default_factory=list)
    questions: Questions | None = None
    copies: int = 1


def columns_of_rows(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return rows as columns; what is neither prediction nor references stays a field beside them."""
    named = ("prediction", "references", "task_data")
    return Columns(
        [row.get("prediction") for row in rows],
        [row.get("references", []) for row in rows],
        [row.get("task_data", row) for row in rows],
        classes=[row.get(POLICY_FIELD) or [] for row in rows],
        rows=[{name: value for name, value in row.items() if name not in named} for row in rows],
    )
