"""Runs the tests of an exam against a program in another process, and says how they ended.

Tests run here as they are written; the names that they call are stand-ins that ask the other process. What comes back
is plain data of this process's own making, or a stand-in for an object that stayed there. Such an object equals
nothing and counts for nothing: only what it says when it is iterated, indexed or called is data again.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import importlib
import io
import os
import sys
import types
from typing import Any

from . import frames, wire
from .names import Names, called_names, members, run_given
from .remote import Remote, number_of

_LONGEST_REASON = 500
"""Characters of a reason that are reported."""
_NOT_TO_RAISE = (StopIteration, StopAsyncIteration, GeneratorExit, SystemExit, KeyboardInterrupt)
"""Exceptions that would end a loop or this process where a test calls the program."""


class ProgramGoneError(BaseException):
    """The program's process ended, or sent what is not an answer. Not an ``Exception``: tests must not catch it."""


class ProgramError(Exception):
    """The program raised something that has no class here."""


def serve(reading: int, writing: int, config: dict[str, Any]) -> None:
    """Judge programs, each in a process of its own, until there are no more.

    Args:
        reading: Where tasks and answers come from.
        writing: Where questions and verdicts go.
        config: Not used: limits have been set.
    """
    del config
    members()
    while True:
        try:
            task = wire.unpacked(frames.receive(reading))
        except frames.ClosedError:
            return
        if "import numpy" in task["tests"] + task["given"]:  # once here, and not again for each program
            with contextlib.suppress(ImportError):
                importlib.import_module("numpy")
        child = os.fork()
        if not child:
            verdict = _Judge(reading, writing, task).verdict()
            with contextlib.suppress(frames.ClosedError):
                frames.send(writing, b"V" + wire.packed(verdict))
            os._exit(0)
        os.waitpid(child, 0)
        frames.send(writing, b"E")


