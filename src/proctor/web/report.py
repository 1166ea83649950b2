"""A report: one HTML file that needs nothing else and opens from a mail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import DataError
from proctor.runs.answer_labels import Labels
from proctor.runs.compare_runs import FindExam
from proctor.runs.corrected_scores import Corrections, correction_notes, correction_tables
from proctor.runs.question_words import question_of
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_query import SampleQuery
from proctor.runs.stored_run import StoredRun
from proctor.web.compare_pages import difference_rows
from proctor.web.rendering import file_styles, render
from proctor.web.run_pages import scores_view
from proctor.web.sample_view import assertions_in, choices_of, excerpt, judgements_in, messages_of, values_of
from proctor.web.verdicts import outcome_of

Results = Mapping[str, Mapping[str, Any]]

LARGEST_BYTES = 4_500_000
"""Instances are left out from here on, so that mail servers take the file."""


def report_of(
    runs: Sequence[StoredRun],
    samples_per_exam: int = 20,
    find_exam: FindExam | None = None,
    corrections: Corrections | None = None,
    labels: Labels | None = None,
) -> str:
    """Return the report of some runs as HTML.

    Args:
        runs: The runs, the first of which the others are compared with.
        samples_per_exam: Worst instances of each exam that are shown in full.
        find_exam: Builds exams of a run again, for scores of whole exams; without it these are not compared.
        corrections: What labels say of the scores.
        labels: These labels, where a user named them: runs are compared by the scores that they correct.
    """
    indexes = [_index(run) for run in runs]
    for each in indexes:
        if each is not None:
            each.labels = labels
    views = [_run_view(run, index, samples_per_exam) for run, index in zip(runs, indexes, strict=True)]
    values: dict[str, Any] = {
        "runs": views,
        "comparisons": _comparisons(runs, indexes, find_exam),
        "styles": file_styles(),
    }
    values["corrected"] = list(correction_tables(corrections)) if corrections else []
    values["reasons"] = correction_notes(corrections) if corrections else []
    page = render("report.html", path="", **values)
    while len(page.encode("utf-8", "backslashreplace")) > LARGEST_BYTES and any(view["samples"] for view in views):
        for view in views:
            view["left_out"] += len(view["samples"]) - len(view["samples"]) // 2
            view["samples"] = view["samples"][: len(view["samples"]) // 2]
        page = render("report.html", path="", **values)
    return page


def _index(run: StoredRun) -> SampleIndex | None:
    if run.samples is None:
        return None
    index = SampleIndex.of_run(run.samples, run.results, run.spec)
    index.build()
    return index


def _run_view(run: StoredRun, index: SampleIndex | None, samples_per_exam: int) -> dict[str, Any]:
    samples: list[dict[str, Any]] = []
    if index is not None:
        for exam in index.exams():
            samples.extend(_worst(index, run.results, exam, samples_per_exam))
    return {"run": run, **scores_view(run), "samples": samples, "left_out": 0}


def _worst(index: SampleIndex, results: Results, exam: str, count: int) -> list[dict[str, Any]]:
    found = index.page(SampleQuery(exam=exam, order="score"), 0, count).samples
    entry = results.get(exam, {})
    return [
        {
            "sample": sample,
            "question": excerpt(question_of(sample.record)),
            "outcome": "" if sample.failure else outcome_of(sample.score, entry),
            "messages": [{**message, "media": []} for message in messages_of(sample.record.get("prompt"))],
            "choices": choices_of(sample.record),
            "assertions": assertions_in(sample.record),
            "judgements": judgements_in(sample.record),
            "values": [each for each in values_of(sample.record) if each["key"] not in {"input", "usage", "timing"}],
        }
        for sample in found
    ]


def _comparisons(
    runs: Sequence[StoredRun], indexes: Sequence[SampleIndex | None], find_exam: FindExam | None
) -> list[dict[str, Any]]:
    """Return the comparisons of every later run with the first."""
    known = [index for index in indexes if index is not None]
    if len(runs) < 2:  # noqa: PLR2004
        return []
    if len(known) < len(indexes):
        raise DataError("runs can only be compared where all of them have samples.jsonl")
    return difference_rows(known[0], known[1:], [run.path.name for run in runs[1:]], find_exam)
