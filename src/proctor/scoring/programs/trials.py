"""Programs that models wrote: run in a prison to see whether they do what they should (see :mod:`proctor.prison`)."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from proctor.errors import ScoringError
from proctor.lazy import np
from proctor.prison import Court, Limits, Outcome, Prison, PrisonError, Trial, chosen
from proctor.scoring.repeats import at_least_one_as_product

ONE_PROCESS = "one_process_count"
"""Score that says how many programs shared a process with their tests, which they could have deceived."""


def run_programs(programs: Iterable[Trial]) -> list[Outcome]:
    """Run programs with their tests, several at once, and return how each ended.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that they may run without.
        ScoringError: The prison stopped working.
    """
    programs = list(programs)
    if not programs:
        return []
    prison = chosen()
    if len(programs) == 1:  # somebody asks for one after the other
        return [_alone(programs[0], prison)]
    limits = Limits(seconds=max(each.limits.seconds for each in programs))
    batch = _Batch(programs, prison, limits)
    workers = min(len(programs), max(1, os.cpu_count() or 1))
    with ThreadPoolExecutor(workers, thread_name_prefix="program") as pool:
        running = [pool.submit(batch.work) for _ in range(workers)]
        try:
            for each in running:
                each.result()
        except PrisonError as error:
            raise _stopped_working(error) from error
        finally:
            batch.stopped.set()
    return batch.endings()


_LONGEST_ALONE = Limits(seconds=600.0)  # for the tests of programs that come one by one; the program itself has its own
_kept = threading.local()


def _alone(program: Trial, prison: Prison) -> Outcome:
    """Return how one program ends; the court waits for the next."""
    court = getattr(_kept, "court", None)
    if court is None or type(court.prison) is not type(prison):
        if court is not None:
            court.close()
        court = _kept.court = Court(prison, _LONGEST_ALONE)
        atexit.register(court.close)
    try:
        return court.outcome(program)
    except PrisonError as error:
        raise _stopped_working(error) from error


def _stopped_working(error: PrisonError) -> ScoringError:
    return ScoringError(
        "the prison for programs stopped working",
        why=str(error),
        hint="proctor doctor says which prisons work here; --sandbox names one",
    )


class _Batch:
    """Programs that several threads take from; each has a court of its own."""

    def __init__(self, programs: Sequence[Trial], prison: Prison, limits: Limits) -> None:
        self._programs, self._prison, self._limits = programs, prison, limits
        self._found: list[Outcome | None] = [None] * len(programs)
        self._next = iter(range(len(programs)))
        self._lock = threading.Lock()
        self.stopped = threading.Event()

    def work(self) -> None:
        """Take programs until there are none.

        Raises:
            PrisonError: A prisoner cannot be started.
        """
        court = Court(self._prison, self._limits, self.stopped)
        try:
            while not self.stopped.is_set():
                with self._lock:
                    place = next(self._next, None)
                if place is None:
                    return
                self._found[place] = court.outcome(self._programs[place])
        except PrisonError:
            self.stopped.set()
            raise
        finally:
            court.close()

    def endings(self) -> list[Outcome]:
        """Return how each ended."""
        return [each for each in self._found if each is not None]


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
    return float(np.mean(chances))
