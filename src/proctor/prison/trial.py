"""Programs and their tests, run in prisons: the program in one, the tests in another, and this process between them.

The tests' process asks, the program's process answers, and each question is carried over only after the answer to the
last one. The program's process has no way to say how the tests ended.
"""

from __future__ import annotations

import json
import secrets
import select
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from proctor.prison.cell import Cell
from proctor.prison.inside import kernel
from proctor.prison.limits import Limits
from proctor.prison.prisons import Prison, Role

_shield_lock = threading.Lock()
_shields = 0


class Shield:
    """Closes ``/proc/<this process>`` to others of the same user while it is raised (Linux only).

    A program without a prison could read there this process's environment, with the keys in it, and its memory.
    """

    def __init__(self) -> None:
        self._is_up = False

    def rise(self) -> None:
        """Close it."""
        if not self._is_up:
            self._is_up = True
            _count_shields(1)

    def lower(self) -> None:
        """Open it, where nobody else needs it closed."""
        if self._is_up:
            self._is_up = False
            _count_shields(-1)


def _count_shields(change: int) -> None:
    global _shields  # noqa: PLW0603 - a fact about the process
    with _shield_lock:
        _shields += change
        if kernel.MACHINE:
            with suppress(OSError):
                kernel.prctl(kernel.PR_SET_DUMPABLE, 0 if _shields else 1)


How = Literal["pass", "wrong_answer", "failed", "timeout"]

_HOW: dict[str, How] = {"pass": "pass", "wrong_answer": "wrong_answer", "failed": "failed"}
_ROUND_SECONDS = 0.1
"""How often what a program writes on the disk is measured."""
_VERDICT, _CALL, _END, _READY, _WATCHED = b"V", b"C", b"E", b"R", b"W"
_GONE = b'{"gone":true}'
_LOOKED = "the program was ended: it looks at what is not its own in the process of its tests ({})"
_LONGEST_EVENT = 60
_NO_VERDICT = "the process ended without a verdict (out of memory, or something ended it)"


