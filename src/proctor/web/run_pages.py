"""Pages about runs: the list, and one run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.results.latency_tables import common_rows, latency_rows
from proctor.results.score_grid import GridCell, ScoreGrid, group_label, groups_of, score_grids
from proctor.results.summary import ScoreRow, ending_notes, failure_notes, group_rows, score_rows
from proctor.runs.stored_run import StoredRun
from proctor.scoring.flat import UNIT
from proctor.web.charts import interval_bar, scale_of
from proctor.web.library import Library
from proctor.web.rendering import duration

if TYPE_CHECKING:
    from starlette.requests import Request

HEAT_STEPS = 10
"""Shades of a heat map."""
MOST_LISTED = 5
"""Scores of a run that the list shows."""
MOST_FINGERPRINTS = 10
"""Exams whose fingerprints a run's page shows: they are compared by eye."""

Values = tuple[str, dict[str, Any]]


def runs(library: Library, _: Request) -> Values:
    """List the runs."""
    found = library.runs()
    listed = [{"id": run_id, "run": run, **_in_short(run)} for run_id, run in found]
    live = any(run.state == "running" for _, run in found)
    has_cost = any(entry["cost"] for entry in listed)
    return "runs.html", {
        "runs": listed,
        "has_cost": has_cost,
        "roots": [str(root) for root in library.roots],
        "live": live,
    }


def _in_short(run: StoredRun) -> dict[str, Any]:
    """Return what the list says of a run: its first scores, those of suites before those of exams."""
    rows = list(score_rows(run.results))
    chosen = sorted(rows, key=lambda row: not row.is_suite)[:MOST_LISTED]
    dollars = (run.run.get("cost") or {}).get("usd")
    return {
        "rows": chosen,
        "more": len(rows) - len(chosen),
        "failed": sum(row.failed for row in rows if not row.is_suite),
        "progress": progress_of(run),
        "cost": f"${dollars:,.4f}" if isinstance(dollars, int | float) else "",
    }


def run(library: Library, request: Request) -> Values:
    """Show one run: scores with intervals, by template and demos, by group; failures; how it was made."""
    stored, run_id = stored_run(library, request)
    link = f"/runs/{run_id}/samples" if stored.samples else ""
    view = scores_view(stored, link)
    shown = {"id": run_id, "run": stored, "progress": progress_of(stored), **view}
    return "run.html", {**shown, "live": stored.state == "running"}


def progress_of(stored: StoredRun) -> dict[str, float | None]:
    """Return the counts of a run that is going on, ``None`` for what its file does not say in numbers."""
    names = ("total", "done", "failed", "rate", "eta_seconds")
    found = {name: stored.progress.get(name) for name in names}
    return {name: value if isinstance(value, int | float) else None for name, value in found.items()}


def stored_run(library: Library, request: Request) -> tuple[StoredRun, str]:
    """Return the run that a request is about, and its id."""
    run_id = str(request.path_params["run"])
    return library.get(run_id), run_id


def scores_view(stored: StoredRun, link: str = "") -> dict[str, Any]:
    """Return everything about a run but its instances, for its page and for reports.

    Args:
        stored: The run.
        link: The page of its instances; empty where there is none.
    """
    rows = list(score_rows(stored.results, every_score=True))
    specifications = stored.spec.exams if stored.spec else {}
    grids = score_grids(stored.results, specifications)
    in_grids = {(cell.exam, cell.group) for grid in grids for cell in grid.cells.values() if cell.group}
    return {
        "rows": [
            {**score_view(row, rows), **_links(stored, row, link)}
            for row in sorted(rows, key=lambda row: not row.is_suite)
        ],
        "grids": [grid_view(grid, link) for grid in grids],
        "groupings": [view for exam in stored.results for view in _grouping_views(stored, exam, link, in_grids)],
        "notes": [*failure_notes(rows), *ending_notes(rows)],
        "facts": facts_of(stored),
        "latency": latency_views(stored.run.get("latency") or {}),
    }


