"""One option of a run, as it is declared: what sets it, what it does to exams, why some refuse it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Honoured:
    """The option has its effect on this exam.

    Attributes:
        how: In a few words what it does here, for ``proctor show`` and the reference.
    """

    how: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The option cannot have an effect on this exam.

    Attributes:
        why: The reason.
        hint: What to do instead.
    """

    why: str
    hint: str = "leave the option out for this exam"


Entry = Honoured | Refused

NO_EFFECT = "no effect here: "
"""How the entry of an option begins that an exam accepts and has no use for: runs give one option to many exams."""


def no_effect(why: str) -> Honoured:
    """Return the entry of an option that this exam has no use for; whoever gives it is told why."""
    return Honoured(f"{NO_EFFECT}{why}")


ASKS_NOBODY = "no judge is asked"
"""Why naming a judge has no effect."""

DEPENDS = Refused("it depends on the exam, and nothing says how")
"""The entry of an option that a dialect decides for each exam."""
UNKNOWN = Refused("no exam of this kind knows it")
"""What is true of an option that a dialect does not mention."""

KINDS = ("unitxt", "lm_eval", "class", "aisbench", "hub_yaml", "promptfoo", "tables")
"""Kinds of exams that options are declared for: the dialects built in, and tasks of lm-eval that are Python classes."""

Takes = Literal["text", "switch", "either", "count", "limit", "several", "pairs", "names", "folders"]
"""What is typed behind an option: one text; nothing; nothing, under one of two names; a whole number; a whole number or
a share; a text each time it is given; ``key=value`` with commas; names with commas; a folder each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What is declared of a field of :class:`~proctor.recipes.options.ExamOptions`.

    Attributes:
        flags: As it is typed, the shortest and the foreign spellings last; empty where no command line sets it.
        help: What it does, for command lines and the reference.
        section: Under which heading of the help.
        takes: What is typed behind it; a tuple lists the words that may be.
        least: The smallest count.
        metavar: How the help calls what is typed.
        reads: From what is typed to the value, as ``module:function``.
        where: What it does to exams of each kind: the kinds (several with blanks between them) and their entry. A text
            is what it does. A kind that is not mentioned refuses the option.
        is_lookup: Whether it says where exams are found or who sits them, and changes no exam.
    """

    help: str
    flags: tuple[str, ...] = ()
    section: str = ""
    takes: Takes | tuple[str, ...] = "text"
    least: int = 0
    metavar: str | None = None
    reads: str = ""
    where: Mapping[str, Entry | str] = field(default_factory=dict)
    is_lookup: bool = False

    def at(self, kind: str) -> Entry:
        """Return what the option does to exams of a kind."""
        found = next((entry for kinds, entry in self.where.items() if kind in kinds.split()), UNKNOWN)
        return Honoured(found) if isinstance(found, str) else found


def declare(
    *flags: str, default: Any = None, factory: Callable[[], Any] | None = None, **said: Any
) -> Any:  # a dataclass takes what this returns for the field's value
    """Return the field of an option.

    Args:
        flags: As it is typed.
        default, factory: Its value where nobody gives it.
        said: What else is said of it, see :class:`Option`.
    """
    metadata = {"option": Option(flags=flags, **said)}
    if factory is not None:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)
