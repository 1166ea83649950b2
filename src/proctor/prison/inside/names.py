"""The names that tests of an exam see, and which of them are the program's."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import importlib
import sys
from typing import Any

from . import comparing, evalplus
from .remote import Asker

_ALIASES = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot", "sp": "scipy", "nx": "networkx"}
_LIBRARIES = (
    *("collections", "math", "itertools", "functools", "datetime", "decimal", "fractions", "copy", "heapq"),
    *("bisect", "typing", "statistics", "operator", "string", "random", "re", "json"),
)


class Names(dict[str, Any]):
    """The names that tests see: their own, Python's, libraries', and last the program's.

    What the program calls ``abs``, ``len`` or ``math`` does not replace those of a test; only where a test calls
    nothing else is a name of Python's the program's: ``assert sum(10, 15) == 6`` asks for a function ``sum``.
    """

    def __init__(self, asker: Asker, task: dict[str, Any], called: set[str]) -> None:
        super().__init__(__name__="tests", __builtins__=builtins)
        self._asker = asker
        self._called = set(task["entry"]) or _examined(called)
        if task["load"]:
            for name in self._called:
                if hasattr(builtins, name):
                    with contextlib.suppress(KeyError):
                        self[name] = self._program(name)
        self.update(
            __same_value=comparing.same_value,
            __script=lambda text: asker.value(do="script", input=text),
            __evaluate=lambda source: asker.value(do="evaluate", source=source),
            __comparing=comparing,
            __evalplus=evalplus,
            __task=task.get("data"),
        )

    def __missing__(self, name: str) -> Any:
        if name not in self._called and hasattr(builtins, name):
            raise KeyError(name)
        found = self._program(name)
        self[name] = found
        return found

    def _program(self, name: str) -> Any:
        try:
            answer = self._asker.ask(do="name", name=name)
        except KeyError:
            raise KeyError(name) from None
        if name not in self._called or "module" in answer:
            library = _ALIASES.get(name, name)
            if library.partition(".")[0] in sys.stdlib_module_names or name in _ALIASES:
                return importlib.import_module(library)
            if isinstance(module := answer.get("module"), str) and module.partition(".")[0] in sys.stdlib_module_names:
                return importlib.import_module(module)
            if (place := members().get(name)) is not None:
                return getattr(importlib.import_module(place), name)
        return self._asker.read(answer.get("value"))


def _examined(called: set[str]) -> set[str]:
    """Return which of the names that tests call are the program's: those of nobody else, or else all."""
    others = {name for name in called if not hasattr(builtins, name) and not name.startswith("__")}
    return {name for name in others if name not in members()} or others or called


@functools.cache
def members() -> dict[str, str]:
    """Return the names that programs import from Python's libraries, with the library."""
    found: dict[str, str] = {}
    for place in _LIBRARIES:
        module = importlib.import_module(place)
        for name in getattr(module, "__all__", None) or vars(module):
            if not name.startswith("_") and not hasattr(builtins, name):
                found.setdefault(name, place)
    return found


def called_names(source: str) -> set[str]:
    """Return the names that tests call."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def run_given(source: str, names: Names, entry: list[str]) -> None:
    """Run what the exam itself put before the program: imports and functions that its tests use.

    What is not Python as it stands (the head of a function without anything below) says nothing to the tests.
    """
    with contextlib.suppress(SyntaxError):
        exec(compile(source, "<given>", "exec"), names)  # noqa: S102 - of the exam, in a prison
    for name in entry:
        names.pop(name, None)
