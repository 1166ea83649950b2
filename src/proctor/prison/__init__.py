"""Prisons for programs that models wrote; they are judged from outside.

===============  ==================================================================================
``prisons``      the kinds of prison, and how each starts a prisoner
``choice``       which of them works here, and which is used
``limits``       how much a program may use
``cell``         a started prisoner, its messages and its end
``trial``        a program and its tests, each in a prison of its own
``inside``       what runs in the prison
===============  ==================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.prison.choice import AUTO, CHOICES, Finding, available, chosen, examined, is_choice
    from proctor.prison.limits import Limits
    from proctor.prison.prisons import Prison
    from proctor.prison.trial import Court, Outcome, PrisonError, Trial

_HOMES = {
    "choice": ("AUTO", "CHOICES", "Finding", "available", "chosen", "examined", "is_choice"),
    "limits": ("Limits",),
    "prisons": ("Prison",),
    "trial": ("Court", "Outcome", "PrisonError", "Trial"),
}

__all__ = [
    "AUTO", "CHOICES", "Court", "Finding", "Limits", "Outcome", "Prison", "PrisonError", "Trial", "available",
    "chosen", "examined", "is_choice",
]  # fmt: skip

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
