"""Readers of exams in every form: from a name to exams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.dialects.dialect import Conversion, Dialect, Entry
    from proctor.dialects.resolve import resolve_task, resolve_tasks

_HOMES = {
    "dialect": ("Conversion", "Dialect", "Entry"),
    "resolve": ("resolve_task", "resolve_tasks"),
}

__all__ = [
    "Conversion",
    "Dialect",
    "Entry",
    "resolve_task",
    "resolve_tasks",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
