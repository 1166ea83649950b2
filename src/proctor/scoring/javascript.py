"""Assertions in JavaScript, as promptfoo's configs have them: what is asserted of ``output`` and ``context``.

An assertion is an expression, or the body of a function that returns. It runs in V8 (extra ``javascript``), which has
neither files nor network nor modules here, and only where the user trusts code.
"""

from __future__ import annotations

import atexit
import json
import math
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from proctor.errors import MissingExtraError, ScoringError, TrustError
from proctor.ir import Failure
from proctor.scoring.assertions import JAVASCRIPT, Verdict
from proctor.settings import settings

_SECONDS: Final = 5.0  # longest time of one assertion: promptfoo's own have none, and nobody waits for a circle
_BYTES: Final = 512 * 1024**2  # of memory: answers have at most some megabytes
_MARK: Final = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`(?:\\.|[^`\\])*`|(;)", re.DOTALL)
_RUN: Final = """(function (body, output, given) {
  const told = (kind, value) => JSON.stringify([kind, value === undefined ? null : value]);
  let made;
  try { made = new Function('output', 'context', body); } catch (error) { return told('unread', String(error)); }
  if (given === null) return told('read', true);
  const context = new Proxy(given, {get: (all, name) => {
    if (typeof name === 'string' && !(name in all)) throw new ReferenceError('context.' + name + ' is not here');
    return all[name];
  }});
  try {
    const found = made(output, context);
    if (found && typeof found.then === 'function') return told('other', 'a promise');
    if (found === undefined || typeof found === 'function') return told('other', typeof found);
    return told('value', found);
  } catch (error) {
    return told(error instanceof ReferenceError ? 'unknown' : 'thrown', String(error));
  }
})"""


def check_code(code: str, what: str = f"the assertion '{JAVASCRIPT}'") -> None:
    """See to it that an assertion, or what is named instead, is JavaScript that may run here.

    Raises:
        TrustError: Nobody said that code may run.
        MissingExtraError: There is nothing here that runs it.
        ScoringError: It cannot be read.
    """
    if not settings.trust_code:
        raise TrustError(f"{what} is code", hint="say --trust-code to run it")
    if find_spec("py_mini_racer") is None:
        raise MissingExtraError(
            f"{what} needs the package 'mini-racer', which is not installed",
            hint="pip install 'proctor[javascript]'",
        )
    kind, said = _run(code, "", None)
    if kind == "unread":
        raise ScoringError(f"{what} cannot be read: {code[:80]!r}", why=str(said))


def asserted(code: str, answer: Any, context: Mapping[str, Any], threshold: float | None) -> Verdict | Failure:
    """Return what code decides of an answer; a failure where it is not the answer's fault that nothing is decided.

    Code that throws decides against an answer, as ``JSON.parse`` does of what is not JSON.

    Args:
        code: An expression, or the body of a function.
        answer: ``output``.
        context: Values by their names.
        threshold: From which number on it holds; above 0 where ``None``.
    """
    kind, said = _run(code, answer, context)
    if kind == "thrown":
        return Verdict(0.0, False, str(said))
    return verdict_of(said, threshold) if kind == "value" else _undecided(kind, said)


def _undecided(kind: str, said: Any) -> Failure:
    return Failure("scoring", f"the code gives {said}" if kind == "other" else str(said), retryable=False)


def verdict_of(said: Any, threshold: float | None) -> Verdict | Failure:
    """Return what code decides with what it returned; a failure where that decides nothing.

    Args:
        said: True, false, a number, or an object with ``pass``, ``score`` and ``reason``.
        threshold: From which number on it holds; above 0 where ``None``.
    """
    if isinstance(said, bool):
        return Verdict(float(said), said)
    given = said if isinstance(said, dict) else {"score": said}
    score, passes = given.get("score"), given.get("pass")
    is_whole = not isinstance(said, dict) or (isinstance(passes, bool) and isinstance(given.get("reason"), str))
    if not is_whole or isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        shape = "null" if said is None else str(said) if isinstance(said, float) else type(said).__name__
        return _undecided("other", f"{shape}, not true, false, a number, or an object with pass, score and reason")
    score = float(score)
    holds = bool(passes) if isinstance(said, dict) else (score > 0 if threshold is None else score >= threshold)
    return Verdict(score if 0 <= score <= 1 else float(holds), holds, str(given.get("reason") or ""), score)


def transformed(code: str, answer: Any, context: Mapping[str, Any]) -> Any:
    """Return what code makes of an answer; ``None`` where that is nothing.

    Raises:
        ScoringError: It throws.
    """
    kind, said = _run(code, answer, context)
    if kind in ("value", "other"):
        return said if kind == "value" else None
    raise ScoringError(f"the transform failed: {said}")


def body_of(code: str) -> str:
    """Return the body of a function: several lines are one; of a line, its last expression is what is returned."""
    text = code.rstrip()
    if "\n" in text:
        return text
    text = re.sub(r";+\s*$", "", text.strip())
    if re.match(r"(const|let|var)\s", text) is None:
        return f"return {text}"
    ends = [found.start() for found in _MARK.finditer(text) if found[1]]
    last = text[ends[-1] + 1 :].strip() if ends else ""
    return f"{text[: ends[-1] + 1]} return {last}" if last else text


def _run(code: str, answer: Any, context: Mapping[str, Any] | None) -> tuple[str, Any]:
    """Return what became of code, and what it said; without a context it is only read."""
    from py_mini_racer import JSEvalException

    given = None if context is None else json.loads(json.dumps(context, default=str))
    try:
        kind, said = json.loads(_machine().call(_RUN, body_of(code), answer, given, timeout_sec=_SECONDS))
    except JSEvalException as error:  # out of time or memory: the machine may be in any state
        _machine().close()
        _machine.cache_clear()
        return "stopped", str(error)
    return kind, said


@cache
def _machine() -> Any:
    from py_mini_racer import MiniRacer

    machine = MiniRacer()
    machine.set_hard_memory_limit(_BYTES)
    atexit.register(_machine.cache_clear)  # while the package's own module is whole: later it complains
    return machine
