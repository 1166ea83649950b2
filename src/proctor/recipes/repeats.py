"""Several answers to each question (``--repeats N``), for the exams of every dialect.

Where an exam itself makes one answer of several (a vote among its text functions, a ``pass@k`` among its metrics), it
is asked as it says. Every other exam is asked N times over, each time graded as it always is, and reducers
(:mod:`proctor.scoring.reducers`) make one score of N; copies of rows, which configs have (``n``), are reduced alike.
The interval then knows the noise of questions and that of answers (:mod:`proctor.statistics.two_level`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from msgspec import structs

from proctor.errors import Diagnostic, ScoringError, UsageError
from proctor.ir import Failure
from proctor.ir.question import Answered, Ask, Question
from proctor.recipes.exam import NEED_SCORES, Asker, Context, Demos, Exam, Grader, Kind
from proctor.recipes.selection import Opened, Row
from proctor.recipes.side_by_side import SideBySide, graded_side_by_side
from proctor.scoring.columns import ABSENT, ConstantColumn
from proctor.scoring.evaluators.runs import replica_positions
from proctor.scoring.flat import COUNT, FAILED, HIGH, LOW
from proctor.scoring.grade import Grade
from proctor.scoring.main_column import MainColumn, main_column
from proctor.scoring.reducers import Reducer, reducers
from proctor.scoring.score import Score
from proctor.statistics.two_level import TwoLevel, two_level


def repeated(exam: Exam, *, is_known_to_write: bool = False) -> Exam:
    """Return an exam that is asked and graded as often as its options say; one that writes nothing as it is.

    Args:
        exam: The exam.
        is_known_to_write: Whether to repeat it without a look at what it asks, which loads the data of Python classes.
    """
    count = exam.options.repeats
    if count is None or not (is_known_to_write or exam.asker.kinds - NEED_SCORES):
        return exam
    names = exam.options.reduce
    return replace(exam, asker=RepeatedAsker(exam.asker, count), grader=RepeatsGrader(exam.grader, count, names))


@dataclass(frozen=True)
class RepeatedAsker:
    """An asker that asks everything several times."""

    base: Asker
    count: int

    @property
    def kinds(self) -> frozenset[Kind]:
        """What is asked of a model."""
        return self.base.kinds

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return a function from a row and its demos to a question; errors as of the asker."""
        ask = self.base.compile(opened, context)

        def again(place: Ask, row: Row, demos: Demos) -> Question:
            question = ask(place, row, demos)
            return structs.replace(question, requests=question.requests * self.count)

        return again


