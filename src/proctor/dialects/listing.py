"""What there is: exams and artifacts by name, kind and description, for lists and search.

Files are read, no artifact is built: a list of thousands takes a fraction of a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from typing import Any

from proctor.artifacts.catalogs import Catalog, catalogs
from proctor.foreign_text import parse_json, read_source

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


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that has a name.

    Attributes:
        name: What to type.
        kind: ``exam``, ``benchmark``, ``card``, ``task``, ``template``, ``format``, ``metric``, ``link`` …
        description: One line on what it is; may be empty.
        source: Where it was found: the title of a catalog, or a file.
        tags: As saved with the artifact.
    """

    name: str
    kind: str
    description: str
    source: str
    tags: dict[str, Any] = field(default_factory=dict)


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
    wanted, lowered = set(kinds), (pattern or "").lower()
    is_glob = any(mark in lowered for mark in "*?[")
    found = [
        entry
        for name, catalog in names().items()
        if not is_glob or fnmatchcase(name.lower(), lowered)
        if (entry := _read(name, catalog)) is not None
        if (not wanted or entry.kind in wanted) and (is_glob or _has_words(entry, lowered))
    ]
    return sorted(found, key=lambda entry: (entry.kind not in FIRST_KINDS, entry.name))


def everything(
    pattern: str | None = None, kinds: Iterable[str] = (), include_paths: Iterable[str] = (), source: str = ""
) -> list[Entry]:
    """Return what :func:`entries` returns, and the tasks of other dialects: exams first, then everything by name.

    Args:
        pattern, kinds: As for :func:`entries`.
        include_paths: More folders with task files.
        source: Only what comes from a source with this word; without it, of two things with one name the first.
    """
    include_paths = tuple(include_paths)
    wanted, lowered = set(kinds), (pattern or "").lower()
    is_glob = any(mark in lowered for mark in "*?[")
    known = entries(pattern, wanted)
    taken = {entry.name for entry in known}
    named = re.compile(translate(lowered)).match if is_glob else None
    foreign = [
        entry
        for entry in (*_from_lm_eval(include_paths, named), *_from_aisbench(include_paths, named), *_from_hub(named))
        if (source or entry.name not in taken)
        and (not wanted or entry.kind in wanted)
        and (is_glob or _has_words(entry, lowered))
    ]
    found = [entry for entry in (*known, *foreign) if source.lower() in entry.source.lower()]
    return sorted(found, key=lambda entry: (entry.kind not in FIRST_KINDS, entry.name))


_Named = Callable[[str], object] | None
"""Whether a name in lower case is wanted; ``None`` where all are. Asked first: there are tens of thousands."""


def _from_lm_eval(include_paths: Iterable[str], named: _Named) -> Iterator[Entry]:
    from proctor.dialects.lm_eval.index import GROUP, PYTHON_TASK, TAG, build_index

    kinds = {GROUP: "group", TAG: "tag"}
    known = build_index(include_paths).entries
    for entry in known.values():
        if named is not None and not named(entry.name.lower()):
            continue
        if entry.kind == GROUP and entry.item and len(entry.members) == 1:
            target = known.get(entry.members[0])
            if target is not None and target.kind not in {GROUP, TAG}:
                what = f"lm-eval: means {target.name}"
                yield Entry(entry.name, "exam", what, entry.file)
                continue
        if entry.kind in {GROUP, TAG}:
            count = len(entry.members or entry.tags)
            what = f"{count} task" + ("s" if count != 1 else "")
        else:
            what = f"{(entry.output_type or 'task').replace('_', ' ')}" + (f" ({entry.alias})" if entry.alias else "")
        note = ", needs --trust-code" if entry.kind == PYTHON_TASK else ""
        tags = {"tags": list(entry.tags)} if entry.tags and entry.kind not in {GROUP, TAG} else {}
        yield Entry(entry.name, kinds.get(entry.kind, "exam"), f"lm-eval: {what}{note}", entry.file or "lm-eval", tags)


_CONFIG_KINDS = {"dataset": "exam", "collection": "suite"}


def _from_aisbench(include_paths: Iterable[str], named: _Named) -> Iterator[Entry]:
    from proctor.dialects.aisbench.index import config_entries

    for entry in config_entries(include_paths, named).values():
        kind = _CONFIG_KINDS.get(entry.kind, f"{entry.kind} config")
        yield Entry(entry.name, kind, f"config {entry.address}", f"{entry.source} {entry.path}")


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


def _from_hub(named: _Named) -> Iterator[Entry]:
    """Yield the tasks of ``eval.yaml`` files in the mapped folder of datasets; files with problems by their dataset."""
    from proctor.data.mapped_folder import hub_folder
    from proctor.dialects.hub_yaml.reader import FILE, read_tasks
    from proctor.errors import ProctorError

    base = hub_folder()
    for file in sorted(base.glob(f"*/*/{FILE}")) if base is not None else ():
        dataset = "/".join(file.parent.parts[-2:])
        try:
            tasks = read_tasks(file, dataset)
        except ProctorError:  # proctor validate says what is wrong with it
            tasks = []
        for task in tasks:
            name = f"hf/{dataset}/{task.id}" if len(tasks) > 1 else f"hf/{dataset}"
            if named is None or named(name.lower()):
                solvers = " → ".join(each.name for each in task.solvers)
                yield Entry(name, "exam", f"{solvers}; {', '.join(each.name for each in task.scorers)}", str(file))
