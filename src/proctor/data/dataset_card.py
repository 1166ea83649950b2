"""The header of a dataset's card (``README.md``): its configurations, their files and how they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.effects import Author, reading, require
from proctor.errors import DataError, Location

CARD = "README.md"
_OWN_KEYS = frozenset({"config_name", "data_files", "data_dir", "default", "description", "version"})
"""What a configuration says of itself; the rest is for whoever reads its files."""


@dataclass(frozen=True, slots=True)
class CardConfiguration:
    """A configuration as the card declares it.

    Attributes:
        files: The patterns of each split's files; empty where the card names none.
        folder: The folder in the dataset in which its files are looked for.
        is_default: Whether it is what is read where nobody chooses.
        options: How its files are read (``sep`` …).
        columns: The types of its columns, as the library writes them.
    """

    name: str
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    folder: str = ""
    is_default: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: Any = None


def card_configurations(folder: Path, who: Author | None = None) -> Mapping[str, CardConfiguration]:
    """Return the configurations that the card of a folder declares; none where it has none, or declares none.

    Raises:
        NotAllowedError: The card is a link to where nobody allowed to read.
        DataError: Its header cannot be read, or is not what the hub takes.
    """
    card = folder / CARD
    if not card.is_file():
        return {}
    require(reading(card, who, "a dataset's card"), who)
    header = _front_matter(card.read_text(encoding="utf-8", errors="replace"), card)
    columns = _columns_by_name(header.get("dataset_info"))
    declared = header.get("configs") or []
    if not isinstance(declared, list) or not all(isinstance(each, dict) for each in declared):
        raise _misshapen(card, "'configs' is not a list of mappings")
    found = (_configuration(each, columns, card) for each in declared)
    made = {each.name: each for each in found}
    if not made and len(columns) == 1:
        return {name: CardConfiguration(name, is_default=True, columns=each) for name, each in columns.items()}
    return made


def _misshapen(card: Path, why: str) -> DataError:
    return DataError("the header of the dataset card cannot be used", location=Location(str(card), 1), why=why)


def _configuration(entry: Mapping[str, Any], columns: Mapping[str, Any], card: Path) -> CardConfiguration:
    name = str(entry.get("config_name", "default"))
    return CardConfiguration(
        name,
        _patterns(entry.get("data_files"), card),
        str(entry.get("data_dir") or ""),
        bool(entry.get("default")) or name == "default",
        {str(key): value for key, value in entry.items() if key not in _OWN_KEYS | {"features"}},
        entry.get("features") or columns.get(name),
    )


def _patterns(files: Any, card: Path) -> dict[str, tuple[str, ...]]:
    """Return the patterns of each split: of one text, a list of texts, or a list of splits with theirs."""
    if not files:
        return {}
    listed = files if isinstance(files, list) else [files]
    if all(isinstance(each, str) for each in listed):
        return {"train": tuple(listed)}
    found: dict[str, tuple[str, ...]] = {}
    for entry in listed:
        paths = entry.get("path") if isinstance(entry, dict) else None
        texts = [paths] if isinstance(paths, str) else paths
        if not isinstance(texts, list) or "split" not in entry or not all(isinstance(each, str) for each in texts):
            raise _misshapen(card, f"{entry!r} in 'data_files' has no 'split' and 'path'")
        found[str(entry["split"])] = tuple(texts)
    return found


def _columns_by_name(info: Any) -> dict[str, Any]:
    entries: Iterable[Any] = info if isinstance(info, list) else [info]
    return {
        str(each.get("config_name", "default")): each["features"]
        for each in entries
        if isinstance(each, dict) and each.get("features")
    }


def _front_matter(text: str, card: Path) -> Mapping[str, Any]:
    head, _, rest = text.partition("---\n")
    if head.strip() or not rest:
        return {}
    import yaml

    from proctor.foreign_yaml import parse_yaml, yaml_fault

    try:
        found = parse_yaml(rest.partition("\n---")[0]) or {}
    except yaml.MarkedYAMLError as error:
        place, why, hint = yaml_fault(error, str(card), before=1)
        raise DataError(
            "the header of the dataset card is not valid YAML", location=place, why=why, hint=hint
        ) from None
    if not isinstance(found, dict):
        raise _misshapen(card, "it is not a mapping")
    return found
