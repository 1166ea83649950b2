"""Write ``docs/reference/artifacts/``: every class that can be named in a file, a query or a program, by kind.

Made from the registry, so nothing is forgotten: what a class is, where it is imported from, which fields it has.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "artifacts"

KINDS: Final = {
    "engines": ("Engines", "Who answers: `--model NAME` with `--model-args`, `make_engine`, or the class itself."),
    "loaders": ("Loaders", "Where rows come from: the `loader` of a card."),
    "operators": ("Operators", "What happens to rows before they are instances: `preprocess_steps`."),
    "processors": ("Processors", "What makes a prediction of an answer: `postprocessors` of a template."),
    "metrics": ("Metrics", "What scores predictions: `metrics` of a task."),
    "judges": ("Judges", "Metrics that ask a model, and the criteria that they judge by."),
    "samplers": ("Samplers and retrievers", "Who picks demos: `sampler` of a recipe."),
    "splitters": ("Splitters", "How splits are made of others."),
    "augmentors": ("Augmentors", "What changes inputs, to see whether a model minds."),
    "serializers": ("Serializers", "How values that are not text become text."),
    "templates": ("Templates", "How instances become words."),
    "formats": ("Formats and system prompts", "How words become a prompt."),
    "recipes": ("Tasks, cards and recipes", "What an exam is made of."),
}
"""Pages, with their titles and what the things on them are for."""

_BASES: Final = {
    "engines": "proctor.engines.engine:Engine",
    "loaders": "proctor.data.loaders:Loader",
    "samplers": "proctor.demos.samplers:Sampler",
    "metrics": "proctor.scoring.metric:Metric",
    "splitters": "proctor.data.splitters:Splitter",
    "augmentors": "proctor.data.augmentors:Augmentor",
    "serializers": "proctor.tasks.serializers:Serializer",
    "templates": "proctor.templates.template:Template",
    "formats": "proctor.formats.format:Format",
}
_BY_MODULE: Final = (
    ("proctor.scoring.judges", "judges"),
    ("proctor.scoring.metrics", "metrics"),
    ("proctor.scoring", "processors"),
    ("proctor.demos", "samplers"),
    ("proctor.engines", "engines"),
    ("proctor.guests.unitxt", "engines"),
    ("proctor.running", "engines"),
    ("proctor.templates", "templates"),
    ("proctor.formats", "formats"),
    ("proctor.tasks", "recipes"),
    ("proctor.recipes", "recipes"),
    ("proctor.artifacts", "recipes"),
    ("proctor.data", "operators"),
)
_ROLE: Final = re.compile(r":(?:\w+:)?\w+:`~?(?:proctor\.[\w.]*\.)?([^`<]*?)`")
_DOUBLE: Final = re.compile(r"``([^`]+)``")
_MODULES: Final = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")
_ENTRY: Final = re.compile(r"^ {4}([\w, ]+?)(?: \([^)]*\))?: (.*)")
_PLUMBING: Final = ("data_classification_policy", "requirements", "caching")
"""Fields of nearly every class: which data it may see, what it needs elsewhere, and one that files of Unitxt have."""
_LONGEST_DEFAULT: Final = 60
"""Characters of a default that a cell of a table shows."""
_CLASSES_OF_DATA = "../security.md#what-leaves-the-machine"


@cache
def classes() -> Mapping[str, type[Any]]:
    """Return every class of the registry by its ``__type__``, but those that are nobody's to name."""
    from proctor.artifacts.registry import builtin_types

    found = {}
    for name, place in builtin_types().items():
        module, _, attribute = place.partition(":")
        if not attribute.startswith("_"):
            found[name] = getattr(import_module(module), attribute)
    return found


def kind_of(cls: type[Any]) -> str:
    """Return the page that a class belongs to."""
    if cls.__module__.startswith("proctor.scoring.judges"):
        return "judges"
    for kind, base in _BASES.items():
        module, _, name = base.partition(":")
        if issubclass(cls, getattr(import_module(module), name)):
            return kind
    return next(kind for beginning, kind in _BY_MODULE if cls.__module__.startswith(beginning))


def path_of(cls: type[Any]) -> str:
    """Return the shortest path that a class can be imported from: its package's, where that lists it."""
    parts = cls.__module__.split(".")
    for count in range(1, len(parts)):
        package = ".".join(parts[:count])
        module = import_module(package)
        if cls.__name__ in getattr(module, "__all__", ()) and getattr(module, cls.__name__, None) is cls:
            return f"{package}.{cls.__name__}"
    return f"{cls.__module__}.{cls.__name__}"


def plain(text: str) -> str:
    """Return words of a docstring as Markdown on one line: roles and literals as code."""
    text = _DOUBLE.sub(r"`\1`", _ROLE.sub(r"`\1`", " ".join(text.split())))
    return text.replace("|", "\\|").replace("<", "&lt;")


