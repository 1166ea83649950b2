"""The result of a sweep in tables and sentences: the same words on a terminal, in Markdown and on pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from proctor.results.summary import UNITS, shown
from proctor.runs.item_tables import ItemTable

_NAMES: Final = {0.0: "lowest", 0.25: "lower quarter", 0.5: "median", 0.75: "upper quarter", 1.0: "highest"}


def bounds(entry: Mapping[str, Any]) -> str:
    """Return an interval in words; ``-`` where there is none."""
    low, high = entry.get("low"), entry.get("high")
    return "-" if low is None or high is None else f"{shown(low)} to {shown(high)}"


def sentences(sweep: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a sweep came to in a few sentences, then what has to be known to read its tables."""
    result = sweep["result"]
    count, unit = len(result["cells"]), UNITS.get(result["unit"], "")
    asked = f"{count} wording{'s' * (count != 1)}, {result['questions']:,} questions"
    asked += f" in {result['clusters']:,} clusters" if "clusters" in result else ""
    yield f"{sweep['model']} on {sweep['exam']}: {result['metric']}{unit and f' ({unit})'}, {asked}"
    if over := result.get("over_wordings"):
        alone = f"{shown(over['naive_low'])} to {shown(over['naive_high'])}"
        if model := result.get("estimated"):
            share = f"{model['asked']:,} of {model['of']:,} answers ({model['asked'] / model['of']:.1%})"
            yield f"asked for {share}; what follows is ESTIMATED by a model, not measured ({model['method']})"
        yield f"over wordings and questions {shown(over['mean'])} [{bounds(over)}]; questions alone: [{alone}]"
        if model:
            these = model["mean"]
            yield f"these wordings on these questions: {shown(these['score'])} [{bounds(these)}]"
            yield f"worst wording: {result['distribution']['worst']}"
            yield from result["notes"]
            return
        each, best = result["distribution"]["worst_of_each"], result["best"]
        yield f"worst wording: {result['distribution']['worst']}"
        yield f"each question under the wording that is worst for it: {shown(each['score'])} [{bounds(each)}]"
        worse = sum(other["decided"] for other in result["differences"])
        luck = f"corrected for having been chosen {shown(best['score'])} [{bounds(best)}]"
        apart = f"decidedly apart from {worse} of {count - 1} others"
        yield f"best of {count}: {best['name']}, {shown(best['observed'])}; {luck}; {apart}"
        yield f"{result['flipping']:,} of {result['shared']:,} questions score otherwise under another wording"
    if noise := result.get("answer_noise"):
        yield f"single answers to one prompt deviate by {shown(math.sqrt(noise['variance']))}, a part of the rest"
    yield from result["notes"]


