"""Lookups over all artifacts, under Unitxt's names: is this one, is there a class of this name?"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from proctor.artifacts.names import snake_case
from proctor.artifacts.registry import registry
from proctor.foreign_text import parse_json


class _RegisteredClasses(Mapping[str, type]):
    """The classes of artifacts by ``__type__``; a class is imported when it is looked up."""

    def __getitem__(self, name: str) -> type:
        if name not in registry:
            raise KeyError(name)
        return registry.get(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in registry

    def __iter__(self) -> Iterator[str]:
        return iter(registry)

    def __len__(self) -> int:
        return sum(1 for _ in registry)


class Lookups:
    """Mixin of :class:`~proctor.artifacts.Artifact`."""

    _class_register: ClassVar[Mapping[str, type]] = _RegisteredClasses()

    @staticmethod
    def is_artifact_dict(obj: object) -> bool:
        """Whether some data is that of an artifact: a dict with ``__type__``."""
        return isinstance(obj, dict) and "__type__" in obj

    @classmethod
    def is_artifact_file(cls, path: str | os.PathLike[str]) -> bool:
        """Whether a file is there, and holds an artifact."""
        place = Path(path)
        try:
            return place.is_file() and cls.is_artifact_dict(parse_json(place.read_bytes()))
        except (json.JSONDecodeError, UnicodeDecodeError):
            return False

    @classmethod
    def is_possible_identifier(cls, obj: object) -> bool:
        """Whether some data may name an artifact or describe one."""
        return isinstance(obj, str) or cls.is_artifact_dict(obj)

    @staticmethod
    def is_registered_type(name: str) -> bool:
        """Whether there is a class of this ``__type__``."""
        return name in registry

    @staticmethod
    def is_registered_class(clz: object) -> bool:
        """Whether files may name a class by its ``__type__``."""
        return isinstance(clz, type) and (name := registry.name_of(clz)) in registry and registry.get(name) is clz

    @staticmethod
    def is_registered_class_name(class_name: str) -> bool:
        """Whether there is a class of this name."""
        return snake_case(class_name) in registry
