"""What stands for a metric or a processor that cannot be had, and says why before anybody is asked."""

# ruff: noqa: ARG002 - what stands for something that cannot be had takes what that would

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proctor.errors import Diagnostic, ProctorError
from proctor.scoring.grade import Columns, Measured
from proctor.scoring.grading import Need, Scope


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Stands for a metric or processor that cannot be had.

    Attributes:
        name: What somebody wrote.
        error: Why it cannot be had.
    """

    name: str
    error: ProctorError

    @property
    def needs(self) -> frozenset[Need]:
        """Nothing."""
        return frozenset()

    @property
    def scope(self) -> Scope:
        """It looks at nothing."""
        return "row"

    def check(self) -> Iterator[Diagnostic]:
        """Yield why there is no such thing."""
        yield from self.error.diagnostics

    def process(self, columns: Columns) -> Columns:
        """Raise the reason.

        Raises:
            ProctorError: Always.
        """
        raise self.error

    def measure(self, columns: Columns, **wanted: bool) -> Measured:
        """Raise the reason.

        Raises:
            ProctorError: Always.
        """
        raise self.error
