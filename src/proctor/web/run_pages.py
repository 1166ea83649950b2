"""Pages about runs: the list, and one run."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from markupsafe import Markup

from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.results.latency_tables import TABLES
from proctor.results.score_grid import GridCell, ScoreGrid, group_label, groups_of, score_grids
from proctor.results.summary import (
    ScoreRow,
    cluster_notes,
    ending_notes,
    failure_notes,
    group_notes,
    group_rows,
    score_rows,
)
from proctor.results.summary import shown as score_text
from proctor.running.log_file import default_log
from proctor.runs.stored_run import StoredRun, state_notes
from proctor.scoring.flat_scores import UNIT
from proctor.web.charts import interval_bar, scale_of, small_bar
from proctor.web.exam_form import is_count
from proctor.web.instance_lists import worst_of
from proctor.web.library import Library
from proctor.web.rendering import duration
from proctor.web.run_lines import FILTERS, GROUPS, SORTS, RunLine, RunQuery, grouped, line_of, sorted_lines

if TYPE_CHECKING:
    from starlette.requests import Request

HEAT_STEPS = 10
"""Shades of a heat map."""
RUNS_ON_A_PAGE = 100
"""Lines that people still scroll through; each takes a sixth of a millisecond to put in words."""
MOST_IN_A_TITLE = 12
"""Further scores of a run that a line names when somebody points at it."""
MOST_FINGERPRINTS = 10
"""Exams whose fingerprints a run's page shows: they are compared by eye."""

Values = tuple[str, dict[str, Any]]


