"""The options that say who is asked what, shared by ``run``, ``plan`` and ``gate``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from proctor.cli.completion import complete_models, complete_tasks

_OPTIONS = (
    click.option(
        "--model",
        "-m",
        metavar="MODEL",
        shell_complete=complete_models,
        help="Who is asked: smollm2, hf, openai … (proctor doctor lists them).",
    ),
    click.option(
        "--model-args",
        "-a",
        multiple=True,
        metavar="K=V,…",
        help="What the model needs to know: model=m,base_url=http://127.0.0.1:8000/v1 …",
    ),
    click.option(
        "--tasks",
        "-t",
        multiple=True,
        metavar="NAME,…",
        shell_complete=complete_tasks,
        help="Exams, suites, recipes, files (see proctor ls); the same as naming them without an option.",
    ),
    click.option("--batch-size", metavar="N", help="Short for --model-args batch_size=N."),
    click.option("--device", metavar="NAME", help="Short for --model-args device=NAME."),
    click.option("--max-concurrency", metavar="N", help="Short for --model-args max_concurrency=N."),
    click.option(
        "--truncate",
        metavar="demos|left|none",
        help="What becomes of prompts that are too long: --model-args truncate=….",
    ),
    click.option(
        "--thinking",
        type=click.Choice(["off", "on", "low", "medium", "high"]),
        help="How hard the model is to think, said in its provider's own words: --model-args thinking=….",
    ),
    click.option(
        "--thinking-tokens",
        type=click.IntRange(min=0),
        metavar="N",
        help="Tokens that the model may think, on top of what an exam allows for the answer: --model-args "
        "thinking_tokens=N.",
    ),
)

_BUDGETS = (
    click.option("--budget-tokens", type=click.IntRange(min=1), metavar="N", help="Stop before more tokens are used."),
    click.option(
        "--budget-usd", type=click.FloatRange(min=0, min_open=True), metavar="X", help="Stop before it costs more."
    ),
)

prices_option = click.option(
    "--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A price table of your own."
)
"""``--prices`` of every command that reckons what answers cost."""

exams_argument = click.argument("named", nargs=-1, metavar="[EXAM...]", shell_complete=complete_tasks)
"""Exams that are named without an option; :func:`named_too` puts them with those of ``--tasks``."""


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name a model, what it needs to know, and exams."""
    return _with(_OPTIONS, command)


def budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that end a run before it costs too much."""
    return _with((*_BUDGETS, prices_option), command)


def named_too(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with the exams of :data:`exams_argument` among those of ``--tasks``."""
    rest = {name: value for name, value in options.items() if name != "named"}
    return {**rest, "tasks": (*options["named"], *options["tasks"])}


def _with(options: tuple[Callable[..., Any], ...], command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command
