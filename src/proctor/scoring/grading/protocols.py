"""A dialect's part in grading: how answers are read and processed, what scores them, how scores are listed.

A :class:`Grading` is one way to read and score answers (lm-eval: a filter pipeline); most exams have one. The grader
(:class:`~proctor.scoring.grading.grader.ExamGrader`) does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from proctor.errors import Diagnostic, ProctorError, ScoringError
from proctor.ir import Failure
from proctor.ir.question import Answered, Question
from proctor.logs import get_logger
from proctor.scoring.columns import Columns
from proctor.scoring.flat_scores import COUNT, FAILED, Flat, bounds_of, flat_view, merged
from proctor.scoring.grades import Measured
from proctor.scoring.scores import Score
from proctor.scoring.text.how_read import among

Need = Literal["fields", "rows", "prompts", "responses"]
"""Columns that are kept only where a scorer asks for them; predictions, references and raw answers always are."""

Scope = Literal["value", "row", "repeats", "column"]
"""What a text function must see at once: one answer; an answer and its row; all repeats of an answer; everything."""

Fields = Mapping[str, Any]


class Reading(NamedTuple):
    """One thing to grade; a question gives one, a conversation one for each of its turns.

    Attributes:
        value: What was answered, raw (a list where it was asked several times at once); a failure where it cannot be
            read.
        references: Acceptable answers.
        fields: The task's fields; of other dialects the row.
        prompt: What was asked; only read where a scorer needs prompts.
    """

    value: Any
    references: Any
    fields: Fields
    prompt: Any = None


Read = Callable[[Answered], Sequence[Reading]]
"""How a dialect reads the responses to a question; questions that have failed never get here."""


class TextFunction(Protocol):
    """A processor, filter or post-processor: what turns an answer into a prediction."""

    @property
    def name(self) -> str:
        """How messages call it."""

    @property
    def scope(self) -> Scope:
        """What it must see at once."""

    def apply(self, values: Sequence[Any], rows: Sequence[Fields]) -> Sequence[Any]:
        """Return as many values as there are; a :class:`~proctor.ir.Failure` where one cannot be read.

        Values that have failed before never get here.
        """


@runtime_checkable
class Step(Protocol):
    """What stands between readings and what is scored. It sees predictions, references and task data."""

    @property
    def name(self) -> str:
        """How messages call it."""

    @property
    def scope(self) -> Scope:
        """What it must see at once."""

    def process(self, columns: Columns) -> Columns:
        """Return the columns after this step, of the same length."""


@dataclass(frozen=True, slots=True)
class OnPredictions:
    """A text function at work on predictions."""

    function: TextFunction

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.name

    @property
    def scope(self) -> Scope:
        """The function's scope."""
        return self.function.scope

    def process(self, columns: Columns) -> Columns:
        """Return columns with other predictions."""
        return replace(columns, predictions=_applied(self.function, columns.predictions, columns.all_fields()))


def _applied(function: TextFunction, values: Sequence[Any], rows: Sequence[Fields]) -> Sequence[Any]:
    """Apply a function to what has not failed."""
    good = [position for position, value in enumerate(values) if not isinstance(value, Failure)]
    if len(good) == len(values):
        return _as_many(function, values, rows)
    found = list(values)
    with among(good):
        applied = _as_many(function, [values[position] for position in good], [rows[position] for position in good])
    for position, value in zip(good, applied, strict=True):
        found[position] = value
    return found


def _as_many(function: TextFunction, values: Sequence[Any], rows: Sequence[Fields]) -> Sequence[Any]:
    """Return what a function makes of values: a missing one would give all that follow the answer of another."""
    found = function.apply(values, rows)
    if len(found) != len(values):
        raise ScoringError(f"'{function.name}' made {len(found)} values of {len(values)}")
    return found


Extract = Sequence[TextFunction | Step]


def as_step(function: TextFunction | Step) -> Step:
    """Return a step; a bare text function works on predictions."""
    return function if isinstance(function, Step) else OnPredictions(function)


