"""The dialects there are: those built in, in the order in which they are asked, then those of installed packages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.dialects.dialect import Dialect
from proctor.errors import PluginError
from proctor.plugins import Plugin, plugins

if TYPE_CHECKING:
    from proctor.dialects.foreign_flags import Flag
    from proctor.recipes.exam import Exam
    from proctor.recipes.options import ExamOptions

BUILT_IN = ("tables", "unitxt", "hub_yaml", "promptfoo", "lm_eval", "aisbench")
"""Folders beside this file. Tables come first, since no name of a catalog ends as they do; then the catalog, so that a
bare exact name always wins."""

ENDINGS = {".py": "aisbench", ".csv": "tables", ".tsv": "tables"}
"""Files that one dialect alone reads: it is asked before the others are imported."""


def dialects() -> Iterator[Dialect]:
    """Yield all dialects in the order in which they are asked; a package's is imported when its turn comes.

    Raises:
        PluginError: A package brings something else under the name of a dialect.
    """
    yield from map(_built_in, BUILT_IN)
    for plugin in plugins("dialects").values():
        yield _of_plugin(plugin)


def found_by(name: str, options: ExamOptions) -> tuple[Dialect, list[Exam]] | None:
    """Return the first dialect that knows a name, with the exams; ``None`` where none does.

    A dialect built in that claims names of this shape is asked before all others.

    Raises:
        ProctorError: A dialect knows the name, and an exam cannot be built.
    """
    alone = [_built_in(ENDINGS[ending])] if (ending := Path(name.partition("::")[0]).suffix) in ENDINGS else []
    claiming = (each for each in map(_built_in, BUILT_IN) if each.claims(name))
    for dialect in chain(alone, claiming, dialects()):
        exams = dialect.exams(name, options)
        if exams is not None:
            return dialect, exams
    return None


def flag_of(dialect: str, option: str) -> Flag | None:
    """Return what an option of a dialect's own command line is here; ``None`` where there is none, or no dialect."""
    found = dialect_named(dialect)
    return None if found is None else found.flag(option)


def flag_of_another(option: str) -> Flag | None:
    """Return what an option of another system's command line is here; ``None`` where no dialect has such an option."""
    return next(filter(None, (each.flag(option) for each in dialects())), None)


def dialect_named(name: str) -> Dialect | None:
    """Return the dialect of a name; ``None`` where there is no such one."""
    return next((each for each in dialects() if each.name == name), None)


@cache
def _built_in(name: str) -> Dialect:
    found: Dialect = import_module(f"proctor.dialects.{name}").DIALECT
    return found


def _of_plugin(plugin: Plugin) -> Dialect:
    found = plugin.load()
    if not isinstance(found, Dialect):
        raise PluginError(
            f"the dialect '{plugin.name}' of {plugin.package} is not a Dialect",
            why=f"{plugin.place} is {found!r}",
            hint=f"QUIZ = proctor.dialects.Dialect({plugin.name!r}, recognises=…, resolve=…), and the entry names QUIZ",
        )
    return found
