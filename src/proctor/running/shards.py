"""Shards: processes that share nothing answer a part of an exam each, and their logs are merged."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

from proctor.engines.engine import Engine
from proctor.errors import UsageError
from proctor.recipes.exam import Exam
from proctor.running.drawn_questions import part_of
from proctor.running.execute import ask
from proctor.running.progress import Progress
from proctor.running.session import Terms, session_with

_SPELLED = re.compile(r"(\d+|auto)(?:/(\d+))?")
_COUNTED_FROM_0 = (("SLURM_PROCID", "SLURM_NTASKS"), ("JOB_COMPLETION_INDEX", ""))
"""Variables of a task's number and of how many there are: of SLURM's ``srun``, of Kubernetes' indexed jobs."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of every exam: each ``count``-th question.

    Attributes:
        number: Which part, from 1.
        count: How many there are.
    """

    number: int
    count: int

    @classmethod
    def parsed(cls, text: str, environment: Mapping[str, str] = os.environ) -> Shard:
        """Return the shard of ``3/16``; of ``auto`` and ``auto/16`` as a scheduler's variables say.

        Raises:
            UsageError: It is none, or no variable says which one: those of a part of an array do not.
        """
        spelled = _SPELLED.fullmatch(text)
        if spelled is None or (spelled[1] != "auto" and spelled[2] is None):
            raise UsageError(f"'{text}' is not a shard", hint="--shard 3/16 is the third of sixteen; or --shard auto")
        count = int(spelled[2]) if spelled[2] else 0
        number, count = _told(environment, count) if spelled[1] == "auto" else (int(spelled[1]), count)
        if not 1 <= number <= count:
            raise UsageError(f"there is no shard {number} of {count}", hint=f"shards are numbered from 1 to {count}")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def _told(environment: Mapping[str, str], count: int) -> tuple[int, int]:
    """Return the number and the count that a scheduler says."""

    def said(name: str) -> int | None:
        value = environment.get(name, "")
        return int(value) if value.isdecimal() else None

    tasks, first, last = map(said, ("SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"))
    if (task := said("SLURM_ARRAY_TASK_ID")) is not None and (found := count or tasks or 0):
        if (first or 0) > 1 or (tasks or found) != found or (last is not None and last - (first or 0) >= found):
            raise UsageError(
                "which shard this is cannot be told: it is a task of a part of an array",
                why=f"tasks {first or 0} to {last} of the array were submitted, {tasks} of them",
                hint="--shard $SLURM_ARRAY_TASK_ID/16 says it, where 16 tasks are counted from 1",
            )
        return task - (first or 0) + 1, found
    for number, total in _COUNTED_FROM_0:
        if (task := said(number)) is not None and (found := count or said(total) or 0):
            return task + 1, found
    names = ", ".join(("SLURM_ARRAY_TASK_ID", *(number for number, _ in _COUNTED_FROM_0)))
    raise UsageError(
        "no variable says which shard this is, and of how many",
        why=f"{names} are looked at; Kubernetes does not say how many there are",
        hint="--shard 3/16, or --shard auto/16",
    )


def ask_shard(exams: Sequence[Exam], engine: Engine, shard: Shard, **terms: Unpack[Terms]) -> Progress:
    """Ask a part of each exam, and file the answers; nothing is graded.

    Raises:
        ProctorError: As :func:`proctor.running.run.run_exams`.
    """
    parts = [part_of(exam, list(exam.questions())[shard.number - 1 :: shard.count]) for exam in exams]
    with session_with(engine.answering(), **terms) as session:
        session.observer.started([exam.name for exam in parts], engine.label)
        try:
            ask(parts, session, grades=False)
        finally:
            session.observer.finished()
        return session.progress
