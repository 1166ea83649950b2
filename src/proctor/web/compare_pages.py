"""The page that compares two runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from proctor.errors import UsageError
from proctor.results.compare_runs import compare_runs, flips
from proctor.results.sample_index import SampleIndex
from proctor.running.stored import StoredRun
from proctor.web.charts import difference_bar
from proctor.web.library import Library
from proctor.web.run_pages import choices_of, excerpt, question_of

if TYPE_CHECKING:
    from starlette.requests import Request

PAGE_SIZE = 10

Values = tuple[str, dict[str, Any]]


def compare(library: Library, request: Request) -> Values:
    """Show paired differences of two runs, and the instances that flipped."""
    chosen = request.query_params.getlist("run")[:2]
    values: dict[str, Any] = {
        "runs": [{"id": run_id, "run": run} for run_id, run in library.runs()],
        "chosen": chosen,
        "rows": [],
        "flips": None,
        "exam": request.query_params.get("exam", ""),
        "better": request.query_params.get("way", "worse") == "better",
    }
    if len(chosen) < 2:  # noqa: PLR2004
        return "compare.html", values
    runs = [library.get(run_id) for run_id in chosen]
    library_indexes = [library.index(run) for run in runs]
    if unfinished := [run.path.name for run, index in zip(runs, library_indexes, strict=True) if index.share < 1.0]:
        raise UsageError(f"the instances of {unfinished[0]} are still being indexed", hint="load the page again soon")
    first, second = library_indexes
    values["rows"] = _rows(first, second, chosen)
    if values["exam"]:
        values |= _flips(runs, (first, second), chosen, values["exam"], values["better"], _page(request))
    return "compare.html", values


def _rows(first: SampleIndex, second: SampleIndex, chosen: list[str]) -> list[dict[str, Any]]:
    rows = difference_rows(first, second)
    for row in rows:
        for way in ("better", "worse"):
            row[f"{way}_link"] = _link(chosen, row["task"], way)
    return rows


def difference_rows(first: SampleIndex, second: SampleIndex) -> list[dict[str, Any]]:
    """Return the comparisons of the exams that both runs scored, with pictures on one axis."""
    rows = [asdict(row) for row in compare_runs(first, second) if row.difference is not None]
    bounds = [abs(value) for row in rows for value in (row["low"], row["high"], row["difference"]) if value is not None]
    reach = max(bounds, default=1.0)
    for row in rows:
        row["chart"] = difference_bar(row["difference"], row["low"], row["high"], reach)
    return rows


def _link(chosen: list[str], exam: str, way: str) -> str:
    return "/compare?" + urlencode([("run", chosen[0]), ("run", chosen[1]), ("exam", exam), ("way", way)])


def _page(request: Request) -> int:
    text = request.query_params.get("page", "1")
    return max(1, int(text)) if text.isdecimal() else 1


def _flips(
    runs: list[StoredRun],
    indexes: tuple[SampleIndex, SampleIndex],
    chosen: list[str],
    exam: str,
    better: bool,
    page: int,
) -> dict[str, Any]:
    documents = flips(*indexes, exam, better=better)
    shown = documents[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    return {
        "flips": [_flip(runs, indexes, chosen, exam, document) for document in shown],
        "page": page,
        "last": max(1, -(-len(documents) // PAGE_SIZE)),
        "here": _link(chosen, exam, "better" if better else "worse"),
    }


def _flip(
    runs: list[StoredRun], indexes: tuple[SampleIndex, SampleIndex], chosen: list[str], exam: str, document: int
) -> dict[str, Any]:
    sides = []
    question = ""
    for run, index, run_id in zip(runs, indexes, chosen, strict=True):
        sample = index.find(exam, document)
        if sample is None:
            continue
        question = question or excerpt(question_of(sample.record))
        sides.append(
            {
                "run": run.path.name,
                "link": f"/runs/{run_id}/samples/{sample.number}",
                "score": sample.score,
                "output": sample.record.get("output"),
                "choices": choices_of(sample.record),
            }
        )
    return {"doc_id": document, "question": question, "sides": sides}