# -- grading --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RepeatsGrader:
    """Grades each repeat as the exam always does, and makes one score of all.

    Attributes:
        base: The exam's own grader.
        count: Answers to each question.
        names: Names of the reducers; the first one gives the main score.
    """

    base: Grader
    count: int
    names: tuple[str, ...] = ()

    @property
    def declared_main(self) -> Score | None:
        """The main score of the exam without its value; reducers keep its unit."""
        return getattr(self.base, "declared_main", None)

    def check(self) -> Iterator[Diagnostic]:
        """Yield what can be known before anybody is asked."""
        yield from self.base.check()
        yield from _reducer_problems(self.names, self.count)

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once."""
        parts = graded_side_by_side(self.base, answered, self.count)
        return _united(parts, reducers(self.names, self.count))


def _reducer_problems(names: Sequence[str], count: int) -> Iterator[Diagnostic]:
    try:
        reducers(names, count)
    except UsageError as error:
        yield from error.diagnostics


def _united(parts: Sequence[Grade], chosen: Sequence[Reducer]) -> Grade:
    """Return one grade of the grades of all repeats."""
    first, size = parts[0], len(parts[0].predictions)
    failures = {place: failure for part in reversed(parts) for place, failure in part.failures.items()}
    tables = [{score.name: score for score in part.table} for part in parts]
    united = Grade(
        _flat_of([part.scores for part in parts]),
        {
            name: _mean_column([part.instance_scores.get(name, ConstantColumn(ABSENT, size)) for part in parts])
            for name in _names_in([part.instance_scores for part in parts])
        },
        SideBySide([part.predictions for part in parts]),
        shown := SideBySide([part.processed_predictions for part in parts]),
        first.processed_references,
        failures,
        {name: failure for part in reversed(parts) for name, failure in part.metric_failures.items()},
        [_mean_score([table[name] for table in tables if name in table]) for name in _names_in(tables)],
        first.main,
    )
    united.main = next((each for each in united.table if first.main and each.name == first.main.name), first.main)
    if COUNT in united.scores and any(part.failures.keys() != failures.keys() for part in parts):
        united.scores |= {COUNT: size - len(failures), FAILED: len(failures)}
    columns = [main_column(part) for part in parts]
    if first.main is None or any(each is None for each in columns):
        return united
    known = [each for each in columns if each is not None]
    if not all(each.is_mean for each in known):
        return _of_corpus(united, chosen)
    rows = _rows([each.values for each in known])
    column = next((each for each in known if any(each.values)), known[0])  # zeros are the same in every unit
    return reduced(united, first.main, column, rows, shown.all_at, chosen, size=size)


def _of_corpus(grade: Grade, chosen: Sequence[Reducer]) -> Grade:
    for each in chosen:
        if each.family != "mean":
            why = "the score is of all answers together; a single answer has none that could be reduced"
            grade.metric_failures[each.name] = Failure("scoring", why, retryable=False)
    return grade


def _rows(columns: Sequence[Sequence[float | None]]) -> dict[int, list[float]]:
    """Return the scores of the questions of which every answer has one, by place."""
    found = {}
    for place, values in enumerate(zip(*columns, strict=True)):
        scores = [value for value in values if value is not None]
        if len(scores) == len(columns):
            found[place] = scores
    return found


def reduced(
    grade: Grade,
    main: Score,
    column: MainColumn,
    rows: Mapping[int, Sequence[float]],
    predictions: Callable[[int], Sequence[Any]],
    chosen: Sequence[Reducer],
    size: int = 0,
) -> Grade:
    """Add what reducers make of the scores of repeats to a grade; the first gives the main score.

    Args:
        grade: The grade of all repeats.
        main: The score that is reduced.
        column: How its instances are scored.
        rows: Scores of each question's answers, by the question's place.
        predictions: Returns what the answers to a question were read as; asked for votes alone.
        chosen: The reducers.
        size: How many questions there are, where what they are reduced to is listed with their instance scores.
    """
    if not rows:
        return grade
    summary: dict[str, Any] = {}
    scores: list[Score] = []
    for each in chosen:
        try:
            values = _reduced_values(each, main, column, rows, predictions)
        except ScoringError as error:
            grade.metric_failures[each.name] = Failure("scoring", str(error), retryable=False)
            continue
        table = [rows[place] for place in rows] if each.family == "mean" else [[value] for value in values]
        found = two_level(table)
        low, high = found.interval(whole=column.whole)
        name = main.name if each.family == "mean" else f"{main.name}:{each.name}"
        scores.append(_scored(main, name, found, (low, high), column.scale))
        if size and name != main.name:
            by_place = dict(zip(rows, values, strict=True))
            grade.instance_scores[name] = [by_place.get(place) for place in range(size)]
        if each.family == "mean":
            summary = summary_of(found, column.scale)
    _list(grade, scores)
    grade.scores["repeats"] = summary or summary_of(two_level(list(rows.values())), column.scale)
    return grade


def _reduced_values(
    how: Reducer,
    main: Score,
    column: MainColumn,
    rows: Mapping[int, Sequence[float]],
    predictions: Callable[[int], Sequence[Any]],
) -> list[float]:
    whole, less_is_better = column.whole or 1.0, main.higher_is_better is False
    if how.needs_right_or_wrong and less_is_better:
        raise ScoringError(
            f"'{how.name}' is of answers that are right, and of '{main.name}' less is better",
            hint="reduce by mean, best or majority",
        )
    if how.needs_right_or_wrong and any(score not in (0.0, whole) for scores in rows.values() for score in scores):
        raise ScoringError(
            f"'{how.name}' is of answers that are right or wrong, and here they are right to some degree",
            hint="reduce by mean, best or majority",
        )
    read = predictions if how.family == "majority" else rows.__getitem__
    return [how.of(scores, read(place), whole, less_is_better=less_is_better) for place, scores in rows.items()]


def _scored(main: Score, name: str, found: TwoLevel, bounds: tuple[float, float], scale: float) -> Score:
    known = not math.isnan(bounds[0])
    return replace(
        main,
        name=name,
        value=found.mean * scale,
        low=bounds[0] * scale if known else None,
        high=bounds[1] * scale if known else None,
        stderr=found.error * scale if known else None,
        n=found.n,
    )


def summary_of(found: TwoLevel, scale: float = 1.0) -> dict[str, Any]:
    """Return the two levels of noise as JSON-like data, with what would halve the interval.

    ``question_noise`` and ``answer_noise`` are the standard errors that each brings to the mean; their squares add up.
    With one answer to each question they cannot be told apart, and are ``None``.
    ``halved_by`` has the number of ``repeats`` (``None`` where no number is enough) and of ``instances``.
    """
    summary: dict[str, Any] = {"instances": found.n, "repeats": found.k, "stderr": found.error * scale}
    if found.k == 1:
        summary |= {"question_noise": None, "answer_noise": None}
    elif found.omega2 is not None and found.sigma2 is not None:
        summary["question_noise"] = math.sqrt(found.omega2 / found.n) * scale
        summary["answer_noise"] = math.sqrt(found.sigma2 / (found.n * found.k)) * scale
    if found.error > 0:
        summary["halved_by"] = {
            "repeats": found.repeats_for(found.error / 2),
            "instances": found.questions_for(found.error / 2),
        }
    return summary


def _list(grade: Grade, scores: Sequence[Score]) -> None:
    """Put scores into a grade's table and flat view; the first one is the main score."""
    if not scores:
        return
    by_name = {score.name: score for score in scores}
    kept = [by_name.pop(score.name, score) for score in grade.table]
    grade.table = [*kept, *by_name.values()]
    grade.main = scores[0]
    for score in scores:
        _put(grade.scores, score, score.name)
        _put_error(grade.scores, score)
    _put(grade.scores, scores[0], "score")
    grade.scores["score_name"] = scores[0].name


