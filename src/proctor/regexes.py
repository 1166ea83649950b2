"""Regular expressions that exams bring along: Python's own, and stopped where they do not end.

A pattern such as ``(a+)+$`` takes longer than a life on thirty letters. Patterns of task files are therefore matched
under a limit of processor time: in the main thread by a timer, elsewhere by a process of their own that can be ended.
What they find is what :mod:`re` finds.
"""

from __future__ import annotations

import atexit
import json
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from subprocess import PIPE
from typing import IO, Any

from proctor.errors import ProctorError, ScoringError
from proctor.regex_actions import ACTIONS, MOST_CHARACTERS, LargeError, cannot_take_long, check_sets, repeats_groups
from proctor.starter import Popen

LIMIT_SECONDS = 0.45
"""Processor time that one search of one text may take: honest ones take a thousandth of it."""

WALL_SECONDS = 30.0
"""Time by the clock after which a search in a process of its own is given up, however busy the machine is."""

SHORT_TEXT = 2_000
"""Characters up to which a pattern with a single open repeat cannot take long: a search is quadratic at worst."""

LONGEST_PATTERN = 20_000
"""Characters of a pattern; compiling as many takes up to a second where it ignores case."""

LONGEST_TEXT = 1_000_000
"""Characters that a pattern which repeats a group may go through: it remembers a hundred bytes for each."""

MOST_TIMEOUTS = 2
"""Texts in a row on which a pattern may run out of time: a pattern takes less than a second of all texts together."""

PROBATION_SECONDS = 0.01
"""Processor time of a pattern that ran out of time so often; a search that ends gives it the whole again."""

Found = Any
"""What ``findall`` lists, what ``sub`` returns, or the groups of a match."""


class SlowPatternError(ScoringError):
    """A regular expression that did not end in time."""


class LargeResultError(ScoringError):
    """A regular expression that makes far more than the text it searches."""


class _OutOfTimeError(Exception):
    """The timer went off."""


