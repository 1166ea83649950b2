"""Proctor gives language models exams.

Rows of data become prompts, a model answers, answers become scores with error bars. Names are imported when they are
first used, so ``import proctor`` costs next to nothing.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.artifacts import (
        Artifact,
        ArtifactLink,
        add_link_to_catalog,
        add_to_catalog,
        fetch_artifact,
        get_from_catalog,
        register_catalog,
        register_local_catalog,
    )
    from proctor.data.files import LoadCSV, LoadJsonFile
    from proctor.data.hub_loaders import LoadHF
    from proctor.data.loaders import LoadFromDictionary
    from proctor.dialects.python_run import run
    from proctor.engines.engine import Engine
    from proctor.engines.engine_registry import make_engine
    from proctor.errors import ProctorError
    from proctor.exchange.run_comparison import compare
    from proctor.formats import ChatAPIFormat, SystemFormat, TextualSystemPrompt
    from proctor.logs import get_logger
    from proctor.recipes import Benchmark, DatasetRecipe, create_dataset, load_dataset, load_recipe, produce
    from proctor.results.evaluate import post_process
    from proctor.running import run_exams
    from proctor.running.evaluate import evaluate
    from proctor.running.infer import infer
    from proctor.settings import get_settings, settings
    from proctor.tasks import Task, TaskCard
    from proctor.templates import (
        InputOutputTemplate,
        MultipleChoiceTemplate,
        MultiReferenceTemplate,
        Template,
        TemplatesDict,
        TemplatesList,
    )
    from proctor.version import __version__

_HOMES = {
    "proctor.artifacts": (
        "Artifact",
        "ArtifactLink",
        "add_link_to_catalog",
        "add_to_catalog",
        "fetch_artifact",
        "get_from_catalog",
        "register_catalog",
        "register_local_catalog",
    ),
    "proctor.data.files": ("LoadCSV", "LoadJsonFile"),
    "proctor.data.hub_loaders": ("LoadHF",),
    "proctor.data.loaders": ("LoadFromDictionary",),
    "proctor.dialects.python_run": ("run",),
    "proctor.engines.engine": ("Engine",),
    "proctor.engines.engine_registry": ("make_engine",),
    "proctor.errors": ("ProctorError",),
    "proctor.exchange.run_comparison": ("compare",),
    "proctor.formats": ("ChatAPIFormat", "SystemFormat", "TextualSystemPrompt"),
    "proctor.logs": ("get_logger",),
    "proctor.recipes": ("Benchmark", "DatasetRecipe", "create_dataset", "load_dataset", "load_recipe", "produce"),
    "proctor.results.evaluate": ("post_process",),
    "proctor.running.infer": ("infer",),
    "proctor.running": ("run_exams",),
    "proctor.running.evaluate": ("evaluate",),
    "proctor.settings": ("get_settings", "settings"),
    "proctor.tasks": ("Task", "TaskCard"),
    "proctor.templates": (
        "InputOutputTemplate",
        "MultiReferenceTemplate",
        "MultipleChoiceTemplate",
        "Template",
        "TemplatesDict",
        "TemplatesList",
    ),
    "proctor.version": ("__version__",),
}

__all__ = [
    "Artifact",
    "ArtifactLink",
    "Benchmark",
    "ChatAPIFormat",
    "DatasetRecipe",
    "Engine",
    "InputOutputTemplate",
    "LoadCSV",
    "LoadFromDictionary",
    "LoadHF",
    "LoadJsonFile",
    "MultiReferenceTemplate",
    "MultipleChoiceTemplate",
    "ProctorError",
    "SystemFormat",
    "Task",
    "TaskCard",
    "Template",
    "TemplatesDict",
    "TemplatesList",
    "TextualSystemPrompt",
    "__version__",
    "add_link_to_catalog",
    "add_to_catalog",
    "compare",
    "create_dataset",
    "evaluate",
    "fetch_artifact",
    "get_from_catalog",
    "get_logger",
    "get_settings",
    "infer",
    "load_dataset",
    "load_recipe",
    "make_engine",
    "post_process",
    "produce",
    "register_catalog",
    "register_local_catalog",
    "run",
    "run_exams",
    "settings",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)


class _Package(ModuleType):
    """Keeps ``proctor.settings`` the settings themselves, also after the module of that name has been imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "settings" and isinstance(value, ModuleType):
            value = value.settings
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
