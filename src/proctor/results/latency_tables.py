"""Latency tables: what ``results.json`` has under ``run.latency``.

Names are AISBench's; :mod:`proctor.running.latency` has the formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from proctor.results.export import markdown_row

STATISTICS: Final = ("Average", "Min", "Max", "Median", "P75", "P90", "P99")
"""What is said of each measure, in AISBench's order."""
UNITS: Final[Mapping[str, str]] = {
    "E2EL": "ms",
    "TTFE": "ms",
    "TTFT": "ms",
    "TPOT": "ms",
    "ITL": "ms",
    "InputTokens": "tokens",
    "OutputTokens": "tokens",
    "OutputTokenThroughput": "token/s",
}
"""The measures of single requests, and their units."""
COMMON_UNITS: Final[Mapping[str, str]] = {
    "Benchmark Duration": "ms",
    "Request Throughput": "req/s",
    **{f"{name} Token Throughput": "token/s" for name in ("Prefill", "Input", "Output", "Total")},
}
"""Units of the figures of a whole exam; the others are counts."""


def latency_rows(latency: Mapping[str, Any]) -> list[list[str]]:
    """Return the figures of runs as rows of a table, a header first: an exam and a measure a row.

    Args:
        latency: What ``results.json`` has under ``run.latency``.
    """
    header = ["task", "measure", *STATISTICS, "N", "unit"]
    rows = []
    for exam, found in _by_server(latency):
        measures = found.get("requests")
        for name, each in measures.items() if isinstance(measures, Mapping) else ():
            if isinstance(each, Mapping):
                cells = (_shown(each.get(key)) + _shown(each.get(f"{key} interval")) for key in header[2:])
                rows.append([exam, str(name), *cells])
    return [header, *rows]


def common_rows(latency: Mapping[str, Any]) -> list[list[str]]:
    """Return throughput and counts of runs as rows of a table, a header first: an exam and a figure a row."""
    rows = []
    for exam, found in _by_server(latency):
        common = found.get("common")
        for name, value in common.items() if isinstance(common, Mapping) else ():
            rows.append([exam, str(name), _shown(value), COMMON_UNITS.get(str(name), "")])
    return [["task", "figure", "value", "unit"], *rows]


def time_rows(latency: Mapping[str, Any]) -> list[list[str]]:
    """Return how long requests took in the course of runs as rows of a table, a header first: a part of a run a row."""
    names = {"Request Throughput": "req/s", "Median": "E2EL median, ms", "P90": "P90", "P99": "P99"}
    rows = []
    for exam, found in _by_server(latency):
        parts = found.get("over time")
        for start, each in parts.items() if isinstance(parts, Mapping) else ():
            if isinstance(each, Mapping):
                rows.append([exam, str(start)[:7], *(_shown(each.get(name)) for name in names)])
    return [["task", "from, s", *names.values()], *rows]


TABLES: Final = {"Time of requests": latency_rows, "Throughput": common_rows, "In the course of the run": time_rows}
"""The tables of how long a run took, by their titles."""


def _by_server(latency: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the figures of each exam, and of each server that answered it where there are several."""
    for exam, found in latency.items():
        if isinstance(found, Mapping):
            yield str(exam), found
            servers = found.get("servers")
            for server, each in servers.items() if isinstance(servers, Mapping) else ():
                if isinstance(each, Mapping):
                    yield f"{exam} at {server}", each


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, list):
        return f" [{', '.join(map(_shown, value))}]"
    return "" if value is None else str(value)


def latency_markdown(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """Return tables for documents and issues; empty where nothing was timed.

    Args:
        runs: By the name of the run, what its ``results.json`` has under ``run.latency``.
    """
    found = []
    for table in TABLES.values():
        header, rows = table({})[0], [[run, *row] for run, each in runs.items() for row in table(each)[1:]]
        if rows:
            lines = [["run", *header], ["---"] * (len(header) + 1), *rows]
            found.append("".join(f"{markdown_row(line)}\n" for line in lines))
    return "".join(f"\n{table}" for table in found)
