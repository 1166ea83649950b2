"""Shell completion: commands and options by click, names of models and exams from here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from proctor.cli.commands import ProctorCommand
from proctor.cli.error_reporting import show
from proctor.errors import ProctorError, UsageError

SHELLS = ("bash", "zsh", "fish")

_ASKED = frozenset({"exam", "benchmark", "group", "suite", "tag"})
"""Kinds of what a model can sit by its bare name."""

_MOST = 2_000
"""Names that are offered: shells ask before they show a hundred, and more than this is slow in all of them."""


@click.command("completion", cls=ProctorCommand)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that completes commands, options, models and exams in a shell.

    \b
    bash:  eval "$(proctor completion bash)"              in ~/.bashrc
    zsh:   eval "$(proctor completion zsh)"               in ~/.zshrc
    fish:  proctor completion fish > ~/.config/fish/completions/proctor.fish
    """  # noqa: D301 - click reads the control character
    from proctor.cli import completion_shells  # noqa: F401 - click finds its classes
    from proctor.cli.__main__ import proctor

    made = get_completion_class(shell)
    if made is None:
        raise UsageError(f"there is no completion for {shell}")
    show(made(proctor, {}, "proctor", "_PROCTOR_COMPLETE").source())


def complete_models(_context: click.Context, _parameter: click.Parameter, beginning: str) -> list[CompletionItem]:
    """Return the short names of engines that begin so, each with what it is."""
    from proctor.engines.engine_names import engine_names, engine_status

    names = [name for name in engine_names() if name.startswith(beginning)]
    return [CompletionItem(name, help=str(engine_status(name)["description"])) for name in names]


def complete_runs(_context: click.Context, _parameter: click.Parameter, beginning: str) -> list[CompletionItem]:
    """Delegate completion of run folders to the shell."""
    return [CompletionItem(beginning, type="dir")]


def complete_files(_context: click.Context, _parameter: click.Parameter, beginning: str) -> list[CompletionItem]:
    """Delegate completion of files and folders to the shell."""
    return [CompletionItem(beginning, type="file")]


def one_of(names: Callable[[], Iterable[str]]) -> Callable[..., list[str]]:
    """Return a completer over some names, which are computed when a shell wants them."""
    return lambda _context, _parameter, beginning: [name for name in names() if name.startswith(beginning)]


def complete_tasks(context: click.Context, _parameter: click.Parameter, beginning: str) -> list[CompletionItem]:
    """Return the exams that begin with the last name of a list, and files and folders where it looks like a path."""
    listed, comma, last = beginning.rpartition(",")
    if any(mark in last for mark in "=["):
        return []
    if last.startswith((".", "/", "~")):
        return [CompletionItem(beginning, type="file")] if not listed else []
    folders: Iterable[str] = context.params.get("include_paths") or ()
    files = [CompletionItem(beginning, type="file")] if not listed and _begins_a_path(last) else []
    return files + [CompletionItem(f"{listed}{comma}{name}", help=what) for name, what in _exams(last, folders)]


def _begins_a_path(beginning: str) -> bool:
    path = Path(f"{beginning}x")  # a slash at the end begins any name of that folder
    start = path.name[:-1]
    try:
        return bool(beginning) and any(each.name.startswith(start) for each in path.parent.iterdir())
    except OSError:
        return False


def _exams(beginning: str, folders: Iterable[str]) -> list[tuple[str, str]]:
    from proctor.dialects.listing import everything

    pattern = re.sub(r"([*?[])", r"[\1]", beginning) + "*"
    try:
        found = everything(pattern, _ASKED, tuple(folders))
    except ProctorError:  # a broken catalog: the command itself says so
        return []
    return [(entry.name, entry.description) for entry in found[:_MOST]]
