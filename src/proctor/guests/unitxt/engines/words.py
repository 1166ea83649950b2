"""Engines as Unitxt writes them: with its names for their fields, so that it reads what was saved here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def in_unitxt_words(
    data: Mapping[str, Any], names: Mapping[str, str], given: Sequence[str], derived: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a saved engine with Unitxt's names of its fields, in the order in which they were given.

    Args:
        data: The engine under our names.
        names: Unitxt's name of each of our fields that has another one there.
        given: The names that the caller used, ours or Unitxt's.
        derived: Fields that the engine fills in from others, with what it fills in: left out where they say no more.
    """
    named = {
        names.get(name, name): value for name, value in data.items() if name not in derived or derived[name] != value
    }
    meta = [name for name in named if name.startswith("__")]
    ordered = dict.fromkeys([*meta, *(names.get(name, name) for name in given), *named])
    return {name: named[name] for name in ordered if name in named}


def engine_id(model: str, label: str) -> str:
    """Return what Unitxt calls an engine in the names of scores: its model without its owner, and its kind."""
    return f"{model.rpartition('/')[2].replace('-', '_').replace('.', ',').lower()}_{label}"


class ToldInUnitxtWords:
    """What programs ask an engine about itself."""

    def get_pretty_print_name(self) -> str:
        """Return what messages call it: its name in the catalog, or its class."""
        return getattr(self, "artifact_id", None) or type(self).__name__

    def get_model_details(self) -> dict[str, Any]:
        """Return what a provider tells about the model: nothing, as nobody is asked."""
        return {}
