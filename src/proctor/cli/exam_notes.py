"""Notes about exams before a run: options without effect, and effects outside the process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from proctor.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from proctor.recipes.exam import Exam

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic for type checkers only: older releases of click cannot be subscripted


def say_what_has_no_effect(exams: Iterable[Exam], *, questions_are_drawn: bool = False) -> None:
    """Say which of the options that were given an exam has no use for, and why; refuse a judge whom no exam asks.

    A seed has an effect where it draws questions (gates, ``--precision``), and where answers are sampled.
    """
    from proctor.cli.error_reporting import say
    from proctor.ir import KNOWN_DECODING
    from proctor.recipes.honours import without_effect

    listed = list(exams)
    notes = [list(without_effect(exam.name, exam.honours, exam.options)) for exam in listed]
    if notes and all(any(note.startswith("--judge ") for note in each) for each in notes):
        hint = "--criteria correctness (or --metric judge:CRITERION) lets it judge; or leave --judge out"
        raise UsageError("--judge has no effect: no exam here asks a judge", why="rules score their answers", hint=hint)
    for exam, each in zip(listed, notes, strict=True):
        for note in each:
            if note.startswith("--seed ") and (questions_are_drawn or _samples_answers(exam)):
                continue
            say(f"note: {note}")
    say_idle_keys(listed)
    said = {name for exam in listed for name in exam.options.decoding or {}}
    for name in sorted(said - KNOWN_DECODING):
        if hint := did_you_mean(name, KNOWN_DECODING):
            say(f"note: '{name}' is passed on to the engine as it is, and means nothing to Proctor; {hint}")


def _samples_answers(exam: Exam) -> bool:
    """Return whether the answer to an exam's first question is sampled."""
    from dataclasses import replace

    from proctor.recipes.answer_seeds import is_drawn

    plain = replace(exam, options=replace(exam.options, limit=1, seed=None, repeats=None))
    first = next(iter(plain.questions()), None)
    return first is not None and any(is_drawn(each, draws=exam.context.draws) for each in first.requests)


def say_idle_keys(exams: Iterable[Exam]) -> None:
    """Say which keys of a config have no effect here, and why; once for exams that say the same."""
    from proctor.cli.error_reporting import say

    names: dict[str, list[str]] = {}
    for exam in exams:
        idle = exam.source.get("without_effect") or {}
        text = ", ".join(f"{str(path).removeprefix('$.')} ({why})" for path, why in idle.items())
        if text:
            names.setdefault(text, []).append(exam.name)
    for text, own in names.items():
        who = f"'{own[0]}'" if len(own) == 1 else f"'{own[0]}' and {len(own) - 1} more"
        say(f"note: {who}: without effect here: {text}")


def say_doubts(exams: Iterable[Exam]) -> None:
    """Warn of what cannot have been meant by the first questions of exams, once for those that say the same."""
    from contextlib import suppress

    from proctor.errors import ProctorError
    from proctor.prompts.doubts import doubts_of

    said: dict[str, list[str]] = {}
    for exam in islice(exams, _MOST_EXAMS):
        with suppress(ProctorError):  # which keeps it from being asked, and is said there
            for text in doubts_of(exam):
                said.setdefault(text, []).append(exam.name)
    tell_doubts(said)


def tell_doubts(said: Mapping[str, Sequence[str]]) -> None:
    """Warn of each doubt, with whom it concerns."""
    from proctor.cli.error_reporting import warn

    for text, names in said.items():
        warn(f"warning: {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {text}")


_MOST_EXAMS = 20
"""Exams whose first questions are looked at: those of a suite are mostly of one form."""


def say_effects(exams: Iterable[Exam]) -> None:
    """Say what exams do besides being exams: what they read, ask and send."""
    from proctor.cli.error_reporting import say
    from proctor.effects import described

    for exam in exams:
        if text := described(exam.effects()):
            say(f"{exam.name}: {text}")
