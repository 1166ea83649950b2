"""Runs tests in the same process as the program that they examine, where no line can be drawn between the two.

Tests that replace parts of the program, or look at figures and tables that it made, need this. A program that sets out
to deceive can do more here than in a process of its own: whoever reports such a verdict says so. What makes it hard: it
runs in a thread of its own, so that no frame leads to the word that a verdict carries; looking for that word, or for
other objects of the process, ends the process; and what judges is compared before and after. Libraries do such things
while they are imported: those that program and tests name are imported before anybody looks.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import gc
import io
import os
import sys
import threading
import types
from collections.abc import Iterable, Iterator
from typing import Any

from . import frames, wire

_LONGEST_REASON = 500
_JUDGES = (
    *("unittest.case", "unittest.suite", "unittest.runner", "unittest.loader", "unittest.result", "unittest.mock"),
    *("numpy.testing._private.utils", "numpy.testing", "pandas.testing", "pandas._testing.asserters", "inside.scicode"),
)
"""Modules whose functions say whether tests pass."""
_REFUSED = (
    *("sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile", "gc.get_objects"),
    *("gc.get_referrers", "gc.get_referents", "sys.addaudithook", "cpython.remote_debugger_script"),
)
"""Events after which the process ends: nothing that solves a problem needs them."""
_PATHS = frozenset(("open", "os.chdir", "os.symlink"))
"""Events with a path that may lead to what the system shows of processes."""
_POINTERS = ("ctypes.string_at", "ctypes.wstring_at", "ctypes.cdata", "ctypes.PyObj_FromPtr", "ctypes.call_function")
_TAMPERED = "the program changed what judges it"


def serve(reading: int, writing: int, config: dict[str, Any]) -> None:
    """Judge one program and end.

    Args:
        reading: Where the task comes from.
        writing: Where the verdict goes.
        config: Not used: limits have been set.
    """
    del config
    frames.send(writing, b"R")
    task = wire.unpacked(frames.receive(reading))
    token = task.pop("token")
    os.close(reading)
    ended: list[tuple[str, str]] = []
    threading.stack_size(64 << 20)
    thread = threading.Thread(target=lambda: ended.append(_run(task, writing)), daemon=True)
    gc.disable()
    thread.start()
    thread.join()
    how, why = ended[0] if len(ended) == 1 and type(ended[0]) is tuple else ("failed", _TAMPERED)
    verdict = {"how": how, "why": why[:_LONGEST_REASON], "uncrossable": "", "token": token}
    frames.send(writing, b"V" + wire.packed(verdict))
    os._exit(0)


def _run(task: dict[str, Any], writing: int) -> tuple[str, str]:
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = io.StringIO()
    module = types.ModuleType("__main__")
    for name in (*task["imports"], *_testing_of(task["imports"])):
        with contextlib.suppress(ImportError):
            __import__(name)
    for name in dict.fromkeys((*_libraries_of(task["source"]), *_libraries_of(task["tests"]))):
        with contextlib.suppress(Exception, SystemExit):  # whoever imports it sees why
            __import__(name)
    suite = _suite_runner() if task["suite"] else None
    guarded = _fingerprints()
    sys.modules["__main__"] = module
    _watch(writing)
    try:
        exec(compile(task["source"], "<program>", "exec"), module.__dict__)  # noqa: S102 - what this is for
        if not _is_untouched(guarded):
            return "failed", _TAMPERED
        before = dict(module.__dict__)
        module.__dict__["__task"] = task["data"]
        exec(compile(task["tests"], "<tests>", "exec"), module.__dict__)  # noqa: S102
        how, why = suite(module, before) if suite else ("pass", "")
    except AssertionError as error:
        return "wrong_answer", f"AssertionError: {error}"
    except BaseException as error:  # noqa: BLE001 - whatever is raised is how it ended
        return "failed", f"{type(error).__name__}: {error}"
    return (how, why) if _is_untouched(guarded) else ("failed", _TAMPERED)


def _testing_of(names: Iterable[str]) -> list[str]:
    """Return the modules with which libraries compare their values, so that they are known before the program is."""
    return [f"{name}.testing" for name in names if name in ("numpy", "pandas")]


def _libraries_of(source: str) -> list[str]:
    """Return the modules that a program names in imports, but for those of Python itself."""
    try:
        found = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    names = [each.name for node in found if isinstance(node, ast.Import) for each in node.names]
    for node in found:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{each.name}" for each in node.names if each.name != "*")]
    return [name for name in names if name.partition(".")[0] not in sys.stdlib_module_names]


def _suite_runner() -> Any:
    """Return a function that runs the test cases of a module with unittest."""
    import unittest

    loader, suite_class, result_class, case = (
        unittest.TestLoader,
        unittest.TestSuite,
        unittest.TestResult,
        unittest.TestCase,
    )

    def run(module: types.ModuleType, before: dict[str, Any]) -> tuple[str, str]:
        own = [
            value
            for name, value in module.__dict__.items()
            if isinstance(value, type) and issubclass(value, case) and before.get(name) is not value
        ]
        suite = suite_class(loader().loadTestsFromTestCase(each) for each in own)
        result = result_class()
        count = suite.countTestCases()
        suite.run(result)
        if not count or result.testsRun != count:
            return "failed", f"{result.testsRun} of {count} tests ran"
        problems = [*result.errors, *result.failures]
        if problems or result.unexpectedSuccesses:
            why = problems[0][1].strip().splitlines()[-1] if problems else "unexpected success"
            return ("failed" if result.errors else "wrong_answer"), why
        return "pass", ""

    return run


def _fingerprints() -> dict[tuple[str, str], tuple[int, int]]:
    """Return what judges: the functions of Python and of libraries for tests, and the code behind them."""
    found = {("builtins", name): (id(value), 0) for name, value in vars(builtins).items() if name != "_"}
    for name in _JUDGES:
        if (module := sys.modules.get(name)) is not None:
            found.update(_of_members(name, vars(module).items()))
    return found


def _of_members(place: str, members: Iterable[tuple[str, Any]]) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
    for name, value in list(members):
        if name.startswith("__") and name not in ("__eq__", "__call__", "__exit__", "__enter__", "__init__"):
            continue
        if isinstance(value, types.FunctionType):
            yield (place, name), (id(value), id(value.__code__))
        elif isinstance(value, type) and value.__module__.startswith("unittest."):
            yield (place, name), (id(value), 0)
            yield from _of_members(f"{place}.{name}", vars(value).items())


def _is_untouched(before: dict[tuple[str, str], tuple[int, int]]) -> bool:
    """Whether what judged before is what judges now; libraries that were imported meanwhile are not looked at."""
    now = _fingerprints()
    return all(now.get(place) == value for place, value in before.items())


def _watch(writing: int) -> None:
    """End the process where something looks for what is not its own. A hook cannot be taken away again."""
    end, refused, paths, send = os._exit, frozenset((*_REFUSED, *_POINTERS)), _PATHS, frames.send
    text, data, is_a, kind_of = str, bytes, isinstance, type
    plain = frozenset(("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version"))

    def leads_to_processes(path: Any) -> bool:
        # By the methods of str and bytes themselves: a class derived from them has methods of its own.
        if is_a(path, data):
            path = text(data.__bytes__(path), "latin-1")
        if not is_a(path, text):
            return path is not None and kind_of(path) is not int  # what says its path anew each time
        path = text.__str__(path)
        return path not in plain and any(each in f"/{path}/" for each in ("/proc/", "/dev/fd/"))  # not processed.csv

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in refused or (event in paths and leads_to_processes(arguments[0])):
            send(writing, b"W" + event.encode())
            end(1)

    sys.addaudithook(hook)
