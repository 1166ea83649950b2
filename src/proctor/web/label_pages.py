"""The page on which people label answers by keyboard: without a model's name and without verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from proctor.errors import UsageError
from proctor.runs.answer_labels import LABELS, Labels, drawn_answers, labelled_exams, read_labels
from proctor.runs.kept_labels import LONGEST_NAME, Label, keep_labels
from proctor.runs.stored_run import files_stamp, load_run
from proctor.web.confinement import page_of
from proctor.web.exam_form import is_count
from proctor.web.library import Library
from proctor.web.run_pages import stored_run

if TYPE_CHECKING:
    from starlette.requests import Request

_EACH: Final = 100
"""Answers of an exam that are drawn, as ``proctor judge label`` does, so that a table and this page ask the same."""
_VALUES: Final = {"1": 1.0, "0": 0.0, "0.5": 0.5, "": None}


def label(library: Library, request: Request) -> tuple[str, dict[str, Any]]:
    """Show the next answer that somebody has not labelled, or that at a place."""
    if not library.takes_notes:
        raise UsageError("labels are kept for whoever has the token", hint="start proctor view without --no-token")
    stored, run_id = stored_run(library, request)
    who, at = request.query_params.get("who", "").strip()[:LONGEST_NAME], request.query_params.get("at", "")
    rows = _drawn(stored.path, files_stamp(stored.path))
    place = stored.path / LABELS
    kept = read_labels([place]) if who and place.is_file() else Labels()
    mine = [kept.given.get((row["draw"], row["answer_id"]), {}).get(who) for row in rows]
    first = next((number for number, value in enumerate(mine) if value is None), len(rows))
    number = min(int(at), len(rows)) if is_count(at) else first
    done = sum(value is not None for value in mine)
    row, value = (rows[number], mine[number]) if who and number < len(rows) else (None, None)
    links = [f"?{urlencode({'who': who, 'at': max(number + step, 0)})}" for step in (-1, 1)]
    values = {"id": run_id, "who": who, "at": number, "row": row, "label": value, "done": done, "total": len(rows)}
    return "label.html", {**values, "back": links[0], "skip": links[1], "longest": LONGEST_NAME}


@lru_cache(maxsize=4)
def _drawn(path: Path, stamp: object) -> list[dict[str, str]]:
    """Return the answers of a run to label; exams whose scores labels cannot correct have none."""
    del stamp
    run, rows, why = load_run(path), list[dict[str, str]](), "it has no exam"
    for exam in labelled_exams(run):
        try:
            rows += drawn_answers(run, [exam], _EACH)[0]
        except UsageError as error:
            why = error.diagnostics[0].why
    if not rows:
        raise UsageError("no answer of this run can be labelled", why=why)
    return rows


def keep_label(library: Library, run_id: str, given: Mapping[str, str]) -> str:
    """Keep a label; return the address of the next answer.

    Raises:
        UsageError: It is not a label, or there is no such answer.
        OSError: It cannot be written.
    """
    with page_of(library):
        stored = library.get(run_id)
        rows = _drawn(stored.path, files_stamp(stored.path))
    at, value, who = given.get("at", ""), given.get("label"), given.get("who", "").strip()
    row = rows[int(at)] if is_count(at) and int(at) < len(rows) else None
    if row is None or row["answer_id"] != given.get("answer") or value not in _VALUES:
        raise UsageError("this is not a label of an answer of the run", hint="open the page for labels again")
    keep_labels(stored.path, [Label(row["answer_id"], _VALUES[value], who, row["draw"], float(row["stands_for"]))])
    return f"/runs/{run_id}/label?{urlencode({'who': who, 'at': int(at) + 1})}"
