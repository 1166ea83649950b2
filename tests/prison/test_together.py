"""Tests in the same process as the program: what is noticed, and what is said; here, the process is this one."""

import gc
import io
import os
import sys
import threading
import types

import pytest

from proctor.prison.inside import candidate, frames, judge, together, wire

SUITE = "import unittest\nclass T(unittest.TestCase):\n"
NO_TESTS = {"imports": [], "source": "", "tests": "", "suite": False, "data": None}


class LeftError(BaseException):
    """The process would have ended here."""


@pytest.fixture
def hook(monkeypatch):
    """What watches over events, without an end to this process; what is said is in its ``told``."""
    told, hooks = [], []

    def leave(code):
        told.append(code)
        raise LeftError

    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.setattr(frames, "send", lambda *given: told.append(given))
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    together._watch(9)
    monkeypatch.undo()

    def ends(event, *arguments):
        told.clear()
        try:
            hooks[0](event, arguments)
        except LeftError:
            assert told == [(9, b"W" + event.encode()), 1]
            return True
        assert told == []
        return False

    return ends


REFUSED = (
    "sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile", "gc.get_objects", "gc.get_referrers",
    "gc.get_referents", "sys.addaudithook", "cpython.remote_debugger_script", "ctypes.string_at", "ctypes.wstring_at", "ctypes.cdata",
    "ctypes.PyObj_FromPtr", "ctypes.call_function",
)  # fmt: skip


@pytest.mark.parametrize("event", REFUSED)
def test_looking_for_what_judges_ends_the_process(hook, event):
    assert hook(event, "x")
    assert not hook(f"{event}x", "/proc/self/mem")


class Quiet(str):
    """A text that says that it holds nothing."""

    __slots__ = ()

    def __contains__(self, other):
        return False

    def __str__(self):
        return "x"


class QuietBytes(bytes):
    def __bytes__(self):
        return b"x"


class Path:
    def __fspath__(self):
        return "x"


@pytest.mark.parametrize("event", ["open", "os.chdir", "os.symlink"])
@pytest.mark.parametrize(
    "path, leads",
    [
        ("/proc/self/mem", True), ("proc/self", True), ("/proc", True), (b"/proc/self/maps", True), ("/dev/fd", True), ("/dev/fd/3", True),
        (Quiet("/proc/1"), True), (QuietBytes(b"/proc/1"), True), (Path(), True), ("processed.csv", False), ("/dev/null", False), (3, False),
        (True, True), (None, False), (b"x\xff", False), *((f"/proc/{name}", False) for name in ("cpuinfo", "meminfo", "stat", "uptime", "version")),
        ("x/proc/y", True), ("", False),
    ],
)  # fmt: skip
def test_paths_to_what_the_system_shows_of_processes_end_it_too(hook, event, path, leads):
    assert hook(event, path, "more") is leads
    assert not hook(f"os.not_{event}", path)


# -- what judges ---------------------------------------------------------------------------------------------------------


def test_a_replaced_function_of_what_judges_is_seen(monkeypatch):
    import unittest.case

    before = together._fingerprints()
    assert together._is_untouched(before)
    assert {("builtins", "len"), ("unittest.case.TestCase", "assertEqual"), ("unittest.case", "skip")} <= {*before}
    assert ("builtins", "_") not in before
    for place, name in (
        (unittest.case, "skip"), (unittest.case.TestCase, "assertEqual"), (unittest.case.TestCase, "__call__"), (unittest.case, "TestCase"),
        (unittest.case.TestCase, "__init__"), (unittest.case.TestCase, "__eq__"),
    ):  # fmt: skip
        with monkeypatch.context() as patched:
            patched.setattr(
                place, name, type(getattr(place, name))("x", (), {}) if name == "TestCase" else lambda *_: None
            )
            assert not together._is_untouched(before), name
        assert together._is_untouched(before)
    with monkeypatch.context() as patched:
        patched.setattr(unittest.case.TestCase.assertEqual, "__code__", (lambda *_: None).__code__)
        assert not together._is_untouched(before)
        patched.undo()
        patched.setattr(unittest.case.TestCase, "__repr__", lambda _: "")
        assert together._is_untouched(before)


def test_members_that_judge_are_functions_and_classes_of_unittest():
    class Own:
        def method(self):
            pass

    Own.__module__ = "unittest.own"
    function, number = (lambda: 0), 3
    members = {
        "Own": Own,
        "function": function,
        "number": number,
        "Other": OSError,
        "__eq__": function,
        "__doc__": function,
    }
    found = dict(together._of_members("place", members.items()))
    assert found == {
        ("place", "Own"): (id(Own), 0), ("place.Own", "method"): (id(Own.method), id(Own.method.__code__)),
        ("place", "function"): (id(function), id(function.__code__)), ("place", "__eq__"): (id(function), id(function.__code__)),
    }  # fmt: skip


