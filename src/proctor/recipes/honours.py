"""The options of a run that an exam honours: each has its effect, or is refused by name before anybody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from proctor.errors import Diagnostic
from proctor.recipes.option import NO_EFFECT, UNKNOWN, Entry, Honoured, Refused, no_effect
from proctor.recipes.options import DECLARED, NO_TABLE, OPTIONS, ExamOptions, given_options

__all__ = ["NO_EFFECT", "Honoured", "Honours", "Refused", "declared", "no_effect", "refusals", "without_effect"]

Honours = Mapping[str, Entry]
"""An entry for every field of :class:`~proctor.recipes.options.ExamOptions`."""


def refusals(exam: str, honours: Honours, options: ExamOptions) -> Iterator[Diagnostic]:
    """Yield what an exam refuses of the options that were given.

    Args:
        exam: The exam's name.
        honours: What it honours; an option without an entry is refused, too.
        options: What the run gives.
    """
    for name in given_options(options):
        found = honours.get(name, UNKNOWN)
        if isinstance(found, Refused):
            yield Diagnostic(f"'{exam}' cannot honour {flag_of(name)}", why=found.why, hint=found.hint)


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


OF_TABLES = tuple(name for name, each in DECLARED.items() if each.at("class") == NO_TABLE)
"""Options that say what the columns of a table are."""


def declared(kind: str, names: Iterable[str] = OPTIONS) -> dict[str, Entry]:
    """Return what options do to exams of a kind, as they are declared; what nothing is said of is refused.

    Args:
        kind: One of :data:`~proctor.recipes.option.KINDS`.
        names: The options.
    """
    return {name: DECLARED[name].at(kind) if name in DECLARED else UNKNOWN for name in names}


def reduces(options: ExamOptions) -> Entry:
    """Return the entry of ``reduce`` for an exam that is asked as often as ``repeats`` says."""
    if options.repeats is None:
        return Refused("each question is answered once", "add --repeats N")
    return Honoured("what the answers to a question come to; the first reducer gives the main score")


def flag_of(name: str) -> str:
    """Return an option as the command line spells it."""
    option = DECLARED.get(name)
    flags = option.flags if option else ()
    return flags[0].partition("/")[0] if flags else _SET_BY.get(name, f"--{name.replace('_', '-')}")


_SET_BY = {"model_config": "--model"}
"""What sets an option that has no flag."""
