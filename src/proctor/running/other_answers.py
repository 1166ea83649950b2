"""Scores of other models on an exam's questions: from the response log, run folders, files of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proctor.engines.engine import Engine
from proctor.errors import UsageError
from proctor.ir import Failure
from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.running.anew import Looking
from proctor.running.baselines import Baseline
from proctor.running.drawn_questions import part_of, shares_of
from proctor.running.log import ResponseLog
from proctor.running.maintenance import engines as engines_of_log
from proctor.running.plan import Filed, answered, batches, wanted
from proctor.scoring.judges.judge_client import asking_through
from proctor.statistics.item_models import FEWEST_MODELS, ItemModel

_ENOUGH = 0.5
"""Share of an exam's questions that a model has to have answered: less says more about which ones than about it."""

_MOST_MODELS = 200
"""Models of a log that are looked at, the latest ones: each is graded, and more of them say little that is new."""


@dataclass(frozen=True, slots=True)
class Others:
    """Scores of other models on the questions of one exam.

    Attributes:
        names: Who they are, for people.
        table: Shares of 1, a row for each model and a column for each question; NaN where one is missing.
    """

    names: tuple[str, ...]
    table: NDArray[np.float64]

    @property
    def are_enough(self) -> bool:
        """Whether a model of the questions can be fitted."""
        return len(self.names) >= FEWEST_MODELS

    def model(self) -> ItemModel:
        """Return the item model of their answers."""
        return ItemModel.fit(self.table)


def others_of(
    exam: Exam,
    questions: Sequence[Question],
    keys: Sequence[str],
    given: Sequence[Baseline],
    engine: Engine,
    log: ResponseLog,
) -> Others:
    """Return other models' scores; nobody is asked.

    Args:
        exam: The exam.
        questions: Its questions.
        keys: Their keys, by content.
        given: Scores of runs and files that the user named; with any, the log is left alone.
        engine: Whose own answers do not count.
        log: The response log.
    """
    found = _of_baselines(given, keys) if given else _of_log(exam, questions, engine, log)
    rows: dict[bytes, tuple[str, NDArray[np.float64]]] = {}
    for name, scores in found:
        row = np.asarray([math.nan if score is None else score for score in scores])
        if np.isfinite(row).mean() >= _ENOUGH:
            rows.setdefault(f"{name}".encode() + row.tobytes(), (name, row))
    table = np.asarray([row for _, row in rows.values()]).reshape(len(rows), len(keys))
    return Others(tuple(name for name, _ in rows.values()), table)


def check_given(exam: Exam, others: Others, given: Sequence[Baseline]) -> None:
    """Refuse runs that the user named where they say too little about an exam.

    Raises:
        UsageError: Fewer than three of them have scores of half of its questions.
    """
    if given and not others.are_enough:
        has = ", ".join(others.names) or "none"
        raise UsageError(
            f"--others: {len(others.names)} of {len(given)} have scores of at least half of the questions of "
            f"'{exam.name}', and {FEWEST_MODELS} are needed",
            why=f"those that have: {has}",
            hint="name runs of other models on the same questions, or leave --others out",
        )


Scores = Sequence[float | None]


def _of_baselines(given: Sequence[Baseline], keys: Sequence[str]) -> Iterator[tuple[str, Scores]]:
    """Yield the scores of each run on the same questions, whatever it calls its exam and however it asked them."""
    for baseline in given:
        columns = [[each.scores.get(key) for key in keys] for each in baseline.exams.values()]
        if columns:
            best = max(columns, key=lambda column: sum(score is not None for score in column))
            yield baseline.source, best


def _of_log(
    exam: Exam, questions: Sequence[Question], engine: Engine, log: ResponseLog
) -> Iterator[tuple[str, Scores]]:
    """Yield the scores of every other engine that a log has enough answers of."""
    missing = Failure("missing", "the response log holds no answer")
    known = [each for each in engines_of_log(log) if each.identity != engine.identity and each.responses]
    with asking_through(Looking(log).ask):
        for each in known[-_MOST_MODELS:]:
            filed = Filed(log, each.number, with_failures=True)
            if not _has_enough(questions, filed):
                continue
            part = part_of(exam, questions)
            grade = part.grade(answered(questions, filed, missing))
            yield each.label, shares_of(exam.name, grade, len(questions)).values


def _has_enough(questions: Sequence[Question], filed: Filed) -> bool:
    have = 0
    for batch in batches(questions):
        firsts = [entries[0].key for question in batch if (entries := wanted(question))]
        have += len(filed.known(firsts))
    return have >= _ENOUGH * len(questions)
