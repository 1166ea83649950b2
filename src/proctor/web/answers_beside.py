"""Answers side by side: the same questions as several models or prompts answered them, and why some failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from proctor.results.instance_scores import main_score
from proctor.runs.answer_notes import Note, Notes, notes_of
from proctor.runs.question_words import question_of
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import answer_key
from proctor.runs.stored_run import StoredRun
from proctor.web.rendering import file_styles, render
from proctor.web.sample_view import excerpt, reasons_of, references_text
from proctor.web.verdicts import Outcome, outcome_of

Which = Literal["all", "flips", "failed", "noted"]
"""All questions; those that one answered right and another did not; those that somebody did not answer right; those
with notes on an answer."""


class Answer(NamedTuple):
    """What one of those who are compared said: the answer, whether it is right, why it is not."""

    text: str
    outcome: Outcome
    score: float | None
    reasons: Sequence[str]
    notes: Sequence[Note] = ()


class Row(NamedTuple):
    """A question, and the answers to it by their columns."""

    question: str
    references: str
    answers: dict[str, Answer]

    def is_among(self, which: Which) -> bool:
        """Whether it is one of those that are wanted."""
        if which == "noted":
            return any(each.notes for each in self.answers.values())
        outcomes = {each.outcome for each in self.answers.values()}
        return which == "all" or (bool(outcomes - {"right"}) and (which == "failed" or "right" in outcomes))


@dataclass
class Table:
    """Those who answered the same questions.

    Attributes:
        columns: Names of runs and exams, and as ``proctor compare`` takes each.
        rows: The questions that are wanted.
        total: How many questions there are.
    """

    columns: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    total: int = 0


def tables_of(runs: Sequence[StoredRun], which: Which) -> list[Table]:
    """Return a table for each set of questions, of all exams that ask them; runs without samples are left out."""
    found: dict[str, tuple[Table, dict[tuple[str, int], Row]]] = {}
    several = len({run.path.name for run in runs}) > 1
    for run in runs:
        if run.samples is None:
            continue
        index = SampleIndex.of_run(run.samples, run.results, run.spec)
        index.build()
        notes = notes_of(run.path)
        exams = index.exams()
        for exam in exams:
            entry = run.results.get(exam, {})
            rows_of = str(entry.get("fingerprint", {}).get("rows") or exam)
            table, rows = found.setdefault(rows_of, (Table(), {}))
            name = " · ".join([run.path.name] * several + [exam] * (len(exams) > 1 or not several))
            table.columns[name] = f"{run.path}::{exam}"
            for key, record in _keyed(index.records(exam)):
                row = rows.setdefault(key, Row(excerpt(question_of(record)), references_text(record), {}))
                row.answers[name] = _answer(record, entry, notes)
    for table, rows in found.values():
        table.total, table.rows = len(rows), [row for row in rows.values() if row.is_among(which)]
    return [table for table, _ in found.values()]


def _keyed(records: Iterator[dict[str, Any]]) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    """Yield lines with what tells their question from others: the digest of its row, and the how-manyeth it is."""
    seen: Counter[str] = Counter()
    for record in records:
        digest = str(record.get("instance") or record.get("doc_id"))
        seen[digest] += 1
        yield (digest, seen[digest]), record


def _answer(record: Mapping[str, Any], entry: Mapping[str, Any], notes: Notes) -> Answer:
    failure = record.get("failure") or record.get("scoring_failure")
    score = None if failure else main_score(record, str(entry.get("score_name") or ""))
    outcome: Outcome = "" if failure else outcome_of(score, entry)
    output = record.get("output")
    text = output if isinstance(output, str) else record.get("processed_prediction") or output
    kept = notes.get(answer_key(record), ()) if notes else ()
    return Answer(excerpt(text), outcome, score, [] if outcome == "right" else reasons_of(record), kept)


def answers_page(tables: Sequence[tuple[Table, Sequence[str]]], which: Which, most: int) -> str:
    """Return tables as an HTML file that needs nothing else, the sentences of each above it."""
    return render("answers.html", path="", tables=tables, which=which, most=most, styles=file_styles())
