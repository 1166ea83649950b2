"""Labels of people: which of a run's answers they should label, and the labels that they gave.

A label belongs to an answer: its key is made of the digests of the instance and of the words of the answer. It counts
where it was drawn: answers that two runs share are not drawn from the other one's by known probabilities.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np

from proctor.errors import DataError, UsageError, reason_of
from proctor.foreign_text import parse_json
from proctor.jsonable import jsonable
from proctor.randomness import random_stream
from proctor.recipes.fingerprint import digest_of
from proctor.results.instance_scores import main_score, whole_of
from proctor.runs.question_words import gold_of, posed_of
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import answer_key, digest_of_line, words_of
from proctor.runs.stored_run import StoredRun
from proctor.safe_files import read_bytes
from proctor.scoring.grading.groups import cluster_key
from proctor.statistics.arrays import Floats, Indices
from proctor.statistics.label_correction import MANY

COLUMNS: Final = ("answer_id", "exam", "question", "right_answers", "answer", "label", "stands_for", "draw")
"""Of a file for people who label: neither a model's name nor a verdict is in it."""

LABELS: Final = "labels.jsonl"
"""The labels that are kept in a run folder."""
FEWEST: Final = 10
"""Labels from which on a score is corrected: the intervals of fewer are nearly as wide as the scale."""
_PAIR: Final = 2  # labels of a kind that have a spread
_LARGEST: Final = 64 << 20  # bytes of a file of labels: a million short answers
_FEWEST: Final = 10  # answers of a kind: below it, drawing some more often saves no label
_UNSURE: Final = (0.05, 0.25)
"""So far from 0 and 1 a score says that the judge is not quite sure, or unsure. Such answers are drawn twice, or three
times as often, as Neyman (1934) allocates them: the truth about them has a standard deviation of about ⅓, or ½, about
others of ⅙ where the judge errs in 3%. It saves most labels of what was tried (``benchmarks/judge_cases.py``)."""
_SURELY_WRONG: Final = 0.03  # of the answers of which a judge is sure, as it is taken before any label is there
_WORDS: Final = {"yes": 1.0, "right": 1.0, "true": 1.0, "correct": 1.0, "no": 0.0, "wrong": 0.0, "false": 0.0}

_Id = tuple[str, str]  # of a draw (empty where none is known) and of an answer


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """The answers of an exam that have a score.

    Attributes:
        exam, entry: Its name and its results.
        keys: Of the answers.
        numbers: Under which the samples list their instances.
        scores: As shares of the full score.
        questions: Numbers of what they are about: answers with one number depend on each other.
        draw: Tells a draw among all answers of the exam from others, without a word on whose they are.
        shown: What people see of answers, by key.
    """

    exam: str
    entry: Mapping[str, Any]
    keys: list[str]
    numbers: Indices
    scores: Floats
    questions: Indices
    draw: str
    shown: Mapping[str, tuple[str, ...]]


def labelled_exams(run: StoredRun) -> list[str]:
    """Return the exams of a run that have answers of their own: all but suites."""
    return [exam for exam, entry in run.results.items() if not entry.get("members")]


def answers_of(run: StoredRun, exam: str, *, with_words: bool = False) -> ScoredAnswers:
    """Return the scored answers of an exam, with what people see of them if that is wanted.

    Raises:
        UsageError: There are none with a digest, or their scores do not lie between 0 and a full score.
    """
    return answers_in(index_of(run), exam, with_words=with_words)


def index_of(run: StoredRun) -> SampleIndex:
    """Return the index of a run's samples, built.

    Raises:
        UsageError: There are none.
    """
    if run.samples is None:
        raise UsageError(f"{run.path} has no samples.jsonl", hint="a run with --log-samples writes it when it ends")
    index = SampleIndex.of_run(run.samples, run.results, run.spec)
    index.build()
    return index


def answers_in(index: SampleIndex, exam: str, *, with_words: bool = False) -> ScoredAnswers:
    """Return the scored answers of an exam, as :func:`answers_of` does."""
    entry, by = index.results.get(exam, {}), index.clusters.get(exam)
    keys: list[str] = []
    scores, questions, every, numbers, shown = [], [], [], [], {}
    for place, record in enumerate(index.records(exam)):
        score, digest = main_score(record, entry.get("score_name")), digest_of_line(record)
        key = answer_key(record)
        every.append(key)
        if score is None or digest is None or not math.isfinite(score):
            continue
        group = cluster_key(record.get("input") or {}, by, place) if by else digest
        questions.append(int.from_bytes(blake2b(str(group).encode(), digest_size=7).digest()))
        keys.append(key)
        scores.append(score)
        numbers.append(number if isinstance(number := record.get("doc_id"), int) else -1)
        if with_words:
            answer = record.get("prediction" if record.get("kind") == "choose" else "output")
            shown[key] = (posed_of(record), gold_of(record), words_of(jsonable(answer)))
    values = np.array(scores) / whole_of(scores, entry)
    if not keys or values.min() < 0 or values.max() > 1:
        why = f"{entry.get('score_name')} has values up to {values.max():g}" if keys else "no answer has a score"
        folder = index.path.parent
        raise UsageError(f"{folder}: labels are for answers with scores from 0 to 1, and {exam} has others", why=why)
    draw = f"d-{digest_of([exam, every])}"  # not a number in spreadsheets
    return ScoredAnswers(exam, entry, keys, np.array(numbers), values, np.array(questions), draw, shown)


