"""Registries of OpenCompass and AISBench: names that code registers, and those that Proctor has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from proctor import templates
from proctor.errors import UnknownArtifactError, did_you_mean
from proctor.templates import RawPromptTemplate
from proctor.templates.prompt_template import BasePromptTemplate

_CLASSES = "proctor.dialects.aisbench.classes"


class NotRegisteredError(UnknownArtifactError, KeyError):
    """A name that a registry does not have; also a ``KeyError``, as in mmengine."""


class Registry:
    """Names of one kind and what they stand for.

    Args:
        name: Its name in errors.
        own: Function that finds Proctor's class of a name (``module:attribute``), where there are such classes.
        project: The package whose classes these are: ``opencompass`` or ``aisbench``.
    """

    def __init__(self, name: str, own: str = "", project: str = "opencompass") -> None:
        self.name = name
        self._own, self._project = own, project
        self._module_dict: dict[str, Any] = {}

    @property
    def module_dict(self) -> dict[str, Any]:
        """The classes and functions that code registered, by name."""
        return self._module_dict

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __len__(self) -> int:
        return len(self._module_dict)

    def get(self, name: str) -> Any:
        """Return the class or function of a name; ``None`` where there is none."""
        short = name.rpartition(".")[2]
        found = self._module_dict.get(name, self._module_dict.get(short))
        if found is None and self._own:
            home, _, attribute = self._own.partition(":")
            return getattr(import_module(home), attribute)(short, self._project)
        return found

    def register_module(self, name: str | Sequence[str] | None = None, force: bool = True, module: Any = None) -> Any:
        """Register a class or a function: as a decorator, or directly.

        Args:
            name: Its name, or several; without one, that of the class.
            force: Whether it may replace another.
            module: The class or function; a decorator is returned without it.

        Raises:
            KeyError: The name is taken, and ``force`` is false.
            TypeError: What is registered cannot be called.
        """
        if module is None:
            return lambda found: self.register_module(name, force, found)
        if not callable(module):
            raise TypeError(f"{self.name} registers classes and functions, not {module!r}")
        for each in [module.__name__] if name is None else [name] if isinstance(name, str) else name:
            if each in self._module_dict and not force:
                raise KeyError(f"{each} is already registered in {self.name}")
            self._module_dict[each] = module
        return module

    def build(self, cfg: Mapping[str, Any], **defaults: Any) -> Any:
        """Return an instance of the class that a config names, made with the rest of the config.

        Raises:
            NotRegisteredError: Nothing is registered under the name.
            KeyError: The config has no ``type``.
        """
        arguments = {**defaults, **cfg}
        kind = arguments.pop("type")
        found = self.get(kind) if isinstance(kind, str) else kind
        if found is None:
            raise NotRegisteredError(f"{self.name} has no '{kind}'", hint=did_you_mean(str(kind), self._module_dict))
        return found(**arguments)


def template_class(name: str, project: str) -> Any:
    """Return Proctor's class of a template, the same for both projects; ``None`` where there is none."""
    del project
    found = getattr(templates, name, None)
    return found if isinstance(found, type) and issubclass(found, BasePromptTemplate | RawPromptTemplate) else None


_KINDS = {
    "TEXT_POSTPROCESSORS": f"{_CLASSES}.functions:text_postprocessor",
    "ICL_EVALUATORS": f"{_CLASSES}.evaluators:evaluator_class",
    "LOAD_DATASET": f"{_CLASSES}.datasets:dataset_class",
    "ICL_PROMPT_TEMPLATES": "proctor.guests.opencompass.registries:template_class",
    **dict.fromkeys(
        (
            *("DATASETS", "DICT_POSTPROCESSORS", "EVALUATORS", "ICL_DATASET_READERS", "ICL_INFERENCERS"),
            *("ICL_RETRIEVERS", "METRICS", "MODELS", "PARTITIONERS", "RUNNERS", "TASKS", "TOT_WRAPPER"),
        ),
        "",
    ),
}
"""Registries by name, and what finds Proctor's classes of their kind; others hold only what code registers."""
REGISTRIES = {
    f"{start}{name}": Registry(name.lower(), own, project)
    for start, project in (("", "opencompass"), ("AIS_", "aisbench"))
    for name, own in _KINDS.items()
}
"""OpenCompass' registries by name, and AISBench's by ``AIS_`` and the name."""
globals().update(REGISTRIES)
build_from_cfg = REGISTRIES["PARTITIONERS"].build
AIS_build_from_cfg = REGISTRIES["AIS_PARTITIONERS"].build
