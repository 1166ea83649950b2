"""The page, and the file, of what a sweep of wordings came to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from proctor.running.sweeps import SWEEP, damage_told, read_sweep
from proctor.runs.sweep_tables import sentences, tables
from proctor.web.charts import bar_of
from proctor.web.library import Library
from proctor.web.rendering import file_styles, render

if TYPE_CHECKING:
    from starlette.requests import Request

_SHADES: Final = 10
_MOST: Final = 60  # wordings that a picture has; the table has all


def sweeps(library: Library, request: Request) -> tuple[str, dict[str, Any]]:
    """Show the sweep that is chosen, by default the first, and name the others."""
    patterns = [f"{depth}{SWEEP}" for depth in ("", "*/", "*/*/")]
    folders = [file.parent for root in library.roots for each in patterns for file in sorted(root.glob(each))]
    names = {library.id_of(folder): folder.name for folder in folders}
    chosen = request.query_params.get("sweep") or next(iter(names), "")
    shown = next((folder for folder in folders if library.id_of(folder) == chosen), None)
    if shown is None:
        return "sweep.html", {**_view({}), "names": names, "styles": ""}
    with damage_told(shown):
        return "sweep.html", {**_view(read_sweep(shown)), "names": names, "styles": ""}


def sweep_report(record: Mapping[str, Any]) -> str:
    """Return a file that needs nothing else."""
    return render("sweep.html", path="", names={}, styles=file_styles(), **_view(record))


def _view(record: Mapping[str, Any]) -> dict[str, Any]:
    if "result" not in record:
        return {"exam": record.get("exam", ""), "said": [], "tables": [], "pictures": [], "heat": None, "how": ""}
    result = record["result"]
    cells = [{**cell, **cell.get("estimate", {})} for cell in result["cells"]]
    how = ", estimated from a part" if "estimated" in result else ""
    order = sorted(cells, key=lambda cell: -(cell["score"] or 0.0))[:_MOST]
    rows = [(cell["name"], cell["score"], cell["low"], cell["high"]) for cell in order if cell["score"] is not None]
    pictures = [_bars(f"Scores of the wordings{how}, highest first, with 95% intervals", rows)]
    if "components" in result:
        ends = ("variance", "low", "high")
        parts = [(each["name"], *(math.sqrt(each[end]) for end in ends)) for each in result["components"]]
        pictures.append(_bars("How much a single score varies by what (standard deviations)", parts))
    shown = {"exam": record["exam"], "said": list(sentences(record)), "tables": list(tables(record, 50))}
    return {**shown, "pictures": pictures, "heat": _heat(cells), "how": how}


def _bars(title: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """Return bars under each other on one axis: names, pictures, values."""
    axis = (0.0, max((high or value for _, value, _, high in rows), default=0.0) or 1.0)
    bars = [(name, bar_of(value, low, high, f"{name} {value:.4g}", axis), value) for name, value, low, high in rows]
    return {"title": title, "bars": bars}


def _heat(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the mean scores by the two dimensions with most levels, with shades; ``None`` where fewer vary."""
    levels = {name: list(dict.fromkeys(cell["levels"][name] for cell in cells)) for name in cells[0]["levels"]}
    varied = sorted((name for name in levels if len(levels[name]) > 1), key=lambda name: -len(levels[name]))[:2]
    if len(varied) < 2:  # noqa: PLR2004 - down and across
        return None
    found: dict[tuple[str, str], list[float]] = {}
    for cell in cells:
        if cell["score"] is not None:
            found.setdefault((cell["levels"][varied[0]], cell["levels"][varied[1]]), []).append(cell["score"])
    means = {key: round(sum(each) / len(each), 9) for key, each in found.items()}  # equal ones have one shade
    low, high = min(means.values(), default=0.0), max(means.values(), default=0.0)
    shades = {key: round((value - low) / ((high - low) or 1.0) * (_SHADES - 1)) for key, value in means.items()}
    return {"down": varied[0], "across": varied[1], "levels": levels, "means": means, "shades": shades}
