"""Instances as lists show them: a line each, and links to the right, the wrong and the failed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from proctor.results.summary import score_rows
from proctor.runs.answer_notes import Notes, notes_of
from proctor.runs.question_words import question_of
from proctor.runs.sample_index import Sample, SampleIndex
from proctor.runs.sample_lines import answer_key
from proctor.runs.sample_query import SampleQuery
from proctor.runs.stored_run import StoredRun
from proctor.web.sample_view import excerpt, references_text
from proctor.web.verdicts import Outcome, bounds_of, outcome_of

MOST_COUNTED = 200_000
"""Instances whose right and wrong ones are counted while somebody waits for the page: some ten milliseconds."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A link to some of the instances.

    Attributes:
        title: What they are.
        asked: Its parameters.
        is_on: Whether they are shown.
        count: How many they are; ``None`` where counting would take long.
    """

    title: str
    asked: str
    is_on: bool
    count: int | None


def presets(
    stored: StoredRun, index: SampleIndex, query: SampleQuery, given: Mapping[str, str], notes: Notes
) -> list[Preset]:
    """Return links to all instances, the right, the wrong and the failed ones, and those with notes."""
    exams = [query.exam] if query.exam else query.subset or [name for name in stored.results if name in stored.exams]
    bounds = bounds_of({name: stored.results[name] for name in exams if name in stored.results})
    kept = {name: given.get(name, "") for name in ("exam", "subset", "group", "q", "order")}
    narrowed = {name: text for name in ("failed", "lowest", "highest", "notes") if (text := given.get(name))}
    kinds: dict[str, Mapping[str, str]] = {"All": {}, "Right": {}, "Wrong": {}, "Failed": {"failed": "yes"}}
    kinds |= {name.capitalize(): found for name, found in bounds.items()}
    if notes:
        kinds["With notes"] = {"notes": "yes"}
    shown = {title: found for title, found in kinds.items() if found or title == "All"}
    counts: Sequence[int | None] = [None] * len(shown)
    if asked_of(stored) <= MOST_COUNTED:
        noted = index.numbers_of(notes) if notes else ()
        counts = index.counts([_narrowed_to(query, found, noted) for found in shown.values()])
    return [
        Preset(
            title,
            urlencode({name: text for name, text in (kept | dict(found)).items() if text}),
            narrowed == dict(found),
            count,
        )
        for (title, found), count in zip(shown.items(), counts, strict=True)
    ]


def asked_of(stored: StoredRun) -> int:
    """Return how many instances all exams of a run asked about."""
    return sum(row.asked or 0 for row in score_rows(stored.results))


def _narrowed_to(query: SampleQuery, found: Mapping[str, str], noted: tuple[int, ...]) -> SampleQuery:
    """Return a query that means only what a preset shows."""
    return replace(
        query,
        failed={"yes": True, "no": False}.get(found.get("failed", "")),
        lowest=float(found["lowest"]) if "lowest" in found else None,
        highest=float(found["highest"]) if "highest" in found else None,
        numbers=noted if "notes" in found else None,
    )


def outcome_in(found: Sample, stored: StoredRun) -> Outcome:
    """Return whether an instance is right, wrong or in between, where its score says it."""
    return "" if found.failure else outcome_of(found.score, stored.results.get(str(found.record.get("exam", "")), {}))


def line_of_sample(found: Sample, stored: StoredRun, notes: Notes) -> dict[str, Any]:
    """Return an instance's line of a list."""
    record = found.record
    prediction = record.get("processed_prediction")
    if prediction is None:
        prediction = record.get("prediction")
    return {
        "number": found.number,
        "exam": record.get("exam", ""),
        "doc_id": record.get("doc_id"),
        "question": excerpt(question_of(record)),
        "prediction": excerpt(record.get("output") if prediction is None else prediction),
        "references": references_text(record),
        "score": found.score,
        "failure": found.failure,
        "outcome": outcome_in(found, stored),
        "notes": notes.get(answer_key(record), []) if notes else [],
    }


def worst_of(stored: StoredRun, index: SampleIndex) -> dict[str, Any]:
    """Return the summary of a run's instances: counts, and the worst of them."""
    page, notes = index.page(SampleQuery(order="score"), 0, _WORST), notes_of(stored.path)
    return {
        "presets": presets(stored, index, SampleQuery(), {}, notes),
        "worst": [line_of_sample(sample, stored, notes) for sample in page.samples],
        "total": page.total,
    }


_WORST = 10
"""Instances below the scores of a run: what one looks at first, and a screen has room for."""