class BoundedPattern:
    """A compiled regular expression whose searches end.

    Args:
        pattern: The expression, as :func:`re.compile` takes it.
        flags: Flags of :mod:`re`.

    Raises:
        ScoringError: The expression does not compile.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        if len(pattern) > LONGEST_PATTERN:
            raise ScoringError(f"a regular expression has more than {LONGEST_PATTERN:,} characters")
        try:
            check_sets(pattern, flags)
            self._compiled = re.compile(pattern, flags)
        except (re.error, OverflowError, RecursionError) as error:
            hint = r"a bracket, dot or question mark that is meant as it stands has \ before it: \("
            raise ScoringError(
                "a regular expression does not compile", why=f"{pattern!r}: {error}", hint=hint
            ) from None
        self._longest_safe = SHORT_TEXT if cannot_take_long(pattern, flags) else 0
        self._longest = LONGEST_TEXT if repeats_groups(pattern, flags) else sys.maxsize
        self._timeouts = 0

    @property
    def pattern(self) -> str:
        """The expression."""
        return self._compiled.pattern

    def is_quick(self, text: str) -> bool:
        """Return whether a search of a text cannot take long."""
        return len(text) <= self._longest_safe

    def findall(self, text: str, *, seconds: float | None = None) -> list[Any]:
        """Return all matches, as :meth:`re.Pattern.findall` does.

        Raises:
            SlowPatternError: The search did not end in time.
            LargeResultError: The matches are far longer than the text.
        """
        return list(self._run("findall", text, seconds=seconds))

    def split(self, text: str, count: int = 0, *, seconds: float | None = None) -> list[str | None]:
        """Return the pieces between matches, as :meth:`re.Pattern.split` does.

        Raises:
            SlowPatternError: The search did not end in time.
            LargeResultError: The pieces are far longer than the text.
        """
        return list(self._run("split", text, count, seconds=seconds))

    def sub(self, replacement: str, text: str, count: int = 0, *, seconds: float | None = None) -> str:
        """Return the text with matches replaced, as :meth:`re.Pattern.sub` does.

        Raises:
            SlowPatternError: The search did not end in time.
            LargeResultError: The result has more than :data:`MOST_CHARACTERS`.
            re.error: The replacement refers to a group that there is not.
        """
        return str(self._run("sub", text, replacement, count, seconds=seconds))

    def spans(self, text: str, how: str = "search", *, seconds: float | None = None) -> list[tuple[int, int]] | None:
        """Return the spans of the first match and its groups, ``None`` where nothing matches.

        Args:
            text: What is searched.
            how: ``search``, ``match`` or ``fullmatch``, as the methods of :class:`re.Pattern`.
            seconds: Processor time that the search may take; :data:`LIMIT_SECONDS` where not given.

        Raises:
            SlowPatternError: The search did not end in time.
        """
        found = self._run("spans", text, how, seconds=seconds)
        return None if found is None else [(start, end) for start, end in found]

    def expand(self, template: str, text: str) -> str | None:
        """Return a template with the groups of the first match filled in, ``None`` where nothing matches.

        Raises:
            SlowPatternError: The search did not end in time.
            LargeResultError: The result has more than :data:`MOST_CHARACTERS`.
            re.error: The template refers to a group that there is not.
        """
        made: str | None = self._run("expand", text, template)
        return made

    def groups(self, text: str) -> tuple[str | None, ...] | None:
        """Return the first match and its groups, ``None`` where nothing matches.

        Raises:
            SlowPatternError: The search did not end in time.
        """
        found = self._run("groups", text)
        return None if found is None else tuple(found)

    def groupdict(self, text: str) -> dict[str, str | None] | None:
        """Return the named groups of a match at the start of the text, ``None`` where it does not match.

        Raises:
            SlowPatternError: The search did not end in time.
        """
        spans = self.spans(text, "match")
        if spans is None:
            return None
        where = {name: spans[number] for name, number in self._compiled.groupindex.items()}
        return {name: text[start:end] if start >= 0 else None for name, (start, end) in where.items()}

    def _run(self, action: str, text: str, *arguments: Any, seconds: float | None = None) -> Found:
        try:
            return self._within_limits(action, text, *arguments, seconds=seconds)
        except LargeError:
            raise LargeResultError(
                f"the regular expression {self.pattern!r} makes too much of a text of {len(text):,} characters",
                why=f"one text may give {MOST_CHARACTERS:,} characters",
            ) from None

    def _within_limits(self, action: str, text: str, *arguments: Any, seconds: float | None) -> Found:
        if self.is_quick(text):
            return ACTIONS[action](self._compiled, text, *arguments)
        if len(text) > self._longest:
            raise self._too_slow(
                text, f"a repeated group takes memory for each of more than {LONGEST_TEXT:,} characters"
            )
        limit = LIMIT_SECONDS if seconds is None else seconds
        if self._timeouts >= MOST_TIMEOUTS:
            limit = min(limit, PROBATION_SECONDS)
        try:
            found = self._timed(action, text, *arguments, seconds=limit)
        except _OutOfTimeError:
            self._timeouts += 1
            often = (
                f", and it ran out of time on {MOST_TIMEOUTS} texts in a row" if self._timeouts > MOST_TIMEOUTS else ""
            )
            raise self._too_slow(text, f"one text may take {limit:.2g} s of processor time{often}") from None
        self._timeouts = 0
        return found

    def _timed(self, action: str, text: str, *arguments: Any, seconds: float) -> Found:
        if not _has_timer():
            return _workers.run(self._compiled, seconds, action, text, *arguments)
        with _time_limit(seconds):
            return ACTIONS[action](self._compiled, text, *arguments)

    def _too_slow(self, text: str, why: str) -> SlowPatternError:
        return SlowPatternError(
            f"the regular expression {self.pattern!r} does not end on a text of {len(text):,} characters",
            why=why,
            hint="nested or neighbouring repeats, as in (a+)+ or .*.*, try every way to cut the text: write one repeat",
        )


@lru_cache(maxsize=1024)
def bounded(pattern: str, flags: int = 0) -> BoundedPattern:
    """Return a pattern, compiled once.

    Raises:
        ScoringError: The expression does not compile.
    """
    return BoundedPattern(pattern, flags)


# -- the limit in the main thread -------------------------------------------------------------------------------------


def _has_timer() -> bool:
    """Return whether this thread can be interrupted by a timer that nobody else uses."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)


