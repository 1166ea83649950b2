"""The modules of the standard library that a config may import, as far as it may use them.

Anything else that a config imports stays a name.
"""

# ruff: noqa: ARG001 - everything that a config may call has one signature

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proctor.dialects.aisbench.interpreter import containers, files
from proctor.dialects.aisbench.interpreter.budget import RefusalError
from proctor.dialects.aisbench.interpreter.functions import Builtin, Function, exactly, plain, stepwise
from proctor.dialects.aisbench.interpreter.methods import METHODS, Arguments, Machine, Named
from proctor.dialects.aisbench.interpreter.scope import ConfigModule, Frame


@dataclass(frozen=True, slots=True, eq=False)
class ModuleValue:
    """A module of the standard library, as far as configs may use it."""

    name: str
    members: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """``os.environ``."""

    module: ConfigModule

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


_MAX_REPEATS = 16


def _deep_copy(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    (value,) = exactly("deepcopy", 1, arguments, named)
    return containers.deep_copy(value, machine.budget)


def _shallow_copy(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    (value,) = exactly("copy", 1, arguments, named)
    copying = METHODS.get(value.__class__, {}).get("copy")
    return value if copying is None else copying(machine, frame, value, [], {})


def _path_function(function: Callable[..., Any]) -> Function:
    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
        length = sum(len(each) for each in arguments if isinstance(each, str))
        machine.budget.hold_text(4_096 + length)
        return function(*arguments, **named)

    return invoke


def _file_question(function: Callable[[str], bool]) -> Function:
    def invoke(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> bool:
        (name,) = exactly(function.__name__, 1, arguments, named)
        path = files.inside(frame.module, name)
        frame.module.files.append(path)
        return function(str(path))

    return invoke


def _getenv(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    return Environment(frame.module).get(*arguments, **named)


def _product(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
    columns = [containers.consume(each, machine.budget) for each in arguments]
    repeat = named.get("repeat", 1)
    if not named.keys() <= {"repeat"} or not isinstance(repeat, int) or repeat > _MAX_REPEATS:
        raise RefusalError("calls itertools.product with so many repeats")
    return containers.Stream(itertools.product(*columns, repeat=repeat), machine.budget)


_MATH_FUNCTIONS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "degrees"),
    *("exp", "expm1", "fabs", "floor", "fmod", "hypot", "isclose", "isfinite", "isinf", "isnan", "log", "log10"),
    *("log1p", "log2", "modf", "pow", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)


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


METHODS[Environment] = {"get": lambda machine, frame, owner, arguments, named: owner.get(*arguments, **named)}


def modules_for(module: ConfigModule) -> dict[str, ModuleValue]:
    """Return the modules that a config may import, by name."""
    return {
        **_SHARED_MODULES,
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


_SHARED_MODULES = {
    each.name: each
    for each in (
        _PATH,
        ModuleValue(
            "math",
            {
                **{name: Builtin(f"math.{name}", plain(getattr(math, name))) for name in _MATH_FUNCTIONS},
                **{name: getattr(math, name) for name in ("e", "inf", "nan", "pi", "tau")},
            },
        ),
        ModuleValue(
            "copy", {"copy": Builtin("copy.copy", _shallow_copy), "deepcopy": Builtin("copy.deepcopy", _deep_copy)}
        ),
        ModuleValue(
            "itertools",
            {
                "chain": Builtin("itertools.chain", stepwise(itertools.chain)),
                "product": Builtin("itertools.product", _product),
            },
        ),
    )
}
