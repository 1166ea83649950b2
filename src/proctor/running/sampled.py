"""Results of exams of which only some questions were asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from proctor.scoring.grades import Grade


class Sampled(Protocol):
    """The draw of an exam's questions from a larger one."""

    def corrected(self, grade: Grade) -> Grade:
        """Return a grade of what was asked as one of the whole exam."""

    def entry(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an exam's results with how its questions were drawn, and the interval that fits that."""
