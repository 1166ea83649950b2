"""Code that task files name: found beside them, and run only for users who trust it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

from proctor.dialects.lm_eval.code_draws import by_content, importing
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import DataError, Location, TrustError
from proctor.guests.beside import run_module, unrun_module
from proctor.guests.code import module_named
from proctor.guests.rooms import GuestModule, GuestRoom
from proctor.guests.table import table_of
from proctor.packages import package_folder
from proctor.safe_files import Stamp, is_unchanged, stamp_of
from proctor.settings import settings


class TaskCodeError(DataError):
    """A function of a task file that cannot be loaded, or that fails."""


def resolve_function(reference: FunctionReference, purpose: str) -> Any:
    """Return the function (or class) that ``!function`` names.

    Args:
        reference: The words behind the tag.
        purpose: The key that needs it, for the message (``process_docs``).

    Raises:
        TrustError: The user has not said that code of exams may run.
        TaskCodeError: The module cannot be loaded, or has no such name.
    """
    module_name, _, name = reference.name.rpartition(".")
    file = reference.file
    source = str(file) if file.is_file() else f"the module '{module_name}'"
    if not settings.trust_code:
        raise TrustError(
            f"{purpose} is Python code: '{reference.name}'"
            if reference.name not in purpose
            else f"{purpose} is Python code",
            location=reference.location,
            why=f"using this task would run {source}",
            hint="if you trust it, add --trust-code (or set PROCTOR_TRUST_CODE=1)",
        )
    if not module_name:
        raise TaskCodeError(
            f"'{reference.name}' names no module", location=reference.location, hint="write !function module.function"
        )
    module = _load(file, reference) if file.is_file() else _import(module_name, reference)
    try:
        return getattr(module, name)
    except AttributeError:
        raise TaskCodeError(f"{source} has no '{name}'", location=reference.location) from None


def load_code(value: Any) -> None:
    """Run the modules whose functions a task names anywhere, where code is trusted: they may register names.

    lm-eval runs them while it reads the file. One that fails is said of the key that names it, when that is read.
    """
    if not settings.trust_code:
        return
    if isinstance(value, FunctionReference):
        with suppress(DataError, TrustError):
            resolve_function(value, "code of the task")
    elif isinstance(value, Mapping):
        load_code(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            load_code(each)
    elif is_dataclass(value) and not isinstance(value, type):
        load_code([getattr(value, each.name) for each in fields(value)])


class _Loaded(NamedTuple):
    """A module of a file as it was then, and the files below ``lm_eval.tasks`` that it imported."""

    stamp: Stamp
    module: ModuleType
    imported: set[Path]


_modules: dict[Path, _Loaded] = {}
_TASKS: Final = re.compile(r".*/(?:(lm_eval/tasks)|(lmms_eval))/")
"""Folder that modules of tasks import from: of lmms-eval the whole package, since nothing here has its names."""
TASKS: Final = "lm_eval.tasks"
_READ: Final = "__proctor_read__"
"""Name in a module of a task for what it imported from installed packages."""


def _load(file: Path, reference: FunctionReference) -> ModuleType:
    """Return the module of a file of a task, whatever it imports from lm_eval answered."""
    try:
        return module_of_file(file)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - code of others may even exit; the reason is reported
        raise failed(f"{file.resolve()} fails when it is imported", error, reference.location) from None


def module_of_file(file: Path) -> ModuleType:
    """Return the module of a file, run anew where it has changed; whatever it imports from lm_eval is answered.

    Raises:
        Exception: Whatever the code of the file raises.
    """
    return _module(file, _module_name(file.resolve()))


def _module(file: Path, name: str) -> ModuleType:
    """Return the module of a file under a name, run anew where the file has changed, or one that it imports."""
    file = file.resolve()
    if _is_fresh(file, set()):
        return _modules[file].module
    stamp = stamp_of(file)
    module = unrun_module(name, file)
    room = TaskRoom(_tasks_folder(file))
    vars(module)["__builtins__"] = room.builtins()
    vars(module)[_READ] = room.read
    before = sys.modules.get(name)
    sys.modules[name] = module
    _modules[file] = _Loaded(stamp, module, room.imported)  # for whoever imports it while it runs
    try:
        with importing(module, file):
            run_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        del _modules[file]
        if before is not None:
            sys.modules[name] = before
        raise
    return module


def _is_fresh(file: Path, seen: set[Path]) -> bool:
    """Whether a file was run, and nothing that it is made of has changed; files that are ``seen`` are looked at."""
    if file in seen:
        return True
    seen.add(file)
    if (known := _modules.get(file)) is None or not is_unchanged(file, known.stamp):
        return False
    return all(_is_fresh(each, seen) for each in known.imported)


class TaskRoom(GuestRoom):
    """The modules that code of tasks sees; names below ``lm_eval.tasks`` are files beside the task, or fetched ones.

    Args:
        tasks: The folder that ``lm_eval.tasks`` means, where there is one.
    """

    def __init__(self, tasks: Path | None) -> None:
        super().__init__(self._file)
        self._tasks = tasks
        self.imported: set[Path] = set()

    def _file(self, name: str) -> ModuleType | None:
        """Return a module below ``lm_eval.tasks``; ``None`` of other modules, and where there is no such file."""
        place = self.place(name) if name.startswith((f"{TASKS}.", "lmms_eval")) else None
        if place is None:
            return None
        start = place / "__init__.py" if place.is_dir() else place
        if not start.is_file():
            return GuestModule(name, self) if table_of(name) is not None else _folder(name)
        self.imported.add(start.resolve())
        found = _module(start, name)
        self.read |= vars(found).get(_READ, {})
        return found

    def place(self, name: str) -> Path | None:
        """Return the file or the folder of a module below ``lm_eval.tasks``; ``None`` where there is none."""
        package, *parts = name.split(".")
        is_lmms = self._tasks is not None and self._tasks.name == "lmms_eval"
        if is_lmms != (package == "lmms_eval"):
            return None
        below = Path(*parts[not is_lmms :])
        for folder in filter(None, (self._tasks, None if is_lmms else _tasks_of_package())):
            if (file := folder / f"{below}.py").is_file():
                return file
            if (folder / below).is_dir():
                return folder / below
        return None


def _folder(name: str) -> ModuleType:
    """Return a package that is a folder without a file of its own."""
    module = ModuleType(name)
    module.__path__ = []
    return module


def module_of_tasks(name: str) -> ModuleType | None:
    """Return a module below ``lm_eval.tasks`` of the fetched package: for programs that import helpers of tasks.

    Raises:
        ModuleNotFoundError: There is none of that name, or no package was fetched.
        TrustError: The user has not said that code of exams may run.
    """
    room = TaskRoom(None)
    if (place := room.place(name)) is None:
        hint = "proctor get lm-eval fetches the tasks of lm-eval"
        raise ModuleNotFoundError(f"there is no {name} in the tasks of lm-eval that are here; {hint}", name=name)
    is_code = place.is_file() or (place / "__init__.py").is_file()
    if is_code and not settings.trust_code:
        raise TrustError(
            f"{name} is Python code of lm-eval's tasks",
            why="importing it runs a file of the package that proctor get lm-eval fetched",
            hint="if you trust it, set PROCTOR_TRUST_CODE=1",
        )
    return room.module(name)


@lru_cache(maxsize=1)
def _tasks_of_package() -> Path | None:
    folder = package_folder("lm_eval")
    return None if folder is None else folder / "tasks"


def read_by(file: Path) -> dict[str, str]:
    """Return digests of the modules of installed packages that a file of a task imported, by name and version."""
    known = _modules.get(file.resolve())
    read = vars(known.module).get(_READ, {}) if known is not None else {}
    return {f"{each.name} {each.version}".rstrip(): each.digest for each in read.values()}


def _tasks_folder(file: Path) -> Path | None:
    """Return the folder that ``lm_eval.tasks`` means to a file: the one that it lies in."""
    found = _TASKS.match(f"{file}/")
    return Path(found[0]) if found else None


def _module_name(file: Path) -> str:
    """Return the name under which lm-eval would import the file, so that its relative imports work."""
    plain = str(file.with_suffix(""))
    if found := _TASKS.match(plain):
        package = (found[1] or found[2]).replace("/", ".")
        return f"{package}.{plain[found.end() :].replace('/', '.')}".removesuffix(".__init__")
    return plain


def _import(module_name: str, reference: FunctionReference) -> ModuleType:
    try:
        room = TaskRoom(_tasks_folder(reference.folder))
        found = room.module(module_name) if module_name.startswith(f"{TASKS}.") else None
        return module_named(module_name) if found is None else found
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - as above
        what = f"the module '{module_name}' is neither beside the task file nor importable"
        raise failed(what, error, reference.location) from None


def failed(what: str, error: BaseException, location: Location | None = None) -> TaskCodeError:
    """Return the error of code that fails, with its reason."""
    hint = ""
    if isinstance(error, ModuleNotFoundError):
        top, _, inner = str(error.name).partition(".")
        beside = None if location is None else Path(location.file).parent
        hint = f"install the package that provides '{error.name}'"
        if inner and top in sys.modules:
            hint = f"another release of '{top}' may have it"
        elif beside is not None and (beside / f"{top}.py").is_file():
            hint = f"PYTHONPATH={beside} lets Python find {top}.py"
    return TaskCodeError(what, location=location, why=f"{type(error).__name__}: {error}", hint=hint)


def guarded(function: Callable[..., Any], what: str, location: Location | None = None) -> Callable[..., Any]:
    """Return a function of a task file whose failures say whose they are, and which draws the same in every run."""
    drawing = by_content(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return drawing(*args, **kwargs)
        except (KeyboardInterrupt, DataError):
            raise
        except BaseException as error:  # code of others may even exit; the reason is reported
            raise failed(f"{what} fails", error, location) from error

    call.__wrapped__ = function  # type: ignore[attr-defined] # what it draws with is found there
    return call


def with_given(function: Callable[..., Any], given: Mapping[str, Any] | None) -> Callable[..., Any]:
    """Return a function of a document; one with a second parameter gets what the task gives to its functions."""
    if given is None:
        return function
    parameters = inspect.signature(function).parameters  # of what was wrapped, where it is
    kinds = {each.kind for each in parameters.values()}
    if "lmms_eval_specific_kwargs" in parameters or inspect.Parameter.VAR_KEYWORD in kinds:
        return lambda doc: function(doc, lmms_eval_specific_kwargs=dict(given))
    return function if len(parameters) == 1 else lambda doc: function(doc, dict(given))
