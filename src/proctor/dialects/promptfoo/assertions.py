"""Assertions of a config with its code, which needs the user's trust: transforms, and Python in it and beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from proctor.errors import ScoringError, TrustError
from proctor.guests.beside import room_beside
from proctor.guests.own_code import named_in
from proctor.scoring.assertion_metrics import RowAssertions
from proctor.scoring.assertions import PYTHON, shown
from proctor.scoring.javascript import check_code, transformed
from proctor.settings import settings

_ELSEWHERE: Final = frozenset({"provider", "providerResponse", "logProbs", "trace", "metadata"})
"""What promptfoo's context has besides: nothing here makes it."""


class _Context(dict[str, Any]):
    """What code in Python sees beside an answer."""

    def __missing__(self, name: str) -> Any:
        raise ScoringError(f"context[{name!r}] is not here")

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in _ELSEWHERE else super().get(name, default)


class ConfigAssertions(RowAssertions):
    """The share of answers for which all assertions of their test hold.

    Attributes:
        folder: Where files that assertions name lie.
    """

    folder: str = ""

    def guest(self, code: Any) -> Callable[[Any, Mapping[str, Any]], Any]:
        """Return the function that code is: a text is JavaScript, all other code is in Python.

        Raises:
            ProctorError: Nobody said that code may run, or it cannot be read or imported, or has no such function.
        """
        if isinstance(code, str):
            check_code(code, "a transform")
            return partial(transformed, code)
        function = _function(self.folder, shown(code), settings.trust_code)
        more = {"config": code["config"]} if "config" in code else {}
        return lambda output, context: function(output, _Context({**context, **more}))


@cache
def _function(folder: str, said: str, is_trusted: bool) -> Callable[[Any, Any], Any]:
    code = json.loads(said)
    if "file" in code:
        found: Callable[[Any, Any], Any]
        _, found = named_in(str(Path(folder, code["file"])), code["function"], "function", callable)
        return found
    if not is_trusted:
        raise TrustError(f"an assertion '{PYTHON}' is code", hint="say --trust-code to run it")
    names: dict[str, Any] = {"__builtins__": room_beside(Path(folder).resolve(), Path.cwd()).builtins(), "json": json}
    try:
        exec(compile(_source(code["code"]), "<assertion>", "exec"), names)  # noqa: S102 - the user trusts it
    except (SyntaxError, ValueError) as error:
        raise ScoringError(f"an assertion '{PYTHON}' cannot be run", why=f"{type(error).__name__}: {error}") from None
    return names["main"]  # type: ignore[no-any-return]


def _source(code: str) -> str:
    """Return the function that an assertion is the body of; of one line, what it returns."""
    if "\n" not in code:
        return f"def main(output, context):\n    return {code.strip()}\n"
    indented = re.search(r"(?m)^(?!\s*$)[ \t]+", code)
    indent = indented[0] if indented else "    "
    return "def main(output, context):\n" + "\n".join(f"{indent}{line}" for line in code.split("\n")) + "\n"