@dataclass(frozen=True, slots=True)
class Trial:
    """A program and the tests that judge it.

    Attributes:
        source: What a model wrote, with what its exam puts around it.
        tests: Python of the exam, which passes where it raises nothing. It can use the program's names, and
            ``__same_value(a, b)``, ``__script(text)`` and ``__evaluate(source)``.
        entry: Names of the program that are examined; empty where the names that the tests call say it.
        given: What the exam itself put before the program: imports and functions that its tests use.
        data: Further data for the tests, JSON: ``__task``.
        load: Whether the program is run once, before the tests; not where it is a script.
        limits: How much it may use.
        together: Whether both have to run in one process.
        imports: Modules that are imported before, where they run in one.
        suite: Whether the tests are test cases of unittest, where they run in one.
    """

    source: str
    tests: str = ""
    entry: tuple[str, ...] = ()
    given: str = ""
    data: Any = None
    load: bool = True
    limits: Limits = field(default_factory=Limits)
    together: bool = False
    imports: tuple[str, ...] = ()
    suite: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a program's tests.

    Attributes:
        how: ``pass``, ``wrong_answer`` (an assertion failed), ``failed`` (anything else was raised) or ``timeout``.
        why: What was raised.
        together: Whether program and tests shared a process, so that the program could have deceived the tests.
    """

    how: How
    why: str = ""
    together: bool = False


class PrisonError(Exception):
    """A prisoner could not be started."""


class Court:
    """Tries programs, one after the other, in a kind of prison; the process of the tests is used again.

    Prisoners end with the thread that started them: a court belongs to one thread.

    Args:
        prison: Which kind.
        limits: Of the tests' process, which serves all programs.
        stopped: Set by somebody who wants no verdict any more; whatever runs then is out of time.
    """

    def __init__(self, prison: Prison, limits: Limits, stopped: threading.Event | None = None) -> None:
        self.prison, self._limits = prison, limits
        self._judge: Cell | None = None
        self._stopped = stopped or threading.Event()
        self._shield = Shield() if prison.needs_shield else None

    def close(self) -> None:
        """End every process."""
        if self._judge is not None:
            self._judge.close()
            self._judge = None
        if self._shield is not None:
            self._shield.lower()

    def outcome(self, trial: Trial) -> Outcome:
        """Return the outcome of a program's tests.

        Raises:
            PrisonError: A prisoner cannot be started.
        """
        if self._shield is not None:
            self._shield.rise()
        if trial.together:
            return self._together(trial)
        found, uncrossable = self._apart(trial)
        return self._together(trial) if uncrossable else found

    def _started(self, role: Role, limits: Limits) -> Cell:
        try:
            return Cell(self.prison, role, limits)
        except OSError as error:
            raise PrisonError(f"{self.prison.name}: {error}") from error

    # -- in two processes -------------------------------------------------------------------------------------

    def _apart(self, trial: Trial) -> tuple[Outcome, bool]:
        if self._judge is None or not self._judge.is_running:
            self.close()
            self._judge = self._started("judge", self._limits)
        self._judge.received_bytes = 0
        candidate = self._started("candidate", trial.limits)
        try:
            candidate.post(_packed({"source": trial.source}))
            task = {name: getattr(trial, name) for name in ("tests", "entry", "given", "data", "load")}
            self._judge.post(_packed(task))
            session = _Session(self._judge, candidate, trial.limits, self._stopped)
            message = session.verdict()
        except PrisonError:
            self.close()
            raise
        finally:
            candidate.close()
        if not session.is_clean:
            self.close()
        return message

    # -- in one -----------------------------------------------------------------------------------------------

    def _together(self, trial: Trial) -> Outcome:
        cell = self._started("together", trial.limits)
        token = secrets.token_hex(16)
        task = {name: getattr(trial, name) for name in ("tests", "imports", "suite", "data")}
        source = f"{trial.given}\n{trial.source}" if trial.given and not trial.load else trial.source
        try:
            cell.post(_packed({**task, "source": source, "token": token}))
            session = _Session(cell, None, trial.limits, self._stopped)
            found, _ = session.verdict(token)
        finally:
            cell.close()
        return Outcome(found.how, found.why, together=True)


class _Session:
    """Carries messages between the tests' process and the program's until there is a verdict or no more time."""

    def __init__(self, judge: Cell, candidate: Cell | None, limits: Limits, stopped: threading.Event) -> None:
        self._judge, self._candidate = judge, candidate
        self._stopped = stopped
        self._measure_at = 0.0
        self._waiting = False
        self._is_ready = False
        self._seconds = limits.seconds
        self._call_seconds = limits.call_seconds or limits.seconds
        self._asked_at = 0.0
        self._started_at: float | None = None
        self._start_by = time.monotonic() + _START_SECONDS
        self.is_clean = False

    def verdict(self, token: str | None = None) -> tuple[Outcome, bool]:
        """Return the outcome, and whether values could not be handed over, so that it has to be tried in one process.

        Raises:
            PrisonError: A prisoner did not start.
        """
        found: tuple[Outcome, bool] | None = None
        while True:
            message = self._next()
            if message is None:
                return found or (self._without_verdict(), False)
            if message[:1] == _END:
                self.is_clean = found is not None and not self._waiting
                return found or (Outcome("failed", _NO_VERDICT), False)
            if message[:1] == _VERDICT and found is None:
                found = _read(message[1:], token)
                if token is not None:
                    return found
            elif message[:1] == _WATCHED and token is not None:
                return Outcome("failed", _LOOKED.format(message[1:_LONGEST_EVENT].decode(errors="replace"))), False
            elif message[:1] == _CALL and found is None and self._candidate is not None and not self._waiting:
                self._candidate.post(message[1:])
                self._waiting, self._asked_at = True, time.monotonic()
            else:
                return Outcome("failed", "the tests' process said what it should not"), False

    def _without_verdict(self) -> Outcome:
        if self._left() <= 0:
            return Outcome("timeout")
        if (self._candidate is not None and self._candidate.fills_disk) or self._judge.fills_disk:
            return Outcome("failed", "the program wrote more than it may")
        if self._started_at is None:
            raise PrisonError(self._judge.complaint() or "a prisoner ended before it started")
        return Outcome("failed", _NO_VERDICT)

    def _left(self) -> float:
        if self._stopped.is_set():
            return 0.0
        if self._started_at is None:
            return self._start_by - time.monotonic()
        now = time.monotonic()
        left = self._seconds - (now - self._started_at)
        return min(left, self._call_seconds - (now - self._asked_at)) if self._waiting else left

    def _next(self) -> bytes | None:
        """Return the next message of the tests' process; ``None`` at the end of it, or of the time."""
        while True:
            self._note_start()
            if (self._is_ready or self._candidate is None) and (message := self._judge.take()) is not None:
                if message != _READY:
                    return message
                self._is_ready = True
                continue
            if not self._judge.is_open or self._left() <= 0:
                return None
            if self._candidate is not None and not self._candidate.is_open and not self._is_ready:
                raise PrisonError(self._candidate.complaint() or "a prisoner ended before it started")
            self._carry_answer()
            self._exchange(min(_ROUND_SECONDS, max(0.0, self._left())))
            if self._is_full():
                return None

    def _is_full(self) -> bool:
        """Whether a program has written more than it may; measured now and then."""
        if (now := time.monotonic()) < self._measure_at:
            return False
        self._measure_at = now + _ROUND_SECONDS
        return self._judge.fills_disk or (self._candidate is not None and self._candidate.fills_disk)

    def _note_start(self) -> None:
        """Let time begin where the process that runs the program is ready to."""
        if self._candidate is not None and not self._is_ready:
            self._is_ready = self._candidate.take() is not None
        if self._is_ready and self._started_at is None:
            self._started_at = time.monotonic()

    def _carry_answer(self) -> None:
        if not self._waiting or self._candidate is None:
            return
        answer = self._candidate.take()
        if answer is None and not self._candidate.is_open:
            answer = _GONE
        if answer is not None:
            self._judge.post(answer)
            self._waiting = False

    def _exchange(self, seconds: float) -> None:
        cells = [each for each in (self._judge, self._candidate) if each is not None and each.is_open]
        reading = {each.reading: each for each in cells if each is self._judge or self._waiting or not self._is_ready}
        writing = {each.writing: each for each in cells if each.has_outgoing}
        readable, writable, _ = select.select(list(reading), list(writing), [], seconds)
        for handle in readable:
            reading[handle].read()
        for handle in writable:
            writing[handle].write()


_START_SECONDS = 30.0
"""How long prisoners may take to start, on a machine that is busy."""


def _packed(task: dict[str, Any]) -> bytes:
    return json.dumps(task).encode("ascii")


def _read(message: bytes, token: str | None) -> tuple[Outcome, bool]:
    """Return a verdict as the tests' process sent it; without the right word, it is somebody else's."""
    try:
        verdict = json.loads(message)
        if token is not None and not secrets.compare_digest(str(verdict["token"]), token):
            return Outcome("failed", "the program wrote a verdict of its own"), False
        return Outcome(_HOW[verdict["how"]], str(verdict["why"])), bool(verdict["uncrossable"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Outcome("failed", "the tests' process said what is not a verdict"), False
