"""Copies of rows, which a dialect asks like any row (``n`` of a config), reduced as repeats are.

The dialect's own scores of several runs stay; what the exam comes to is counted and scored by question, as in every
other dialect: a question one of whose copies failed has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.recipes.reduction import Answers, ReducingGrader, complete_rows, count_scored, of_corpus, put_mean, reduced
from proctor.scoring.answer_reducers import reducers
from proctor.scoring.evaluators.runs import mean_of_runs, meant_by, replica_positions
from proctor.scoring.flat_scores import BEHIND, MAIN_BOUNDS
from proctor.scoring.grades import Grade, MainColumn, Questions, main_column
from proctor.scoring.scores import Score


@dataclass(frozen=True)
class CopiesGrader(ReducingGrader):
    """Adds what reducers make of copies of rows (``n`` of a config) to the grade of a dialect that knows copies.

    The scores of the dialect's own grader stay.

    Attributes:
        in_blocks: Whether the copies of all rows stand behind each other.
    """

    in_blocks: Callable[[], bool] = field(kw_only=True)

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once."""
        grade, chosen = self.base.grade(answered), reducers(self.names, self.count)
        if len(grade.predictions) % self.count:
            return of_corpus(grade, chosen)
        runs = replica_positions(len(grade.predictions), self.count, in_blocks=self.in_blocks())
        _count_questions(grade, list(zip(*runs, strict=True)))
        main, column = _mean_of_copies(grade, runs)
        if main is None:
            return grade
        _name_main(grade, main)
        _put_means(grade, runs)
        if column is None:
            return of_corpus(grade, chosen)
        rows = complete_rows([[column.values[place] for place in run] for run in runs])

        def shown(row: int) -> list[Any]:
            return [grade.processed_predictions[run[row]] for run in runs]

        before = set(grade.instance_scores)
        found = reduced(grade, Answers(main, column, rows, shown, chosen), size=len(runs[0]))
        for name in found.instance_scores.keys() - before:  # each copy has what its question came to
            values = dict(chain.from_iterable(zip(run, found.instance_scores[name], strict=True) for run in runs))
            found.instance_scores[name] = [values[place] for place in range(len(values))]
        return found


def _count_questions(grade: Grade, places: Sequence[Sequence[int]]) -> None:
    """Count questions instead of copies, in the grade and in its groups."""
    question_of = {place: number for number, copies in enumerate(places) for place in copies}
    failures: dict[int, Failure] = {}
    for place, failure in sorted(grade.failures.items()):
        failures.setdefault(question_of[place], failure)
    grade.questions = Questions(places, dict(sorted(failures.items())))
    grade.members = [sorted({question_of[place] for place in members}) for members in grade.members]
    for entry, members in zip(grade.scores.get("groups", ()), grade.members, strict=True):
        entry["n"] = len(members)
        count_scored(entry, members, failures)
    count_scored(grade.scores, range(len(places)), failures)


def _mean_of_copies(grade: Grade, runs: Sequence[Sequence[int]]) -> tuple[Score | None, MainColumn | None]:
    """Return the score that is the mean of all runs, with the scores of rows where it is their mean."""
    main = grade.main
    if main is None:
        return None, None
    named = [score for score in grade.table if score.name == mean_of_runs(main.name, len(runs))]
    for score in [*named, main, *grade.table]:  # the same name, whatever the numbers happen to be
        found = main_column(replace(grade, main=score), runs)
        if found is not None and found.is_mean:
            return score, found
    return (named[0] if named else main), None


def _put_means(grade: Grade, runs: Sequence[Sequence[int]]) -> None:
    """Make means over runs those of questions that have been answered each time; say what the last run is of."""
    listed = {score.name: score for score in grade.table}
    for score in list(grade.table):
        mean = listed.get(mean_of_runs(score.name, len(runs)))
        if mean is not None:  # the score itself is of the last run
            answered = sum(place not in grade.failures for place in runs[-1])
            grade.table = [replace(each, n=answered) if each.name == score.name else each for each in grade.table]
            grade.scores[f"{score.name}{BEHIND}"] = answered
        column = main_column(replace(grade, main=score), runs)
        if column is None or column.name != meant_by(score.name) or not column.is_mean:
            continue
        if rows := complete_rows([[column.values[place] for place in run] for run in runs]):
            put_mean(grade, score, column, rows)


def _name_main(grade: Grade, main: Score) -> None:
    """Make a score the main one of a grade; intervals of single runs are not its own."""
    if main is grade.main:
        return
    grade.main = main
    grade.scores |= {"score": main.value, "score_name": main.name}
    for name in MAIN_BOUNDS:
        grade.scores.pop(name, None)
