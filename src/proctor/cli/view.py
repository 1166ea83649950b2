"""``proctor view``: the explorer and the run viewer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from proctor.cli.commands import RUNS, Places, WalledCommand
from proctor.cli.completion import complete_runs
from proctor.cli.error_reporting import say
from proctor.cli.run_folders import RunFolder
from proctor.errors import UsageError


def _written(given: Mapping[str, Any]) -> Places:
    """Return the folder of an export, or those of runs, where notes are kept; without the token none are."""
    if given["export"]:
        return [given["export"]], ()
    keeps_none = given["no_token"] and (given["runs"] or Path(RUNS).exists())
    return [] if keeps_none else list(given["runs"] or [Path(RUNS)]), ()


def _refuse_what_serves() -> None:
    """See to it that nothing is typed that has no effect where pages are written.

    Raises:
        UsageError: It is.
    """
    context = click.get_current_context()
    for each in context.command.params:
        is_typed = context.get_parameter_source(each.name or "") is click.core.ParameterSource.COMMANDLINE
        if is_typed and each.name in _OF_SERVING:
            raise UsageError(
                f"{each.opts[0]} has no effect with --export", why="nothing is served", hint="leave it out"
            )


_OF_SERVING = frozenset(("port", "host", "no_open", "include_paths", "no_token"))


@click.command("view", cls=WalledCommand, writes=_written)
@click.argument("runs", nargs=-1, metavar="[RUN]...", type=RunFolder(), shell_complete=complete_runs)
@click.option(
    "--port", default=7700, show_default=True, type=click.IntRange(0, 65535), metavar="N", help="0 takes any free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@click.option(
    "--include-path",
    "include_paths",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="One more folder with exams, for the explorer; may be repeated.",
)
@click.option(
    "--export",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write the pages of the runs into a folder that opens without Proctor and without a server.",
)
@click.option("--no-token", is_flag=True, help="Let in every user and program of this machine; on loopback only.")
def command(
    runs: tuple[Path, ...],
    port: int,
    host: str,
    no_open: bool,
    include_paths: tuple[str, ...],
    export: Path | None,
    no_token: bool,
) -> None:
    """Open the explorer and the run viewer in the browser.

    RUN is a run folder, or a folder that holds some; by default the folder runs. The address that is printed has the
    token of this start: whoever has it may look, nobody else. With --export nothing is served: open index.html.
    """
    from proctor.web.serve import export_pages, serve

    if export is not None:
        _refuse_what_serves()
        say(f"{export_pages(list(runs), export, say):,} pages: open {export / 'index.html'}")
        return

    serve(list(runs), host, port, open_browser=not no_open, include_paths=include_paths, needs_token=not no_token)
