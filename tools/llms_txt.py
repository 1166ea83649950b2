"""Write ``docs/llms.txt``: the pages of the documentation for readers that are programs, each with what it is about.

The form is that of llmstxt.org: a title, a quotation that says what this is, and lists of links to Markdown.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "llms.txt"

_GENERATED: Final = {
    "reference/commands.md": "What proctor --help says, for every command.",
    "reference/options.md": "What each option of a run does to exams of each kind, and why some refuse it.",
    "reference/metrics.md": "Every metric and text function that can be named from every dialect.",
    "reference/python.md": "What can be imported from proctor.",
}
"""Pages that have no first paragraph, or are written when the site is made."""
_OF_ARTIFACTS: Final = "reference/artifacts/"
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+(?=[A-Z`*])")
_LONGEST: Final = 240
"""Characters of what a page is about: a line or two."""


def page() -> str:
    """Return the whole file."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Proctor"
    yield ""
    yield f"> {_about('index.md')}"
    yield ""
    yield "What it does not do: agents, tools in a loop, training. Every block of code here runs in its tests."
    for entry in _navigation():
        for title, pages in entry.items():
            yield from ("", f"## {title}", "")
            yield from (_line(name, path) for name, path in _pages(pages) if path != "index.md")


def _navigation() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    start = [each for each in found if isinstance(next(iter(each.values())), str)]
    return [{"Start": start}, *(each for each in found if each not in start)]


def _pages(entries: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        for title, value in entry.items():
            if isinstance(value, str):
                yield title, value
            else:
                yield from _pages(value)


def _line(title: str, path: str) -> str:
    if path.startswith(_OF_ARTIFACTS):
        about = "Every class of this kind, with its fields, types and defaults."
    else:
        about = _GENERATED.get(path) or _about(path)
    return f"- [{title}]({path}): {about}"


def _about(path: str) -> str:
    """Return the first paragraph of a page in plain words."""
    text = _FENCE.sub("", (ROOT / "docs" / path).read_text(encoding="utf-8"))
    blocks = [
        block
        for block in text.split("\n\n")
        if block.strip() and not block.lstrip().startswith(("#", "<!--", "|", "!"))
    ]
    words = _LINK.sub(r"\1", " ".join(blocks[0].split())).replace("**", "").replace("`", "")
    return _first_sentences(words)


def _first_sentences(words: str) -> str:
    """Return as many whole sentences as a line or two hold, at least the first."""
    sentences = _SENTENCE.split(words)
    kept = [sentences[0]]
    for sentence in sentences[1:]:
        if len(" ".join([*kept, sentence])) > _LONGEST:
            break
        kept.append(sentence)
    return " ".join(kept)


def main() -> int:
    """Write the file; with ``--check`` only say whether it is as it should be."""
    made = page()
    if "--check" in sys.argv[1:]:
        if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == made:
            return 0
        print(f"{TARGET} is out of date: python tools/llms_txt.py")
        return 1
    TARGET.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
