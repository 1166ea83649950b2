"""The scores of a sweep, question by question, as its cells' run folders hold them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proctor.errors import UsageError
from proctor.recipes.exam import Exam
from proctor.results.instance_scores import main_score, whole_of
from proctor.running.spec import RunSpec
from proctor.running.sweeps import EXTRACTION, Cell, Design
from proctor.runs.exam_items import records_of
from proctor.runs.question_words import question_of
from proctor.runs.sample_lines import digest_of_line
from proctor.runs.stored_run import StoredRun, load_run
from proctor.scoring.flat_scores import main_of
from proctor.scoring.scores import Score
from proctor.statistics.arrays import Floats

FindExam = Callable[[RunSpec, str], Exam]
Key = tuple[int, int]
"""The digest of a row; of rows that nobody digested 0, and the number."""


@dataclass(frozen=True, slots=True)
class CellScore:
    """The main score under one wording.

    Attributes:
        name: What people call the wording.
        folder: The run folder within the sweep's.
        levels: The name of the level of each dimension, the reading among them.
        score: With its interval over questions.
        failures: Instances without a score.
        values: The score of each question that has one.
        noise: The variance of one answer to the same prompt, where questions were answered several times.
        repeats: How often each question was answered.
    """

    name: str
    folder: str
    levels: Mapping[str, str]
    score: Score
    failures: int
    values: Mapping[Key, float]
    noise: float | None = None
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class SweepScores:
    """All scores of a sweep.

    Attributes:
        cells: The wordings.
        questions: The words and the number of each question that some cell scored.
        is_mean: Whether the score is the mean of the questions' scores, so that these say how it comes about.
    """

    cells: tuple[CellScore, ...]
    questions: Mapping[Key, tuple[int, str]]
    is_mean: bool

    def table(self) -> Floats:
        """Return a row for each cell, a column for each question; NaN where a cell has no score of it."""
        keys = list(self.questions)
        found = np.full((len(self.cells), len(keys)), np.nan)
        for row, cell in zip(found, self.cells, strict=True):
            row[:] = [cell.values.get(key, math.nan) for key in keys]
        return found


def sweep_scores(folder: Path, design: Design, find_exam: FindExam) -> SweepScores:
    """Read the cells of a sweep.

    Args:
        folder: The sweep's.
        design: What was asked; cells without results are left out.
        find_exam: Builds an exam of a run again, for other readings of its answers.

    Raises:
        UsageError: No cell has a score.
        ProctorError: Answers cannot be read otherwise; the message says why.
    """
    cells: list[CellScore] = []
    questions: dict[Key, tuple[int, str]] = {}
    for cell in design.cells:
        run = load_run(folder / cell.folder)
        exam = next((name for name, entry in run.results.items() if entry.get("score_name")), None)
        if exam is not None:
            cells += _read(run, cell, exam, design.readings, find_exam, questions)
    if not cells:
        raise UsageError(f"no cell of {folder} has a score", hint="the same proctor sweep goes on with it")
    is_mean = all(_is_mean(each) for each in cells)
    return SweepScores(tuple(cells), questions, is_mean)


def _read(
    run: StoredRun,
    cell: Cell,
    exam: str,
    readings: Sequence[str],
    find_exam: FindExam,
    questions: dict[Key, tuple[int, str]],
) -> list[CellScore]:
    entry = run.results[exam]
    main = main_of(entry)
    values: dict[Key, list[float]] = {}
    keys: dict[int, Key] = {}
    for record in records_of(run):
        number, digest = record.get("doc_id"), digest_of_line(record)
        number = number if isinstance(number, int) else len(keys)
        key = keys[number] = (0, number) if digest is None else (digest, 0)
        if key not in questions:
            questions[key] = number, question_of(record)
        if (score := main_score(record, main.name)) is not None and math.isfinite(score):
            values.setdefault(key, []).append(score)
    factor = _factor([each for several in values.values() for each in several], entry)
    means = {key: factor * math.fsum(several) / len(several) for key, several in values.items()}
    noise, repeats = _noise(entry)
    failures = int(entry.get("failures") or 0)
    if not readings:
        return [CellScore(cell.name, cell.folder, dict(cell.levels), main, failures, means, noise, repeats)]
    return [
        CellScore(
            _joined(cell, way), cell.folder, {**cell.levels, EXTRACTION: way}, score, failures,
            {keys[number]: factor * value for number, value in scores.items() if number in keys}, noise, repeats,
        )
        for way, score, scores in _readings(run, exam, readings, find_exam)
    ]  # fmt: skip


def _joined(cell: Cell, way: str) -> str:
    return f"{cell.name} · {way}" if cell.levels else way


def _readings(
    run: StoredRun, exam: str, readings: Sequence[str], find_exam: FindExam
) -> list[tuple[str, Score, Mapping[int, float]]]:
    from proctor.runs.readings import readings_of
    from proctor.runs.sample_index import SampleIndex

    if run.samples is None:
        raise UsageError(f"{run.path} has no samples.jsonl", hint="the same proctor sweep writes it again")
    index = SampleIndex.of_run(run.samples, run.results, run.spec)
    index.build()
    found = readings_of(index, exam, find_exam)
    return [(way, found.scores[way], found.values[way]) for way in readings]


def _factor(values: Sequence[float], entry: Mapping[str, Any]) -> float:
    """Return what makes an instance's score one in the unit of the exam's."""
    return 100.0 / whole_of(values, entry) if entry.get("unit") == "percent" else 1.0


def _noise(entry: Mapping[str, Any]) -> tuple[float | None, int]:
    """Return the variance of single answers to a question, and how many there are; as the results say it."""
    said = entry.get("repeats")
    if not isinstance(said, Mapping) or not isinstance(noise := said.get("answer_noise"), int | float):
        return None, 1
    count = int(said["repeats"])
    return float(noise) ** 2 * int(said["instances"]) * count, count


def _is_mean(cell: CellScore) -> bool:
    score = cell.score.number
    if score is None or not cell.values:
        return False
    return math.isclose(math.fsum(cell.values.values()) / len(cell.values), score, rel_tol=1e-6, abs_tol=1e-9)