def runs(library: Library, request: Request) -> Values:
    """Show the newest scores of models in exams, and below them the runs."""
    given = request.query_params
    query = RunQuery.of(given)
    every = library.lines()
    sweeps = {} if any(getattr(query, name) for name in FILTERS) else library.sweeps(every)
    listed = [line for line in every if line.place not in sweeps or line.run.state == "running"]
    wanted = sorted_lines([line for line in listed if query.wants(line)], query.sort, query.exam)
    by, page = given.get("by", ""), given.get("page", "1")
    start = max(int(page) - 1, 0) * RUNS_ON_A_PAGE if is_count(page) else 0
    shown = wanted[start : start + RUNS_ON_A_PAGE]
    parameters, charts = query.parameters(), _charts(shown, query.exam)
    return "runs.html", {
        "total": len(listed),
        "sweeps": sweeps,
        "found": len(wanted),
        "query": query,
        "matrix": library.matrix(wanted, everything=given.get("exams") == "all", by=int(by) if is_count(by) else None),
        "groups": [
            (title, [_listed(line, charts, query.exam) for line in lines])
            for title, lines in grouped(shown, query.group)
        ],
        "page": start // RUNS_ON_A_PAGE + 1,
        "last": max(1, -(-len(wanted) // RUNS_ON_A_PAGE)),
        "parameters": urlencode(parameters),
        "choices": _choices(every),
        "sorts": SORTS,
        "groupings": GROUPS,
        "roots": [str(root) for root in library.roots],
        "live": any(line.run.state == "running" for line in every),
    }


def _charts(lines: Sequence[RunLine], exam: str) -> Mapping[str, Markup]:
    """Return the score that stands for each run as a bar, by the run's id; all are in one unit, on one axis."""
    firsts = {line.id: row for line in lines if (row := line.score_of(exam))}
    drawn = _drawn(list(firsts.values()))
    scale = scale_of(drawn)
    return {run_id: small_bar(as_share(row), scale) for run_id, row in firsts.items() if as_share(row) in drawn}


def _listed(line: RunLine, charts: Mapping[str, Markup], exam: str) -> dict[str, Any]:
    """Return what the list shows of a run beside the run: its score as a bar, and those of its exams in words."""
    first = line.score_of(exam)
    others = [row for row in line.rows if row is not first]
    rest = [f"{row.task}: {row.metric} {score_text(row.value)}" for row in others[:MOST_IN_A_TITLE]]
    return {
        "line": line,
        "first": first,
        "chart": charts.get(line.id, ""),
        "rest": "\n".join([*rest, *(["…"] if len(others) > MOST_IN_A_TITLE else [])]),
        "progress": progress_of(line.run),
    }


def _choices(lines: Sequence[RunLine]) -> dict[str, list[str]]:
    """Return what filters can be set to."""
    return {
        "model": sorted({line.run.model for line in lines}),
        "exam": sorted(set[str]().union(*(line.run.exams for line in lines), *(line.run.results for line in lines))),
        "tag": sorted({tag for line in lines for tag in line.tags}),
    }


def run(library: Library, request: Request) -> Values:
    """Show one run: scores with intervals, by template and demos, by group; failures; how it was made."""
    stored, run_id = stored_run(library, request)
    link = f"/runs/{run_id}/samples" if stored.samples else ""
    view = scores_view(stored, link)
    shown = {"id": run_id, "run": stored, "again": _again(stored), "progress": progress_of(stored), **view}
    worst = worst_of(stored, library.index(stored)) if link else None
    own = {"instances": worst, "takes_notes": library.takes_notes, "live": stored.state == "running"}
    return "run.html", {**shown, **own}


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
        "notes": [
            *state_notes(stored),
            *failure_notes(rows),
            *ending_notes(rows),
            *group_notes(stored.results),
            *cluster_notes(stored.results),
        ],
        "verdict": line_of("", stored).verdict,
        "facts": facts_of(stored),
        "latency": latency_views(stored.run.get("latency") or {}),
    }


def latency_views(latency: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tables of how long answers took; none where nothing was timed."""
    tables = {title: table(latency) for title, table in TABLES.items()}
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
    """Return a score with its picture, on the one axis of all that are drawn in its table.

    Only equal units stand in one column: shares and percentages are the same unit written in two ways; of scores
    without a unit only those of one metric are drawn. What is not drawn is a number, as it was.
    """
    drawn = _drawn(rows)
    return {"row": row, "chart": interval_bar(as_share(row), scale_of(drawn)) if as_share(row) in drawn else ""}


def _drawn(rows: Sequence[ScoreRow]) -> list[ScoreRow]:
    """Return the rows of a table that are drawn, in one unit."""
    if found := [as_share(row) for row in rows if row.unit != "raw"]:
        return found
    metrics = [row.metric for row in rows if row.is_main] or [row.metric for row in rows]
    most = max(dict.fromkeys(metrics), key=metrics.count, default="")
    return [row for row in rows if row.metric == most]


def as_share(row: ScoreRow) -> ScoreRow:
    """Return a percentage as a share; every other score as it is."""
    if row.unit != "percent":
        return row
    value, low, high = (None if each is None else each / 100 for each in (row.value, row.low, row.high))
    return replace(row, value=value, low=low, high=high, unit="share")


def _fingerprints(stored: StoredRun) -> Iterator[str]:
    """Yield what exams were made of in short: as many as fit on the page, each with the digest of its instances."""
    found = {name: Fingerprint.from_dict(entry.get(FINGERPRINT)) for name, entry in stored.results.items()}
    known = {name: made for name, made in found.items() if made is not None}
    for name, made in list(known.items())[:MOST_FINGERPRINTS]:
        yield f"{made.short} (rows {made.rows[:8]}) {name}"
    if len(known) > MOST_FINGERPRINTS:
        yield f"{len(known) - MOST_FINGERPRINTS} more in results.json"


def facts_of(stored: StoredRun) -> list[tuple[str, str]]:
    """Return the facts about how a run was made."""
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
        "Repeat it": _again(stored) if stored.spec else "",
    }
    return [(name, value) for name, value in facts.items() if value]


def _again(stored: StoredRun) -> str:
    """Return the command that repeats a run or goes on with it, as a shell takes it: in the log of its answers."""
    words, log = ["proctor", "run", str(stored.path / "run.yaml")], str(stored.run.get("log") or "")
    return shlex.join([*words, "--log", log] if log and log != str(default_log()) else words)


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