def summary_of(cls: type[Any]) -> str:
    """Return what a class is: the beginning of its docstring, up to its sections."""
    text = inspect.getdoc(cls) or ""
    return plain(
        re.split(r"\n\s*\n(?=(?:Attributes|Args|Raises|Example|Examples|Returns|Note):)", text)[0].split("\n>>>")[0]
    )


def fields_of(cls: type[Any]) -> list[tuple[str, str, str, str]]:
    """Return name, type, default and meaning of each field, in order; fields of all artifacts are left out."""
    from proctor.artifacts.artifact import Artifact

    common = {*Artifact.model_fields, *_PLUMBING}
    said = meanings(cls)
    found = []
    for name, field in getattr(cls, "model_fields", {}).items():
        if name not in common and not name.startswith("_"):
            default = "needed" if field.is_required() else _default(field)
            found.append((name, _type(field.annotation), default, said.get(name, "")))
    return found


def meanings(cls: type[Any]) -> dict[str, str]:
    """Return what docstrings say of fields, that of the class itself before those of its bases."""
    found: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        current: list[str] = []
        _, _, section = (each.__doc__ or "").expandtabs().partition("Attributes:\n")
        for line in inspect.cleandoc("x\n" + section).splitlines()[1:] if section else ():
            if not line.strip() or re.match(r"\w+:$", line):
                break
            if match := _ENTRY.match("    " + line):
                current = [name.strip() for name in match[1].split(",")]
                found |= dict.fromkeys(current, match[2])
            else:
                found |= {name: f"{found[name]} {line.strip()}" for name in current}
    return {name: plain(text) for name, text in found.items()}


def _type(annotation: Any) -> str:
    text = (
        annotation.__name__
        if isinstance(annotation, type) and not getattr(annotation, "__args__", None)
        else str(annotation)
    )
    text = _MODULES.sub("", text.replace("NoneType", "None"))
    return "any" if text == "Any" else text if len(text) <= _LONGEST_DEFAULT else f"{text[:_LONGEST_DEFAULT]}…"


def _default(field: Any) -> str:
    if field.default_factory is not None:
        try:
            value = field.default_factory()
        except TypeError:  # made of the other fields
            return "of the others"
    else:
        value = field.default
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= _LONGEST_DEFAULT else f"{text[:_LONGEST_DEFAULT]}…"


def page(kind: str) -> str:
    """Return the page of a kind."""
    title, what = KINDS[kind]
    found = sorted((cls.__name__, name, cls) for name, cls in classes().items() if kind_of(cls) == kind)
    return (
        f"# {title}\n\n{what} Fields of all classes ([data classes]({_CLASSES_OF_DATA}), `caching`) are left out.\n\n"
        + "".join(_named(kind))
        + "\n".join(_section(name, cls) for _, name, cls in found)
    )


def _section(name: str, cls: type[Any]) -> str:
    text = f"## {cls.__name__}\n\n{summary_of(cls)}\n\n`{name}` in files and queries, `{path_of(cls)}` in Python.\n"
    rows = fields_of(cls)
    if not rows:
        return text
    lines = [f"| `{each[0]}` | {_code(each[1])} | {_code(each[2])} | {each[3]} |" for each in rows]
    return text + "\n| field | type | default | |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"


def _code(text: str) -> str:
    if text in ("needed", "of the others"):
        return text
    escaped = text.replace("|", "\\|").replace("`", "'").replace("\n", "\\n")
    return f"`{escaped}`"


def _named(kind: str) -> Iterator[str]:
    """Yield a table of what has a short name: engines, and what the catalog holds of a kind."""
    if kind == "engines":
        from proctor.engines.engine_names import ENGINES
        from proctor.engines.http.providers import providers

        known = {name: entry.description for name, entry in ENGINES.items()}
        rows = known | {name: entry.description for name, entry in providers().items()}
    elif kind in ("metrics", "processors", "judges"):
        rows = _of_the_catalog(kind)
    else:
        return
    if rows:
        yield f"| {'`--model`' if kind == 'engines' else 'in the catalog'} | |\n|---|---|\n"
        yield from (f"| `{name}` | {plain(text)} |\n" for name, text in rows.items())
        yield "\n"


def _of_the_catalog(kind: str) -> dict[str, str]:
    from proctor.dialects.listing import entries

    wanted = {"metrics": "metric", "processors": "processor", "judges": "criterion"}[kind]
    return {each.name: each.description for each in entries(kinds=[wanted]) if each.source == "built-in"}


def pages() -> dict[str, str]:
    """Return the content of every page, by the name of its file."""
    return {f"{kind}.md": page(kind) for kind in KINDS}


def main() -> int:
    """Write the pages."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (TARGET / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
