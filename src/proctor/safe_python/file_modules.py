"""The part of ``os`` that a source file may use: paths, questions about its own folder, named variables."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proctor.safe_python import files
from proctor.safe_python.calls import Arguments, Named, exactly
from proctor.safe_python.functions import Builtin, Function
from proctor.safe_python.methods import METHODS
from proctor.safe_python.modules import MODULES, ModuleValue
from proctor.safe_python.scope import Frame, SourceFile


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """``os.environ``."""

    module: SourceFile

    def get(self, name: object, default: Any = None) -> Any:
        """Return the value of a variable."""
        value = files.variable(self.module, name)
        return default if value is None else value

    def __getitem__(self, name: object) -> str:
        value = files.variable(self.module, name)
        if value is None:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return files.variable(self.module, name) is not None


METHODS[Environment] = {"get": lambda frame, owner, arguments, named: owner.get(*arguments, **named)}

_LONGEST_PATH = 4_096
"""What a path function may add to its arguments: the working folder."""


def _path_function(function: Callable[..., Any]) -> Function:
    def invoke(frame: Frame, arguments: Arguments, named: Named) -> Any:
        length = sum(len(each) for each in arguments if isinstance(each, str))
        frame.budget.hold_text(_LONGEST_PATH + length)
        return function(*arguments, **named)

    return invoke


def _file_question(function: Callable[[str], bool]) -> Function:
    def invoke(frame: Frame, arguments: Arguments, named: Named) -> bool:
        (name,) = exactly(function.__name__, 1, arguments, named)
        path = files.inside(frame.source, name)
        frame.source.files.append(path)
        return function(str(path))

    return invoke


def _getenv(frame: Frame, arguments: Arguments, named: Named) -> Any:
    return Environment(frame.source).get(*arguments, **named)


_PATH = ModuleValue(
    "os.path",
    {
        **{
            name: Builtin(f"os.path.{name}", _path_function(getattr(os.path, name)))
            for name in ("abspath", "basename", "dirname", "isabs", "join", "normpath", "split", "splitext")
        },
        **{
            name: Builtin(f"os.path.{name}", _file_question(getattr(os.path, name)))
            for name in ("exists", "isdir", "isfile")
        },
        "sep": os.sep,
    },
)


def modules_for(module: SourceFile) -> dict[str, ModuleValue]:
    """Return the modules that a source file may import, by name."""
    return {
        **MODULES,
        _PATH.name: _PATH,
        "os": ModuleValue(
            "os",
            {
                "path": _PATH,
                "environ": Environment(module),
                "getenv": Builtin("os.getenv", _getenv),
                "sep": os.sep,
                "linesep": os.linesep,
            },
        ),
    }
