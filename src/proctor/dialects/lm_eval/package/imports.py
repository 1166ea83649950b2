"""Answers ``import lm_eval…`` and ``import evaluate`` in code of tasks, and in no other code.

A module of a task runs with an ``__import__`` of its own. It is asked by every import statement of that module, those
inside its functions included, whenever they run; ``sys.modules`` and everybody else's imports stay as they are. Names
below ``lm_eval.tasks`` are files beside the task, or of the package that ``proctor get lm-eval`` fetched. Where lm_eval
is installed, its own modules are imported as ever.
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from proctor.errors import did_you_mean
from proctor.packages import package_folder

NAME: Final = "lm_eval"
TASKS: Final = "lm_eval.tasks"
_HERE: Final = "proctor.dialects.lm_eval.package"
_TEMPLATES: Final = ("proctor.dialects.lm_eval.template", "proctor.dialects.lm_eval.factory")

MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "lm_eval.utils": (f"{_HERE}.utils",),
    "lm_eval.api.metrics": (f"{_HERE}.metrics",),
    "lm_eval.api.registry": (f"{_HERE}.registry",),
    "lm_eval.api.instance": (f"{_HERE}.instance",),
    "lm_eval.api.filter": (f"{_HERE}.filters",),
    "lm_eval.api.task": (
        f"{_HERE}.task",
        f"{_HERE}.configurable_task",
        f"{_HERE}.older_tasks",
        f"{_HERE}.instance",
        "proctor.dialects.lm_eval.config",
    ),
    "lm_eval.api.group": (f"{_HERE}.group",),
    "lm_eval.api.utils": (f"{_HERE}.messages",),
    "lm_eval.api.samplers": (f"{_HERE}.samplers",),
    "lm_eval.api.model": (f"{_HERE}.model",),
    "lm_eval.api.template": _TEMPLATES,
    "lm_eval.config": (f"{_HERE}.group", "proctor.dialects.lm_eval.config"),
    "lm_eval.config.group": (f"{_HERE}.group",),
    "lm_eval.config.task": ("proctor.dialects.lm_eval.config",),
    "lm_eval.config.template": _TEMPLATES,
    "lm_eval.defaults": (f"{_HERE}.defaults",),
    "lm_eval.models.utils": (f"{_HERE}.model_utils", f"{_HERE}.utils"),
    "lm_eval.models.utils_hf": (f"{_HERE}.torch_utils",),
    "lm_eval.filters": (f"{_HERE}.filters",),
    "lm_eval.filters.custom": (f"{_HERE}.filters",),
    "lm_eval.filters.decontamination": (f"{_HERE}.filters",),
    "lm_eval.filters.extraction": (f"{_HERE}.filters",),
    "lm_eval.filters.selection": (f"{_HERE}.filters",),
    "lm_eval.filters.transformation": (f"{_HERE}.filters",),
}
"""Modules of lm_eval that code of tasks imports, and where their names are here."""

LoadFile = Callable[[Path, str], ModuleType]
"""Loads a file of a task as a module of that name; of a folder, its ``__init__.py``."""


def is_installed() -> bool:
    """Whether the package lm_eval itself can be imported, whatever else answers its name."""
    return PathFinder.find_spec(NAME) is not None


class PackageModule(ModuleType):
    """A module of lm_eval as code of tasks sees it: its names are looked up when they are used.

    Args:
        name: As lm_eval has it.
        child: Returns the module below this one of a name, ``None`` where there is none.
    """

    def __init__(self, name: str, child: Callable[[str], ModuleType | None]) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self._child = child

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        places = MODULES.get(self.__name__, ())
        for place in places:
            module = importlib.import_module(place)
            if hasattr(module, name):
                return getattr(module, name)
        if (found := self._child(f"{self.__name__}.{name}")) is not None:
            return found
        known = [each for place in places for each in dir(importlib.import_module(place)) if not each.startswith("_")]
        hint = did_you_mean(name, known) or "with lm_eval installed, its own is used"
        raise ImportError(f"Proctor has no '{name}' of '{self.__name__}'. {hint}", name=self.__name__)


class TaskImports:
    """The import statements of the modules of tasks below one folder.

    Args:
        tasks: The folder that ``lm_eval.tasks`` means, where there is one.
        load_file: Loads a file of a task.
        evaluate: What ``import evaluate`` means.
    """

    def __init__(self, tasks: Path | None, load_file: LoadFile, evaluate: ModuleType) -> None:
        self._tasks = tasks
        self._load_file = load_file
        self._evaluate = evaluate

    def builtins(self) -> dict[str, Any]:
        """Return the builtins of a module whose imports are answered here."""
        return {**vars(builtins), "__import__": self._import}

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 - the names of __import__'s own parameters
        locals: Mapping[str, Any] | None = None,  # noqa: A002 - as above
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        wanted = _absolute(name, globals or {}, level)
        if wanted == "evaluate" and not level:
            return self._evaluate
        found = None if wanted is None else self.found(wanted)
        if wanted is None or found is None:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        for each in fromlist or ():
            self._add_child(found, f"{wanted}.{each}")
        return found if fromlist or level else self.module(NAME)

    def _add_child(self, parent: ModuleType, name: str) -> None:
        """Let a package of tasks have the module below it that a statement names."""
        own = name.rpartition(".")[2]
        if name.startswith(f"{TASKS}.") and own not in vars(parent) and (child := self.module(name)) is not None:
            setattr(parent, own, child)

    def found(self, name: str) -> ModuleType | None:
        """Return a module that is this one's to find: of the package where it is not there, else of its tasks alone.

        Raises:
            ModuleNotFoundError: There is none of that name, and no package that could have it.
        """
        if name.partition(".")[0] != NAME:
            return None
        is_task = name.startswith(f"{TASKS}.") and self._place(name) is not None
        if is_installed() and not is_task:
            return None
        if (module := self.module(name)) is None:
            raise ModuleNotFoundError(missing(name), name=name)
        return module

    def module(self, name: str) -> ModuleType | None:
        """Return a module of lm_eval; ``None`` where there is none of that name."""
        if name.startswith(f"{TASKS}."):
            place = self._place(name)
            if place is None or place.is_file():
                return None if place is None else self._load_file(place, name)
            start = place / "__init__.py"
            return self._load_file(start, name) if start.is_file() else self._empty(name)
        if name in MODULES or name == TASKS or any(each.startswith(f"{name}.") for each in MODULES):
            return self._empty(name)
        return None

    def is_code(self, name: str) -> bool:
        """Whether importing a module below ``lm_eval.tasks`` runs a file."""
        place = self._place(name)
        return place is not None and (place.is_file() or (place / "__init__.py").is_file())

    def _empty(self, name: str) -> ModuleType:
        return PackageModule(name, self.module)

    def _place(self, name: str) -> Path | None:
        """Return the file or the folder of a module below ``lm_eval.tasks``."""
        below = Path(*name.split(".")[2:])
        for folder in filter(None, (self._tasks, _tasks_of_package())):
            if (file := folder / f"{below}.py").is_file():
                return file
            if (folder / below).is_dir():
                return folder / below
        return None


def _absolute(name: str, namespace: Mapping[str, Any], level: int) -> str | None:
    """Return the full name of what a statement imports; ``None`` where it is relative to nothing."""
    if not level:
        return name
    package = namespace.get("__package__") or str(namespace.get("__name__", "")).rpartition(".")[0]
    parts = package.split(".")
    if level > len(parts) or not package:
        return None
    return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])


def missing(name: str, by: str = "beside the task") -> str:
    """Return what is said where a module is not found ``by`` the task, or elsewhere."""
    if name.startswith(f"{TASKS}."):
        return f"there is no {name} {by}; proctor get lm-eval fetches the tasks of lm-eval"
    return f"Proctor has no '{name}'. {did_you_mean(name, MODULES) or 'With lm_eval installed, its own is used'}"


@lru_cache(maxsize=1)
def _tasks_of_package() -> Path | None:
    folder = package_folder(NAME)
    return None if folder is None else folder / "tasks"