def _stop(number: int, frame: object) -> None:
    del number, frame
    raise _OutOfTimeError


# -- the limit in other threads ---------------------------------------------------------------------------------------


_elsewhere = threading.local()


def seconds_elsewhere() -> float:
    """Return the processor time that searches for this thread took in a process of their own."""
    taken: float = getattr(_elsewhere, "seconds", 0.0)
    return taken


class _Worker:
    """A process that searches texts, one after the other; it is ended where a search does not end."""

    def __init__(self) -> None:
        self._process: Popen | None = None
        self._lock = threading.Lock()

    def run(self, pattern: re.Pattern[str], seconds: float, action: str, text: str, *arguments: Any) -> Found:
        """Run one of :data:`ACTIONS`.

        Raises:
            _OutOfTimeError: It did not end in time.
            LargeError: It makes too much.
            re.error: As the action raises it.
        """
        line = json.dumps([pattern.pattern, pattern.flags, seconds, action, text, *arguments])
        with self._lock:
            answer = self._ask(line)
        kind: str
        value: Any
        kind, value, seconds = json.loads(answer) if answer else ("late", None, LIMIT_SECONDS)
        _elsewhere.seconds = seconds_elsewhere() + seconds
        if kind == "late":
            raise _OutOfTimeError
        if kind == "large":
            raise LargeError
        if kind == "error":
            raise re.error(value)
        return [tuple(each) if isinstance(each, list) else each for each in value] if action == "findall" else value

    def _ask(self, line: str) -> str:
        process = self._started()
        timer = threading.Timer(WALL_SECONDS, process.kill)
        timer.start()
        try:
            _stdin(process).write(f"{line}\n")
            _stdin(process).flush()
            answer = process.stdout.readline() if process.stdout is not None else ""
        except OSError:
            answer = ""
        finally:
            timer.cancel()
        if not answer:
            self.close()
        return answer

    def _started(self) -> Popen:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = Popen(
                [sys.executable, "-m", "proctor.regexes"],
                stdin=PIPE,
                stdout=PIPE,
                text=True,
                encoding="ascii",
            )
        return self._process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with suppress(OSError):
            _stdin(process).close()
        if process.stdout is not None:
            process.stdout.close()
        process.wait()


def _stdin(process: Popen) -> IO[str]:
    if process.stdin is None:  # pragma: no cover - it was asked for
        raise ProctorError("the process for regular expressions takes no input")
    return process.stdin


_workers = _Worker()
atexit.register(_workers.close)


def serve(lines: IO[str], out: IO[str]) -> None:
    """Answer searches, one line each, until there are no more lines."""
    for line in lines:
        pattern, flags, seconds, action, text, *arguments = json.loads(line)
        started = time.process_time()
        try:
            with _time_limit(seconds) if _has_timer() else nullcontext():
                answer = ["found", ACTIONS[action](re.compile(pattern, flags & ~re.DEBUG), text, *arguments)]
        except _OutOfTimeError:
            answer = ["late", None]
        except LargeError:
            answer = ["large", None]
        except (re.error, IndexError) as error:
            answer = ["error", str(error)]
        out.write(json.dumps([*answer, time.process_time() - started]) + "\n")
        out.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        serve(sys.stdin, sys.stdout)
