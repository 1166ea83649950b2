"""The result of scoring: what a scorer measures, the grade of an exam, and the main score of each of its questions."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.ir import Failure
from proctor.scoring.scores import Score
from proctor.scoring.text.how_read import Note


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
        notes: By what it was read then, by position.
        unread: Positions of which a judge said something that is not a verdict, and that count all the same.
    """

    scores: list[Score] = field(default_factory=list)
    main: str = ""
    instances: dict[str, Sequence[Any]] = field(default_factory=dict)
    failures: dict[int, Failure] = field(default_factory=dict)
    failure: Failure | None = None
    broken: dict[str, Failure] = field(default_factory=dict)
    parsed: Sequence[Any] | None = None
    notes: dict[int, Note] = field(default_factory=dict)
    unread: Collection[int] = ()

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
        read_by: How many answers of the main score were read by what, where they were looked into.
        last_resorts: Places of the instances whose main score hangs on a last resort.
        unread: Places of the instances that count although what a judge said of them is not a verdict.
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
    read_by: dict[str, int] = field(default_factory=dict)
    last_resorts: frozenset[int] = frozenset()
    unread: frozenset[int] = frozenset()


_CLOSE = 1e-6  # how near a mean of instances has to be to the score of all to be it: sums are rounded in another order


@dataclass(frozen=True, slots=True)
class MainColumn:
    """The main score, instance by instance.

    Attributes:
        name: Of the instance score.
        values: One for each instance, in the unit of :attr:`whole`; ``None`` where an instance has none.
        whole: What a full score is: 1 for shares, 100 where instances are in percent; ``None`` where there is none.
        scale: What the instances' mean is multiplied with to be the exam's score.
        is_mean: Whether the exam's score is the mean of its instances'; a corpus-level score is not.
    """

    name: str
    values: Sequence[float | None]
    whole: float | None
    scale: float
    is_mean: bool


def main_column(grade: Grade, runs: Sequence[Sequence[int]] = ()) -> MainColumn | None:
    """Return the main score of each instance; ``None`` where instances have no scores.

    Args:
        grade: The scores.
        runs: Places of the instances of each run, where the score may be the mean of runs: runs of different length
            count equally, as failures leave them.
    """
    main = grade.main
    columns = grade.instance_scores
    base = "" if main is None else main.name
    names = [base, "score", base.partition(" (")[0], *columns]
    for name in names:
        if name in columns and (values := _numbers(columns[name])) is not None:
            return _described(grade, name, values, runs)
    return None


def question_column(grade: Grade) -> MainColumn | None:
    """Return the main score of each question: where several instances are answers to one, what they have in common.

    A question one of whose answers has no score has none.
    """
    return _by_question(grade, main_column(grade))


def score_column(grade: Grade, score: Score) -> MainColumn | None:
    """Return what each question has of a score that the table lists; ``None`` where instances have none of its name."""
    for name in (score.name, score.name.partition(" (")[0]):
        if name in grade.instance_scores and (values := _numbers(grade.instance_scores[name])) is not None:
            grade = replace(grade, main=score)
            return _by_question(grade, _described(grade, name, values))
    return None


def _by_question(grade: Grade, column: MainColumn | None) -> MainColumn | None:
    if column is None or grade.questions is None:
        return column
    answers = ([column.values[place] for place in places] for places in grade.questions.places)
    means = [None if None in found else _mean(_known(found)) for found in answers]
    return _described(grade, column.name, means)


def _numbers(column: Sequence[object]) -> list[float | None] | None:
    """Return a column as numbers; ``None`` where it holds anything else."""
    found: list[float | None] = []
    for value in column:
        if isinstance(value, bool | int | float):
            found.append(None if math.isnan(value) else float(value))
        elif value is None or type(value).__module__.startswith("proctor"):  # ABSENT, or a failure
            found.append(None)
        else:
            return None
    return found if any(value is not None for value in found) else None


def _described(grade: Grade, name: str, values: list[float | None], runs: Sequence[Sequence[int]] = ()) -> MainColumn:
    main, known = grade.main, _known(values)
    if not known:
        return MainColumn(name, values, None, 1.0, is_mean=False)
    means = [_mean(known), *([_mean_of_runs(values, runs)] if runs else ())]
    total = None if main is None else main.number
    unit = "raw" if main is None else main.unit
    scales = {"percent": (1.0, 100.0)}.get(unit, (1.0,))
    scale = next(
        (each for each in scales for mean in means if total is not None and abs(mean * each - total) <= _CLOSE * each),
        None,
    )
    whole = {"share": 1.0, "percent": 100.0}.get(unit)
    if whole is not None and scale is not None:
        whole /= scale
    if whole is None and all(0 <= value <= 1 for value in known):
        whole = 1.0
    return MainColumn(name, values, whole, scale or 1.0, is_mean=scale is not None)


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _mean_of_runs(values: Sequence[float | None], runs: Sequence[Sequence[int]]) -> float:
    known = [found for run in runs if (found := _known([values[place] for place in run]))]
    return _mean([_mean(found) for found in known])