def drawn_answers(
    run: StoredRun, exams: Sequence[str], count: int, seed: int | None = None
) -> tuple[list[dict[str, str]], list[str]]:
    """Return the answers that people should label, in random order, as records of :data:`COLUMNS`; and notes on it.

    Args:
        run: The run.
        exams: Its exams.
        count: Answers of each exam; all where it has no more.
        seed: Seed of the draw; that of the settings by default.
    """
    rows: list[dict[str, str]] = []
    notes: list[str] = []
    for exam in exams:
        found = answers_of(run, exam, with_words=True)
        stream = random_stream(f"answers to label of {exam}", seed)
        scores = dict(sorted(zip(found.keys, found.scores.tolist(), strict=True)))
        names, often = list(scores), how_often(values := np.array(list(scores.values())), count)
        notes.append(f"{exam}: {_draw_told(values, count)}")
        for kind, number in allotted(often, count).items():
            keys = [key for key, times in zip(names, often, strict=True) if times == kind]
            for key in stream.sample(keys, number):
                told = (key, exam, *found.shown[key], "", f"{len(keys) / number:.12g}", found.draw)
                rows.append(dict(zip(COLUMNS, told, strict=True)))
    random_stream("order of answers to label", seed).shuffle(rows)
    return rows, notes


def _draw_told(scores: Floats, count: int) -> str:
    """Return how answers are drawn, and whether that saves labels."""
    if count >= len(scores):
        return "all answers are to be labelled"
    if len(set(how_often(scores, count).tolist())) > 1:
        saved = f"saves {max(labels_saved(scores, count), 0.0):.0%} of labels at equal width if 0.8 means 80% right"
        return f"answers with unsure verdicts are drawn more often, which {saved}"
    why = "scores do not tell where the judge is unsure, as graded ones (g-eval) may"
    why = "labels are few" if count < MANY else why
    return f"answers are drawn with equal chances, which saves no labels: {why}"


def how_often(scores: Floats, count: int) -> Indices:
    """Return how often each answer is drawn for labels, beside those of which the judge is sure; few are all alike."""
    doubt = np.minimum(scores, 1.0 - scores)
    often: Indices = 1 + np.searchsorted(_UNSURE, doubt, side="right")
    if count < MANY:
        return np.ones_like(often)
    for kind, other in ((3, 2), (1, 2), (2, 1 if (often == 1).any() else 3)):  # what is rare joins its neighbours
        if (often == kind).sum() < _FEWEST:
            often[often == kind] = other
    return often


def allotted(often: Indices, count: int) -> dict[int, int]:
    """Return how many answers of each kind are drawn: two at least, all at most."""
    found, left, weight = {}, count, int(often.sum())
    for kind in sorted(set(often.tolist()), reverse=True):
        size = int((often == kind).sum())
        found[kind] = min(max(round(left * kind * size / weight), 2), size)
        left, weight = left - found[kind], weight - kind * size
    return found


def labels_saved(scores: Floats, count: int) -> float:
    """Return which share of labels :func:`how_often` saves at equal width where a score is the chance to be right."""
    often = how_often(scores, count)
    spread = np.maximum(scores * (1.0 - scores), _SURELY_WRONG * (1.0 - _SURELY_WRONG))
    return 1.0 - float((spread / often).mean() * often.mean() / spread.mean())


@dataclass(slots=True)
class Labels:
    """The labels of several files.

    Attributes:
        given: What each labeller said of an answer, by the labeller.
        weights: How many answers a labelled one stands for.
        empty: Lines without a label.
        is_kept: Whether nobody named the files, and they were found beside the answers.
        sources: The files that labels are kept in, by answer.
    """

    given: dict[_Id, dict[str, float]] = field(default_factory=dict)
    weights: dict[_Id, float] = field(default_factory=dict)
    empty: int = 0
    is_kept: bool = False
    sources: dict[_Id, Path] = field(default_factory=dict)

    def ids(self, answers: ScoredAnswers) -> list[_Id]:
        """Return under which ids labels of answers may be: those of their draw go first."""
        return [each if (each := (answers.draw, key)) in self.given else ("", key) for key in answers.keys]

    def among(self, answers: Iterable[ScoredAnswers]) -> Labels:
        """Return the labels without those of other answers, where nobody named the files: beside runs lie others."""
        if not self.is_kept:
            return self
        ids = {each for one in answers for each in self.ids(one)}
        given = {key: each for key, each in self.given.items() if key in ids}
        return replace(self, given=given, sources={key: self.sources[key] for key in given})

    def of(self, answers: ScoredAnswers) -> tuple[Floats, Floats]:
        """Return the labels of answers, the mean where there are several and NaN where none, and their weights."""
        ids = self.ids(answers)
        found = [list(self.given.get(each, {}).values()) for each in ids]
        values = np.array([sum(each) / len(each) if each else math.nan for each in found])
        return values, np.array([self.weights.get(each, 1.0) for each in ids])