class Scorer(Protocol):
    """A metric of whatever dialect, ready to use."""

    @property
    def name(self) -> str:
        """How messages call it."""

    @property
    def needs(self) -> frozenset[Need]:
        """Which further columns it reads; nothing else is kept while grading."""

    def check(self) -> Iterator[Diagnostic]:
        """Yield what is known to go wrong before anybody is asked: no such metric, no package, code not trusted."""

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return the scores of columns. Predictions that are failures count nowhere and have no instance score.

        Args:
            columns: What is scored; entries may be read back from a file, so they are best read in order.
            intervals: Whether confidence intervals are wanted.
            instances: Whether instance scores are wanted.
        """


@dataclass(frozen=True, slots=True)
class Grading:
    """One way to read and score the answers of an exam.

    Attributes:
        name: Empty where an exam has only one.
        read: How responses are read.
        extract: What turns answers into predictions, in order; a function of the question where instances differ in it.
        scorers: The metrics; the first one gives the main score. None at all records predictions and scores nothing.
        spec: JSON-like data that describes it.
    """

    name: str
    read: Read
    extract: Extract | Callable[[Question], Extract] = ()
    scorers: Sequence[Scorer] = ()
    spec: Mapping[str, Any] = field(default_factory=dict)


class Mark(NamedTuple):
    """What one scorer of one grading measured."""

    grading: str
    scorer: str
    found: Measured


class ScoreNames:
    """How a dialect lists its scores: names, order, what stands beside them. Views only; nothing reads them back.

    This one lists each score under its name with ``…_ci_low`` and ``…_ci_high`` behind it, then the main score.
    """

    def key(self, name: str, grading: str) -> str:
        """Return under which name a score (or an instance column, or a failure) of a grading is listed."""
        return f"{name},{grading}" if grading else name

    def order(self, marks: Sequence[Mark]) -> Sequence[Mark]:
        """Return marks in the order in which their scores are listed."""
        return marks

    def flat(self, marks: Sequence[Mark], table: Sequence[Score], main: Score | None, counts: Counts) -> Flat:
        """Return the flat dictionary.

        Args:
            marks: What was measured.
            table: All scores, under their listed names.
            main: The main score among them.
            counts: How many instances there are.
        """
        del marks
        flat: Flat = {}
        for score in table:
            flat[score.name] = score.value
            flat.update(bounds_of(score, score.name))
        if main is not None:
            flat.update(score=main.value, score_name=main.name, **bounds_of(main, "score"))
        flat[COUNT] = counts.scored
        if counts.failed:
            flat[FAILED] = counts.failed
        return flat


class Counts(NamedTuple):
    """How many instances were asked about, and how many of them could not be scored."""

    asked: int
    failed: int

    @property
    def scored(self) -> int:
        """How many could."""
        return self.asked - self.failed


def warn_of_one_name(marks: Sequence[Mark]) -> None:
    """Say which scores several metrics of a grading have, with different values: only that of the first is listed."""
    found: dict[tuple[str, str], list[tuple[str, Any]]] = {}
    for mark in marks:
        for score in mark.found.scores:
            found.setdefault((score.name, mark.grading), []).append((mark.scorer, score.value))
    for (name, _), each in found.items():
        if any(repr(value) != repr(each[0][1]) for _, value in each):
            _warn_of_one_name(name, tuple(scorer for scorer, _ in each))


@cache
def _warn_of_one_name(name: str, scorers: tuple[str, ...]) -> None:
    """Say once in a process that a score of one metric stands where several have one of its name."""
    get_logger().warning(
        "several metrics (%s) have a score '%s', and that of the first is listed: give the others a score_prefix, or a "
        "run of their own",
        ", ".join(scorers),
        name,
    )


class MetricNames(ScoreNames):
    """How recipes and ``evaluate`` list scores: every metric's own view, the first metric's last, as Unitxt does."""

    def order(self, marks: Sequence[Mark]) -> Sequence[Mark]:
        """Return the first metric last, so that its names win."""
        return marks[::-1]

    def flat(self, marks: Sequence[Mark], table: Sequence[Score], main: Score | None, counts: Counts) -> Flat:
        """Return the metrics' views as one."""
        if not marks:
            return super().flat(marks, table, main, counts)
        flat = merged(flat_view(mark.found) for mark in self.order(marks))
        if counts.failed:
            flat[FAILED] = counts.failed
        reasons = {
            mark.scorer: mark.found.failure.message for mark in self.order(marks) if mark.found.failure is not None
        }
        if reasons:
            flat["metric_failures"] = reasons
        return flat


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Stands for a metric or processor that cannot be had.

    Attributes:
        name: What somebody wrote.
        error: Why it cannot be had.
    """

    name: str
    error: ProctorError

    @property
    def needs(self) -> frozenset[Need]:
        """Nothing."""
        return frozenset()

    @property
    def scope(self) -> Scope:
        """It looks at nothing."""
        return "row"

    def check(self) -> Iterator[Diagnostic]:
        """Yield why there is no such thing."""
        yield from self.error.diagnostics

    def process(self, columns: Columns) -> Columns:
        """Raise the reason.

        Raises:
            ProctorError: Always.
        """
        del columns
        raise self.error

    def measure(self, columns: Columns, **wanted: bool) -> Measured:
        """Raise the reason.

        Raises:
            ProctorError: Always.
        """
        del columns, wanted
        raise self.error
