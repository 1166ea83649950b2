"""The scores of a sweep, question by question, as its cells' run folders hold them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proctor.errors import UsageError
from proctor.results.instance_scores import main_score, whole_of
from proctor.running.sweeps import DEMOS, DRAW, EXTRACTION, Cell, Design
from proctor.runs.compare_runs import FindExam
from proctor.runs.exam_items import records_of
from proctor.runs.question_words import question_of
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import digest_of_line
from proctor.runs.stored_run import StoredRun, load_run
from proctor.scoring.flat_scores import main_of
from proctor.scoring.scores import Score
from proctor.statistics.arrays import Floats

Key = tuple[int, int]
"""The digest of a row; of rows that nobody digested 0, and the number."""


@dataclass(frozen=True, slots=True)
class CellScore:
    """The main score under one wording, with its interval over questions, and the score of each question that has one.

    ``levels`` has the reading among the dimensions; ``noise`` is the variance of one answer to the same prompt, where
    each question was answered ``repeats`` times.
    """

    name: str
    folder: str
    levels: Mapping[str, str]
    score: Score
    failures: int
    values: Mapping[Key, float]
    noise: float | None = None
    repeats: int = 1

    @property
    def is_mean(self) -> bool:
        """Whether the score is the mean of the questions' scores, so that these say how it comes about."""
        score, values = self.score.number, self.values.values()
        if score is None or not values:
            return False
        return math.isclose(math.fsum(values) / len(values), score, rel_tol=1e-6, abs_tol=1e-9)


@dataclass(frozen=True, slots=True)
class SweepScores:
    """All scores of a sweep: its wordings, and the number and the words of each question that some wording scored."""

    cells: tuple[CellScore, ...]
    questions: Mapping[Key, tuple[int, str]]

    def table(self, keys: Sequence[Key]) -> Floats:
        """Return a row for each cell, a column for each key; NaN where a cell has no score of it."""
        return np.array([[cell.values.get(key, math.nan) for key in keys] for cell in self.cells])


def sweep_scores(folder: Path, design: Design, find_exam: FindExam) -> SweepScores:
    """Read the cells of a sweep's folder; those without results are left out.

    Raises:
        UsageError: No cell has a score.
        ProctorError: Answers cannot be read otherwise; the message says why.
    """
    cells: list[CellScore] = []
    questions: dict[Key, tuple[int, str]] = {}
    for cell in design.cells:
        cells += _read(load_run(folder / cell.folder), cell, design.readings, find_exam, questions)
    if not cells:
        raise UsageError(f"no cell of {folder} has a score", hint="the same proctor sweep goes on with it")
    return SweepScores(tuple(cells), questions)


def _read(
    run: StoredRun, cell: Cell, readings: Sequence[str], find_exam: FindExam, questions: dict[Key, tuple[int, str]]
) -> Iterator[CellScore]:
    exam, entry = next(((name, each) for name, each in run.results.items() if each.get("score_name")), ("", {}))
    if not exam:
        return
    main = main_of(entry)
    keys: dict[int, Key] = {}
    values: dict[int, float] = {}
    for record in records_of(run):
        number, digest = record.get("doc_id"), digest_of_line(record)
        number = number if isinstance(number, int) else len(keys)
        keys[number] = key = (0, number) if digest is None else (digest, 0)
        if key not in questions:
            questions[key] = number, question_of(record)
        if (points := main_score(record, main.name)) is not None and math.isfinite(points):
            values[number] = points
    factor = 100.0 / whole_of(values.values(), entry) if entry.get("unit") == "percent" else 1.0
    noise, repeats = None, 1
    said = entry.get("repeats")
    if isinstance(said, Mapping) and isinstance(error := said.get("answer_noise"), int | float):
        repeats = int(said["repeats"])
        noise = float(error) ** 2 * int(said["instances"]) * repeats  # from a standard error of the mean
    found = _readings(run, exam, readings, find_exam) if readings else [("", main, values)]
    for way, score, scores in found:
        name = " · ".join(filter(None, (cell.name if cell.levels else "", way))) or cell.name
        levels = {**cell.levels, EXTRACTION: way} if way else dict(cell.levels)
        several: dict[Key, list[float]] = {}
        for number, value in scores.items():
            several.setdefault(keys[number], []).append(factor * value)
        means = {key: math.fsum(each) / len(each) for key, each in several.items()}
        failures = int(entry.get("failures") or 0)
        yield CellScore(name, cell.folder, levels, score, failures, means, noise, repeats)


def _readings(
    run: StoredRun, exam: str, readings: Sequence[str], find_exam: FindExam
) -> list[tuple[str, Score, dict[int, float]]]:
    from proctor.runs.readings import readings_of

    if run.samples is None:
        raise UsageError(f"{run.path} has no samples.jsonl", hint="the same proctor sweep writes it again")
    index = SampleIndex.of_run(run.samples, run.results, run.spec)
    index.build()
    found = readings_of(index, exam, find_exam)
    return [(way, found.scores[way], found.values[way]) for way in readings]


def factors_of(cells: Sequence[CellScore]) -> dict[str, list[Any]]:
    """Return the level of each wording by dimension; a draw of demos is one of so many demos, and of no others."""
    found: dict[str, list[Any]] = {name: [each.levels.get(name) for each in cells] for name in cells[0].levels}
    if DRAW in found and DEMOS in found:
        found[DRAW] = list(zip(found[DEMOS], found[DRAW], strict=True))
    return found