class _Judge:
    def __init__(self, reading: int, writing: int, task: dict[str, Any]) -> None:
        self._reading, self._writing, self.task = reading, writing, task
        self._writer, self._reader = wire.Writer(self._handed), wire.Reader(self._taken)
        self._callbacks: dict[int, Any] = {}
        self._gone = ""
        self.uncrossable = ""

    def verdict(self) -> dict[str, Any]:
        """Return the outcome of the tests."""
        sys.stdin, sys.stdout, sys.stderr = io.StringIO(), io.StringIO(), io.StringIO()
        how, why = self._run()
        if self._gone:  # even where a test caught it
            how, why = "failed", self._gone
        return {"how": how, "why": why[:_LONGEST_REASON], "uncrossable": self.uncrossable if how != "pass" else ""}

    def _run(self) -> tuple[str, str]:
        task = self.task
        try:
            if task["load"]:
                self.ask(do="load")
            names = Names(self, task, called_names(task["tests"]))
            if task["given"]:
                run_given(task["given"], names, task["entry"])
            exec(compile(task["tests"], "<tests>", "exec"), names)  # noqa: S102 - tests of the exam, in a prison
        except ProgramGoneError as error:
            return "failed", str(error)
        except AssertionError as error:
            return "wrong_answer", f"AssertionError: {error}"
        except BaseException as error:  # noqa: BLE001 - whatever tests raise is how they ended
            return "failed", f"{type(error).__name__}: {error}"
        return "pass", ""

    # -- asking the program -----------------------------------------------------------------------------------

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the program's answer."""
        message = wire.packed(request)
        while True:
            answer = self._exchanged(message)
            if "callback" not in answer:
                break
            message = wire.packed(self._called_back(answer))
        if isinstance(printed := answer.get("printed"), str):
            sys.stdout.write(printed)
        if "error" in answer:
            raise self._raised(answer)
        return answer

    def value(self, **request: Any) -> Any:
        """Return the value that the program answers with."""
        return self.read(self.ask(**request).get("value"))

    def called(self, number: int, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call a function of the program; lists that it changes are changed here, too."""
        try:
            forms = self._writer.form(list(arguments)), self._writer.form(named)
        except wire.CannotCrossError as error:
            self.uncrossable = str(error)
            raise
        answer = self.ask(do="call", object=number, arguments=forms[0], named=forms[1])
        if "arguments" in answer:
            _current(list(arguments), self.read(answer["arguments"]))
        return self.read(answer.get("value"))

    def _exchanged(self, message: bytes) -> dict[str, Any]:
        if self._gone:
            raise ProgramGoneError(self._gone)
        try:
            frames.send(self._writing, b"C" + message)
            answer = wire.unpacked(frames.receive(self._reading))
        except frames.ClosedError:
            self._gone = "the program ended its process"
        except ValueError:
            self._gone = "the program answered what is not an answer"
        else:
            if isinstance(answer, dict) and "gone" not in answer:
                return answer
            gone = isinstance(answer, dict)
            self._gone = "the program ended its process" if gone else "the program answered what is not an answer"
        raise ProgramGoneError(self._gone)

    def form(self, value: Any) -> Any:
        return self._writer.form(value)

    def read(self, form: Any) -> Any:
        """Return a value that the program answered with."""
        try:
            return self._reader.value(form)
        except ValueError as error:
            self._gone = f"the program answered what is not a value: {error}"
            raise ProgramGoneError(self._gone) from None

    def _raised(self, answer: dict[str, Any]) -> BaseException:
        """Return an exception of this process for what the program raised."""
        try:
            names, text = answer["error"]
            given = self._reader.value(answer.get("given", []))
            kinds = [getattr(builtins, name, None) for name in names if isinstance(name, str)]
        except (TypeError, ValueError):
            self._gone = "the program answered what is not an answer"
            return ProgramGoneError(self._gone)
        own = str(names[0]) if names else ""
        found = next((each for each in kinds if isinstance(each, type) and issubclass(each, BaseException)), None)
        if found is None or found in _NOT_TO_RAISE or (found.__name__ != own and found in (Exception, BaseException)):
            return ProgramError(f"{own}: {text}")
        try:
            return found(*given) if given else found(str(text))
        except TypeError:  # Unicode errors take five arguments
            return ProgramError(f"{own}: {text}")

    def _called_back(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return what a function of the tests that the program was given says."""
        try:
            function = self._callbacks[answer["callback"]]
            arguments, named = self._reader.value(answer["arguments"]), self._reader.value(answer["named"])
            return {"do": "return", "value": self._writer.form(function(*arguments, **named))}
        except Exception as error:  # noqa: BLE001 - it is told to the program, whose call it was
            return {"do": "return", "error": f"{type(error).__name__}: {error}"}

    # -- values -----------------------------------------------------------------------------------------------

    def _handed(self, value: Any) -> tuple[str, Any]:
        if type(value) is Remote:
            return "o", number_of(value)
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)):
            number = len(self._callbacks) + 1
            self._callbacks[number] = value
            return "k", number
        raise wire.CannotCrossError(f"a {type(value).__name__} cannot be handed to another process")

    def _taken(self, tag: str, body: Any) -> Any:
        if tag == "o":
            number, kind, _ = body
            return Remote(self, int(number), str(kind))
        if tag == "k":
            return self._callbacks[body]
        raise ValueError("not a value")


def _bring_up_to_date(old: Any, new: Any) -> None:
    """Change what can change to what the program made of it."""
    if isinstance(old, list):
        kept = [_current(*pair) for pair in zip(old, new, strict=False)]
        old[:] = [*kept, *new[len(kept) :]]
    elif isinstance(old, dict):
        kept_items = {key: _current(old[key], value) if key in old else value for key, value in new.items()}
        old.clear()
        old.update(kept_items)
    elif isinstance(old, set):
        old.clear()
        old.update(new)
    else:
        old.clear()
        old.extend(new)


_CHANGING = (list, dict, set, bytearray, collections.deque)


def _current(old: Any, new: Any) -> Any:
    """Return the old object with the new content where it can change, else the new one."""
    if type(old) is type(new) and isinstance(old, _CHANGING):
        _bring_up_to_date(old, new)
        return old
    return new
