"""Run folders that a command reads: what is to be known of them is said first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import RUNS, close_files
from proctor.cli.error_reporting import warn
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.runs.stored_run import StoredRun


labels_option = click.option(
    "--labels",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What people say of the answers (proctor judge label), a file of each labeller: decide by the scores that "
    "they correct.  [default: the labels that are kept beside the runs]",
)
"""``--labels`` of commands that decide something."""

over_option = click.option(
    "--over",
    type=click.Choice(["wordings"]),
    help="Of sweeps: scores and differences with intervals that hold for other wordings, too.",
)
"""``--over wordings`` of commands that read sweeps."""


class RunFolder(click.Path):
    """The folder of a run; one that is not there is answered with where runs are."""

    def __init__(self) -> None:
        super().__init__(file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the folder's path."""
        found = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not found.is_dir():
            raise _no_folder(found)
        return found


def _no_folder(path: Path) -> UsageError:
    near = close_files(path) or close_files(Path(RUNS, path.name))
    return UsageError(f"there is no folder {path}", hint=near or "name a run folder; proctor run prints where it is")


def warn_of_damage(*paths: str | Path | None) -> None:
    """Warn of run folders in which a file cannot be read; whatever else a path leads to is left to others."""
    from proctor.runs.stored_run import is_run, load_run

    for path in paths:
        if path is not None and is_run(folder := Path(path)) and (problem := load_run(folder).problem):
            warn(f"warning: {folder}: {problem}")


def read_run(path: Path) -> StoredRun:
    """Return a run folder, read; warn of files that cannot be read, and of a run that did not end.

    Raises:
        UsageError: It is not a run folder.
    """
    from proctor.runs.stored_run import is_run, load_run, runs_in, state_notes

    if not path.is_dir():
        raise _no_folder(path)
    if not is_run(path):
        raise UsageError(f"{path} is not a run folder", hint=runs_in(path))
    run = load_run(path)
    for note in ([run.problem] if run.problem else []) + state_notes(run):
        warn(f"warning: {path}: {note}")
    return run
