"""Options of every command that asks a model, or says what asking would take: its arguments, and what may be spent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]

prices_option = click.option(
    "--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A price table of your own."
)

_ARGUMENTS = (
    click.option(
        "--model-args", "-a", multiple=True, metavar="K=V,…", help="model=m,base_url=http://127.0.0.1:8000/v1 …"
    ),
    click.option("--batch-size", metavar="N", help="Short for --model-args batch_size=N."),
    click.option("--device", metavar="NAME", help="Short for --model-args device=NAME."),
    click.option("--max-concurrency", metavar="N", help="Short for --model-args max_concurrency=N."),
    click.option("--truncate", metavar="demos|left|none", help="Prompts that are too long: --model-args truncate=…."),
)

_SPENDING = (
    click.option("--retry-failed/--keep-failed", default=True, show_default=True, help="Ask again what failed before."),
    click.option("--budget-tokens", type=click.IntRange(min=1), metavar="N", help="Stop before more tokens are used."),
    click.option(
        "--budget-usd", type=click.FloatRange(min=0, min_open=True), metavar="X", help="Stop before it costs more."
    ),
    prices_option,
)


def model_options(command: Command) -> Command:
    """Add the options that say how a model works."""
    return _with(command, _ARGUMENTS)


def spending_options(command: Command) -> Command:
    """Add the options that say what is asked again, and when to stop."""
    return _with(command, _SPENDING)


def _with(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
