"""The page that compares runs with a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from proctor.errors import UsageError
from proctor.runs.compare_runs import compare_with, flips
from proctor.runs.sample_index import SampleIndex
from proctor.runs.stored_run import StoredRun
from proctor.web.charts import difference_bar
from proctor.web.exam_form import is_count
from proctor.web.library import Library
from proctor.web.sample_view import choices_of, excerpt, question_of, references_text

if TYPE_CHECKING:
    from starlette.requests import Request

PAGE_SIZE = 10  # instances on a page: each shows its prompt and all outputs, which is a screen or more
FEWEST = 2  # one run has nothing to be compared with
MOST_RUNS = 12  # each is a row of every exam and has an index to open: more of them nobody reads

Values = tuple[str, dict[str, Any]]
Chosen = list[tuple[str, StoredRun, SampleIndex]]
"""The runs that are compared, with their ids and indexes; the first is the baseline."""


def compare(library: Library, request: Request) -> Values:
    """Show paired differences of runs and a baseline, and the instances that flipped."""
    ids = _chosen_ids(request)
    values: dict[str, Any] = {
        "runs": [{"id": run_id, "run": run} for run_id, run in library.runs()],
        "chosen": ids,
        "rows": [],
        "flips": None,
        "exam": request.query_params.get("exam", ""),
    }
    if len(ids) < FEWEST:
        return "compare.html", values
    chosen = [_opened(library, run_id) for run_id in ids]
    values["names"] = [run.path.name for _, run, _ in chosen]
    values["rows"] = _rows(chosen)
    if values["exam"]:
        values |= _flips(chosen, request)
    return "compare.html", values


def _chosen_ids(request: Request) -> list[str]:
    """Return the runs that are asked for, the baseline first, each once."""
    given = request.query_params.getlist("run")
    baseline = request.query_params.get("baseline", "")
    ids = list(dict.fromkeys([baseline, *given] if baseline else given))
    if len(ids) > MOST_RUNS:
        raise UsageError(f"{len(ids)} runs are too many for one page", hint=f"choose {MOST_RUNS} at most")
    return ids


def _opened(library: Library, run_id: str) -> tuple[str, StoredRun, SampleIndex]:
    run = library.get(run_id)
    index = library.index(run)
    if index.share < 1.0:
        raise UsageError(f"the instances of {run.path.name} are still being indexed", hint="load the page again soon")
    return run_id, run, index


def _rows(chosen: Chosen) -> list[dict[str, Any]]:
    names = [run.path.name for _, run, _ in chosen[1:]]
    rows = difference_rows(chosen[0][2], [index for _, _, index in chosen[1:]], names)
    for row in rows:
        row["is_flipped"] = row["place"] + 1
        for way in ("better", "worse"):
            row[f"{way}_link"] = _link(chosen, row["task"], chosen[row["place"] + 1][0], way)
    return rows


def difference_rows(baseline: SampleIndex, others: Sequence[SampleIndex], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the comparisons with a baseline, exam by exam, with pictures on one axis.

    Each row has ``run`` (one of ``names``) and ``place`` (its position among ``others``); exams stand together.
    """
    rows = [
        {"run": names[place], "place": place, **asdict(row)}
        for place, compared in enumerate(compare_with(baseline, others))
        for row in compared
        if row.difference is not None
    ]
    bounds = [abs(value) for row in rows for value in (row["low"], row["high"], row["difference"]) if value is not None]
    reach = max(bounds, default=1.0)
    for row in rows:
        row["chart"] = difference_bar(row["difference"], row["low"], row["high"], reach)
    order = {exam: place for place, exam in enumerate(baseline.exams())}
    return sorted(rows, key=lambda row: (order[row["task"]], row["place"]))


def _link(chosen: Chosen, exam: str, other: str, way: str) -> str:
    runs = [("run", run_id) for run_id, _, _ in chosen]
    return "/compare?" + urlencode([*runs, ("exam", exam), ("with", other), ("way", way)]) + "#flips"


def _page(request: Request) -> int:
    text = request.query_params.get("page", "1")
    return max(1, int(text)) if is_count(text) else 1


def _flips(chosen: Chosen, request: Request) -> dict[str, Any]:
    """Return the instances of an exam that one run scored better, or worse, than the baseline, with all outputs."""
    exam, way = request.query_params.get("exam", ""), request.query_params.get("way", "worse")
    other = request.query_params.get("with") or chosen[1][0]
    found = next((entry for entry in chosen[1:] if entry[0] == other), None)
    if found is None:
        raise UsageError("the run that flipped is not among those that are compared")
    numbers = flips(chosen[0][2], found[2], exam, better=way == "better")
    page = _page(request)
    return {
        "flips": [_flip(chosen, exam, number) for number in numbers[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]],
        "way": "better" if way == "better" else "worse",
        "flipped": found[1].path.name,
        "count": len(numbers),
        "page": page,
        "last": max(1, -(-len(numbers) // PAGE_SIZE)),
        "here": _link(chosen, exam, other, way).partition("#")[0],
    }


def _flip(chosen: Chosen, exam: str, number: int) -> dict[str, Any]:
    sides = []
    question = references = ""
    for run_id, run, index in chosen:
        sample = index.find(exam, number)
        if sample is None:
            continue
        question = question or excerpt(question_of(sample.record))
        references = references or references_text(sample.record)
        sides.append(
            {
                "run": run.path.name,
                "link": f"/runs/{run_id}/samples/{sample.number}",
                "score": sample.score,
                "failure": sample.failure,
                "output": sample.record.get("output"),
                "choices": choices_of(sample.record),
            }
        )
    return {"doc_id": number, "question": question, "references": references, "sides": sides}
