"""Limits of a program's resources."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a program; beyond them it is refused or ended.

    Attributes:
        seconds: Time, from when it starts until its tests are through.
        call_seconds: Time for one answer, where it has less for each than for all together.
        memory_bytes: Address space; libraries for numbers reserve a lot of it.
        file_bytes: Of one file.
        disk_bytes: Of all its files.
        message_bytes: Of all that it answers.
    """

    seconds: float = 10.0
    call_seconds: float | None = None
    memory_bytes: int = 4 * 1024**3
    file_bytes: int = 16 * 1024**2
    disk_bytes: int = 64 * 1024**2
    message_bytes: int = 256 * 1024**2
