"""What a sweep came to, in tables and sentences: the same words on a terminal, in Markdown and on pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.results.summary import UNITS, shown
from proctor.runs.sweep import level_means


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the result.

    Attributes:
        title: What it is about.
        said: Sentences.
        header, rows: A table; the first column names, the others are numbers.
        key: By which a picture is found.
    """

    title: str
    said: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    key: str = ""


def sections(sweep: Mapping[str, Any], most: int = 10) -> Iterator[Section]:
    """Yield the parts of what a sweep came to.

    Args:
        sweep: What :data:`~proctor.running.sweeps.SWEEP` holds.
        most: Questions that are listed of those that flip.
    """
    result = sweep["result"]
    yield _headline(sweep, result)
    yield _cells(result)
    for factor, levels in level_means(result).items():
        if len(level_means(result)) > 1:
            rows = tuple((level, shown(mean)) for level, mean in levels.items())
            yield Section(f"By {factor}", (), (factor, "mean score"), rows, "levels")
    if "distribution" in result:
        yield _distribution(result)
    if "components" in result:
        yield _components(result)
        yield _decisions(result)
    if "flips" in result:
        yield _flips(result, most)
    if result["notes"]:
        yield Section("Notes", tuple(result["notes"]))


def bounds(entry: Mapping[str, Any]) -> str:
    """Return an interval in words; ``-`` where there is none."""
    low, high = entry.get("low"), entry.get("high")
    return "-" if low is None or high is None else f"{shown(low)} to {shown(high)}"


def _headline(sweep: Mapping[str, Any], result: Mapping[str, Any]) -> Section:
    count = len(result["cells"])
    unit = f" ({UNITS[result['unit']]})" if result["unit"] in UNITS else ""
    asked = f"{count} wording{'s' * (count != 1)}, {result['questions']:,} questions"
    said = [f"{sweep['model']} on {sweep['exam']}: {result['metric']}{unit}, {asked}"]
    if over := result.get("over_wordings"):
        alone = bounds(over["of_questions_alone"])
        said.append(f"{shown(over['score'])} [{bounds(over)}] over wordings and questions")
        said.append(f"[{alone}] is what questions alone would say")
    return Section(f"Sweep of {sweep['exam']}", tuple(said))


def _cells(result: Mapping[str, Any]) -> Section:
    factors = list(result["cells"][0]["levels"]) or ["wording"]
    rows = [
        (*(tuple(cell["levels"].values()) or (cell["name"],)), shown(cell["score"]), bounds(cell), f"{cell['n']:,}",
         str(cell["failures"]))
        for cell in result["cells"]
    ]  # fmt: skip
    return Section("Scores", (), (*factors, "score", "95% interval", "n", "failed"), tuple(rows), "cells")


_QUANTILE_WORDS: Mapping[float, str] = {
    0.0: "lowest",
    0.25: "lower quarter",
    0.5: "median",
    0.75: "upper quarter",
    1.0: "highest",
}


def _distribution(result: Mapping[str, Any]) -> Section:
    found = result["distribution"]
    rows = [
        (_QUANTILE_WORDS.get(each["of"], f"{each['of']:.0%}"), shown(each["score"]), bounds(each))
        for each in found["quantiles"]
    ]
    each = found["worst_of_each"]
    said = (
        f"worst wording: {found['worst']}",
        f"each question under the wording that is worst for it: {shown(each['score'])} [{bounds(each)}]",
    )
    return Section(
        "Distribution over wordings", said, ("of the wordings", "score", "95% interval"), tuple(rows), "spread"
    )


def _components(result: Mapping[str, Any]) -> Section:
    rows = []
    for part in result["components"]:
        ends = {name: math.sqrt(part[name]) for name in ("low", "high")}
        rows.append((part["name"], shown(math.sqrt(part["variance"])), bounds(ends), f"{part['share']:.0%}"))
    said = ["how much a single score varies by each (standard deviations)"]
    said.append("share: of the variance of the score over wordings")
    if noise := result.get("answer_noise"):
        said.append(f"of the rest, {shown(math.sqrt(noise['variance']))} is the noise of single answers to one prompt")
    header = ("component", "deviation", "95% interval", "share")
    return Section("Where the variance comes from", tuple(said), header, tuple(rows), "components")


def _decisions(result: Mapping[str, Any]) -> Section:
    now = result["over_wordings"]["error"]
    rows = [
        (f"{each['more']} more {_several(each['what'])}", shown(each["error"]),
         "no number" if each["halved_by"] is None else f"{each['halved_by']:,} in all")
        for each in result["decisions"]
    ]  # fmt: skip
    said = f"the standard error over wordings is {shown(now)}"
    return Section(
        "What would make it smaller", (said,), ("with", "standard error", "halved by"), tuple(rows), "decisions"
    )


def _several(what: str) -> str:
    return what if what.endswith(("s", "each")) else f"{what}s"


def _flips(result: Mapping[str, Any], most: int) -> Section:
    said = f"{result['flipping']:,} of {result['shared']:,} questions score otherwise under another wording"
    rows = [
        (str(each["number"]), shown(each["score"]), f"{each['flips']:.2f}", " ".join(each["question"].split())[:80])
        for each in result["flips"][:most]
    ]
    title = "Questions that flip most"
    header = ("question", "mean score", "flips", "words")
    return Section(title, (f"{said}; 'flips' is the chance that two wordings disagree",), header, tuple(rows), "flips")


def as_markdown(parts: Sequence[Section]) -> str:
    """Return parts as Markdown."""
    lines: list[str] = []
    for number, part in enumerate(parts):
        lines += [f"{'#' * (1 + (number > 0))} {part.title}", ""]
        lines += [line for each in part.said for line in (_cell_text(each), "")]
        if part.rows:
            lines += [_row(part.header), _row(["---", *["---:"] * (len(part.header) - 1)])]
            lines += [_row(row) for row in part.rows]
            lines.append("")
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell_text, cells))} |"


def _cell_text(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
