"""Options of other systems' command lines in terms of ours: what each means here, or why it means nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Takes = Literal["nothing", "one", "many", "pairs", "perhaps"]
"""What follows an option: nothing, a value, one or more, one or more ``key=value``, or a value that may be left out."""
Does = Literal["the same", "nothing", "refused"]
"""What becomes of an option here: ours does it, nothing (a sentence says so), or an error."""


@dataclass(frozen=True, slots=True)
class Flag:
    """An option of another system.

    Attributes:
        name: As that system spells it; dashes and underscores mean the same.
        ours: The option of ``proctor run`` that it means, or that does it here; empty where there is none.
        option: The field of :class:`~proctor.recipes.options.ExamOptions` that takes it; empty where ``ours`` says all.
        note: What is different here, why it has no effect, or why it is refused.
        takes: What follows it.
        does: What becomes of it.
        short: Its one-letter name there, where it is none of ours.
    """

    name: str
    ours: str = ""
    option: str = ""
    note: str = ""
    takes: Takes = "one"
    does: Does = "the same"
    short: str = ""
