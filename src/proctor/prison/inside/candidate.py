"""Runs a program that a model wrote, and does what is asked of it: calls of its functions, over a pipe.

It holds no expected value, no test and no channel for a verdict: whatever the program makes of this process, all that
leaves it are values, which are compared elsewhere.
"""

from __future__ import annotations

import contextlib
import io
import sys
import types
from typing import Any

from . import frames, wire

_LONGEST_OUTPUT = 1 << 20
"""Characters that one call may print."""
_PROGRAM = "program"
"""Name of the module that the program is; not ``__main__``, so that what it does when started is not done."""


class CallbackError(Exception):
    """A function of the tests raised something."""


def serve(reading: int, writing: int, config: dict[str, Any]) -> None:
    """Do what messages say until there are no more.

    Args:
        reading: Where messages come from.
        writing: Where answers go.
        config: Not used: limits have been set.
    """
    del config
    try:
        frames.send(writing, b"R")
        task = wire.unpacked(frames.receive(reading))
        _Candidate(reading, writing, task["source"]).serve()
    except frames.ClosedError:
        return


class _Candidate:
    def __init__(self, reading: int, writing: int, source: str) -> None:
        self._reading, self._writing, self._source = reading, writing, source
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._module = types.ModuleType(_PROGRAM)
        self._writer, self._reader = wire.Writer(self._handed), wire.Reader(self._taken)

    def serve(self) -> None:
        while True:
            frames.send(self._writing, wire.packed(self._answer(wire.unpacked(frames.receive(self._reading)))))

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        sys.stdin, printed = io.StringIO(), io.StringIO()
        sys.stdout = sys.stderr = printed
        try:
            answer: dict[str, Any] = getattr(self, f"_do_{request['do']}")(request)
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is its answer
            answer = {"error": _described(error), "given": _given(self._writer, error)}
        if text := printed.getvalue():
            answer["printed"] = text[:_LONGEST_OUTPUT]
        return answer

    # -- values -----------------------------------------------------------------------------------------------

    def _handed(self, value: Any) -> tuple[str, Any]:
        """Keep what cannot leave, and return its number."""
        number = self._numbers.get(id(value))
        if number is None:
            number = len(self._objects) + 1
            self._objects[number], self._numbers[id(value)] = value, number
        module = getattr(type(value), "__module__", "")
        return "o", [number, f"{module}.{type(value).__qualname__}", callable(value)]

    def _taken(self, tag: str, body: Any) -> Any:
        if tag == "o":
            return self._objects[body]
        if tag == "k":
            return lambda *arguments, **named: self._call_back(body, arguments, named)
        raise ValueError(f"no such tag: {tag}")

    def _call_back(self, number: int, arguments: Any, named: Any) -> Any:
        """Call a function of the tests, and do what is asked meanwhile."""
        form = {"callback": number, "arguments": self._writer.form(list(arguments)), "named": self._writer.form(named)}
        frames.send(self._writing, wire.packed(form))
        while True:
            request = wire.unpacked(frames.receive(self._reading))
            if request["do"] == "return":
                if "error" in request:
                    raise CallbackError(request["error"])
                return self._reader.value(request["value"])
            frames.send(self._writing, wire.packed(self._answer(request)))

    def _value(self, value: Any) -> dict[str, Any]:
        return {"value": self._writer.form(value)}

    # -- what can be asked ------------------------------------------------------------------------------------

    def _do_load(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the program once, as a module."""
        del request
        sys.modules[_PROGRAM] = self._module
        exec(compile(self._source, "<program>", "exec"), self._module.__dict__)  # noqa: S102 - what this is for
        return {"value": None}

    def _do_script(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the program as a script that reads an input and prints."""
        sys.stdin = io.TextIOWrapper(io.BytesIO(request["input"].encode("utf-8", "surrogatepass")), encoding="utf-8")
        kept = io.BytesIO()
        sys.stdout = io.TextIOWrapper(kept, encoding="utf-8", errors="surrogatepass", write_through=True)
        names = {"__name__": "__main__", "__builtins__": __builtins__}
        with contextlib.suppress(SystemExit):
            exec(compile(self._source, "<program>", "exec"), names)  # noqa: S102
        return {"value": kept.getvalue()[: _LONGEST_OUTPUT * 16].decode("utf-8", "replace")}

    def _do_evaluate(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._value(eval(compile(request["source"], "<answer>", "eval"), self._module.__dict__))  # noqa: S307

    def _do_name(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what a name of the program means; modules by their names."""
        value = self._module.__dict__[request["name"]]
        if isinstance(value, types.ModuleType):
            return {"module": value.__name__}
        return self._value(value)

    def _do_call(self, request: dict[str, Any]) -> dict[str, Any]:
        function = self._objects[request["object"]]
        arguments, named = self._reader.value(request["arguments"]), self._reader.value(request["named"])
        answer = self._value(function(*arguments, **named))
        after = self._writer.form(arguments)
        if after != request["arguments"]:  # lists and sets that the function changed in place
            answer["arguments"] = after
        return answer

    def _do_attribute(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._value(getattr(self._objects[request["object"]], request["name"]))

    def _do_set(self, request: dict[str, Any]) -> dict[str, Any]:
        setattr(self._objects[request["object"]], request["name"], self._reader.value(request["value"]))
        return {"value": None}

    def _do_iterate(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"value": {"o": list(self._handed(iter(self._objects[request["object"]]))[1])}}

    def _do_next(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._value(next(self._objects[request["object"]]))
        except StopIteration:
            return {"end": True}

    def _do_item(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._value(self._objects[request["object"]][self._reader.value(request["key"])])

    def _do_length(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._value(len(self._objects[request["object"]]))

    def _do_text(self, request: dict[str, Any]) -> dict[str, Any]:
        value = self._objects[request["object"]]
        return self._value(repr(value) if request["exact"] else str(value))

    def _do_truth(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._value(bool(self._objects[request["object"]]))


def _described(error: BaseException) -> list[Any]:
    """Return the names of an exception's class and of what that derives from, and its text."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a program's own exception may not even have a text
        text = ""
    return [[each.__name__ for each in type(error).__mro__], text[:2000]]


def _given(writer: wire.Writer, error: BaseException) -> Any:
    try:
        return writer.form([each for each in error.args if isinstance(each, (str, int, float, bool, type(None)))])
    except Exception:  # noqa: BLE001
        return []
