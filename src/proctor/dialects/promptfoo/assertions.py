"""Assertions of a config with its code, which needs the user's trust: transforms, and Python in it and beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from proctor.errors import Diagnostic, ScoringError, TrustError, problems_of
from proctor.guests.beside import room_beside
from proctor.ir import Failure
from proctor.scoring.assertion_metrics import RowAssertions, context_of
from proctor.scoring.assertions import PYTHON, Assertion, Verdict, shown
from proctor.scoring.javascript import check_code, not_transformed, transformed
from proctor.settings import settings

TRANSFORM: Final = "__transform"
"""The field of a row with the code that its answer passes first."""
_ELSEWHERE: Final = frozenset({"provider", "providerResponse", "logProbs", "trace", "metadata"})
"""What promptfoo's context has besides: nothing here makes it."""


class _NotHereError(LookupError):
    """Code asks for what its context does not have here."""


class _Context(dict[str, Any]):
    """What code in Python sees beside an answer."""

    def __missing__(self, name: str) -> Any:
        raise _NotHereError(f"context[{name!r}] is not here")

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in _ELSEWHERE else super().get(name, default)


class ConfigAssertions(RowAssertions):
    """The share of answers for which all assertions of their test hold.

    Attributes:
        folder: Where files that assertions name lie.
    """

    folder: str = ""

    def output_of(self, answer: str, row: Mapping[str, Any]) -> Any:
        """Return the answer, or what the transform of its test makes of it."""
        code = row.get(TRANSFORM)
        return answer if code is None else self.transformed(code, answer, row)

    def transformed(self, code: Any, output: Any, row: Mapping[str, Any]) -> Any:
        """Return what code makes of an output; a failure where it throws, or makes nothing of it."""
        seen = context_of(row)
        context = {"vars": seen["vars"], "prompt": {"label": seen["prompt"]}}
        if isinstance(code, str):
            return transformed(code, output, context)
        made = self.run_python(code, output, context)
        if isinstance(made, Verdict):
            return not_transformed(made.reason)
        return not_transformed("") if made is None else made

    def run_python(self, code: Any, output: Any, context: Mapping[str, Any]) -> Any:
        """Return what code says of an output, as promptfoo hears it; code that throws decides against it."""
        given = {**context, **({"config": code["config"]} if "config" in code else {})}
        try:
            return _heard(_function(self.folder, code)(output, _Context(given)))
        except (_NotHereError, TrustError) as error:
            return Failure("scoring", str(error), retryable=False)
        except Exception as error:  # noqa: BLE001 - code of others: what it raises is what it says
            return Verdict(0.0, False, f"{type(error).__name__}: {error}")

    def check_python(self, code: Any) -> None:
        """See to it that code may run, and can be read.

        Raises:
            TrustError: Nobody said that code may run.
            ScoringError: It cannot be read, fails when it is imported, or has no such function.
        """
        try:
            _function(self.folder, code)
        except TrustError:
            raise
        except Exception as error:  # noqa: BLE001 - code of others
            raise ScoringError(f"{_called(code)} cannot be run", why=f"{type(error).__name__}: {error}") from None

    def check_rows(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
        """Yield what is wrong with assertions and transforms, and what they need."""
        yield from super().check_rows(rows)
        yield from self._of_transforms([row[TRANSFORM] for row in rows if TRANSFORM in row])

    def _needs(self, assertions: Sequence[Assertion]) -> Iterator[Diagnostic]:
        yield from super()._needs(assertions)
        yield from self._of_transforms([each.transform for each in assertions if each.transform is not None])

    def _of_transforms(self, codes: Sequence[Any]) -> Iterator[Diagnostic]:
        for code in {shown(each): each for each in codes}.values():
            check = partial(check_code, code, "a transform")
            yield from problems_of(check if isinstance(code, str) else partial(self.check_python, code))


def _function(folder: str, code: Mapping[str, Any]) -> Callable[[Any, Any], Any]:
    """Return the function that code in Python is.

    Raises:
        TrustError: Nobody said that code may run.
    """
    if not settings.trust_code:
        raise TrustError(f"{_called(code)} is code", hint="say --trust-code to run it")
    return _made(folder, shown(code))


@cache
def _made(folder: str, said: str) -> Callable[[Any, Any], Any]:
    code = json.loads(said)
    if "file" in code:
        file = Path(folder, code["file"]).resolve()
        found: Callable[[Any, Any], Any] = getattr(room_beside(file.parent, Path.cwd()).of_file(file), code["function"])
        return found
    names: dict[str, Any] = {"__builtins__": room_beside(Path(folder).resolve(), Path.cwd()).builtins(), "json": json}
    exec(compile(_source(code["code"]), "<assertion>", "exec"), names)  # noqa: S102 - the user trusts it
    return names["main"]  # type: ignore[no-any-return]


def _called(code: Mapping[str, Any]) -> str:
    return str(code.get("file", f"an assertion '{PYTHON}'"))


def _source(code: str) -> str:
    """Return the function that an assertion is the body of; of one line, what it returns."""
    if "\n" not in code:
        return f"def main(output, context):\n    return {code.strip()}\n"
    indented = re.search(r"(?m)^(?!\s*$)[ \t]+", code)
    indent = indented[0] if indented else "    "
    return "def main(output, context):\n" + "\n".join(f"{indent}{line}" for line in code.split("\n")) + "\n"


def _heard(said: Any) -> Any:
    """Return what Python code returned as JavaScript would say it: texts such as ``true`` read, ``pass_`` renamed."""
    if isinstance(said, str):
        text = said.strip()
        try:
            said = json.loads(text.lower() if text.lower() in ("true", "false") else text)
        except ValueError:
            return said
    if isinstance(said, dict) and "pass_" in said and "pass" not in said:
        return {**said, "pass": said["pass_"]}
    return said
