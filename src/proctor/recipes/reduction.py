"""Reduces the scores of several answers to each question, for an exam and its groups.

:func:`reduced` takes the scores of each question's answers, wherever they come from (repeats of requests, copies of
rows), and puts the reduced scores, with their two-level intervals, into a grade.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proctor.errors import Diagnostic, ScoringError, UsageError
from proctor.ir import Failure
from proctor.recipes.exam_parts import Grader
from proctor.scoring.answer_reducers import Reducer, reducers
from proctor.scoring.flat_scores import COUNT, FAILED, HIGH, LOW
from proctor.scoring.grades import Grade, MainColumn
from proctor.scoring.scores import Score
from proctor.statistics.two_level import TwoLevel, two_level


@dataclass(frozen=True)
class ReducingGrader:
    """Base of graders of several answers to each question.

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
        """Yield the problems known before anybody is asked."""
        yield from self.base.check()
        try:
            reducers(self.names, self.count)
        except UsageError as error:
            yield from error.diagnostics


def of_corpus(grade: Grade, chosen: Sequence[Reducer]) -> Grade:
    """Return a grade whose score is of all answers together, with a failure for every reducer but the mean."""
    for each in chosen:
        if each.family != "mean":
            why = "the score is of all answers together; a single answer has none that could be reduced"
            grade.metric_failures[each.name] = Failure("scoring", why, retryable=False)
    return grade


def complete_rows(columns: Sequence[Sequence[float | None]]) -> dict[int, list[float]]:
    """Return the scores of the questions of which every answer has one, by place."""
    found = {}
    for place, values in enumerate(zip(*columns, strict=True)):
        scores = [value for value in values if value is not None]
        if len(scores) == len(columns):
            found[place] = scores
    return found


def count_scored(entry: dict[str, Any], places: Collection[int], failures: Container[int]) -> None:
    """Say in the scores of some questions how many of them were scored, where they say it at all."""
    if COUNT in entry:
        failed = sum(place in failures for place in places)
        entry |= {COUNT: len(places) - failed} | ({FAILED: failed} if failed else {})


@dataclass(frozen=True, slots=True)
class Answers:
    """The scores of the answers to each question, and how they are reduced.

    Attributes:
        main: The score that is reduced.
        column: How its instances are scored.
        rows: Scores of each question's answers, by the question's place: of questions all of whose answers have one.
        predictions: Returns what the answers to a question were read as; asked for votes alone.
        chosen: The reducers; the first gives the main score.
    """

    main: Score
    column: MainColumn
    rows: Mapping[int, Sequence[float]]
    predictions: Callable[[int], Sequence[Any]]
    chosen: Sequence[Reducer]

    def of(self, places: Iterable[int]) -> Answers:
        """Return those of some questions."""
        return replace(self, rows={place: self.rows[place] for place in places if place in self.rows})


def put_mean(grade: Grade, score: Score, column: MainColumn, rows: Mapping[int, Sequence[float]]) -> None:
    """Make a score that a grade lists the mean of questions, with its two-level interval.

    Args:
        grade: The grade.
        score: The score.
        column: How its instances are scored.
        rows: Scores of each question's answers: of questions all of whose answers have one.
    """
    found = two_level(list(rows.values()))
    changed = _scored(score, score.name, found, found.interval(whole=column.whole), column.scale)
    grade.table = [changed if each.name == score.name else each for each in grade.table]
    _put(grade.scores, changed, score.name)
    _put_error(grade.scores, changed)
    if grade.main is not None and grade.main.name == score.name:
        grade.main = changed
        _put(grade.scores, changed, "score")


def reduced(grade: Grade, answers: Answers, size: int = 0) -> Grade:
    """Add what reducers make of the scores of answers to a grade, and to each of its groups.

    Args:
        grade: The grade of all answers.
        answers: Their scores.
        size: How many questions there are, where what they are reduced to is listed with their instance scores.
    """
    if answers.rows:
        found = _put_reduced(grade, answers, size)
        grade.scores["repeats"] = found or summary_of(two_level(list(answers.rows.values())), answers.column.scale)
    for entry, places in zip(grade.scores.get("groups", ()), grade.members, strict=True):
        own = Grade(entry)
        _put_reduced(own, answers.of(places))
    return grade


def _put_reduced(grade: Grade, answers: Answers, size: int = 0) -> dict[str, Any]:
    """Put reduced scores into a grade and return the two levels of noise, where the mean is among the reducers."""
    main, column, rows = answers.main, answers.column, answers.rows
    summary: dict[str, Any] = {}
    scores: list[Score] = []
    for each in answers.chosen if rows else ():
        try:
            values = _reduced_values(each, answers)
        except ScoringError as error:
            grade.metric_failures[each.name] = Failure("scoring", str(error), retryable=False)
            continue
        table = [rows[place] for place in rows] if each.family == "mean" else [[value] for value in values]
        found = two_level(table)
        name = main.name if each.family == "mean" else f"{main.name}:{each.name}"
        scores.append(_scored(main, name, found, found.interval(whole=column.whole), column.scale))
        if size and name != main.name:
            by_place = dict(zip(rows, values, strict=True))
            grade.instance_scores[name] = [by_place.get(place) for place in range(size)]
        if each.family == "mean":
            summary = summary_of(found, column.scale)
    _list(grade, scores)
    return summary


def _reduced_values(how: Reducer, answers: Answers) -> list[float]:
    main, rows = answers.main, answers.rows
    whole, less_is_better = answers.column.whole or 1.0, main.higher_is_better is False
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
    read = answers.predictions if how.family == "majority" else rows.__getitem__
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
