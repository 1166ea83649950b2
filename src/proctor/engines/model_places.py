"""Effects of loading a model: reading a local folder or file, or asking the hub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from proctor.effects import Author, Effect, reading


def model_effects(names: Iterable[str | None], who: Author | None, by: str) -> Iterator[Effect]:
    """Yield the effects of loading models.

    Args:
        names: Hub ids, folders and files; ``None`` is nothing.
        who: Who names them.
        by: The engine, for messages.
    """
    for name in names:
        if name and _is_place(name):
            yield from reading(name, who, by)
        elif name:
            yield Effect("hub", name, by)


def places_in(options: object) -> Iterator[str]:
    """Yield the texts in options of a library that are paths: it reads what they name."""
    match options:
        case str() if _is_place(options):
            yield options
        case Mapping():
            for value in options.values():
                yield from places_in(value)
        case list() | tuple():
            for value in options:
                yield from places_in(value)


def _is_place(name: str) -> bool:
    return "://" in name or name.startswith(("/", "~", ".")) or ".." in Path(name).parts or Path(name).exists()