def test_libraries_that_programs_name():
    source = "import numpy as np, os\nfrom a.b import c, d\nfrom e import *\nfrom . import f\nfrom .g import h\nimport json.decoder\ndef i():\n    import j.k"
    assert sorted(together._libraries_of(source)) == ["a.b", "a.b.c", "a.b.d", "e", "j.k", "numpy"]
    assert together._libraries_of("import (") == together._libraries_of("\0") == []
    assert together._testing_of(["numpy", "scipy", "pandas"]) == ["numpy.testing", "pandas.testing"]


# -- suites --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, how, why",
    [
        ("    def test(self): self.assertEqual(1, 1)", "pass", ""),
        ("    def test(self): self.assertEqual(1, 2)", "wrong_answer", "AssertionError: 1 != 2"),
        ("    def test(self): 1 / 0", "failed", "ZeroDivisionError: division by zero"),
        ("    def test(self): self.fail('a')\n    def test_b(self): raise ValueError('b')", "failed", "ValueError: b"),
        ("    @unittest.expectedFailure\n    def test(self): pass", "wrong_answer", "unexpected success"),
        ("    def other(self): pass", "failed", "0 of 0 tests ran"),
        ("    def test(self): self._outcome.result.stop()\n    def test_b(self): pass", "failed", "1 of 2 tests ran"),
    ],
)
def test_how_suites_end(body, how, why):
    module = types.ModuleType("m")
    exec(SUITE + body, module.__dict__)
    assert together._suite_runner()(module, {}) == (how, why)


def test_test_cases_of_the_program_are_not_the_exams():
    module = types.ModuleType("m")
    exec(f"{SUITE}    def test(self): self.fail()", module.__dict__)
    before = dict(module.__dict__)
    exec(SUITE.replace("class T", "class U") + "    def test(self): pass", module.__dict__)
    assert together._suite_runner()(module, before) == ("pass", "")
    assert together._suite_runner()(module, {})[0] == "wrong_answer"
    assert together._suite_runner()(module, dict(module.__dict__)) == ("failed", "0 of 0 tests ran")


# -- a whole program -----------------------------------------------------------------------------------------------------


@pytest.fixture
def ran(monkeypatch):
    """Run a task as a prisoner would, but for the watch."""
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    watched = []
    monkeypatch.setattr(together, "_watch", watched.append)

    def run(**task):
        found = together._run({**NO_TESTS, **task}, 9)
        assert watched.pop() == 9
        return found

    return run


@pytest.mark.parametrize(
    "source, tests, found",
    [
        ("def f(): return 1", "assert f() == 1", ("pass", "")),
        ("def f(): return 1", "assert f() == 2, 'two'", ("wrong_answer", "AssertionError: two")),
        ("raise SystemExit(3)", "pass", ("failed", "SystemExit: 3")),
        ("x = __name__", "assert x == '__main__' and __task == [1]", ("pass", "")),
        ("print('x'); input()", "", ("failed", "EOFError: EOF when reading a line")),
        ("import sys\nassert sys.modules['__main__'].__dict__ is globals()", "", ("pass", "")),
        ("x = (", "", ("failed", "SyntaxError: '(' was never closed (<program>, line 1)")),
        ("", "y = (", ("failed", "SyntaxError: '(' was never closed (<tests>, line 1)")),
        ("import no_such.thing", "", ("failed", "ModuleNotFoundError: No module named 'no_such'")),
    ],
)
def test_how_programs_and_their_tests_end(ran, source, tests, found):
    assert ran(source=source, tests=tests, data=[1]) == found


def test_a_suite_is_run_where_the_exam_has_one(ran):
    failing = f"{SUITE}    def test(self): assert f() == 2"
    assert ran(source="def f(): return 1", tests=failing, suite=True) == ("wrong_answer", "AssertionError")
    assert ran(source="def f(): return 2", tests=failing, suite=True) == ("pass", "")
    assert ran(source="def f(): return 1", tests=failing) == ("pass", "")


@pytest.mark.parametrize("where", ["source", "tests"])
def test_tampering_with_what_judges_fails(ran, monkeypatch, where):
    import unittest.case

    monkeypatch.setattr(unittest.case, "skip", unittest.case.skip)
    change = "import unittest.case\nunittest.case.skip = lambda _: _"
    assert ran(**{where: change}) == ("failed", "the program changed what judges it")
    monkeypatch.undo()