def latency_views(latency: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tables of how long answers took; none where nothing was timed."""
    tables = {"Time of requests": latency_rows(latency), "Throughput": common_rows(latency)}
    return [{"title": title, "header": rows[0], "rows": rows[1:]} for title, rows in tables.items() if rows[1:]]


def _links(stored: StoredRun, row: ScoreRow, link: str) -> dict[str, str]:
    if not link:
        return {}
    kind = "subset" if stored.results[row.task].get("members") else "exam"
    chosen = urlencode({kind: row.task})
    return {"link": f"{link}?{chosen}", "failures": f"{link}?{chosen}&failed=yes"}


def grid_view(grid: ScoreGrid, link: str = "") -> dict[str, Any]:
    """Return a heat map as rows of cells; each has a shade from 0 to :data:`HEAT_STEPS` - 1."""
    low, high = grid.range()

    def view(cell: GridCell | None) -> dict[str, Any] | None:
        if cell is None:
            return None
        chosen = urlencode({"exam": cell.exam, **({"group": cell.group} if cell.group else {})})
        share = 0.0 if cell.value is None or high <= low else (cell.value - low) / (high - low)
        return {"cell": cell, "shade": round(share * (HEAT_STEPS - 1)), "link": f"{link}?{chosen}" if link else ""}

    lines = [(name, [view(grid.cells.get((name, demos))) for demos in grid.demos]) for name in grid.templates]
    return {"grid": grid, "lines": lines}


def _grouping_views(
    stored: StoredRun, exam: str, link: str, shown: Collection[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """Yield a table for each grouping of an exam, but of the groups that a heat map has shown."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    groups = groups_of(stored.results[exam])
    rows = group_rows(exam, groups, stored.results[exam].get(UNIT, "raw"))
    for group, row in zip(groups, rows, strict=True):
        label = group_label(group["by"])
        if (exam, label) in shown:
            continue
        entry = {**score_view(row, rows), "label": label}
        if link:
            entry["link"] = f"{link}?{urlencode({'exam': exam, 'group': label})}"
        found.setdefault(tuple(sorted(group["by"])), []).append(entry)
    for names, entries in found.items():
        yield {"exam": exam, "names": ", ".join(names), "rows": sorted(entries, key=lambda each: str(each["label"]))}


def score_view(row: ScoreRow, rows: list[ScoreRow]) -> dict[str, Any]:
    """Return a score with its picture, on the axis that fits all rows of the same metric."""
    return {"row": row, "chart": interval_bar(row, _axis(row, rows))}


def _axis(row: ScoreRow, rows: list[ScoreRow]) -> tuple[float, float]:
    return scale_of([each for each in rows if (each.metric, each.unit) == (row.metric, row.unit)] or rows)


def _fingerprints(stored: StoredRun) -> Iterator[str]:
    """Yield what exams were made of in short: as many as fit on the page, each with the digest of its instances."""
    found = {name: Fingerprint.from_dict(entry.get(FINGERPRINT)) for name, entry in stored.results.items()}
    known = {name: made for name, made in found.items() if made is not None}
    for name, made in list(known.items())[:MOST_FINGERPRINTS]:
        yield f"{name} {made.short} (rows {made.rows[:8]})"
    if len(known) > MOST_FINGERPRINTS:
        yield f"{len(known) - MOST_FINGERPRINTS} more in results.json"


def facts_of(stored: StoredRun) -> list[tuple[str, str]]:
    """Return what a reader wants to know about how a run was made."""
    details = stored.run
    requests = details.get("requests") or {}
    facts = {
        "Model": stored.model,
        "Model arguments": ", ".join(
            f"{name}={value}" for name, value in (stored.spec.model_args if stored.spec else {}).items()
        ),
        "Started": stored.started,
        "Time": duration(details.get("seconds")),
        "Requests": ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in requests.items()),
        "Tokens": _tokens_text(details.get("usage") or {}),
        "Cost": "; ".join(
            f"{name} {value}" for name, value in (details.get("cost") or {}).items() if value is not None
        ),
        "Judges": "; ".join(
            f"{label}: {', '.join(f'{count} {name}'.replace('_', ' ') for name, count in counts.items())}"
            for label, counts in (details.get("judges") or {}).items()
        ),
        "Versions": ", ".join(f"{name} {version}" for name, version in (details.get("versions") or {}).items()),
        "Fingerprints": "; ".join(_fingerprints(stored)),
        "Machine": ", ".join(map(str, (details.get("machine") or {}).values())),
        "Response log": str(details.get("log", "")),
        "Folder": str(stored.path),
        "Repeat it": f"proctor run {stored.path / 'run.yaml'}" if stored.spec else "",
    }
    return [(name, value) for name, value in facts.items() if value]


def _tokens_text(usage: Mapping[str, Mapping[str, Any]]) -> str:
    """Return how many tokens all exams took; those of a cache and of thoughts where there are any."""
    read, cached, written, thought = (
        sum(int(each.get(f"{name}_tokens") or 0) for each in usage.values())
        for name in ("prompt", "cached", "completion", "thinking")
    )
    if not read and not written:
        return ""
    from_cache = f" ({cached} of them from a cache)" if cached else ""
    return f"{read} read{from_cache}, {written} written" + (f" ({thought} of them thinking)" if thought else "")