def tables(sweep: Mapping[str, Any], most: int = 10) -> Iterator[ItemTable]:
    """Yield the tables of a sweep, with so many questions of those that flip."""
    result = sweep["result"]
    names = list(result["cells"][0]["levels"]) or ["wording"]
    cells = [
        (*(each["levels"].values() or (each["name"],)), shown(each["score"]), bounds(each), f"{each['n']:,}",
         str(each["failures"]))
        for each in result["cells"]
    ]  # fmt: skip
    is_model = "estimated" in result
    if is_model:
        cells = [
            (*each["levels"].values(), shown(each["estimate"]["score"]), bounds(each["estimate"]), f"{each['n']:,}",
             shown(each["score"]), str(each["failures"]))
            for each in result["cells"]
        ]  # fmt: skip
        header = (*names, "estimate", "95% interval", "asked", "score of these", "failed")
        yield ItemTable("Scores of the wordings on all questions, estimated from a part", header, tuple(cells))
    else:
        yield ItemTable("Scores of the wordings", (*names, "score", "95% interval", "n", "failed"), tuple(cells))
    if "distribution" not in result:
        return
    quantiles = result["distribution"]["quantiles"]
    rows = [(_NAMES.get(each["of"], f"{each['of']:.0%}"), shown(each["score"]), bounds(each)) for each in quantiles]
    title = f"Distribution over wordings{', estimated from a part' * is_model}"
    yield ItemTable(title, ("of the wordings", "score", "95% interval"), tuple(rows))
    if "components" not in result:
        return
    parts = []
    for each in result["components"]:
        ends = bounds({name: math.sqrt(each[name]) for name in ("low", "high")})
        parts.append((each["name"], shown(math.sqrt(each["variance"])), ends, f"{each['share']:.0%}"))
    header = ("component", "deviation", "95% interval", "of the score's variance")
    yield ItemTable("How much a single score varies by what", header, tuple(parts))
    rows = [(f"standard error now {shown(result['over_wordings']['error'])}", "", "")]
    for each in result["decisions"]:
        what = each["what"] if each["what"].endswith(("s", "each")) else f"{each['what']}s"
        halved = "no number" if each["halved_by"] is None else f"{each['halved_by']:,} in all"
        rows.append((f"{each['more']} more {what}", shown(each["error"]), halved))
    yield ItemTable("What would make the error smaller", ("with", "standard error", "halved by"), tuple(rows))
    order = sorted(result["differences"], key=lambda each: abs(each["difference"]))
    title = f"Differences from {result['best']['name']}, all pairs together (95%)"
    others = [
        (each["name"], f"{each['difference']:+.4f}", bounds(each), "yes" if each["decided"] else "no") for each in order
    ]
    yield ItemTable(title, ("wording", "difference", "interval", "decided"), tuple(others[:most]), len(others[most:]))
    if not result["flips"]:
        return
    title = "Questions that flip: the chance that two wordings disagree"
    flips = [
        (str(each["number"]), " ".join(each["question"].split())[:80], shown(each["score"]), f"{each['flips']:.2f}")
        for each in result["flips"][:most]
    ]
    yield ItemTable(title, ("question", "words", "mean score", "flips"), tuple(flips), result["flipping"] - len(flips))


def difference_told(found: Mapping[str, Any]) -> tuple[str, ItemTable]:
    """Return by how much one sweep is higher than another, in a sentence, and the distributions over wordings."""
    ends, alone = (f"[{found[f'{of}low']:+.4f} to {found[f'{of}high']:+.4f}]" for of in ("", "naive_"))
    decided = "decided" if found["low"] > 0 or found["high"] < 0 else "not decided"
    asked = f"{found['wordings']} wordings, {found['questions']:,} questions"
    asked += f", {found['answers']:,} answers of either" if "answers" in found else ""
    said = f"{found['mean']:+.4f} {ends} over wordings and questions, {decided}; questions alone: {alone}"
    rows = []
    for each in found["quantiles"]:
        names = (_NAMES.get(each["of"], f"{each['of']:.0%}"), shown(each["first"]), shown(each["second"]))
        rows.append((*names, f"{each['difference']:+.4f}"))
    header = ("of the wordings", found["baseline"], found["sweep"], "difference")
    if found["unpaired"]:
        asked += f"; {found['unpaired']} that ask otherwise, or only one has, are left out"
    text = f"{found['sweep']} beside {found['baseline']} ({asked}): {said}; higher under {found['higher_under']}"
    text = "\n".join([text, *found.get("notes", ())])
    title = f"Distribution over wordings{', estimated from a part' * ('answers' in found)}"
    return text, ItemTable(title, header, tuple(rows))


def scores_over_wordings(sweeps: Mapping[str, Mapping[str, Any]]) -> ItemTable:
    """Return the scores of several sweeps, by their folders, with the intervals that hold for other wordings, too."""
    rows = []
    for name, sweep in sweeps.items():
        result, over = sweep["result"], sweep["result"]["over_wordings"]
        ends = bounds({"low": over["naive_low"], "high": over["naive_high"]})
        count = f"{len(result['cells'])}{', estimated' * ('estimated' in result)}"
        found = (shown(over["mean"]), bounds(over), ends, count, f"{over['questions']:,}")
        rows.append((name, sweep["model"], sweep["exam"], f"{result['metric']}", *found))
    header = ("sweep", "model", "exam", "metric", "score", "95% over wordings", "of questions alone", "wordings", "n")
    return ItemTable("Scores with intervals that hold for other wordings", header, tuple(rows))
