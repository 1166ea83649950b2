"""The page, and the file, of what several models' answers say of the questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from proctor.runs.exam_items import ExamItems, items_of
from proctor.runs.item_tables import heading, tables
from proctor.web.library import Library
from proctor.web.rendering import file_styles, render

if TYPE_CHECKING:
    from starlette.requests import Request

_MOST_RUNS: Final = 200  # their samples are read while somebody waits: a second for each thirty of a thousand questions
_ON_A_PAGE: Final = 50  # questions of a kind


def items(library: Library, request: Request) -> tuple[str, dict[str, Any]]:
    """Show the questions as the chosen runs answered them; without any chosen, as all did."""
    given = request.query_params.getlist("run")
    known = [(run_id, run) for run_id, run in library.runs() if not given or run_id in given]
    found = items_of([run for _, run in known[:_MOST_RUNS]])
    return "items.html", {**_view(found, _ON_A_PAGE), "unread": max(len(known) - _MOST_RUNS, 0)}


def item_report(found: Sequence[ExamItems], most: int) -> str:
    """Return a file that needs nothing else, with so many questions of a kind."""
    return render("item_report.html", path="", styles=file_styles(), unread=0, **_view(found, most))


def _view(found: Sequence[ExamItems], most: int) -> dict[str, Any]:
    return {
        "exams": [
            {"name": each.exam, "heading": heading(each), "notes": each.notes, "tables": list(tables(each, most))}
            for each in found
        ]
    }
