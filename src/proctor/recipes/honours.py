"""Which options of a run an exam honours: each has its effect, or is refused by name before anybody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from proctor.errors import Diagnostic
from proctor.recipes.options import ExamOptions, given_options


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


Honours = Mapping[str, Honoured | Refused]
"""An entry for every field of :class:`~proctor.recipes.options.ExamOptions`."""


def refusals(exam: str, honours: Honours, options: ExamOptions) -> Iterator[Diagnostic]:
    """Yield what an exam refuses of the options that were given.

    Args:
        exam: The exam's name.
        honours: What it honours; an option without an entry is refused, too.
        options: What the run gives.
    """
    for name in given_options(options):
        found = honours.get(name, Refused("no exam of this kind knows it"))
        if isinstance(found, Refused):
            yield Diagnostic(f"'{exam}' cannot honour {flag_of(name)}", why=found.why, hint=found.hint)


NO_EFFECT = "no effect here: "
"""How the entry of an option begins that an exam accepts and has no use for: runs give one option to many exams."""


def no_effect(why: str) -> Honoured:
    """Return the entry of an option that this exam has no use for; whoever gives it is told why."""
    return Honoured(f"{NO_EFFECT}{why}")


def without_effect(exam: str, honours: Honours, options: ExamOptions) -> Iterator[str]:
    """Yield a sentence on each option that was given and that an exam has no use for.

    Args:
        exam: The exam's name.
        honours: What it honours.
        options: What the run gives.
    """
    if options.limit is not None and options.places_of(exam) is not None:
        yield f"--limit has no effect on {exam}: --samples says which of its instances are asked"
    for name in given_options(options):
        found = honours.get(name)
        if isinstance(found, Honoured) and found.how.startswith(NO_EFFECT):
            yield f"{flag_of(name)} has {found.how.replace(':', f' on {exam}:', 1)}"


OF_TABLES = ("input_column", "answer_column", "choices_column", "prompt")
"""Options that say what the columns of a table are."""


def no_table(why: str = "it is not a file of rows") -> dict[str, Honoured | Refused]:
    """Return the entries of the options of tables for an exam that is none."""
    return {name: Refused(why, "rows.csv, rows.jsonl or rows.parquet takes it") for name in OF_TABLES}


def reduces(options: ExamOptions) -> Honoured | Refused:
    """Return the entry of ``reduce`` for an exam that is asked as often as ``repeats`` says."""
    if options.repeats is None:
        return Refused("each question is answered once", "add --repeats N")
    return Honoured("what the answers to a question come to; the first reducer gives the main score")


def flag_of(name: str) -> str:
    """Return an option as the command line spells it."""
    return f"--{_FLAGS.get(name, name).replace('_', '-')}"


_FLAGS = {"include_paths": "include-path", "model_config": "model"}


def all_honoured(names: Iterable[str]) -> dict[str, Honoured | Refused]:
    """Return entries that honour options."""
    return {name: Honoured() for name in names}
