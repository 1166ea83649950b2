"""The explained differences in ``docs/reference/differences.md``, written from recordings and explanations.

python -m conformance.page
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance.explained import EXPLANATIONS
from conformance.recorded import recording
from conformance.recorded.recording import Recording

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "differences.md"
BEGIN = "<!-- explained differences: written by make conformance, from conformance/explanations.json -->"
END = "<!-- end of the explained differences -->"
TITLES = {
    "unitxt": "Unitxt",
    "lm_eval": "lm-evaluation-harness",
    "aisbench": "AISBench and OpenCompass",
    "hub_yaml": "inspect",
}


def text(recordings: Mapping[str, Mapping[str, Recording]]) -> str:
    """Return the section, markers included.

    Args:
        recordings: By system, then by the name of the comparison.
    """
    lines = [BEGIN, "", *_introduction(recordings)]
    for system, title in TITLES.items():
        lines += ["", f"**{title}**", "", *_sources(recordings[system]), "", *_table(system, recordings[system])]
    return "\n".join([*lines, "", END])


def _introduction(recordings: Mapping[str, Mapping[str, Recording]]) -> Iterator[str]:
    total = sum(each.count for found in recordings.values() for each in found.values())
    explained = sum(each.explanations().total() for found in recordings.values() for each in found.values())
    yield f"What the other systems answered to {total:,} made-up questions is recorded in `conformance/recorded/`, and"
    yield f"`make test` holds Proctor to it. {explained:,} of the answers differ on purpose, for these reasons;"
    yield "all others are equal. A reason without a count is of a difference that only `make conformance` meets, which"
    yield "asks far more."


def _sources(found: Mapping[str, Recording]) -> Iterator[str]:
    for name, each in found.items():
        header = each.header
        counted = f"{each.count:,} answers to {len(each.cases):,} cases"
        yield f"- `{name}`: {counted}, of {header.peer} {header.version} on {header.date}"


def _table(system: str, found: Mapping[str, Recording]) -> Iterator[str]:
    counts = sum((each.explanations() for each in found.values()), Counter[str]())
    yield "| answers | why they differ |"
    yield "|---|---|"
    for name, sentence in EXPLANATIONS.items():
        if name.partition("/")[0] in (system, TITLES[system]):
            yield f"| {counts[name] or ''} | {sentence.replace('|', chr(92) + '|')} |"


def renewed(page: str, section: str) -> str:
    """Return a page with its section replaced.

    Raises:
        ValueError: The page has no markers.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE} has no section between its two markers")
    return before + section + after


def write() -> None:
    """Write the section into the page."""
    recordings = {system: recording.read(system) for system in TITLES}
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), text(recordings)), encoding="utf-8")


if __name__ == "__main__":
    write()
