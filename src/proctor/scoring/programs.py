"""Programs that models wrote: run to see whether they do what they should, only where the user trusts code.

Each program runs in a process of its own: with a time limit, a memory limit, an empty folder, no environment variables
(so no keys), no input, and without the functions that end or delete more than itself. That keeps a clumsy program from
doing harm; it is not a prison for a malicious one, which can still read files and reach the network.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from proctor.errors import TrustError
from proctor.scoring.repeats import at_least_one_as_product
from proctor.settings import settings

MEMORY_BYTES = 4 * 1024**3
"""Address space of a program; libraries for numbers reserve a lot of it."""

_GRACE_SECONDS = 3.0
"""How long a process may take to start and to stop beyond the program's own limit."""
_RUNNER = Path(__file__).with_name("program_runner.py")


@dataclass(frozen=True, slots=True)
class Program:
    """What is to run.

    Attributes:
        parts: Sources, which run one after the other with the same names; from the second on there is the function
            ``__same_value``.
        seconds: Time limit.
    """

    parts: tuple[str, ...]
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program ended.

    Attributes:
        how: ``pass``, ``wrong_answer`` (an assertion failed), ``failed`` (anything else was raised) or ``timeout``.
        why: What was raised.
    """

    how: Literal["pass", "wrong_answer", "failed", "timeout"]
    why: str = ""


def run_programs(programs: Iterable[Program], *, memory_bytes: int = MEMORY_BYTES) -> list[Ending]:
    """Run programs, several at once, and return how each ended.

    Raises:
        TrustError: Nobody said that code may run.
    """
    if not settings.trust_code:
        raise TrustError(
            "programs that a model wrote would have to run",
            why="they run with your rights, in a process with a time and a memory limit",
            hint="say --trust-code to run them; best in a container without a network",
        )
    workers = max(1, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers, thread_name_prefix="program") as pool:
        return list(pool.map(lambda program: _ending(program, memory_bytes), programs))


def _ending(program: Program, memory_bytes: int) -> Ending:
    token = secrets.token_hex(16)
    task = {"parts": program.parts, "seconds": program.seconds, "memory_bytes": memory_bytes, "token": token}
    reading, writing = os.pipe()
    try:
        with tempfile.TemporaryDirectory(prefix="proctor-program-", ignore_cleanup_errors=True) as folder:
            process = subprocess.Popen(  # noqa: S603 - what this module is for; nothing runs without --trust-code
                [sys.executable, "-I", str(_RUNNER), str(writing)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env={"PATH": os.defpath, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                pass_fds=(writing,),
                start_new_session=True,
            )
            os.close(writing)
            writing = -1
            in_time = _finished(process, json.dumps(task).encode(), program.seconds + _GRACE_SECONDS)
            return _reported(reading, token) if in_time else Ending("timeout")
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)


def _finished(process: subprocess.Popen[bytes], task: bytes, seconds: float) -> bool:
    """Wait for a process, end it and everything it started, and return whether it ended by itself."""
    try:
        process.communicate(task, timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    except BrokenPipeError:
        pass  # it ended before it read: there is no report
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode != -getattr(signal, "SIGXCPU", 0)


def _reported(reading: int, token: str) -> Ending:
    """Return what the runner reported; a program that ended the process, or wrote a report of its own, failed."""
    ready, _, _ = select.select([reading], [], [], 0)  # a process that got away may hold the pipe open: do not wait
    data = os.read(reading, 1 << 16) if ready else b""
    try:
        report = json.loads(data)
    except ValueError:
        return Ending("failed", "the process ended without a report (out of memory, or the program ended it)")
    if not isinstance(report, dict) or not secrets.compare_digest(str(report.get("token")), token):
        return Ending("failed", "the program wrote a report of its own")
    return Ending(report["how"], str(report["why"]))


def pass_at(counts: Sequence[tuple[int, int]], k: int) -> float | None:
    """Return the chance that one of ``k`` samples passes (Chen et al. 2021, unbiased), mean over problems.

    Args:
        counts: For each problem its samples, and how many of them pass.
        k: How many are drawn.

    Returns:
        A share; ``None`` where a problem has fewer than ``k`` samples.
    """
    if not counts or any(total < k for total, _ in counts):
        return None
    chances = [at_least_one_as_product(total, passed, k) for total, passed in counts]
    return sum(chances) / len(chances)
