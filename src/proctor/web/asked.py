"""Validates what an address asks for: known names, and fields of the page's own form.

A recipe may hold anything that an artifact can be: a loader of any file, an operator that downloads. So an address
says no more than the form could: the name of an exam, a card or a suite, and for its fields names of catalogs, numbers,
words and lists of them. Paths, addresses, JSON and nested mappings are refused before anything is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.artifacts import catalogs
from proctor.artifacts.names import is_name
from proctor.artifacts.query import is_assignments, parse_assignments, parse_query
from proctor.errors import QueryError, UsageError
from proctor.running.spec import RunSpec

if TYPE_CHECKING:
    from proctor.web.exam_form import Setting
    from proctor.web.library import Library

MOST_DEMOS = 1000
"""More than any model reads; drawing them takes a second."""
LONGEST = {"exam": 1000, "system_prompt": 8000, "member": 300, "answer": 8000, "model": 200, "q": 1000}
"""Characters of a field: a recipe with all its fields, a system prompt or an answer of some pages, words to find."""
_LONGEST_NAME = 300
_DEEPEST = 3  # a recipe, a sampler in it, a field of the sampler
_MOST_VALUES = 50
"""Names in a list: more templates than one compares."""

_WORD = re.compile(r"[\w](?:[\w +%-]|\.(?=\d))*")
_FILE = re.compile(r"\.(json|jsonl|ya?ml|py|csv|tsv|txt|parquet|xml|zip|gz)\b", re.IGNORECASE)
_FOREIGN_NAME = re.compile(r"\w[\w.+ -]*(?:[/:]{1,2}[\w.+ -]+)*")
_MEMBERS = re.compile(r"(?:::[\w.*+ -]+)*(?:@[\w.: -]+)?")
_PLACES = ("", "recipes.", "benchmarks.")


def is_known(name: str) -> bool:
    """Whether a catalog has an artifact of this name."""
    return is_name(name) and "" not in name.split(".") and any(each.path_of(name) is not None for each in catalogs())


def check_setting(setting: Setting) -> None:
    """Check that a setting is one that the form can say.

    Raises:
        UsageError: It asks for something that is not a known name, a number or a word.
    """
    check_lengths({name: getattr(setting, name) for name in ("exam", "system_prompt", "member")})
    check_exam(setting.exam, setting.include_paths)
    for field in ("template", "format", "sampler", "split"):
        if text := getattr(setting, field):
            _check_field(field, text)
    if setting.system_prompt and is_known(setting.system_prompt.partition("[")[0]):
        _check_field("system_prompt", setting.system_prompt)
    if setting.num_demos and int(setting.num_demos) > MOST_DEMOS:
        raise UsageError(f"{setting.num_demos} demos are more than the {MOST_DEMOS:,} that a page draws")


def check_lengths(texts: Mapping[str, str]) -> None:
    """Check that fields are not longer than people write them.

    Raises:
        UsageError: One is.
    """
    for name, text in texts.items():
        if len(text) > LONGEST[name]:
            raise UsageError(f"the {name.replace('_', ' ')} has more than {LONGEST[name]:,} characters")


def check_exam(text: str, include_paths: Iterable[str] = ()) -> None:
    """Check that a text is the name of an exam, or a recipe made of names, numbers and words.

    Raises:
        UsageError: It is neither.
    """
    if is_assignments(text) or "[" in text:
        _check_recipe(text)
        return
    if is_name(text) and any(is_known(f"{place}{text}") for place in _PLACES):
        return
    match = _FOREIGN_NAME.match(text)
    base = match.group() if match else ""
    name, mark, _ = text.partition("::")
    base = name if mark else base
    base, rest = (base.partition("@")[0], text[len(base.partition("@")[0]) :])
    if not _FOREIGN_NAME.fullmatch(base) or not _MEMBERS.fullmatch(rest) or ".." in text or _FILE.search(text):
        raise _not_a_name(text)
    if not _is_of_a_dialect(text, tuple(include_paths)) and Path(base).exists():
        raise _not_a_name(text)  # a file or folder that happens to lie here; what is nowhere is said to be unknown


def check_run(spec: RunSpec, library: Library) -> None:
    """Check that the exams of a run lie where the viewer may look; a run folder may come from anybody.

    Recipes of a run may say more than an address may: what they do passes the gate.

    Raises:
        UsageError: An exam is a file elsewhere, or a folder with exams is none of this viewer.
    """
    given = spec.overrides.get("include_paths") or ()
    for place in given if isinstance(given, (list, tuple)) else [given]:
        _check_inside(str(place), library)
    for task in spec.tasks:
        if is_assignments(task) or task.lstrip().startswith("{"):
            continue
        base = task.partition("::")[0].partition("@")[0]
        if _FILE.search(base) or base.startswith(("/", ".", "~")) or Path(base).exists():
            _check_inside(base, library)


def _check_inside(text: str, library: Library) -> None:
    place = Path(text).expanduser().resolve()
    if not any(place.is_relative_to(folder) for folder in library.folders):
        raise UsageError(
            f"the exam lies in {place}, outside the folders that proctor view was started with",
            hint=f"proctor view --include-path {place if place.is_dir() else place.parent} adds its folder",
        )


def _is_of_a_dialect(text: str, include_paths: tuple[str, ...]) -> bool:
    """Whether the tasks and configs of other dialects have a name."""
    from proctor.dialects.dialect import loaded
    from proctor.dialects.registry import dialects

    return any(loaded(each.knows)(text, include_paths) for each in dialects() if each.knows)


def _check_recipe(text: str) -> None:
    try:
        if is_assignments(text):
            given = parse_assignments(text)
        else:
            query = parse_query(text)
            if not any(is_known(f"{place}{query.name}") for place in _PLACES):
                raise _not_a_name(query.name)
            given = query.overwrites
    except QueryError as error:
        raise UsageError(list(error.diagnostics)) from None
    for key, value in given.items():
        _check_value(key, value, _DEEPEST)


def _check_field(field: str, text: str) -> None:
    """Check one field of the form: a name, a number, a word, a list of them."""
    try:
        value = parse_assignments(f"x={text}")
    except QueryError:
        raise _not_a_value(field, text) from None
    if set(value) != {"x"}:
        raise _not_a_value(field, text)
    _check_value(field, value["x"], _DEEPEST)


def _check_value(field: str, value: Any, depth: int) -> None:
    if not re.fullmatch(r"[a-z]\w*", field):  # `__type__` and its like say what is built, and not how
        raise _not_a_value(field, str(value))
    if value is None or isinstance(value, (bool, int, float)):
        return
    if isinstance(value, list) and depth and len(value) <= _MOST_VALUES:
        for each in value:
            _check_value(field, each, depth - 1)
        return
    if not isinstance(value, str) or len(value) > _LONGEST_NAME:
        raise _not_a_value(field, str(value))
    if "[" in value and depth:
        query = parse_query(value)
        if not is_known(query.name):
            raise _not_a_value(field, value)
        for key, inner in query.overwrites.items():
            _check_value(key, inner, depth - 1)
        return
    if not is_known(value) and not _WORD.fullmatch(value) and not (is_name(value) and not _FILE.search(value)):
        raise _not_a_value(field, value)


def _not_a_name(text: str) -> UsageError:
    return UsageError(
        f"no page opens '{text[:_LONGEST_NAME]}'",
        why="pages take names of exams, cards and suites, and recipes made of such names, numbers and words",
        hint="search under Explore; proctor view --include-path FOLDER adds the exams of a folder, and proctor show "
        "takes files and recipes of any kind",
    )


def _not_a_value(field: str, value: str) -> UsageError:
    return UsageError(
        f"no page takes the {field.replace('_', ' ')} '{value[:_LONGEST_NAME]}'",
        why="pages take names of catalogs, numbers and words, and lists of them",
        hint="save it in a catalog, and give its name; proctor show takes recipes of any kind",
    )
