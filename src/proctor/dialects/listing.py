"""Lists of exams and artifacts by name, kind and description, for ``ls`` and search.

Files are read, no artifact is built: a list of thousands takes a fraction of a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from functools import partial
from typing import Any

from proctor.artifacts.catalogs import Catalog, catalogs
from proctor.dialects.dialect import Entry, Named
from proctor.dialects.registry import dialects
from proctor.foreign_text import parse_json, read_source
from proctor.plugins import exam_folders

EXAM_TYPES = frozenset({"dataset_recipe", "standard_recipe", "recipe"})
SUITE_TYPES = frozenset({"benchmark", "benchmark_stack"})
FIRST_KINDS = frozenset({"exam", "benchmark"})
_FOLDERS = {
    "augmentors": "augmentor",
    "benchmarks": "benchmark",
    "cards": "card",
    "criteria": "criterion",
    "engines": "engine",
    "formats": "format",
    "metrics": "metric",
    "operators": "operator",
    "processors": "processor",
    "recipes": "recipe",
    "samplers": "sampler",
    "serializers": "serializer",
    "splitters": "splitter",
    "system_prompts": "system prompt",
    "tasks": "task",
    "templates": "template",
}


def names() -> dict[str, Catalog]:
    """Return every name with the catalog it comes from; of two catalogs with one name, the one that wins."""
    found: dict[str, Catalog] = {}
    for catalog in catalogs():
        for name in catalog.names():
            found.setdefault(name, catalog)
    return found


def entries(pattern: str | None = None, kinds: Iterable[str] = ()) -> list[Entry]:
    """Return what there is: exams first, then everything by name.

    Args:
        pattern: A glob over names (``cards.mmlu*``), or words that all occur in name, description or tags; ``None``
            is all.
        kinds: Only entries of these kinds, where any are given.
    """
    return sorted(_wanted(partial(catalog_entries, ()), pattern, kinds), key=_exams_first)


def catalog_entries(_include_paths: tuple[str, ...], named: Named) -> Iterator[Entry]:
    """Yield what catalogs hold whose names, in lower case, are wanted."""
    for name, catalog in names().items():
        if (named is None or named(name.lower())) and (entry := _read(name, catalog)) is not None:
            yield entry


def everything(
    pattern: str | None = None, kinds: Iterable[str] = (), include_paths: Iterable[str] = (), source: str = ""
) -> list[Entry]:
    """Return what there is in all dialects: exams first, then everything by name.

    Args:
        pattern, kinds: As for :func:`entries`.
        include_paths: More folders with task files, beside those that installed packages bring.
        source: Only what comes from a source with this word; without it, of two things with one name the first.
    """
    folders, found = tuple(dict.fromkeys((*include_paths, *map(str, exam_folders())))), list[Entry]()
    taken: set[str] = set()
    for dialect in dialects():
        own = _wanted(partial(dialect.entries, folders), pattern, kinds)
        found += [each for each in own if is_from(each, source) and (source or each.name not in taken)]
        taken |= {each.name for each in own}
    return sorted(found, key=_exams_first)


def is_from(entry: Entry, word: str) -> bool:
    """Whether a word occurs in where something comes from; of a package's name dashes are underscores (``lm-eval``)."""
    return word.lower().replace("-", "_") in entry.source.lower().replace("-", "_")


def _exams_first(entry: Entry) -> tuple[bool, str]:
    return entry.kind not in FIRST_KINDS, entry.name


def _wanted(listed: Callable[[Named], Iterable[Entry]], pattern: str | None, kinds: Iterable[str]) -> list[Entry]:
    wanted, lowered = set(kinds), (pattern or "").lower()
    is_glob = any(mark in lowered for mark in "*?[")
    return [
        each
        for each in listed(re.compile(translate(lowered)).match if is_glob else None)
        if (not wanted or each.kind in wanted) and (is_glob or _has_words(each, lowered))
    ]


def _has_words(entry: Entry, pattern: str) -> bool:
    tags = " ".join(f"{name} {value}" for name, value in entry.tags.items())
    text = f"{entry.name} {entry.description} {tags}".lower()
    return all(word in text for word in pattern.split())


def _read(name: str, catalog: Catalog) -> Entry | None:
    path, source = catalog.path_of(name), str(getattr(catalog, "title", catalog))
    if path is None:  # deleted since the names were read
        return None
    try:
        data = parse_json(read_source(path))
    except (OSError, ValueError) as error:  # a broken file is listed with its reason
        return Entry(name, "broken", f"cannot be read: {error}", source)
    if not isinstance(data, dict):
        return Entry(name, "broken", "the file does not hold a JSON object", source)
    kind = _kind(name, str(data.get("__type__", "")))
    return Entry(
        name,
        kind,
        " ".join(str(data.get("__description__") or _fallback(data)).split()),
        source,
        _tags(data, kind),
    )


def _tags(data: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the tags that were saved; cards are found by their task, too."""
    saved = data.get("__tags__")
    tags = dict(saved) if isinstance(saved, dict) else {}
    task = data.get("task")
    return {"task": task} | tags if kind == "card" and isinstance(task, str) else tags


def _kind(name: str, type_name: str) -> str:
    if type_name in EXAM_TYPES:
        return "exam"
    if type_name in SUITE_TYPES:
        return "benchmark"
    if type_name == "artifact_link":
        return "link"
    if type_name == "task_card":
        return "card"
    for part in name.split(".")[:-1]:
        if part in _FOLDERS:
            return _FOLDERS[part]
    return type_name.replace("_", " ") or "artifact"


def _fallback(data: dict[str, Any]) -> str:
    if data.get("__type__") == "artifact_link":
        return f"means {data.get('to')}"
    if card := data.get("card"):
        return f"{card}, asked by {data['template']}" if isinstance(data.get("template"), str) else str(card)
    return ""