def _put(flat: dict[str, Any], score: Score, name: str) -> None:
    flat[name] = score.value
    for end, bound in ((LOW, score.low), (HIGH, score.high)):
        if bound is None:
            flat.pop(f"{name}{end}", None)
        else:
            flat[f"{name}{end}"] = bound


def _put_error(flat: dict[str, Any], score: Score) -> None:
    """List the standard error where the dialect lists one (lm-eval: ``acc_stderr,none``)."""
    if (name := _error_name(score.name)) in flat:
        flat[name] = score.stderr


def _error_name(name: str) -> str:
    head, comma, grading = name.partition(",")
    return f"{head}_stderr{comma}{grading}"


def _names_in(lists: Iterable[Iterable[str]]) -> list[str]:
    """Return the names that any repeat has, in the order in which they come: not all classes occur in each."""
    return list(dict.fromkeys(chain.from_iterable(lists)))


def _flat_of(views: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the flat view of the means of all repeats.

    The mean of bounds (and of standard errors) is that of one repeat: too wide for several, and never too narrow.
    """
    values = {name: [view[name] for view in views if name in view] for name in _names_in(views)}
    return {name: _groups(each) if name == "groups" else _mean_or_first(each) for name, each in values.items()}


def _groups(lists: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the scores of groups as means of all repeats, without the intervals of single ones."""
    found = []
    for groups in zip(*lists, strict=True):
        flat = _flat_of(groups)
        found.append({name: value for name, value in flat.items() if not name.endswith((LOW, HIGH))})
    return found


def _mean_or_first(values: Sequence[Any]) -> Any:
    """Return the mean of scores, and of anything else (texts, counts) what the first repeat has."""
    if not any(isinstance(each, float) for each in values):
        return values[0]
    numbers = [each for each in values if isinstance(each, int | float)]
    return sum(numbers) / len(numbers)


def _mean_score(scores: Sequence[Score]) -> Score:
    """Return the mean of a score over repeats, with the mean of its bounds: those of one repeat, never too narrow."""
    values = [score.value for score in scores if isinstance(score.value, int | float)]
    if len(values) < len(scores):
        return scores[0]
    value = sum(values) / len(values)
    if not math.isfinite(value):  # what is not known of one repeat is not known of all
        return replace(scores[0], value=value, low=None, high=None, stderr=None)
    lows, highs, errors = ([getattr(score, name) for score in scores] for name in ("low", "high", "stderr"))
    return replace(scores[0], value=value, low=_mean(lows), high=_mean(highs), stderr=_mean(errors))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _mean_column(columns: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the mean of each instance; where a repeat has no score of it, there is none of all."""
    return [_mean_or_missing(values) for values in zip(*columns, strict=False)]


def _mean_or_missing(values: Sequence[Any]) -> Any:
    others = [value for value in values if not isinstance(value, int | float)]
    return others[0] if others else math.fsum(values) / len(values)


# -- exams whose copies are rows ------------------------------------------------------------------------------


@dataclass(frozen=True)
class CopiesGrader:
    """Adds what reducers make of copies of rows (``n`` of a config) to the grade of a dialect that knows copies.

    Attributes:
        base: The dialect's own grader, whose scores stay.
        count: Copies of each row.
        names: Names of the reducers.
        in_blocks: Whether the copies of all rows stand behind each other.
    """

    base: Grader
    count: int
    names: tuple[str, ...]
    in_blocks: Callable[[], bool]

    @property
    def declared_main(self) -> Score | None:
        """The main score of the exam without its value; reducers keep its unit."""
        return getattr(self.base, "declared_main", None)

    def check(self) -> Iterator[Diagnostic]:
        """Yield what can be known before anybody is asked."""
        yield from self.base.check()
        yield from _reducer_problems(self.names, self.count)

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once."""
        grade = self.base.grade(answered)
        column = main_column(grade)
        if grade.main is None or column is None or len(column.values) % self.count:
            return _of_corpus(grade, reducers(self.names, self.count))
        main, column = _mean_of_copies(grade, grade.main, column)
        if not column.is_mean:
            return _of_corpus(grade, reducers(self.names, self.count))
        runs = replica_positions(len(column.values), self.count, in_blocks=self.in_blocks())
        rows = _rows([[column.values[place] for place in run] for run in runs])

        def shown(row: int) -> list[Any]:
            return [grade.processed_predictions[run[row]] for run in runs]

        return reduced(grade, main, column, rows, shown, reducers(self.names, self.count))


def _mean_of_copies(grade: Grade, main: Score, column: MainColumn) -> tuple[Score, MainColumn]:
    """Return the score that is the mean of all copies: OpenCompass' main one is of the last run alone."""
    if column.is_mean:
        return main, column
    for score in grade.table:
        found = main_column(replace(grade, main=score))
        if found is not None and found.is_mean:
            return score, found
    return main, column