def why_too_few(labels: Floats, weights: Floats) -> str:
    """Return why the labels of answers correct no score; nothing where they do."""
    known = np.isfinite(labels)
    if (count := int(known.sum())) < FEWEST:
        return f"{count or 'none'} of its answers {'have' if count > 1 else 'has'} a label, and {FEWEST} are the fewest"
    found = Counter(weights[known].tolist())
    alone = [weight for weight, times in found.items() if times < _PAIR]
    return f"one alone of the answers that stand for {alone[0]:g} has a label; label one more" if alone else ""


def read_labels(paths: Sequence[Path]) -> Labels:
    """Read files of labels, one of each labeller.

    Raises:
        DataError: A file cannot be read.
        UsageError: It has no such columns, a label that is none, or two for one answer.
    """
    found = Labels()
    for number, path in enumerate(paths):
        if path.name == LABELS:
            _add_kept(found, path)
            continue
        labeller = f"{path} ({number + 1})"
        for line, row in table_rows(path, ("answer_id", "label"), _HOW):
            if not (row.get("label") or "").strip():
                found.empty += 1
                continue
            key = ((row.get("draw") or "").strip(), (row.get("answer_id") or "").strip())
            value = _number(row["label"], 0.0, 1.0)
            if value is None:
                hint = "write 1 for right, 0 for wrong, or what part of it is right, such as 0.5"
                why = "a label is a number from 0 to 1, or a word such as right, wrong, yes, no"
                raise UsageError(f"{path}:{line}: '{row['label']}' is not a label", why=why, hint=hint)
            if found.given.setdefault(key, {}).setdefault(labeller, value) != value:
                raise UsageError(
                    f"{path}:{line}: {key[1]} has two labels", why="a file is of one labeller", hint="write a file each"
                )
            weight = _number(row.get("stands_for") or "1", 1.0, 1e12)
            if weight is None or found.weights.setdefault(key, weight) != weight:
                why = "a labelled answer stands for itself, or for more that were not drawn"
                raise UsageError(
                    f"{path}:{line}: stands_for is not as it was drawn", why=why, hint="leave that column alone"
                )
    return found


def _add_kept(found: Labels, path: Path) -> None:
    """Add the labels that are kept in a run folder; lines of other shapes are left out."""
    try:
        lines = read_bytes(path, _LARGEST, within=path.parent).splitlines()
    except OSError as error:
        raise DataError(f"{path} cannot be read", why=reason_of(error)) from None
    for line in lines:
        with suppress(ValueError, RecursionError):
            record = parse_json(line.decode("utf-8", "replace"))
            if not isinstance(record, dict):
                continue
            key, who = (str(record.get("draw") or ""), str(record.get("answer"))), str(record.get("who") or path)
            value = _number(str(record.get("label")), 0.0, 1.0)
            given = found.given.setdefault(key, {})
            if value is None:
                given.pop(who, None)
            else:
                given[who] = value
                found.sources[key] = path
                found.weights.setdefault(key, _number(str(record.get("stands_for")), 1.0, 1e12) or 1.0)
    found.given = {key: given for key, given in found.given.items() if given}


_HOW: Final = "proctor judge label RUN writes a table to fill in"


def table_rows(path: Path, columns: Sequence[str], how: str) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a table, each with its line; ``how`` says how to get one with these columns.

    Raises:
        DataError: It cannot be read.
        UsageError: A column is missing.
    """
    try:
        text = read_bytes(path, _LARGEST).decode("utf-8-sig")
        csv.field_size_limit(_LARGEST)
        header = text.partition("\n")[0]
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count))
        rows = [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise DataError(f"{path} cannot be read", why=reason_of(error)) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is not a table of text", why=str(error), hint="save it as 'CSV UTF-8'") from None
    if missing := [name for name in columns if name not in (reader.fieldnames or ())]:
        why = f"it has {', '.join(reader.fieldnames)}" if reader.fieldnames else "it is empty"
        raise UsageError(f"{path} has no column {missing[0]}", why=why, hint=how)
    return rows


def _number(text: str, least: float, most: float) -> float | None:
    plain = text.strip().casefold().replace(",", ".")
    try:
        value = _WORDS[plain] if plain in _WORDS else float(plain)
    except ValueError:
        return None
    return value if least <= value <= most else None
