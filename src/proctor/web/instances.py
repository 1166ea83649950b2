"""Instances of an exam for pages, which wait only so long."""

from __future__ import annotations

import time
from collections.abc import Callable

from proctor.errors import UsageError
from proctor.recipes.exam import Exam, Question

MOST_SECONDS = 10.0
"""How long a page looks for an instance; ten thousands of them are put in words in that time."""


def find_instance(exam: Exam, is_meant: Callable[[int, Question], bool]) -> Question | None:
    """Return the first question that is meant, by its place and itself; ``None`` where there is none.

    Raises:
        UsageError: It lies too far behind the first one for a page.
        ProctorError: The exam cannot be asked.
    """
    ends = time.monotonic() + MOST_SECONDS
    for place, question in enumerate(exam.questions()):
        if is_meant(place, question):
            return question
        if time.monotonic() > ends:
            raise UsageError(
                f"after {MOST_SECONDS:g} seconds only {place + 1:,} instances of {exam.name} have been looked at",
                hint=f"proctor show '{exam.name}' --skip N goes further than a page",
            )
    return None