def test_libraries_are_imported_before_anybody_looks(ran, monkeypatch, tmp_path):
    for name, body in {
        "said_first": "",
        "of_program": "",
        "of_tests": "",
        "odd": "raise SystemExit",
        "broken": "1 / 0",
    }.items():
        (tmp_path / f"{name}.py").write_text(f"import builtins\nbuiltins.imported.append('{name}')\n{body}")
    import builtins

    order = []
    monkeypatch.setattr(builtins, "imported", order, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(together, "_watch", lambda _: order.append("watch"))
    task = {
        "imports": ["said_first", "none_such"], "source": "def f():\n    import odd, of_program", "tests": "if 0: import broken, of_program, of_tests"
    }  # fmt: skip
    assert together._run({**NO_TESTS, **task}, 9) == ("pass", "")
    assert order == ["said_first", "odd", "of_program", "broken", "of_tests", "watch"]
    for name in ("said_first", "of_program", "of_tests"):
        monkeypatch.delitem(sys.modules, name)


# -- messages ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def channel(monkeypatch):
    """A channel that says one task, and what was answered on it; its process does not end."""
    said = []

    def leave(code):
        said.append(code)
        raise LeftError

    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.setattr(frames, "send", lambda handle, message: said.append((handle, message)))
    monkeypatch.setattr(os, "close", lambda handle: said.append(("close", handle)))
    monkeypatch.setattr(gc, "disable", lambda: said.append("no collection"))

    def serve(module, task, **patches):
        messages = [wire.packed(task)]

        def receive(handle):
            assert handle == 4
            if not messages:
                raise frames.ClosedError
            return messages.pop(0)

        monkeypatch.setattr(frames, "receive", receive)
        for name, value in patches.items():
            monkeypatch.setattr(module, name, value)
        said.clear()
        try:
            module.serve(4, 5, {})
        except LeftError:
            return said
        return [*said, "returned"]

    yield serve
    threading.stack_size(0)


@pytest.mark.parametrize(
    "found, how, why",
    [
        (("pass", ""), "pass", ""), (("failed", "x" * 501), "failed", "x" * 500), (["pass", ""], "failed", "the program changed what judges it"),
        (ValueError(), "failed", "the program changed what judges it"),
    ],
)  # fmt: skip
def test_a_verdict_carries_a_word_that_the_program_has_not_seen(channel, monkeypatch, found, how, why):
    tasks = []
    monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def run(task, writing):
        tasks.append((task, writing, threading.current_thread() is threading.main_thread()))
        if isinstance(found, ValueError):
            raise found
        return found

    ready, closed, collection, (handle, verdict), code = channel(together, {"token": "word", "tests": "t"}, _run=run)
    assert (ready, closed, collection, handle, code) == ((5, b"R"), ("close", 4), "no collection", 5, 0)
    assert (verdict[:1], wire.unpacked(verdict[1:])) == (
        b"V",
        {"how": how, "why": why, "uncrossable": "", "token": "word"},
    )
    assert tasks == [({"tests": "t"}, 5, False)]


@pytest.mark.parametrize("child", [0, 7])
def test_each_program_is_judged_in_a_process_of_its_own(channel, monkeypatch, child):
    waited, imported = [], []
    monkeypatch.setattr(os, "fork", lambda: child)
    monkeypatch.setattr(os, "waitpid", lambda *given: waited.append(given))
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sys, "stdin", sys.stdin)
    task = {"tests": "import numpy\nassert 0, 'x'", "given": "", "load": False, "entry": [], "data": None}
    monkeypatch.setattr(
        judge.importlib,
        "import_module",
        lambda name, real=judge.importlib.import_module: imported.append(name) or real(name),
    )
    said = channel(judge, task)
    assert "numpy" in imported
    if child:
        assert (said, waited) == ([(5, b"E"), "returned"], [(7, 0)])
    else:
        (handle, verdict), code = said
        assert (handle, code, waited) == (5, 0, [])
        assert (verdict[:1], wire.unpacked(verdict[1:])) == (
            b"V",
            {"how": "wrong_answer", "why": "AssertionError: x", "uncrossable": ""},
        )


def test_a_program_answers_until_nobody_asks(channel, monkeypatch):
    served = []

    class Candidate:
        def __init__(self, *given):
            served.append(given)

        def serve(self):
            served.append("serve")
            frames.receive(4)

    assert channel(candidate, {"source": "x = 1"}, _Candidate=Candidate) == [(5, b"R"), "returned"]
    assert served == [(4, 5, "x = 1"), "serve"]
